//! The service's command line.

fn main() {}
