//! Samples + machine + environment + revision → `wire::Report`.
//!
//! No report without a revision: a number that belongs to no code is of no use to anyone.

use anyhow::Context;
use wire::{Artefact, Environment, Machine, Point, Project, Report, Revision};

/// Everything of a report but the points.
#[derive(Debug, Clone)]
pub struct About {
    /// UUID of the run.
    pub run: String,
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    pub finished_at: String,
    /// Where.
    pub machine: Machine,
    /// In what surroundings.
    pub environment: Environment,
    /// Whose code, and which; none when the caller does not know.
    pub revision: Option<(Project, Revision)>,
    /// Evidence kept with it.
    pub artefacts: Vec<Artefact>,
}

/// Makes the report of one run and checks every limit.
///
/// # Errors
/// When the revision is not known, or names the field that breaks a limit.
pub fn report(about: About, points: Vec<Point>) -> anyhow::Result<Report> {
    let (project, revision) = about.revision.context(
        "no report without a revision: say which code was measured with --repo, or with --project, \
         --commit and --position",
    )?;
    let report = Report {
        format: wire::FORMAT,
        run: about.run,
        started_at: about.started_at,
        finished_at: about.finished_at,
        machine: about.machine,
        environment: about.environment,
        project,
        revision,
        points,
        artefacts: about.artefacts,
    };
    report.check().context("the report is not valid")?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> (About, Vec<Point>) {
        let golden = include_str!("../wire/tests/golden/report-v1-measured.json");
        let report: Report = serde_json::from_str(golden).unwrap();
        let about = About {
            run: report.run,
            started_at: report.started_at,
            finished_at: report.finished_at,
            machine: report.machine,
            environment: report.environment,
            revision: Some((report.project, report.revision)),
            artefacts: report.artefacts,
        };
        (about, report.points)
    }

    #[test]
    fn a_report_holds_what_it_was_made_of() {
        let (about, points) = parts();
        let made = report(about, points.clone()).unwrap();
        assert_eq!(made.points, points);
        assert_eq!(made.format, wire::FORMAT);
        assert_eq!(made.revision.branch, "master");
    }

    #[test]
    fn no_report_is_made_without_a_revision() {
        let (about, points) = parts();
        let error = report(About { revision: None, ..about }, points).unwrap_err();
        assert!(error.to_string().contains("without a revision"), "{error}");
    }

    #[test]
    fn a_report_that_breaks_a_limit_is_not_made() {
        let (about, mut points) = parts();
        points[0].tasks = 0;
        let error = format!("{:#}", report(about, points).unwrap_err());
        assert!(error.contains("points[0].tasks"), "{error}");
    }
}
