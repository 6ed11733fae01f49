//! Two sides of a project, all curves at once, and what the whole comes to: what a gate asks.

use axum::Json;
use axum::extract::State;
use wire::{
    ComparedSide, CurveComparison, FailedAt, PointComparison, ProjectComparison, UnpairedCurve,
};

use super::at::At;
use super::auth::Reader;
use super::lookup::{self, Side};
use super::problem::Read;
use super::{Answer, Params};
use crate::account::Viewer;
use crate::app::App;
use crate::db::sides::Filter;
use crate::detect::explain;
use crate::detect::project::{self, Asked, CurveJudged, ProjectJudged};
use crate::detect::two_sides::{Across, PointJudgement};
use crate::error::{Error, Result};

/// Compares two sides of a project over all its curves, and says what that comes to.
#[utoipa::path(
    get, path = "/projects/{name}/compare", operation_id = "compare_project", tag = "compare",
    params(
        ("name" = String, Path, description = "Name of the project."),
        ("base" = String, Query, description = "A commit by at least 4 hex digits; `A..B`, the \
            revisions after A up to B; or runs, `run:UUID,UUID`."),
        ("head" = String, Query, description = "Likewise."),
        ("branch" = Option<String>, Query, description = "Branch of a range, where several have \
            both ends."),
        ("machine" = Option<String>, Query, description = "Id of a machine."),
        ("workload" = Option<String>, Query, description = "Id of a workload."),
        ("metric" = Option<String>, Query, description = "The primary one of each workload when \
            left out."),
        ("environments" = Option<String>, Query, description = "`across` compares runs of \
            different environments."),
        ("why" = Option<bool>, Query, description = "Whether each verdict comes with its \
            inequalities, in plain text."),
    ),
    responses((status = 200, description = "The verdicts.", body = ProjectComparison), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(name): At<String>,
    mut params: Params,
) -> Answer<Json<ProjectComparison>> {
    let why = params.take::<bool>("why")?.unwrap_or(false);
    Ok(Json(compared(&app, &viewer, &name, params).await?.answer(&app, why)))
}

/// What was compared, and how it compares.
pub struct Compared {
    /// The project's name.
    pub project: String,
    /// What is compared with.
    pub base: Side,
    /// What is judged.
    pub head: Side,
    /// The query of the address that asks for this.
    pub query: String,
    /// The verdicts.
    pub judged: ProjectJudged,
}

/// Compares what the parameters ask for.
pub async fn compared(
    app: &App,
    viewer: &Viewer,
    name: &str,
    mut params: Params,
) -> Result<Compared> {
    let base = params.require::<String>("base")?;
    let head = params.require::<String>("head")?;
    let branch = params.take::<String>("branch")?;
    let machine = params.take::<String>("machine")?;
    let workload = params.take::<String>("workload")?;
    let metric = params.take::<String>("metric")?;
    let environments = params.take::<String>("environments")?;
    params.finish()?;
    let across = Across::parse(environments.as_deref()).ok_or_else(|| {
        Error::query("environments", format!("must be {} where it is given", Across::WORD))
    })?;
    let project = lookup::project(app, viewer, name).await?;
    let base = lookup::side(app, project.id, ("base", &base), branch.as_deref()).await?;
    let head = lookup::side(app, project.id, ("head", &head), branch.as_deref()).await?;
    let on = match &machine {
        Some(id) => Some(lookup::machine(app, id).await?.id),
        None => None,
    };
    let asked = Asked {
        project: project.id,
        filter: Filter { machine: on, workload: workload.as_deref(), metric: metric.as_deref() },
        base: &base.runs,
        head: &head.runs,
        across,
    };
    let judged = project::compare(&app.db, &asked).await?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("base", &base.asked).append_pair("head", &head.asked);
    let rest = [
        ("branch", branch),
        ("machine", machine),
        ("workload", workload),
        ("metric", metric),
        ("environments", environments),
    ];
    for (key, value) in rest {
        if let Some(value) = value {
            query.append_pair(key, &value);
        }
    }
    Ok(Compared { project: project.name, base, head, query: query.finish(), judged })
}

