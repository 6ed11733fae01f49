//! Block allocation by fallocate: one file filled and emptied, many files grown side by side, and
//! the first of these in containers.

pub(super) mod append_truncate;
mod cgroup;
pub(super) mod containers;
mod extents;
pub(super) mod falloc_fill;
mod namespace;
