//! Profiles: what perf recorded → folded stacks → an artefact of the report → flame graphs.
//!
//! A profile holds samples of a point's own tasks and of nothing else, so shares in it are shares of
//! their work. Kernel stacks are whole; of user space only the innermost frame is kept, since
//! programs without frame pointers give no trustworthy others.

mod flame;
mod folded;
mod script;
pub mod sides;

pub use flame::{difference, graph};
pub use folded::Folded;
pub use script::fold;
