//! The invariant every other function leans on.

/// At least one value, all finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a>(&'a [f64]);

impl<'a> Sample<'a> {
    /// None when `values` is empty or holds a NaN or an infinity.
    pub fn new(values: &'a [f64]) -> Option<Sample<'a>> {
        (!values.is_empty() && values.iter().all(|v| v.is_finite())).then_some(Sample(values))
    }

    /// The values, in the order given.
    pub fn values(self) -> &'a [f64] {
        self.0
    }
}
