//! `/projects/{name}/compare?base=&head=`: two sides of a project, the whole table of its curves.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;
use wire::GateOutcome;

use super::failure::Failure;
use super::shown;
use super::view::{Layout, Section, Value, parameter_words};
use super::visitor::Visitor;
use crate::api::{Params, ProjectCompared, compare_project};
use crate::app::App;
use crate::detect::evidence::change_of;
use crate::detect::explain;
use crate::detect::project::CurveJudged;
use crate::error::Result;
use crate::format;

/// One point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointRow {
    /// Task count.
    pub tasks: u32,
    /// Median of the base.
    pub base: Value,
    /// Median of the head.
    pub head: Value,
    /// head ÷ base with its interval, as changes.
    pub change: String,
    /// Verdict in words.
    pub verdict: String,
    /// Class of the style sheet.
    pub class: &'static str,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveGroup {
    /// Address of its own comparison.
    pub href: String,
    /// Workload id.
    pub workload: String,
    /// Parameters in words.
    pub parameters: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// `ops_per_s_total, ops/s, higher`.
    pub metric: String,
    /// Verdict over the curve in words.
    pub words: String,
    /// Points.
    pub rows: Vec<PointRow>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/project_compare.html")]
pub struct ProjectCompareView {
    /// Frame.
    pub layout: Layout,
    /// Project.
    pub project: String,
    /// What is compared with, as it was asked for, and its runs in words.
    pub base: (String, String),
    /// What is judged.
    pub head: (String, String),
    /// Class of the style sheet for the outcome.
    pub class: &'static str,
    /// What it comes to.
    pub words: String,
    /// Our rule in a sentence.
    pub rule: String,
    /// Regressions first.
    pub curves: Vec<CurveGroup>,
    /// Workload, parameters, machine and why, of curves that one side has alone.
    pub unpaired: Vec<[String; 4]>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    params: Params,
) -> Result<Html<String>, Failure> {
    let compared = compare_project(&app, &visitor.viewer, &name, params).await?;
    shown(&view(&compared, &visitor))
}

fn view(compared: &ProjectCompared, visitor: &Visitor) -> ProjectCompareView {
    let (outcome, words) = compared.judged.outcome();
    let (base_runs, head_runs) = compared.judged.runs;
    let asked = |text: &str, runs: usize| (text.to_owned(), format::count(runs, "run"));
    ProjectCompareView {
        layout: Layout::new(format!("{} compared", compared.project), Section::Curves)
            .seen_by(visitor),
        project: compared.project.clone(),
        base: asked(&compared.base.asked, base_runs),
        head: asked(&compared.head.asked, head_runs),
        class: match outcome {
            GateOutcome::Regression | GateOutcome::MeasurementFailed => "regression",
            GateOutcome::Undecided => "undecided",
            GateOutcome::NoRegression => "",
        },
        words,
        rule: explain::two_sides_rule(),
        curves: compared.judged.curves.iter().map(|one| group(compared, one)).collect(),
        unpaired: compared
            .judged
            .unpaired
            .iter()
            .map(|(curve, why)| {
                let parameters = parameter_words(&curve.parameters);
                [curve.workload.clone(), parameters, curve.machine_name.clone(), (*why).to_owned()]
            })
            .collect(),
    }
}

fn group(compared: &ProjectCompared, judged: &CurveJudged) -> CurveGroup {
    let curve = &judged.curve;
    let better = judged.direction.word();
    CurveGroup {
        href: compared.page_of(judged),
        workload: curve.workload.clone(),
        parameters: parameter_words(&curve.parameters),
        machine_id: curve.machine_public_id.clone(),
        machine_name: curve.machine_name.clone(),
        metric: format!("{}, {}, {better} is better", judged.metric, judged.unit.symbol()),
        words: judged.words(),
        rows: judged
            .comparison
            .judgement
            .points
            .iter()
            .map(|point| PointRow {
                tasks: point.tasks,
                base: Value::maybe(point.base),
                head: Value::maybe(point.head),
                change: point.ratio.map_or("–".into(), format::change_with_interval),
                verdict: point.words(),
                class: change_of(point.verdict).map_or("", |change| change.word()),
            })
            .collect(),
    }
}
