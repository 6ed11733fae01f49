//! From what was asked for to the list of points: every workload × swept parameters × mode × task
//! count, each checked before the first is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use stats::random::Random;

use crate::harness::{self, Mode, Placement, PointPlan, Workload};
use crate::machine::Topology;
use crate::workloads;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Workload ids, or names of will-it-scale's tests with `wis/` in front.
    pub workloads: Vec<String>,
    /// Parameters of every point.
    pub parameters: BTreeMap<String, String>,
    /// Parameters that take several values, each with all others.
    pub sweep: Vec<(String, Vec<String>)>,
    /// Process, thread or both.
    pub modes: Vec<Mode>,
    /// Task counts.
    pub tasks: Vec<u32>,
    /// Where tasks run.
    pub placement: Placement,
    /// Windows thrown away first.
    pub warmup_windows: u32,
    /// Windows measured.
    pub windows: u32,
    /// Length of a window.
    pub window: Duration,
    /// Whether windows are as many times longer as tasks share a CPU, so that each task has its turn.
    pub stretch: bool,
    /// Directory on the file system under test.
    pub dir: PathBuf,
}

impl Suite {
    /// The points, workload by workload, task counts ascending.
    ///
    /// # Errors
    /// Names the workload, parameter or number that is wrong.
    pub fn points(&self) -> anyhow::Result<Vec<PointPlan>> {
        self.points_with(&BTreeMap::new())
    }

    /// The points with some parameters set to a side's values.
    ///
    /// # Errors
    /// As [`Suite::points`].
    pub fn points_with(&self, side: &BTreeMap<String, String>) -> anyhow::Result<Vec<PointPlan>> {
        let mut points = Vec::new();
        let mut seen = BTreeSet::new();
        for name in &self.workloads {
            let named = workloads::named(name)?;
            for setting in self.settings(side) {
                let setting = named.with(&setting)?;
                let workload = checked(named.workload, &setting, &mut seen)?;
                for mode in self.modes_of(workload)? {
                    let plan = |tasks| self.point(workload.id, &setting, mode, tasks);
                    points.extend(self.tasks.iter().map(|&tasks| plan(tasks)));
                }
            }
        }
        let topology = Topology::of_this_machine();
        for point in &points {
            point.check()?;
            harness::cpus_of_tasks(&topology, &point.placement, point.tasks)?;
        }
        ensure!(!points.is_empty(), "nothing to measure: name a workload, see `list`");
        ensure!(
            points.len() <= wire::limits::POINTS,
            "{} points are too many for one run, the limit is {}",
            points.len(),
            wire::limits::POINTS
        );
        Ok(points)
    }

    fn window_of(&self, tasks: u32) -> Duration {
        if !self.stretch {
            return self.window;
        }
        let cpus = Topology::of_this_machine().allowed.len().max(1) as u32;
        self.window * tasks.div_ceil(cpus)
    }

    /// The modes asked for that the workload runs in; one at least.
    fn modes_of(&self, workload: &Workload) -> anyhow::Result<Vec<Mode>> {
        let fit = |mode: &Mode| workload.modes.contains(mode);
        let modes: Vec<Mode> = self.modes.iter().copied().filter(fit).collect();
        if let (true, Some(&mode)) = (modes.is_empty(), self.modes.first()) {
            workload.check_mode(mode)?;
        }
        Ok(modes)
    }

    fn point(
        &self,
        id: &str,
        setting: &BTreeMap<String, String>,
        mode: Mode,
        tasks: u32,
    ) -> PointPlan {
        PointPlan {
            workload: id.to_owned(),
            parameters: setting.clone(),
            mode,
            tasks,
            placement: self.placement.clone(),
            warmup_windows: self.warmup_windows,
            windows: self.windows,
            window: self.window_of(tasks),
            dir: self.dir.clone(),
        }
    }

