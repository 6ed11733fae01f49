//! What a workload may be asked for by: its id, or `wis/` and the name of a will-it-scale test.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};

use super::{find, wis};
use crate::harness::Workload;

/// A workload and the parameters that its name has set already.
#[derive(Clone)]
pub struct Named {
    /// The workload.
    pub workload: &'static Workload,
    fixed: BTreeMap<String, String>,
}

/// What `name` stands for.
///
/// # Errors
/// When there is no such workload or test.
pub fn named(name: &str) -> anyhow::Result<Named> {
    let no_workload =
        || format!("no workload {name:?}: `scalewatch-runner list` shows what there is");
    if !name.starts_with(wis::PREFIX) {
        let workload = find(name).with_context(no_workload)?;
        return Ok(Named { workload, fixed: BTreeMap::new() });
    }
    let test = wis::find(name).with_context(|| {
        let names: Vec<&str> = wis::TESTS.iter().map(|test| test.name).collect();
        format!("no will-it-scale test {name:?}: there are {}", names.join(", "))
    })?;
    let workload = find(test.workload).with_context(no_workload)?;
    Ok(Named { workload, fixed: test.given() })
}

impl Named {
    /// `given` and what the name sets.
    ///
    /// # Errors
    /// When `given` says otherwise.
    pub fn with(
        &self,
        given: &BTreeMap<String, String>,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let mut all = self.fixed.clone();
        for (name, value) in given {
            let before = all.insert(name.clone(), value.clone());
            ensure!(
                before.as_ref().is_none_or(|before| before == value),
                "parameter {name}: the test is {} with {name}={}, not {value}; name the workload \
                 to change it",
                self.workload.id,
                before.unwrap_or_default()
            );
        }
        Ok(all)
    }

    /// The value of a parameter that neither side nor command line sets.
    pub fn usual(&self, parameter: &str) -> Option<&str> {
        let default = || self.workload.parameters.iter().find(|p| p.name == parameter);
        self.fixed.get(parameter).map(String::as_str).or_else(|| default().map(|p| p.default))
    }
}
