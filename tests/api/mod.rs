mod bad_input;
mod machines;
mod runs;
mod tokens;
