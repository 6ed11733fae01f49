//! The profiles of result files, point by point, on one side or two.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use wire::Report;

use super::Folded;
use crate::compare::files::{self, Content};

/// The profile of one point, all runs of it together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OfPoint {
    /// Workload id.
    pub workload: String,
    /// Task count.
    pub tasks: u32,
    /// What tells it from others: workload, parameters and tasks.
    pub label: String,
    /// Its samples.
    pub folded: Folded,
}

/// Profiles by a key that both sides share.
pub type Side = BTreeMap<String, OfPoint>;

/// Reads one file or two; a file of a paired run holds both sides itself.
///
/// # Errors
/// Names the file that cannot be read, holds no profile, or holds more sides than fit.
pub fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Side>> {
    let mut sides = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        match files::parse(&name, &text)? {
            Content::Plain(reports) => {
                let mut side = Side::new();
                reports.iter().try_for_each(|report| add(&mut side, report, &[]))?;
                ensure!(!side.is_empty(), "{name} holds no profile: measure with --profile");
                sides.push(side);
            }
            Content::Sided(_) if paths.len() > 1 => {
                bail!("{name} holds both sides of a paired run: name it alone")
            }
            Content::Sided(lines) => {
                let (mut base, mut head) = (Side::new(), Side::new());
                for line in &lines {
                    let side = if line.side == files::Side::Base { &mut base } else { &mut head };
                    let given: Vec<&String> = line.given.keys().collect();
                    add(side, &line.report, &given)?;
                }
                sides.extend([base, head]);
            }
        }
    }
    Ok(sides)
}

/// Adds the profiles of a report; parameters that make the side are no part of the point.
fn add(side: &mut Side, report: &Report, given: &[&String]) -> anyhow::Result<()> {
    for point in &report.points {
        let name = point.profile_name();
        let Some(artefact) = report.artefacts.iter().find(|a| a.name == name) else { continue };
        let mut shared = point.clone();
        shared.parameters.retain(|name, _| !given.contains(&name));
        let words: Vec<String> =
            shared.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let of = side.entry(shared.profile_name()).or_default();
        of.label = format!("{} {} tasks={}", point.workload, words.join(" "), point.tasks);
        (of.workload, of.tasks) = (point.workload.clone(), point.tasks);
        of.folded.add_all(&Folded::of_artefact(artefact)?, None);
    }
    Ok(())
}

/// All samples of a side; where it has several points, each below a frame of its own.
pub fn merged(side: &Side) -> Folded {
    let mut all = Folded::default();
    for of in side.values() {
        all.add_all(&of.folded, (side.len() > 1).then_some(of.label.as_str()));
    }
    all
}

/// The points that both sides have, with their frames where they are several.
pub fn pairs<'a>(base: &'a Side, head: &'a Side) -> Vec<(Option<&'a str>, &'a Folded, &'a Folded)> {
    let both = || base.iter().filter_map(|(key, base)| Some((base, head.get(key)?)));
    let several = both().count() > 1;
    both()
        .map(|(base, head)| (several.then_some(head.label.as_str()), &base.folded, &head.folded))
        .collect()
}

/// What a side shows, in words.
pub fn title(side: &Side) -> String {
    match side.values().next() {
        Some(of) if side.len() == 1 => of.label.clone(),
        _ => format!("{} points", side.len()),
    }
}
