//! One sample all the way.

mod both_halves;
mod in_process;
mod late_point;
