//! What stored results go through: machines merged, branches renamed, written anew and deleted.

mod branch;
mod merge;
mod order;
