//! What ingest writes, statement by statement, inside its transaction.
//!
//! `insert_or_find_*` do nothing on a row that another upload was faster to insert, and read that
//! row then: the statement waits for the other transaction, and sees what it committed.

mod curve;
mod order;
mod points;
mod rows;
mod run;

pub use curve::{find_curves, find_series, insert_curves, insert_series, lock_curves};
pub use order::{
    NewRevision, find_environment, insert_or_find_branch, insert_or_find_environment,
    insert_or_find_project, insert_or_find_revision,
};
pub use points::{insert_measurements, insert_points};
pub use rows::{ArtefactRow, CurveRow, KnownSeries, MeasurementRow, PointRow, SeriesRow};
pub use run::{Run, find_run_digest, insert_artefact, insert_run, lock_run, mark_due};