    /// Every combination of the swept values; a side's own values win.
    fn settings(&self, side: &BTreeMap<String, String>) -> Vec<BTreeMap<String, String>> {
        let mut settings = vec![self.parameters.clone()];
        for (name, values) in &self.sweep {
            let with = |setting: &BTreeMap<String, String>, value: &String| {
                let mut setting = setting.clone();
                setting.insert(name.clone(), value.clone());
                setting
            };
            settings = settings
                .iter()
                .flat_map(|setting| values.iter().map(move |value| with(setting, value)))
                .collect();
        }
        for setting in &mut settings {
            setting.extend(side.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        settings
    }
}

fn checked(
    workload: &'static Workload,
    setting: &BTreeMap<String, String>,
    seen: &mut BTreeSet<(&'static str, BTreeMap<String, String>)>,
) -> anyhow::Result<&'static Workload> {
    let values = workload.resolve(setting)?;
    ensure!(
        seen.insert((workload.id, values.0)),
        "{} would be measured twice with the same parameters",
        workload.id
    );
    Ok(workload)
}

/// The order in which `n` points are measured: random, but the same for the same seed, so that
/// drift of the machine does not fall on one end of a curve.
pub fn order(n: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(workloads: &[&str]) -> Suite {
        Suite {
            workloads: workloads.iter().map(|id| (*id).to_owned()).collect(),
            parameters: BTreeMap::new(),
            sweep: Vec::new(),
            modes: vec![Mode::Process],
            tasks: vec![1, 2],
            placement: Placement::None,
            warmup_windows: 1,
            windows: 3,
            window: Duration::from_millis(10),
            stretch: false,
            dir: ".".into(),
        }
    }

    fn one(name: &str, value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn every_combination_is_one_point() {
        let asked = Suite {
            sweep: vec![("layout".into(), vec!["own-dir".into(), "same-file".into()])],
            modes: vec![Mode::Process, Mode::Thread],
            ..suite(&["file/open"])
        };
        let points = asked.points().unwrap();
        assert_eq!(points.len(), 2 * 2 * 2);
        assert_eq!(points[0].parameters["layout"], "own-dir");
        assert_eq!(points[1].tasks, 2);
        assert_eq!(points[2].mode, Mode::Thread);
        assert_eq!(points[4].parameters["layout"], "same-file");
        assert!(points.iter().all(|point| point.window == Duration::from_millis(10)));
        let shared = Suite { stretch: true, tasks: vec![1, 4096], ..asked }.points().unwrap();
        assert_eq!(shared[0].window, Duration::from_millis(10));
        let cpus = Topology::of_this_machine().allowed.len() as u32;
        assert_eq!(shared[1].window, Duration::from_millis(10) * 4096_u32.div_ceil(cpus));
    }

    #[test]
    fn a_sides_values_win_over_the_common_ones() {
        let asked = Suite { parameters: one("layout", "own-dir"), ..suite(&["file/open"]) };
        let points = asked.points_with(&one("layout", "same-file")).unwrap();
        assert!(points.iter().all(|point| point.parameters["layout"] == "same-file"));
    }

    #[test]
    fn a_test_of_will_it_scale_is_its_workload_at_its_parameters() {
        let points = suite(&["wis/open2", "wis/open3", "wis/getppid1"]).points().unwrap();
        let words = |at: usize| (points[at].workload.as_str(), points[at].parameters.get("layout"));
        assert_eq!(words(0), ("file/open", Some(&"own-dir".to_owned())));
        assert_eq!(words(2), ("file/open", Some(&"same-file".to_owned())));
        assert_eq!(words(4), ("sys/getppid", None));
    }

    #[test]
    fn mistakes_are_named_before_anything_is_measured() {
        let error = |asked: Suite| format!("{:#}", asked.points().unwrap_err());
        assert!(error(suite(&["no/such"])).contains("no/such"));
        assert!(error(suite(&[])).contains("nothing to measure"));
        let wrong = Suite { parameters: one("layuot", "x"), ..suite(&["file/open"]) };
        assert!(error(wrong).contains("layuot"));
        let twice = Suite {
            sweep: vec![("layout".into(), vec!["own-dir".into(), "own-dir".into()])],
            ..suite(&["file/open"])
        };
        assert!(error(twice).contains("twice"));
        assert!(error(suite(&["file/dup", "file/dup"])).contains("twice"));
        assert!(error(suite(&["file/dup", "wis/dup1"])).contains("twice"));
        assert!(error(suite(&["wis/dup7"])).contains("dup1"));
        let other = Suite { parameters: one("layout", "own-dir"), ..suite(&["wis/open3"]) };
        assert!(error(other).contains("layout=same-file"));
        assert!(error(Suite { windows: 0, ..suite(&["file/dup"]) }).contains("windows"));
    }

    #[test]
    fn the_order_depends_on_the_seed_alone_and_leaves_nothing_out() {
        let drawn = |seed| order(20, &mut Random::new(seed));
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let mut sorted = drawn(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert_eq!(order(0, &mut Random::new(1)), [0; 0]);
    }
}
