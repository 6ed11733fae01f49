//! Series that toggle between known levels: each return to a level already seen must show more.

use super::Policy;
use super::series::Series;

pub(super) fn calm(_series: &Series, _splits: &mut Vec<usize>, _policy: &Policy) {}
