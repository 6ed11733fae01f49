//! `Report` → rows and due marks, in one transaction: all of it or nothing.
//!
//! [`prepare()`] checks a report and lays out its rows without touching the database; [`store()`]
//! writes them. The run's UUID makes it idempotent: the same report again changes nothing, another
//! report under the same UUID is refused. Locks are taken in one order everywhere (UUID, project,
//! branch, revision, environment, curves and series by their keys, due marks by curve, machine), so
//! that uploads at the same time wait for each other but never block each other for good.

mod gate;
mod points;
mod prepare;
mod series;
mod store;

pub use gate::{Admission, Gate};
pub use prepare::{Prepared, prepare};
pub use series::Memory;
pub use store::store;
