//! What puts inodes on a file system's orphan list: truncation, and unlinking what is still open.

pub(super) mod truncate_bytes;
pub(super) mod unlink_open;
