//! The machine's identity: facts that only other hardware changes, and the id made of them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use sha2::{Digest, Sha256};
use wire::{Identity, Machine};

use super::size_class::size_class;
use super::{Topology, cpuinfo, text};
use crate::harness::sys;

/// File in the state folder that keeps the hardware id: `dmi <uuid>` or `generated <uuid>`.
const KEPT: &str = "hardware-id";

/// Identity of this machine. `state_dir` keeps the hardware id, so that it stays the same where
/// DMI is readable for root alone or not at all.
///
/// # Errors
/// When the id can be read neither from DMI nor from `state_dir`, and not be kept there.
pub fn machine(state_dir: &Path) -> anyhow::Result<Machine> {
    let identity = identity(Path::new("/"), &Topology::of_this_machine(), state_dir)?;
    let name = text(Path::new("/proc/sys/kernel/hostname")).unwrap_or_else(|| "machine".into());
    Ok(Machine { id: id_of(&identity), name, identity })
}

/// Lower-case hex SHA-256 of the identity in its JSON form, fields in their declared order.
fn id_of(identity: &Identity) -> String {
    let canonical = serde_json::to_vec(identity).expect("an identity is strings and numbers");
    Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn identity(root: &Path, topology: &Topology, state_dir: &Path) -> anyhow::Result<Identity> {
    let (architecture, _) = sys::architecture_and_release();
    Ok(Identity {
        cpu_model: cpu_model(root).unwrap_or_else(|| architecture.clone()),
        architecture,
        sockets: topology.sockets(),
        cores: topology.core_count(),
        threads: topology.present.len().max(1) as u32,
        numa_nodes: topology.numa_nodes(),
        caches: topology.caches.clone(),
        memory_class: memory_class(root).unwrap_or_else(|| "unknown".into()),
        hardware_id: hardware_id(dmi_uuid(root).as_deref(), state_dir)?,
    })
}

/// As the kernel names it; where it only numbers it (Arm), by implementer and part.
fn cpu_model(root: &Path) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"];
    named.into_iter().find_map(|name| cpuinfo(root, name)).or_else(|| {
        let number = |name| cpuinfo(root, name);
        Some(format!("implementer {} part {}", number("CPU implementer")?, number("CPU part")?))
    })
}

fn memory_class(root: &Path) -> Option<String> {
    let text = text(&root.join("proc/meminfo"))?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(size_class(kib << 10))
}

/// The product UUID, unless the vendor left it empty.
fn dmi_uuid(root: &Path) -> Option<String> {
    let uuid = text(&root.join("sys/class/dmi/id/product_uuid"))?.to_lowercase();
    let digits: Vec<char> = uuid.chars().filter(char::is_ascii_hexdigit).collect();
    let uniform = digits.iter().all(|d| *d == digits[0]);
    let placeholder = uuid == "03000200-0400-0500-0006-000700080009";
    (digits.len() == 32 && !uniform && !placeholder).then_some(uuid)
}

/// The id kept, else DMI's, else a new one; kept from then on. A kept DMI id gives way to another
/// readable one: the disk moved to other hardware. A generated one stays.
fn hardware_id(dmi: Option<&str>, state_dir: &Path) -> anyhow::Result<String> {
    let kept = text(&state_dir.join(KEPT));
    let kept = kept.as_deref().and_then(|kept| kept.split_once(' '));
    match (kept, dmi) {
        (Some(("dmi", kept)), Some(dmi)) if kept != dmi => {
            keep(state_dir, &format!("dmi {dmi}"), true).ok();
            Ok(dmi.to_owned())
        }
        (Some((_, kept)), _) => Ok(kept.to_owned()),
        (None, Some(dmi)) => {
            keep(state_dir, &format!("dmi {dmi}"), false).ok();
            Ok(dmi.to_owned())
        }
        (None, None) => {
            let new = format!("generated {}", uuid::Uuid::new_v4());
            keep(state_dir, &new, false)
                .with_context(|| format!("cannot keep a hardware id in {}", state_dir.display()))?;
            let kept = text(&state_dir.join(KEPT)).context("the hardware id was not kept")?;
            Ok(kept.rsplit(' ').next().unwrap_or(&kept).to_owned())
        }
    }
}

/// Writes the file whole or not at all. Without `replace` an id that someone else kept first stays.
fn keep(state_dir: &Path, id: &str, replace: bool) -> anyhow::Result<()> {
    fs::create_dir_all(state_dir)?;
    let (path, new) = (state_dir.join(KEPT), tempfile::NamedTempFile::new_in(state_dir)?);
    new.as_file().write_all(format!("{id}\n").as_bytes())?;
    new.as_file().sync_all()?;
    if replace {
        new.persist(&path)?;
    } else if let Err(error) = new.persist_noclobber(&path)
        && !path.exists()
    {
        return Err(error.into());
    }
    File::open(state_dir)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "4c4c4544-0042-3510-8056-b9c04f4d3332";

    #[test]
    fn a_generated_id_is_kept_and_stays_when_dmi_becomes_readable() {
        let state = tempfile::tempdir().expect("a temporary folder");
        let state = state.path().join("new");
        let first = hardware_id(None, &state).expect("writable");
        assert_eq!(hardware_id(None, &state).expect("kept"), first);
        assert_eq!(hardware_id(Some(UUID), &state).expect("kept"), first);
    }

    #[test]
    fn a_dmi_id_seen_by_root_serves_others_and_gives_way_to_other_hardware() {
        let state = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(hardware_id(Some(UUID), state.path()).expect("given"), UUID);
        assert_eq!(hardware_id(None, state.path()).expect("kept"), UUID);
        let other = UUID.replace("4c4c", "5d5d");
        assert_eq!(hardware_id(Some(&other), state.path()).expect("given"), other);
        assert_eq!(hardware_id(None, state.path()).expect("kept"), other);
    }

    #[test]
    fn racing_starts_agree_on_one_generated_id() {
        let state = tempfile::tempdir().expect("a temporary folder");
        let mut ids: Vec<String> = std::thread::scope(|scope| {
            let start = || hardware_id(None, state.path()).expect("writable");
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).collect()
        });
        ids.dedup();
        assert_eq!(ids.len(), 1);
        assert_eq!(fs::read_dir(state.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_uuid_the_vendor_never_set_is_no_identity() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let dir = root.path().join("sys/class/dmi/id");
        fs::create_dir_all(&dir).expect("a folder");
        let said = |uuid: &str| {
            fs::write(dir.join("product_uuid"), uuid).expect("a file");
            dmi_uuid(root.path())
        };
        assert_eq!(said("4C4C4544-0042-3510-8056-B9C04F4D3332\n").as_deref(), Some(UUID));
        assert_eq!(said("00000000-0000-0000-0000-000000000000"), None);
        assert_eq!(said("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"), None);
        assert_eq!(said("03000200-0400-0500-0006-000700080009"), None);
        assert_eq!(said("Not Settable"), None);
    }

    #[test]
    fn the_same_machine_twice_is_the_same_machine() {
        let state = tempfile::tempdir().expect("a temporary folder");
        let (a, b) = (machine(state.path()), machine(state.path()));
        let a = a.expect("this machine has an identity");
        a.check("").expect("within the limits");
        assert_eq!(a, b.expect("again"));
    }

    #[test]
    fn arm_cores_are_named_by_implementer_and_part() {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(root.path().join("proc")).expect("a folder");
        let info = "processor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xd01\n";
        fs::write(root.path().join("proc/cpuinfo"), info).expect("a file");
        assert_eq!(cpu_model(root.path()).as_deref(), Some("implementer 0x48 part 0xd01"));
    }
}
