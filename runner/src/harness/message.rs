//! What the child writes to its standard output: one JSON object a line.

use serde::{Deserialize, Serialize};

/// One line of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// All tasks are set up and the gate is open.
    Started,
    /// A window is over.
    Window {
        /// Windows done, warm-up included.
        done: u32,
        /// Operations per second of it.
        ops_per_s: f64,
    },
    /// The last line.
    Outcome(wire::Outcome),
}
