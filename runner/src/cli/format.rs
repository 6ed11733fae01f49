//! The forms in which results are printed, the same for `compare` and for `run`.

use anyhow::{bail, ensure};
use clap::ValueEnum;

use crate::compare::curves::Unpaired;
use crate::compare::files::Column;
use crate::compare::judge::Judged;
use crate::compare::unixbench::Heading;
use crate::compare::{aim, as_lkp, as_mmtests, counters, json, lkp, mmtests, table, unixbench};
use crate::run;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Our verdicts, with LKP's and mmtests' beside them; of one side its figures
    Table,
    /// The comparison table of the kernel test robot
    Lkp,
    /// The comparison table of mmtests
    Mmtests,
    /// The report of `UnixBench`, of each run
    Unixbench,
    /// The lines of AIM7, of each run
    Aim,
    /// The csv of re-AIM, of each run
    ReaimCsv,
    /// Everything, for programs
    Json,
}

impl Format {
    /// The name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether it shows every run by itself, so that one side is enough.
    pub fn shows_runs(self) -> bool {
        matches!(self, Format::Unixbench | Format::Aim | Format::ReaimCsv)
    }

    /// Whether nothing but it may be printed.
    pub fn is_for_programs(self) -> bool {
        matches!(self, Format::Json | Format::ReaimCsv)
    }
}

/// Refuses a form for programs among others.
///
/// # Errors
/// Says so.
pub fn check(formats: &[Format]) -> anyhow::Result<()> {
    for format in formats.iter().filter(|format| format.is_for_programs()) {
        ensure!(formats.len() == 1, "--format: {} stands alone", format.name());
    }
    Ok(())
}

/// Judged sides in every form asked for, one below the other.
///
/// # Errors
/// When JSON cannot be written.
pub fn sides(
    formats: &[Format],
    columns: &[Column],
    judged: &[Judged],
    unpaired: &[Unpaired],
) -> anyhow::Result<String> {
    let mut out = vec![];
    for format in formats {
        let shown = match format {
            Format::Table => in_tables(columns, judged),
            Format::Lkp => in_lkp(columns, judged),
            Format::Mmtests => in_mmtests(columns, judged),
            Format::Unixbench | Format::Aim if columns.len() == 1 => {
                out.push(each_run(columns, *format));
                continue;
            }
            Format::ReaimCsv => return Ok(each_run(columns, *format)),
            Format::Unixbench | Format::Aim => {
                in_verdicts(columns, judged) + &each_run(columns, *format)
            }
            Format::Json => return json::render(columns, judged, unpaired),
        };
        out.push(shown + &table::unpaired(unpaired));
    }
    Ok(out.join("\n"))
}

/// The points of one run in every form asked for; `heading` says where and when it was.
///
/// # Errors
/// When a form compares two sides.
pub fn one_run(
    formats: &[Format],
    points: &[wire::Point],
    heading: &dyn Fn() -> anyhow::Result<Heading>,
) -> anyhow::Result<String> {
    let mut out = vec![];
    for format in formats {
        out.push(match format {
            Format::Table => run::table::render(points),
            Format::Aim => aim::render(points),
            Format::ReaimCsv => aim::csv(points),
            Format::Unixbench => unixbench::render(&heading()?, points),
            Format::Lkp | Format::Mmtests | Format::Json => bail!(of_two_sides(*format)),
        });
    }
    Ok(out.join("\n"))
}

/// Whether one run can be shown so.
///
/// # Errors
/// Names the form that compares two sides.
pub fn check_one_run(formats: &[Format]) -> anyhow::Result<()> {
    let two = formats.iter().find(|f| !f.shows_runs() && **f != Format::Table);
    two.map_or_else(|| check(formats), |format| bail!(of_two_sides(*format)))
}

fn of_two_sides(format: Format) -> String {
    format!("--format {} compares two sides: give --base and --head", format.name())
}

fn in_tables(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = table::sides(columns) + "\n";
    for of_key in judged.chunk_by(|a, b| a.curve.key == b.curve.key) {
        of_key.iter().for_each(|curve| out.push_str(&table::render(columns, curve)));
        let moved = counters::render(columns, &of_key[0]);
        if !moved.is_empty() {
            out.push_str(moved.trim_start());
            out.push('\n');
        }
    }
    out
}

/// The verdicts alone, above formats that have no place for them.
fn in_verdicts(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = String::new();
    for curve in judged {
        out.push_str(&verdict(columns, curve));
        out.push('\n');
    }
    out
}

fn verdict(columns: &[Column], curve: &Judged) -> String {
    table::verdict(columns, curve) + &table::points(columns, curve)
}

/// Every run by itself, under its column's name where there is more than one run.
fn each_run(columns: &[Column], format: Format) -> String {
    let alone = columns.len() == 1 && columns[0].reports.len() == 1;
    let mut out = String::new();
    for column in columns {
        for report in &column.reports {
            if !alone {
                out.push_str(&format!("{}\n", column.name));
            }
            out.push_str(&match format {
                Format::Aim => aim::render(&report.points),
                Format::ReaimCsv => aim::csv(&report.points),
                _ => unixbench::render(&Heading::of(report), &report.points),
            });
        }
    }
    out
}

fn in_lkp(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = String::new();
    for of_key in judged.chunk_by(|a, b| a.curve.key == b.curve.key) {
        of_key.iter().for_each(|curve| out.push_str(&verdict(columns, curve)));
        out.push('\n');
        out.push_str(&lkp::render(&as_lkp(columns, &of_key.iter().collect::<Vec<_>>())));
        out.push_str(&counters::render(columns, &of_key[0]));
        out.push('\n');
    }
    out
}

fn in_mmtests(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = String::new();
    for curve in judged {
        out.push_str(&verdict(columns, curve));
        out.push('\n');
        out.push_str(&mmtests::render(&as_mmtests(columns, curve)));
        out.push('\n');
    }
    out
}
