//! Noise floors of this machine: what two sides that are the same were seen to differ by, kept in
//! the state folder by `calibrate` and used by every comparison of runs of this machine.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::agent::write_atomically;

const FILE: &str = "noise-floors.json";

/// All floors known here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Floors(Vec<Floor>);

/// One floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Machine id.
    pub machine: String,
    /// Workload id.
    pub workload: String,
    /// Name of the metric.
    pub metric: String,
    /// Relative, e.g. 0.004: smaller changes are not called.
    pub relative: f64,
    /// Pairs it was seen in.
    pub pairs: u32,
    /// RFC 3339.
    pub measured_at: String,
}

impl Floors {
    /// Those kept in the state folder; none where nothing was calibrated.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn load(state: &Path) -> anyhow::Result<Floors> {
        let path = state.join(FILE);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Floors::default()),
            read => {
                let bytes = read.with_context(|| format!("cannot read {}", path.display()))?;
                serde_json::from_slice(&bytes)
                    .with_context(|| format!("{} is damaged: calibrate again", path.display()))
            }
        }
    }

    /// Keeps them.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn store(&self, state: &Path) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec_pretty(self).context("cannot write JSON")?;
        write_atomically(&state.join(FILE), &bytes, 0o644)
    }

    /// Adds a floor in the place of an older one.
    pub fn put(&mut self, floor: Floor) {
        let same = |known: &Floor| {
            (&known.machine, &known.workload, &known.metric)
                == (&floor.machine, &floor.workload, &floor.metric)
        };
        self.0.retain(|known| !same(known));
        self.0.push(floor);
    }

    /// The floor, 0 where none is known.
    pub fn of(&self, machine: &str, workload: &str, metric: &str) -> f64 {
        let same = |floor: &&Floor| {
            (floor.machine.as_str(), floor.workload.as_str(), floor.metric.as_str())
                == (machine, workload, metric)
        };
        self.0.iter().find(same).map_or(0.0, |floor| floor.relative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor(workload: &str, relative: f64) -> Floor {
        Floor {
            machine: "m".into(),
            workload: workload.into(),
            metric: "ops_per_cpu_s".into(),
            relative,
            pairs: 10,
            measured_at: "2026-01-01T00:00:00Z".into(),
        }
    }

    #[test]
    fn a_floor_is_kept_until_it_is_measured_again() {
        let state = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(Floors::load(state.path()).expect("nothing there"), Floors::default());
        let mut floors = Floors::default();
        floors.put(floor("file/open", 0.02));
        floors.put(floor("file/dup", 0.03));
        floors.put(floor("file/open", 0.01));
        floors.store(state.path()).expect("a writable folder");
        let read = Floors::load(state.path()).expect("just written");
        assert_eq!(read.of("m", "file/open", "ops_per_cpu_s"), 0.01);
        assert_eq!(read.of("m", "file/open", "ops_per_s_total"), 0.0);
        assert_eq!(read.of("other", "file/open", "ops_per_cpu_s"), 0.0);
        std::fs::write(state.path().join(FILE), "[").expect("writable");
        assert!(Floors::load(state.path()).is_err());
    }
}
