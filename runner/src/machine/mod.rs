//! Topology, identity, environment and quietness of this machine.

mod topology;

use std::path::Path;

pub use topology::{Change, Cpu, Topology, cpu_list, parse_cpu_list};

/// Identity of this machine. `state_dir` keeps the generated hardware id where DMI is not readable.
///
/// # Errors
/// When neither DMI nor `state_dir` can be read or written.
pub fn machine(state_dir: &Path) -> anyhow::Result<wire::Machine> {
    let _ = state_dir;
    anyhow::bail!("not built yet")
}

/// Environment of a run whose files go to `dir`. For [`wire::Subject::Kernel`] the kernel's release
/// is the revision and is left out.
pub fn environment(dir: &Path, subject: wire::Subject) -> wire::Environment {
    let _ = (dir, subject);
    wire::Environment::default()
}
