//! Base against head: one curve at two revisions, judged point by point.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::curves::metric_of;
use super::values::Estimate;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::detect::history::{Environments, direction_of};
use crate::detect::{earlier, policy, two_sides};
use crate::error::Result;
use crate::model::step::Evidence;
use crate::model::{Curve, CurveId, Difference, EnvironmentId, Measurement, Revision};

#[derive(Debug, Serialize)]
pub struct ComparisonView {
    curve: CurveId,
    metric: String,
    unit: wire::Unit,
    direction: wire::Direction,
    base: RevisionView,
    head: RevisionView,
    /// The verdict over the curve in words; never one number.
    words: String,
    /// The environment both sides were judged in; null when they share none.
    environment: Option<EnvironmentId>,
    /// What differs where the sides share no environment.
    environment_changes: Vec<Difference>,
    /// Runs left out, in sentences.
    set_aside: Vec<String>,
    points: Vec<PointView>,
}

#[derive(Debug, Serialize)]
struct RevisionView {
    commit: String,
    subject: String,
}

#[derive(Debug, Serialize)]
struct PointView {
    tasks: u32,
    verdict: &'static str,
    /// Two builds of one code might show the change too: earlier builds are too few to tell.
    unconfirmed: bool,
    base: Option<f64>,
    head: Option<f64>,
    /// head ÷ base, the base taken with the earlier builds it stands with; its interval at the
    /// level corrected for the number of points.
    ratio: Option<Estimate>,
    evidence: Evidence,
}

/// `GET /compare?curve=&base=&head=`: commits by their first digits; `metric` is the primary one
/// when left out.
pub async fn show(State(app): State<App>, mut params: Params) -> Answer<Json<ComparisonView>> {
    let curve = params.require::<CurveId>("curve")?;
    let base = params.require::<String>("base")?;
    let head = params.require::<String>("head")?;
    let metric = params.take::<String>("metric")?;
    params.finish()?;
    let curve = lookup::curve(&app, curve).await?;
    let base = lookup::commit(&app, curve.project, "base", &base).await?;
    let head = lookup::commit(&app, curve.project, "head", &head).await?;
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    let series = metric_of(&series, metric.as_deref())?;
    let base_runs = runs(&app, &curve, &series.metric, &base).await?;
    let head_runs = runs(&app, &curve, &series.metric, &head).await?;
    let earlier = earlier::load(&app.db, &curve, &series.metric, &base_runs, &head_runs).await?;
    let points = two_sides::points(&base_runs, &head_runs, &earlier);
    let environments = environments(&app, base_runs.iter().chain(&head_runs)).await?;
    let direction = direction_of(series.direction);
    let comparison =
        two_sides::compare_curve(&points, direction, &environments, &policy::two_sides());
    Ok(Json(ComparisonView {
        curve: curve.id,
        metric: series.metric.clone(),
        unit: series.unit,
        direction: series.direction,
        base: RevisionView::of(&base),
        head: RevisionView::of(&head),
        points: comparison.judgement.points.iter().map(PointView::from).collect(),
        words: comparison.judgement.words,
        environment: comparison.environment,
        environment_changes: comparison.environment_changes,
        set_aside: comparison.set_aside,
    }))
}

async fn runs(
    app: &App,
    curve: &Curve,
    metric: &str,
    revisions: &[Revision],
) -> Result<Vec<Measurement>> {
    let ids: Vec<_> = revisions.iter().map(|revision| revision.id).collect();
    let filter =
        db::history::Filter { metric: Some(metric), revisions: Some(&ids), ..Default::default() };
    Ok(db::history::list(&app.db, curve, &filter, true).await?)
}

async fn environments(app: &App, runs: impl Iterator<Item = &Measurement>) -> Result<Environments> {
    let ids: BTreeSet<EnvironmentId> = runs.map(|run| run.environment).collect();
    let ids: Vec<EnvironmentId> = ids.into_iter().collect();
    let found = db::environment::list(&app.db, &ids).await?;
    Ok(found.into_iter().map(|one| (one.id, one.facts)).collect())
}

impl RevisionView {
    /// The lookup gives at least one revision, all of one commit.
    fn of(revisions: &[Revision]) -> RevisionView {
        let first = revisions.first();
        let text = |of: fn(&Revision) -> &String| first.map(of).cloned().unwrap_or_default();
        RevisionView { commit: text(|one| &one.commit), subject: text(|one| &one.subject) }
    }
}

impl From<&stats::two_sides::PointJudgement> for PointView {
    fn from(point: &stats::two_sides::PointJudgement) -> PointView {
        PointView {
            tasks: point.tasks,
            verdict: point.verdict.words(),
            unconfirmed: point.unconfirmed,
            base: point.base,
            head: point.head,
            ratio: point.ratio.map(Estimate::from),
            evidence: (&point.evidence).into(),
        }
    }
}