impl Compared {
    /// Path and query of the page that shows it.
    pub fn page(&self) -> String {
        let name: String = url::form_urlencoded::byte_serialize(self.project.as_bytes()).collect();
        format!("/projects/{}/compare?{}", name.replace('+', "%20"), self.query)
    }

    fn answer(self, app: &App, why: bool) -> ProjectComparison {
        let (outcome, words) = self.judged.outcome();
        let public_url = &app.config.public_url;
        let curve = |judged: &CurveJudged| {
            let query = self.page_of(judged);
            comparison(judged, format!("{public_url}{query}"), why)
        };
        let (base_runs, head_runs) = self.judged.runs;
        ProjectComparison {
            url: format!("{public_url}{}", self.page()),
            outcome,
            words,
            rule: explain::two_sides_rule(),
            curves: self.judged.curves.iter().map(curve).collect(),
            unpaired: self.judged.unpaired.iter().map(unpaired).collect(),
            base: side(&self.base, base_runs),
            head: side(&self.head, head_runs),
            project: self.project,
        }
    }

    /// The page of one curve's comparison: of the sides' last revisions.
    pub fn page_of(&self, judged: &CurveJudged) -> String {
        let last = |side: &Side| side.revisions.last().map_or(String::new(), |r| r.commit.clone());
        format!(
            "/compare?curve={}&base={}&head={}&metric={}",
            judged.curve.id,
            last(&self.base),
            last(&self.head),
            judged.metric
        )
    }
}

fn side(side: &Side, runs: usize) -> ComparedSide {
    let mut commits: Vec<String> = side.revisions.iter().map(|one| one.commit.clone()).collect();
    commits.dedup();
    let subject = side.revisions.last().map_or(String::new(), |one| one.subject.clone());
    ComparedSide { asked: side.asked.clone(), commits, subject, runs }
}

fn comparison(judged: &CurveJudged, url: String, why: bool) -> CurveComparison {
    let curve = &judged.curve;
    CurveComparison {
        curve: curve.id.0,
        machine: curve.machine_public_id.clone(),
        machine_name: curve.machine_name.clone(),
        workload: curve.workload.clone(),
        version: curve.version,
        parameters: curve.parameters.clone(),
        metric: judged.metric.clone(),
        unit: judged.unit,
        direction: judged.direction,
        words: judged.words(),
        points: judged.comparison.judgement.points.iter().map(point).collect(),
        failed: judged
            .failed
            .iter()
            .map(|one| FailedAt {
                tasks: one.tasks.unsigned_abs(),
                detail: one.failure.detail.clone(),
            })
            .collect(),
        set_aside: judged.comparison.set_aside.clone(),
        why: why.then(|| judged.why()),
        url,
    }
}

fn point(point: &PointJudgement) -> PointComparison {
    let ratio = point.ratio.filter(|(a, b, c)| [a, b, c].into_iter().all(|one| one.is_finite()));
    PointComparison {
        tasks: point.tasks,
        verdict: point.verdict.words().to_owned(),
        unconfirmed: point.unconfirmed,
        base: point.base.filter(|value| value.is_finite()),
        head: point.head.filter(|value| value.is_finite()),
        ratio: ratio.map(|ratio| ratio.0),
        low: ratio.map(|ratio| ratio.1),
        high: ratio.map(|ratio| ratio.2),
    }
}

fn unpaired((curve, why): &(crate::db::sides::CurveHead, &'static str)) -> UnpairedCurve {
    UnpairedCurve {
        curve: curve.id.0,
        machine_name: curve.machine_name.clone(),
        workload: curve.workload.clone(),
        parameters: curve.parameters.clone(),
        why: (*why).to_owned(),
    }
}
