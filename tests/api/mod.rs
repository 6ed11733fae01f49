mod bad_input;
mod compare;
mod incidents;
mod lists;
mod machines;
mod one;
mod runs;
mod tokens;
