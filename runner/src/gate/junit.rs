//! A verdict as `JUnit` XML: a suite a machine, a case a point, so that CI shows which one is worse.

use std::collections::BTreeMap;
use std::io::Cursor;

use anyhow::Context;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use wire::{CurveComparison, PointComparison, ProjectComparison};

use super::{change, parameters, verdict};
use crate::show::figures::short_or_dash;

/// What became of a case.
enum Case {
    Passed,
    /// It is worse.
    Failure(String),
    /// It could not be measured.
    Error(String),
    /// There is no verdict.
    Skipped(String),
}

type Row = (String, String, Case);

/// The document. A gate that is undecided has a case of its own, so that it never looks passed.
///
/// # Errors
/// When a string cannot be written.
pub fn junit(compared: &ProjectComparison) -> anyhow::Result<String> {
    let mut suites: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for curve in &compared.curves {
        let suite = suites.entry(&curve.machine_name).or_default();
        suite.extend(curve.points.iter().map(|point| case(curve, point)));
        suite.extend(curve.failed.iter().map(|failed| {
            let name = format!("{} tasks, {}", failed.tasks, parameters(curve));
            (curve.workload.clone(), name, Case::Error(failed.detail.clone()))
        }));
    }
    for curve in &compared.unpaired {
        let suite = suites.entry(&curve.machine_name).or_default();
        let name = "both sides".to_owned();
        suite.push((curve.workload.clone(), name, Case::Skipped(curve.why.clone())));
    }
    let outcome = match compared.outcome {
        wire::GateOutcome::NoRegression => Case::Passed,
        wire::GateOutcome::Regression => Case::Failure(compared.words.clone()),
        _ => Case::Error(compared.words.clone()),
    };
    suites.entry("gate").or_default().push(("gate".into(), compared.project.clone(), outcome));
    write(&suites).context("cannot write XML")
}

fn case(curve: &CurveComparison, point: &PointComparison) -> Row {
    let name = format!("{} tasks, {}", point.tasks, parameters(curve));
    let figures = format!(
        "{}: {} against {} {}, {} ({})",
        verdict(point),
        short_or_dash(point.base),
        short_or_dash(point.head),
        curve.unit.symbol(),
        change(point),
        curve.url
    );
    let case = match (point.verdict.as_str(), point.unconfirmed) {
        ("regression", false) => Case::Failure(figures),
        ("regression", true) => Case::Skipped(figures),
        ("improvement" | "no change", _) => Case::Passed,
        _ => Case::Skipped(figures),
    };
    (curve.workload.clone(), name, case)
}

fn write(suites: &BTreeMap<&str, Vec<Row>>) -> std::io::Result<String> {
    let mut writer = Writer::new_with_indent(Cursor::new(Vec::new()), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .with_attribute(("name", "scalewatch"))
        .write_inner_content(|writer| {
            suites.iter().try_for_each(|(name, rows)| suite(writer, name, rows))
        })?;
    let bytes = writer.into_inner().into_inner();
    Ok(String::from_utf8(bytes).map_err(std::io::Error::other)? + "\n")
}

type Xml = Writer<Cursor<Vec<u8>>>;

fn suite(writer: &mut Xml, name: &str, rows: &[Row]) -> std::io::Result<()> {
    let count =
        |fits: fn(&Case) -> bool| rows.iter().filter(|row| fits(&row.2)).count().to_string();
    writer
        .create_element("testsuite")
        .with_attribute(("name", &*clean(name)))
        .with_attribute(("tests", &*rows.len().to_string()))
        .with_attribute(("failures", &*count(|case| matches!(case, Case::Failure(_)))))
        .with_attribute(("errors", &*count(|case| matches!(case, Case::Error(_)))))
        .with_attribute(("skipped", &*count(|case| matches!(case, Case::Skipped(_)))))
        .write_inner_content(|writer| rows.iter().try_for_each(|row| one(writer, row)))?;
    Ok(())
}

fn one(writer: &mut Xml, (class, name, case): &Row) -> std::io::Result<()> {
    let (class, name) = (clean(class), clean(name));
    let element = writer
        .create_element("testcase")
        .with_attribute(("classname", &*class))
        .with_attribute(("name", &*name));
    let (tag, words) = match case {
        Case::Passed => return element.write_empty().map(drop),
        Case::Failure(words) => ("failure", words),
        Case::Error(words) => ("error", words),
        Case::Skipped(words) => ("skipped", words),
    };
    let words = clean(words);
    element
        .write_inner_content(|writer| {
            writer
                .create_element(tag)
                .with_attribute(("message", &*words))
                .write_text_content(BytesText::new(&words))
                .map(drop)
        })
        .map(drop)
}

/// Without what XML 1.0 cannot hold.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' => ' ',
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{comparison, mixed};
    use super::*;

    #[test]
    fn a_worse_point_fails_its_case_and_the_rest_is_counted() {
        let text = junit(&mixed()).unwrap();
        assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{text}");
        let suite =
            "<testsuite name=\"box-a\" tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\">";
        assert!(text.contains(suite), "{text}");
        assert!(text.contains("name=\"16 tasks, mode process\""), "{text}");
        assert!(
            text.contains("<failure message=\"regression: 100 k against 65.4 k ops/s"),
            "{text}"
        );
        assert!(text.contains("no space &lt;left&gt; &amp; \u{fffd}more"), "{text}");
        assert!(text.contains("curve=3&amp;base=a"), "{text}");
    }

    #[test]
    fn what_is_undecided_never_looks_passed() {
        let mut nothing = comparison(wire::GateOutcome::Undecided, Vec::new());
        nothing.unpaired.clear();
        let text = junit(&nothing).unwrap();
        assert!(text.contains("errors=\"1\"") && text.contains("<error message="), "{text}");
    }
}
