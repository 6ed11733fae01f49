//! A report, checked against everything but the database, laid out as rows. Pure.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wire::Report;

use super::points::{self, PointRows};
use crate::db::store::ArtefactRow;
use crate::error::{Error, Result};
use crate::model::{RunId, environment};

/// A report ready to be stored.
#[derive(Debug)]
pub struct Prepared {
    /// UUID of the run.
    pub run: RunId,
    /// SHA-256 of the report as we would write it: spaces and key order do not matter.
    pub digest: [u8; 32],
    /// When the run began.
    pub started_at: OffsetDateTime,
    /// When the run ended.
    pub finished_at: OffsetDateTime,
    /// Where.
    pub machine: wire::Machine,
    /// In what surroundings, and their digest.
    pub environment: (wire::Environment, [u8; 32]),
    /// Whose code.
    pub project: wire::Project,
    /// Which code.
    pub revision: wire::Revision,
    /// `revision.committed_at`, read.
    pub committed_at: Option<OffsetDateTime>,
    /// Curves, series, points and measurements.
    pub rows: PointRows,
    /// Evidence, by digest.
    pub artefacts: Vec<ArtefactRow>,
    /// Points, failed ones included.
    pub points: usize,
    /// Sampled windows.
    pub windows: usize,
}

/// Checks a report and lays out its rows.
///
/// # Errors
/// The first field that breaks a limit.
pub fn prepare(report: Report) -> Result<Prepared> {
    report.check()?;
    let run = report.run.parse().map_err(|_| Error::invalid("run", "must be a UUID"))?;
    let started_at = time_of("started_at", &report.started_at)?;
    let finished_at = time_of("finished_at", &report.finished_at)?;
    if finished_at < started_at {
        return Err(Error::invalid("finished_at", "must not be before started_at"));
    }
    let committed_at = report.revision.committed_at.as_deref();
    let committed_at =
        committed_at.map(|text| time_of("revision.committed_at", text)).transpose()?;
    let canonical = serde_json::to_vec(&report).map_err(|error| Error::Internal(error.into()))?;
    let rows = points::lay_out(&report.points)?;
    Ok(Prepared {
        run,
        digest: Sha256::digest(canonical).into(),
        started_at,
        finished_at,
        machine: report.machine,
        environment: {
            let digest = environment::digest(&report.environment.0);
            (report.environment, digest)
        },
        project: report.project,
        revision: report.revision,
        committed_at,
        points: report.points.len(),
        windows: rows.points.iter().map(|point| point.windows.len()).sum(),
        rows,
        artefacts: artefacts(report.artefacts)?,
    })
}

/// Years before 1 and after 9999 have no four digits and are refused by the format itself.
fn time_of(field: &str, text: &str) -> Result<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|error| {
        let problem = format!(
            "must be a time of RFC 3339 with an offset, such as 2026-03-01T12:00:00Z: {error}"
        );
        Error::invalid(field, problem)
    })
}

fn artefacts(artefacts: Vec<wire::Artefact>) -> Result<Vec<ArtefactRow>> {
    let compress = |content: &str| -> std::io::Result<Vec<u8>> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(content.as_bytes())?;
        gzip.finish()
    };
    let row = |artefact: wire::Artefact| -> Result<ArtefactRow> {
        Ok(ArtefactRow {
            digest: Sha256::digest(artefact.content.as_bytes()).into(),
            content: compress(&artefact.content).map_err(anyhow::Error::from)?,
            size_bytes: artefact.content.len() as i64,
            name: artefact.name,
            media_type: artefact.media_type,
        })
    };
    let mut rows = artefacts.into_iter().map(row).collect::<Result<Vec<_>>>()?;
    rows.sort_by_key(|row| row.digest);
    Ok(rows)
}
