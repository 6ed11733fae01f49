//! `list`: what can be measured.

use std::fmt::Write;

use serde::Serialize;

use super::{print, print_json};
use crate::exit::Exit;
use crate::harness::Workload;
use crate::workloads::{self, wis};

/// List the workloads with their parameters and metrics
#[derive(clap::Args)]
pub struct Args {
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Entry {
    id: &'static str,
    version: u32,
    description: &'static str,
    operation: &'static str,
    stresses: &'static str,
    needs_directory: bool,
    modes: Vec<&'static str>,
    parameters: Vec<Parameter>,
    metrics: Vec<Metric>,
    /// Names of will-it-scale's tests that it is.
    will_it_scale: Vec<&'static str>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    default: &'static str,
    allowed: String,
    about: &'static str,
}

#[derive(Serialize)]
struct Metric {
    name: String,
    unit: &'static str,
    direction: &'static str,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let entries: Vec<Entry> = workloads::all().iter().map(|workload| entry(workload)).collect();
    if args.json {
        print_json(&entries)?;
    } else {
        print(&entries.iter().map(in_words).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}

fn entry(workload: &Workload) -> Entry {
    let usual = [
        wire::Metric::ops_per_s_total(),
        wire::Metric::ops_per_cpu_s(),
        wire::Metric::task_fairness(),
    ];
    let usual = usual.into_iter().map(|m| Metric {
        name: m.name,
        unit: m.unit.symbol(),
        direction: m.direction.word(),
    });
    let own = workload.metrics.iter().map(|m| Metric {
        name: m.name.into(),
        unit: m.unit.symbol(),
        direction: m.direction.word(),
    });
    Entry {
        id: workload.id,
        version: workload.version,
        description: workload.description,
        operation: workload.operation,
        stresses: workload.stresses,
        needs_directory: workload.needs_directory,
        modes: workload.modes.iter().map(|mode| mode.word()).collect(),
        parameters: workload
            .parameters
            .iter()
            .map(|p| Parameter {
                name: p.name,
                default: p.default,
                allowed: p.allowed.to_string(),
                about: p.about,
            })
            .collect(),
        metrics: usual.chain(own).collect(),
        will_it_scale: wis::TESTS
            .iter()
            .filter(|test| test.workload == workload.id)
            .map(|test| test.name)
            .collect(),
    }
}

fn in_words(entry: &Entry) -> String {
    let mut out = format!("{}  version {}\n", entry.id, entry.version);
    let _ = writeln!(out, "  {}", entry.description);
    let _ = writeln!(out, "  one operation: {}", entry.operation);
    let _ = writeln!(out, "  stresses: {}", entry.stresses);
    if entry.needs_directory {
        out.push_str("  needs a directory on the file system under test (--dir)\n");
    }
    let _ = writeln!(out, "  modes: {}", entry.modes.join(", "));
    for p in &entry.parameters {
        let _ = writeln!(out, "  -p {}={}  {}; {}", p.name, p.default, p.about, p.allowed);
    }
    let metrics: Vec<String> = entry
        .metrics
        .iter()
        .map(|m| format!("{} ({}, {} is better)", m.name, m.unit, m.direction))
        .collect();
    let _ = writeln!(out, "  metrics: {}", metrics.join(", "));
    if !entry.will_it_scale.is_empty() {
        let _ = writeln!(out, "  as wis/NAME: {}", entry.will_it_scale.join(", "));
    }
    out
}
