//! The nouns, as rows read back: pure data, no SQL, no IO, no clock.

pub mod account;
pub mod environment;
pub mod heat;
pub mod ids;
pub mod incident;
pub mod job;
pub mod machine;
pub mod noise;
pub mod outbox;
pub mod overview;
pub mod person;
pub mod profile;
pub mod quality;
pub mod range;
pub mod revision;
pub mod run;
pub mod scaling;
pub mod search;
pub mod series;
pub mod severity;
pub mod step;
pub mod triage;
pub mod visible;
pub mod webhook;

pub use account::{Scope, Secret, Token};
pub use environment::{Difference, Environment};
pub use ids::*;
pub use machine::Machine;
pub use noise::NoiseFloor;
pub use overview::{Counts, EnvironmentUse, FailedPoint};
pub use person::{Person, PersonName, Role, Session};
pub use revision::{Branch, NamedRevision, OrderBy, Project, Revision};
pub use run::{Artefact, Origin, Run, RunMetric, RunPoint, RunValues};
pub use series::{Curve, Measurement, Series};
pub use visible::Visible;
