//! What several pages show the same way: display-ready values, each with its own small template.
//! They escape what they hold, so a page inserts them as they are.

use askama::Template;
use askama::filters::HtmlSafe;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::assets;
use super::visitor::Visitor;
use crate::account::Who;
use crate::chart::Size;
use crate::format;
use crate::model::environment::Known;

/// A section of the site, as the bar at the top names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// `/`.
    Overview,
    /// `/incidents` and below.
    Incidents,
    /// `/curves` and below, `/compare`.
    Curves,
    /// `/jobs` and below.
    Jobs,
    /// Pages that stand for themselves.
    None,
}

/// What the frame around every page needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Title in the browser, without the service's name.
    pub title: String,
    /// Section that is marked as current.
    pub section: Section,
    /// What stands in the search field.
    pub query: String,
    /// Who looks: where their name leads, and the name. None on pages that do not know.
    pub me: Option<(String, String)>,
}

impl Layout {
    /// A page of a section.
    pub fn new(title: impl Into<String>, section: Section) -> Layout {
        Layout { title: title.into(), section, query: String::new(), me: None }
    }

    /// With what was looked for in the search field.
    pub fn searched_for(self, query: &str) -> Layout {
        Layout { query: query.to_owned(), ..self }
    }

    /// The page as this visitor sees it: their name leads to their account, nobody's to the login.
    pub fn seen_by(mut self, visitor: &Visitor) -> Layout {
        self.me = Some(match visitor.viewer.who() {
            Who::Nobody => (visitor.login_address(), "Log in".into()),
            _ => ("/account".into(), visitor.viewer.name().to_owned()),
        });
        self
    }

    pub(super) fn sections(&self) -> [(Section, &'static str, &'static str); 4] {
        [
            (Section::Overview, "/", "Overview"),
            (Section::Incidents, "/incidents", "Incidents"),
            (Section::Curves, "/curves", "Curves"),
            (Section::Jobs, "/jobs", "Jobs"),
        ]
    }

    pub(super) fn css(&self) -> String {
        assets::CSS.address()
    }

    pub(super) fn js(&self) -> String {
        assets::JS.address()
    }

    pub(super) fn icon(&self) -> String {
        assets::ICON.address()
    }

    pub(super) fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

/// A choice of states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChoice {
    /// Name.
    pub name: &'static str,
    /// Address.
    pub href: String,
    /// It is the one shown.
    pub chosen: bool,
}

/// A time, as said to people, with the full time in its title.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/when.html")]
pub struct When {
    machine_readable: String,
    full: String,
    ago: String,
}

impl When {
    /// `at`, seen from `now`.
    pub fn new(at: OffsetDateTime, now: OffsetDateTime) -> When {
        When {
            machine_readable: at.format(&Rfc3339).unwrap_or_default(),
            full: format::full_time(at),
            ago: format::ago(at, now),
        }
    }
}

/// A commit: ten digits, its subject, all digits in the title.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/commit.html")]
pub struct CommitMark {
    /// All digits.
    pub id: String,
    /// First line of the message; from outside, never trusted.
    pub subject: String,
}

impl CommitMark {
    /// A commit and the first line of its message.
    pub fn new(id: &str, subject: &str) -> CommitMark {
        CommitMark { id: id.to_owned(), subject: subject.to_owned() }
    }

    fn short(&self) -> &str {
        format::commit(&self.id)
    }
}

/// A number with three significant digits, and all of them for the title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Value {
    /// Three significant digits.
    pub shown: String,
    /// All digits.
    pub exact: String,
}

impl Value {
    /// A value that is there.
    pub fn new(value: f64) -> Value {
        Value { shown: format::number(value), exact: format::exact(value) }
    }

    /// One side of an inequality: a limit reads as it was set.
    pub fn limit(value: Option<f64>) -> Value {
        let mut view = Value::maybe(value);
        if let Some(value) = value.filter(|value| value.is_finite()) {
            view.shown = format::limit(value);
        }
        view
    }

    /// A value, or a dash.
    pub fn maybe(value: Option<f64>) -> Value {
        let none = || Value { shown: "–".into(), exact: "none".into() };
        value.filter(|value| value.is_finite()).map_or_else(none, Value::new)
    }
}

/// A plot with its caption; a second drawing for narrow screens where the first does not shrink
/// well.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/figure.html")]
pub struct Figure {
    /// What it shows.
    pub caption: String,
    /// SVG.
    pub wide: String,
    /// SVG for narrow screens.
    pub narrow: Option<String>,
}

impl Figure {
    /// One drawing for every screen.
    pub fn one(caption: impl Into<String>, drawing: String) -> Figure {
        Figure { caption: caption.into(), wide: drawing, narrow: None }
    }

    /// The drawing made twice, at two sizes.
    pub fn two(
        caption: impl Into<String>,
        (wide, narrow): (Size, Size),
        draw: impl Fn(Size) -> String,
    ) -> Figure {
        let marked = |size, class: &str| {
            draw(size).replacen("class=\"plot\"", &format!("class=\"plot {class}\""), 1)
        };
        Figure {
            caption: caption.into(),
            wide: marked(wide, "wide"),
            narrow: Some(marked(narrow, "narrow")),
        }
    }
}

