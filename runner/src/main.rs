//! `scalewatch-runner`. Its first argument may be the hidden one of a point's child process, which
//! must be served before any thread exists.

fn main() {
    if std::env::args().nth(1).is_some_and(|a| a == scalewatch_runner::harness::CHILD_ARGUMENT) {
        scalewatch_runner::harness::child_main();
    }
}
