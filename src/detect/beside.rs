//! Other people's rules on the same runs, shown beside our verdict and deciding nothing: mmtests'
//! means and stars over all samples, LKP's change over one value a run.

use stats::{Direction, Sample, lkp, mmtests};

use super::two_sides::SideRun;

/// What mmtests and LKP would print for one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// mmtests' percentage of the means, positive is better, between stars when it calls a
    /// difference: `*-34.62%*`, `(   4.40%)`; none when a side has no values.
    pub mmtests: Option<String>,
    /// LKP's percentage of the means of runs: `-34.6%`; none on a base of 0 or without runs.
    pub lkp: Option<String>,
    /// LKP's verdict in words.
    pub lkp_verdict: &'static str,
}

/// Name of the mean mmtests takes for a direction.
pub fn mean_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "Hmean",
        Direction::Lower => "Amean",
    }
}

/// Both rules for one point.
pub fn beside(base: &[SideRun], head: &[SideRun], direction: Direction) -> Beside {
    let runs = lkp::compare(
        &run_means(base),
        &run_means(head),
        direction,
        lkp::Rule::default(),
        lkp::Options::default(),
    );
    Beside {
        mmtests: mmtests_cell(&pooled(base), &pooled(head), direction),
        lkp: runs.percent.map(|percent| format!("{percent:+.1}%")),
        lkp_verdict: runs.verdict.words(),
    }
}

fn mmtests_cell(base: &[f64], head: &[f64], direction: Direction) -> Option<String> {
    let compared = mmtests::compare(Sample::new(base)?, Sample::new(head)?, direction);
    let row = compared.rows.iter().find(|row| row.statistic == mmtests::Statistic::Mean)?;
    let percent = row.percent?;
    Some(if row.starred { format!("*{percent:.2}%*") } else { format!("({percent:.2}%)") })
}

fn pooled(runs: &[SideRun]) -> Vec<f64> {
    runs.iter().flat_map(|run| &run.samples).copied().collect()
}

fn run_means(runs: &[SideRun]) -> Vec<f64> {
    let mean = |run: &SideRun| Sample::new(&run.samples).map(stats::summary::mean);
    runs.iter().filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EnvironmentId;

    fn runs(values: &[&[f64]]) -> Vec<SideRun> {
        let run =
            |samples: &&[f64]| SideRun { environment: EnvironmentId(1), samples: samples.to_vec() };
        values.iter().map(run).collect()
    }

    #[test]
    fn a_clear_fall_is_starred_by_one_and_called_by_the_other() {
        let base = runs(&[&[100.0, 101.0], &[99.0, 100.0], &[100.0, 100.5]]);
        let head = runs(&[&[80.0, 81.0], &[79.0, 80.0], &[80.0, 80.5]]);
        let found = beside(&base, &head, Direction::Higher);
        assert!(found.mmtests.is_some_and(|cell| cell.starts_with("*-") && cell.ends_with("%*")));
        assert!(found.lkp.is_some_and(|cell| cell.starts_with("-20.")));
        assert_eq!(found.lkp_verdict, "regression");
    }

    #[test]
    fn a_side_without_runs_has_no_figures() {
        let found = beside(&runs(&[&[1.0]]), &[], Direction::Lower);
        assert_eq!((found.mmtests, found.lkp), (None, None));
        assert_eq!(found.lkp_verdict, "not enough data");
    }
}
