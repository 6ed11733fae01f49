//! Noise floors of this machine: what two sides that are the same were seen to differ by, kept in
//! the state folder by `calibrate` and used by every comparison of runs of this machine.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::agent::write_atomically;

const FILE: &str = "noise-floors.json";

/// All floors known here, looked at from a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Floors {
    known: Vec<Floor>,
    /// RFC 3339.
    now: String,
}

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

/// A floor and how long ago it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Aged {
    /// The floor.
    pub floor: Floor,
    /// Whole days; none where the clock says that it is yet to come.
    pub days: Option<i64>,
}

impl Aged {
    /// `noise floor ±0.40 %, of 10 pairs 12 days ago`.
    pub fn in_words(&self) -> String {
        let Floor { relative, pairs, measured_at, .. } = &self.floor;
        let when = match self.days {
            Some(0) => "today".into(),
            Some(1) => "yesterday".into(),
            Some(days) => format!("{days} days ago"),
            None => format!("of {measured_at}"),
        };
        format!("noise floor ±{:.2} %, of {pairs} pairs {when}", relative * 100.0)
    }
}

impl Floors {
    /// Those kept in the state folder, none where nothing was calibrated; `now` is RFC 3339.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn load(state: &Path, now: String) -> anyhow::Result<Floors> {
        let path = state.join(FILE);
        let known = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => vec![],
            read => {
                let bytes = read.with_context(|| format!("cannot read {}", path.display()))?;
                serde_json::from_slice(&bytes)
                    .with_context(|| format!("{} is damaged: calibrate again", path.display()))?
            }
        };
        Ok(Floors { known, now })
    }

    /// Keeps them.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn store(&self, state: &Path) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec_pretty(&self.known).context("cannot write JSON")?;
        write_atomically(&state.join(FILE), &bytes, 0o644)
    }

    /// Adds a floor in the place of an older one.
    pub fn put(&mut self, floor: Floor) {
        let same = |known: &Floor| {
            (&known.machine, &known.workload, &known.metric)
                == (&floor.machine, &floor.workload, &floor.metric)
        };
        self.known.retain(|known| !same(known));
        self.known.push(floor);
    }

    /// The floors of a machine, as they are sent to the service.
    pub fn of_machine(&self, machine: &str) -> wire::NoiseFloors {
        let of_it = self.known.iter().filter(|floor| floor.machine == machine);
        let sent = |floor: &Floor| wire::NoiseFloor {
            workload: floor.workload.clone(),
            metric: floor.metric.clone(),
            relative: floor.relative,
            pairs: floor.pairs,
            measured_at: floor.measured_at.clone(),
        };
        wire::NoiseFloors { floors: of_it.map(sent).collect() }
    }

    /// The floor, where one is known.
    pub fn of(&self, machine: &str, workload: &str, metric: &str) -> Option<Aged> {
        let same = |floor: &&Floor| {
            (floor.machine.as_str(), floor.workload.as_str(), floor.metric.as_str())
                == (machine, workload, metric)
        };
        let floor = self.known.iter().find(same)?.clone();
        let time = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
        let age = time(&self.now).zip(time(&floor.measured_at)).map(|(now, then)| now - then);
        let days = age.filter(|age| !age.is_negative()).map(time::Duration::whole_days);
        Some(Aged { floor, days })
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
    fn a_floor_is_kept_until_it_is_measured_again_and_says_how_old_it_is() {
        let state = tempfile::tempdir().expect("a temporary folder");
        let load = |now: &str| Floors::load(state.path(), now.into());
        let now = "2026-01-13T12:00:00Z";
        let mut floors = load(now).expect("nothing there");
        assert_eq!(floors.of("m", "file/open", "ops_per_cpu_s"), None);
        floors.put(floor("file/open", 0.02));
        floors.put(floor("file/dup", 0.03));
        floors.put(floor("file/open", 0.01));
        floors.store(state.path()).expect("a writable folder");
        let read = load(now).expect("just written");
        let found = read.of("m", "file/open", "ops_per_cpu_s").expect("it was kept");
        assert_eq!(found.floor, floor("file/open", 0.01));
        assert_eq!(found.in_words(), "noise floor ±1.00 %, of 10 pairs 12 days ago");
        assert_eq!(read.of("m", "file/open", "ops_per_s_total"), None);
        assert_eq!(read.of("other", "file/open", "ops_per_cpu_s"), None);
        for (now, age) in [
            ("2026-01-01T23:59:59Z", "pairs today"),
            ("2026-01-02T00:00:00Z", "pairs yesterday"),
            ("2025-12-31T23:00:00Z", "pairs of 2026-01-01T00:00:00Z"),
        ] {
            let found = load(now).expect("it lies there").of("m", "file/dup", "ops_per_cpu_s");
            assert!(found.is_some_and(|aged| aged.in_words().ends_with(age)), "{age}");
        }
        std::fs::write(state.path().join(FILE), "[").expect("writable");
        assert!(load(now).is_err());
    }
}
