//! Ranges of revisions, `(good, bad]`, and whether two of them can have one cause.

/// The cause lies after `good`, up to and including `bad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Rank of the last revision without the cause.
    pub good: i64,
    /// Rank of the first revision with it.
    pub bad: i64,
}

impl Range {
    /// The revisions in both; none when there are none.
    pub fn overlap(self, other: Range) -> Option<Range> {
        let both = Range { good: self.good.max(other.good), bad: self.bad.min(other.bad) };
        (both.good < both.bad).then_some(both)
    }

    /// Whether one ends where the other begins: noise may place one change a revision off.
    pub fn touches(self, other: Range) -> bool {
        self.bad == other.good || other.bad == self.good
    }

    /// Whether both may tell of one change of one series: they overlap or touch.
    pub fn is_near(self, other: Range) -> bool {
        self.overlap(other).is_some() || self.touches(other)
    }
}

/// The range of an incident: its first step's, narrowed by each later one that overlaps what is
/// left. Steps come strongest first. None without steps.
pub fn of_steps(steps: impl IntoIterator<Item = Range>) -> Option<Range> {
    steps.into_iter().reduce(|range, step| range.overlap(step).unwrap_or(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn range(good: i64, bad: i64) -> Range {
        Range { good, bad }
    }

    #[test]
    fn a_range_excludes_its_good_end_and_includes_its_bad_one() {
        assert_eq!(range(1, 5).overlap(range(3, 8)), Some(range(3, 5)));
        assert_eq!(range(1, 5).overlap(range(5, 8)), None);
        assert!(range(1, 5).touches(range(5, 8)));
        assert!(!range(1, 5).is_near(range(6, 8)));
    }

    #[test]
    fn an_incident_is_narrowed_by_its_steps_but_never_emptied_by_one_that_only_touches() {
        assert_eq!(of_steps([range(1, 9), range(4, 7), range(7, 8)]), Some(range(4, 7)));
        assert_eq!(of_steps([]), None);
    }
}
