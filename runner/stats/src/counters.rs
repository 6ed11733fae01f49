//! Counters that moved between two sides: evidence that stands beside a verdict and never makes one.

use std::collections::{BTreeMap, BTreeSet};

use crate::lkp::{Options, Rule, compare};
use crate::{Direction, Sample, summary};

/// Least change of the means that is told, either way: 5 %, as LKP asks of its monitors.
pub const LEAST_RATIO: f64 = 1.05;

/// Counters below this on both sides are left out: one in ten thousand operations, or 1 ns each.
pub const LEAST_PER_OPERATION: f64 = 1e-4;
/// As [`LEAST_PER_OPERATION`], for names that end in `_ns`.
pub const LEAST_NS: f64 = 1.0;

/// One counter that moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// Mean of the base's runs, per operation.
    pub base: f64,
    /// Mean of the head's runs, per operation.
    pub head: f64,
    /// head ÷ base; none on a base of 0.
    pub ratio: Option<f64>,
    /// Whether LKP's rule tells the two sides apart; none where they have fewer than 3 runs each.
    pub apart: Option<bool>,
}

/// The counters of the runs of two sides that moved, those told apart first, then by how far. A
/// counter that LKP's rule does not tell apart is left out where there are runs enough to ask it.
/// Only counters that every run of both sides has are compared. O(counters × runs).
pub fn moved(base: &[&BTreeMap<String, f64>], head: &[&BTreeMap<String, f64>]) -> Vec<Moved> {
    let names: BTreeSet<&String> = base.iter().chain(head).flat_map(|run| run.keys()).collect();
    let mut found: Vec<Moved> =
        names.into_iter().filter_map(|name| one(name, base, head)).collect();
    let distance = |m: &Moved| m.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
    found.sort_by(|a, b| {
        b.apart.cmp(&a.apart).then(distance(b).total_cmp(&distance(a))).then(a.name.cmp(&b.name))
    });
    found
}

fn one(
    name: &str,
    base: &[&BTreeMap<String, f64>],
    head: &[&BTreeMap<String, f64>],
) -> Option<Moved> {
    let values = |side: &[&BTreeMap<String, f64>]| {
        side.iter().map(|run| run.get(name).copied()).collect::<Option<Vec<f64>>>()
    };
    let (base, head) = (values(base)?, values(head)?);
    let mean = |values: &[f64]| Some(summary::mean(Sample::new(values)?));
    let (before, after) = (mean(&base)?, mean(&head)?);
    let least = if name.ends_with("_ns") { LEAST_NS } else { LEAST_PER_OPERATION };
    if before.max(after) < least {
        return None;
    }
    let ratio = (before > 0.0).then(|| after / before);
    if ratio.is_some_and(|ratio| (1.0 / LEAST_RATIO..=LEAST_RATIO).contains(&ratio)) {
        return None;
    }
    let lkp = compare(&base, &head, Direction::Lower, Rule::default(), Options::default());
    let apart = (!lkp.too_few).then_some(lkp.changed);
    (apart != Some(false)).then(|| Moved {
        name: name.to_owned(),
        base: before,
        head: after,
        ratio,
        apart,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    fn names(base: &[BTreeMap<String, f64>], head: &[BTreeMap<String, f64>]) -> Vec<String> {
        let (base, head): (Vec<_>, Vec<_>) = (base.iter().collect(), head.iter().collect());
        moved(&base, &head).into_iter().map(|moved| moved.name).collect()
    }

    #[test]
    fn the_counter_that_moved_most_comes_first_whichever_way() {
        let base = [run(&[("a", 10.0), ("b", 10.0), ("c", 10.0), ("d", 0.0)])];
        let head = [run(&[("a", 12.0), ("b", 2.0), ("c", 10.4), ("d", 1.0)])];
        assert_eq!(names(&base, &head), ["d", "b", "a"]);
    }

    #[test]
    fn with_three_runs_a_side_only_what_the_rule_tells_apart_is_left() {
        let side = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|i| run(&[("a", a[i]), ("b", b[i])]));
        let base = side([10.0, 10.1, 10.2], [5.0, 50.0, 8.0]);
        let head = side([15.0, 15.1, 15.2], [9.0, 90.0, 7.0]);
        assert_eq!(names(&base, &head), ["a"]);
        let found = moved(&base.each_ref(), &head.each_ref());
        assert_eq!(found[0].apart, Some(true));
        assert_eq!(moved(&base.each_ref()[..1], &head.each_ref()[..1])[0].apart, None);
    }

    #[test]
    fn what_one_run_lacks_or_hardly_ever_happens_is_not_compared() {
        let base = [run(&[("a", 1.0), ("rare", 1e-6), ("x_ns", 0.1)]), run(&[("b", 1.0)])];
        let head = [run(&[("a", 9.0), ("rare", 9e-6), ("x_ns", 0.9), ("b", 2.0)])];
        assert!(names(&base, &head).is_empty());
        assert!(names(&base[..1], &head).iter().eq(["a"]));
        assert!(names(&[], &head).is_empty());
    }
}
