//! Which CPUs each task may run on.

use super::plan::Placement;
use crate::machine::Topology;

/// The CPUs of task 0 to `tasks` − 1; empty for [`Placement::None`]. Package-major unless spread;
/// wraps around where there are more tasks than cores or hardware threads.
///
/// # Errors
/// A listed CPU that this process may not use.
pub fn cpus_of_tasks(
    topology: &Topology,
    placement: &Placement,
    tasks: u32,
) -> anyhow::Result<Vec<Vec<u32>>> {
    let places: Vec<Vec<u32>> = match placement {
        Placement::None => return Ok(vec![]),
        Placement::Core => topology.cores(),
        Placement::Spread => topology.cores_spread(),
        Placement::Pu => topology.cores().into_iter().flatten().map(|cpu| vec![cpu]).collect(),
        Placement::List(cpus) => {
            for cpu in cpus {
                anyhow::ensure!(
                    topology.allowed.contains(cpu),
                    "placement: CPU {cpu} is not one of those this process may use ({})",
                    crate::machine::cpu_list(&topology.allowed)
                );
            }
            cpus.iter().map(|&cpu| vec![cpu]).collect()
        }
    };
    anyhow::ensure!(!places.is_empty(), "placement: {placement} names no CPU");
    Ok(places.iter().cycle().take(tasks as usize).cloned().collect())
}
