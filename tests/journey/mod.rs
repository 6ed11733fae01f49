//! One sample all the way.

mod both_halves;
mod ci;
mod in_process;
mod late_point;
mod long_history;
