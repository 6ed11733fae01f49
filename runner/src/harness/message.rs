//! What the child writes to its standard output: one JSON object a line.

use serde::{Deserialize, Serialize};

/// One line of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, and soon written out")]
pub(crate) enum Message {
    /// All tasks are set up and the gate is open.
    Started,
    /// A window is over.
    Window {
        /// Windows done, warm-up included.
        done: u32,
        /// What every task did in it.
        window: wire::Window,
    },
    /// Profiling is over: the event sampled, or why there is no profile.
    Profiled(Result<String, String>),
    /// The last line.
    Outcome(wire::Outcome),
}
