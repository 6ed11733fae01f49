//! The golden reports, and how to spoil them.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use serde_json::Value;

pub const MEASURED: &str = include_str!("../golden/report-v1-measured.json");
pub const FAILED: &str = include_str!("../golden/report-v1-failed.json");
pub const ALL_SOURCES: &str = include_str!("../golden/report-v1-all-sources.json");

/// The measured part of a point, as problems name it.
pub const M: &str = "points[0].outcome.measured";

/// A golden report with another value at the pointer; none removes it.
pub fn edited(golden: &str, pointer: &str, value: Option<Value>) -> Value {
    let mut tree: Value = serde_json::from_str(golden).unwrap();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let parent = tree.pointer_mut(parent).unwrap_or_else(|| panic!("no parent of {pointer}"));
    match (parent, value) {
        (Value::Object(map), Some(value)) => drop(map.insert(last.into(), value)),
        (Value::Object(map), None) => drop(map.remove(last).unwrap()),
        (Value::Array(list), Some(value)) => list[last.parse::<usize>().unwrap()] = value,
        _ => panic!("nothing to edit at {pointer}"),
    }
    tree
}
