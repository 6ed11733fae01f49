//! What stored results go through: machines merged, branches renamed, written anew and deleted.

mod branch;
mod order;
