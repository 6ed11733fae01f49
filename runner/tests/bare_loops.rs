//! The benchmark of the harness compares each loop with a twin written down bare: every workload has
//! one, at every word of its parameters, or a reason why not.

#[path = "../benches/bare/mod.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "the benchmark runs the loops")]
mod bare;

use std::collections::BTreeMap;

use bare::{LOOPS, WITHOUT};
use scalewatch_runner::harness::{Allowed, Workload};
use scalewatch_runner::workloads::{all, find};

fn has_reason(workload: &Workload, word: Option<(&str, &str)>) -> bool {
    WITHOUT.iter().any(|(id, of_word, _)| {
        workload.id.starts_with(id) && (of_word.is_none() || *of_word == word)
    })
}

/// Whether a loop is this workload, at this word of a parameter.
fn has_twin(workload: &Workload, word: Option<(&str, &str)>) -> bool {
    LOOPS.iter().filter(|twin| twin.id == workload.id).any(|twin| {
        let Some((name, value)) = word else { return true };
        let usual = workload.parameters.iter().find(|p| p.name == name).map(|p| p.default);
        let given = twin.parameters.iter().find(|(given, _)| *given == name).map(|given| given.1);
        given.or(usual) == Some(value)
    })
}

#[test]
fn every_workload_has_a_bare_twin_at_every_word_of_its_parameters_or_a_reason_why_not() {
    let mut missing = vec![];
    for workload in all() {
        let mut words = vec![None];
        for parameter in workload.parameters {
            if let Allowed::OneOf(allowed) = parameter.allowed {
                words.extend(allowed.iter().map(|word| Some((parameter.name, *word))));
            }
        }
        let bare = |word: &Option<_>| !has_twin(workload, *word) && !has_reason(workload, *word);
        missing.extend(words.into_iter().filter(bare).map(|word| (workload.id, word)));
    }
    assert!(missing.is_empty(), "benches/bare/catalogue.rs lacks {missing:#?}");
}

#[test]
fn every_twin_is_of_a_workload_at_parameters_it_has_and_none_has_also_a_reason() {
    for twin in LOOPS {
        let workload = find(twin.id).unwrap_or_else(|| panic!("no workload {}", twin.id));
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let parameters: BTreeMap<_, _> = twin.parameters.iter().map(own).collect();
        let resolved = workload.resolve(&parameters);
        resolved.unwrap_or_else(|error| panic!("{}: {error}", twin.name()));
        assert_eq!(twin.processes_only, workload.modes.len() == 1, "{}", twin.name());
        let words = twin.parameters.iter().map(|word| Some(*word)).chain([None]);
        words.for_each(|word| assert!(!has_reason(workload, word), "{}: {word:?}", twin.name()));
    }
    for (id, word, why) in WITHOUT {
        assert!(all().iter().any(|w| w.id.starts_with(id)), "{id} {word:?}: {why}");
    }
}