/// Keys and their values.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/facts.html")]
pub struct Facts {
    /// What the table holds.
    pub caption: String,
    /// What a key is.
    pub key_title: &'static str,
    /// In order.
    pub facts: Vec<(String, String)>,
}

/// One fact that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// Dotted key.
    pub key: String,
    /// Value before, in words.
    pub base: String,
    /// Value after, in words.
    pub head: String,
    /// What earlier changes of it did, in words.
    pub known: String,
}

/// What differs between two environments.
#[derive(Debug, Clone, PartialEq, Eq, Template, Default)]
#[template(path = "partials/environment_changes.html")]
pub struct EnvironmentChanges {
    /// What moved results most often first.
    pub changes: Vec<ChangeRow>,
}

impl EnvironmentChanges {
    /// From the fields that differ.
    pub fn new(changes: &[Known]) -> EnvironmentChanges {
        let words = |value: &Option<String>| value.clone().unwrap_or("not recorded".into());
        let row = |change: &Known| ChangeRow {
            key: change.difference.field.clone(),
            base: words(&change.difference.before),
            head: words(&change.difference.after),
            known: change.words(),
        };
        EnvironmentChanges { changes: changes.iter().map(row).collect() }
    }
}

/// One inequality.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What is compared.
    pub what: String,
    /// Left side.
    pub left: Value,
    /// `>`, `≥`, `<` or `≤`.
    pub relation: String,
    /// Right side.
    pub right: Value,
    /// Whether it holds.
    pub holds: bool,
    /// Whether this line decided.
    pub decides: bool,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/evidence.html")]
pub struct Evidence {
    /// What was judged.
    pub title: String,
    /// In the order they were evaluated.
    pub lines: Vec<Line>,
    /// What the numbers rest on and what was set aside, in sentences.
    pub set_aside: Vec<String>,
    /// Values that were used, all digits.
    pub used: Vec<String>,
}

impl Evidence {
    /// Evidence as it is stored.
    pub fn new(title: impl Into<String>, evidence: &crate::model::step::Evidence) -> Evidence {
        let mut view = Evidence::of_lines(title, &evidence.inequalities, evidence.decided_by);
        view.set_aside = [&evidence.notes[..], &evidence.set_aside[..]].concat();
        view.used = evidence.used.iter().map(|value| Value::maybe(*value).exact).collect();
        view
    }

    /// Inequalities alone.
    pub fn of_lines(
        title: impl Into<String>,
        lines: &[crate::model::step::Inequality],
        decided_by: Option<usize>,
    ) -> Evidence {
        let line = |(index, line): (usize, &crate::model::step::Inequality)| Line {
            what: line.what.clone(),
            left: Value::limit(line.left),
            relation: line.relation.replace(">=", "≥").replace("<=", "≤"),
            right: Value::limit(line.right),
            holds: line.holds,
            decides: decided_by == Some(index),
        };
        Evidence {
            title: title.into(),
            lines: lines.iter().enumerate().map(line).collect(),
            set_aside: Vec::new(),
            used: Vec::new(),
        }
    }
}

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// UUID.
    pub id: String,
    /// Its first group.
    pub short_id: String,
    /// What ran.
    pub commit: CommitMark,
    /// Whose code.
    pub project: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// How many points, and how many failed.
    pub points: String,
    /// When it ended.
    pub finished: When,
}

/// A list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/run_rows.html")]
pub struct RunRows {
    /// What the list holds.
    pub caption: String,
    /// Rows.
    pub rows: Vec<RunRow>,
}

impl RunRows {
    /// Runs as stored.
    pub fn new(
        caption: impl Into<String>,
        runs: &[crate::model::Run],
        now: OffsetDateTime,
    ) -> RunRows {
        let row = |run: &crate::model::Run| RunRow {
            id: run.id.to_string(),
            short_id: short_run(&run.id),
            commit: CommitMark::new(&run.commit, &run.subject),
            project: run.project_name.clone(),
            machine_id: run.machine_public_id.clone(),
            machine_name: run.machine_name.clone(),
            points: points_words(run.points, run.failed_points),
            finished: When::new(run.finished_at, now),
        };
        RunRows { caption: caption.into(), rows: runs.iter().map(row).collect() }
    }
}

/// The first group of a run's UUID.
pub fn short_run(id: &crate::model::RunId) -> String {
    id.to_string().chars().take(8).collect()
}

/// `12 points`, `12 points, 1 failed`.
pub fn points_words(points: i64, failed: i64) -> String {
    let points = format::count(usize::try_from(points).unwrap_or(0), "point");
    if failed > 0 { format!("{points}, {failed} failed") } else { points }
}

/// Parameters as `mode process, size 1048576`.
pub fn parameter_words(parameters: &std::collections::BTreeMap<String, String>) -> String {
    let parts: Vec<String> =
        parameters.iter().map(|(key, value)| format!("{key} {value}")).collect();
    parts.join(", ")
}

impl HtmlSafe for When {}
impl HtmlSafe for CommitMark {}
impl HtmlSafe for Figure {}
impl HtmlSafe for Facts {}
impl HtmlSafe for EnvironmentChanges {}
impl HtmlSafe for Evidence {}
impl HtmlSafe for RunRows {}
