//! Topology, identity, environment and quietness of this machine.
//!
//! Identity holds stable facts only; environment what can change without changing the machine;
//! neither a reading that moves by itself (frequency, free space, uptime, load).

mod environment;
mod ext4;
mod filesystem;
mod identity;
mod quiet;
mod size_class;
mod topology;
pub mod tune;
mod wishes;

use std::path::Path;

pub use environment::environment;
pub use filesystem::file_system_type;
pub use identity::machine;
pub use quiet::{Quiet, lasting_remarks, quiet};
pub use topology::{Change, Cpu, Topology, cpu_list, parse_cpu_list};
pub use wishes::{Wish, wishes};

/// A small file's text, trimmed; none when it is missing, unreadable or empty.
fn text(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    Some(text).filter(|t| !t.is_empty())
}

/// The value of `name : value` in `/proc/cpuinfo`, white space folded.
fn cpuinfo(root: &Path, name: &str) -> Option<String> {
    let text = text(&root.join("proc/cpuinfo"))?;
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    value.filter(|v| !v.is_empty())
}
