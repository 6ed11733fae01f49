//! Base against head offline: result files in, verdicts and the field's text formats out.
//!
//! In flow order: [`files`] reads reports into columns, [`curves`] pairs what may be compared,
//! [`judge`] gives our verdict with LKP's and mmtests' rules beside it; [`lkp`], [`mmtests`],
//! [`table`] and [`json`] only print; [`unixbench`] and [`aim`] show each run by itself. The judgement is `stats::two_sides`, the service's own.
pub mod aim;
pub mod counters;
pub mod curves;
pub mod earlier;
pub mod files;
pub mod floors;
pub mod gate;
pub mod json;
mod json_scaling;
pub mod judge;
pub mod lkp;
pub mod mmtests;
pub mod scaling;
mod shapes;
pub mod table;
pub mod unixbench;

pub use shapes::{as_lkp, as_mmtests};
