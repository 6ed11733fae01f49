//! What stored results go through in their lives: machines that were registered twice become one,
//! branches get another name, are written anew, or go. Each is one transaction of the caller's, with
//! its line of what was done; what is judged anew because of it is marked due.

pub mod branch;
pub mod merge;
pub mod order;
