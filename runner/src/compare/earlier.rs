//! What is known of how builds differ: result files of earlier builds, and which columns are the
//! base's own build.

use std::collections::{BTreeMap, BTreeSet};

use stats::Sample;
use stats::two_sides::History;
use wire::Environment;

use super::curves::Curve;
use super::files::Column;

/// Builds beside the two that are compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// Indices of columns that are the same build as the base.
    one_build: BTreeSet<usize>,
    /// Runs of earlier builds.
    columns: Vec<Column>,
}

impl Earlier {
    /// Of the columns compared, the base first, with the files of earlier builds; those of a
    /// revision that is compared itself tell nothing of other builds and are left out.
    pub fn new(compared: &[Column], earlier: Vec<Column>) -> Earlier {
        let commits: BTreeSet<&str> =
            compared.iter().map(|column| column.revision().commit.as_str()).collect();
        let columns = earlier
            .into_iter()
            .filter(|column| !commits.contains(column.revision().commit.as_str()))
            .collect();
        // Another runner is another build, whatever was under test.
        let same = |column: &Column| {
            column.revision().commit == compared[0].revision().commit
                && !column.given.contains_key("exec")
        };
        let one_build = (1..compared.len()).filter(|&at| same(&compared[at])).collect();
        Earlier { one_build, columns }
    }

    /// What is known at one point of a curve, judged in one environment (or in any).
    pub fn history(
        &self,
        curve: &Curve,
        (column, tasks): (usize, u32),
        environment: Option<&Environment>,
    ) -> History {
        if self.one_build.contains(&column) {
            return History::OneBuild;
        }
        let mut builds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for report in self.columns.iter().flat_map(|column| &column.reports) {
            let there = report.machine.id == curve.key.machine
                && report.project.name == curve.key.project
                && environment.is_none_or(|here| report.environment == *here);
            let points = report.points.iter().filter(|point| {
                there
                    && point.tasks == tasks
                    && point.workload == curve.key.workload
                    && point.version == curve.key.version
                    && point.parameters == curve.key.parameters
            });
            let runs = builds.entry(&report.revision.commit).or_default();
            runs.extend(points.filter_map(|point| run_value(point, curve)));
        }
        History::Builds(builds.into_values().filter(|runs| !runs.is_empty()).collect())
    }
}

/// Median of the metric's values in one run.
fn run_value(point: &wire::Point, curve: &Curve) -> Option<f64> {
    let metric = point.outcome.metrics().iter().find(|metric| {
        (metric.name.as_str(), metric.unit, metric.direction)
            == (curve.metric.as_str(), curve.unit, curve.direction)
    })?;
    Sample::new(&point.outcome.values(metric)).map(stats::summary::median)
}
