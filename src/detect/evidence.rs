//! The evidence of the pure numbers, in the form it is stored and shown.

use crate::model::step::{Change, Evidence, Inequality};

impl From<&stats::Evidence> for Evidence {
    fn from(evidence: &stats::Evidence) -> Evidence {
        Evidence {
            used: evidence.used.iter().copied().map(finite).collect(),
            set_aside: evidence.set_aside.clone(),
            notes: evidence.notes.clone(),
            inequalities: evidence.inequalities.iter().map(Inequality::from).collect(),
            decided_by: evidence.decided_by,
            neighbour: None,
            bend: None,
        }
    }
}

impl From<&stats::Inequality> for Inequality {
    fn from(line: &stats::Inequality) -> Inequality {
        Inequality {
            what: line.what.clone(),
            left: finite(line.left),
            relation: line.relation.to_owned(),
            right: finite(line.right),
            holds: line.holds,
        }
    }
}

/// The change a verdict tells of; none for every verdict that tells of no change.
pub fn change_of(verdict: stats::Verdict) -> Option<Change> {
    match verdict {
        stats::Verdict::Regression => Some(Change::Regression),
        stats::Verdict::Improvement => Some(Change::Improvement),
        _ => None,
    }
}

/// JSON has no NaN and no infinity: they become null.
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_stored_as_null() {
        let evidence = stats::Evidence {
            used: vec![1.0, f64::NAN],
            inequalities: vec![stats::Inequality {
                what: "distance".into(),
                left: f64::INFINITY,
                relation: ">",
                right: 0.5,
                holds: true,
            }],
            ..stats::Evidence::default()
        };
        let json = serde_json::to_value(Evidence::from(&evidence)).expect("plain data");
        assert_eq!(json["used"], serde_json::json!([1.0, null]));
        assert_eq!(json["inequalities"][0]["left"], serde_json::Value::Null);
        assert_eq!(json["inequalities"][0]["right"], 0.5);
    }
}
