//! How much a project's users care: weights of workloads and metrics, which severities follow.

use axum::Json;
use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::at::At;
use super::auth::{Caller, Reader};
use super::problem::{NotFound, Read, Write};
use super::{Answer, Params, body, lookup};
use crate::app::App;
use crate::db;
use crate::db::severity::Weight;
use crate::error::{Error, Result};
use crate::model::Scope;

/// Largest body, bytes.
const BODY_BYTES: usize = 1 << 20;

/// Most weights of a project.
const MOST: usize = 1000;

/// Largest weight.
const LARGEST: f64 = 1000.0;

/// How much the users of a project care, at most 1000 entries. The most particular one counts, 1
/// where there is none.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    weights: Vec<WeightView>,
}

/// One weight.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Weight)]
#[serde(deny_unknown_fields)]
struct WeightView {
    /// Every workload where it is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    workload: String,
    /// Every metric where it is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    metric: String,
    #[schema(minimum = 0, maximum = 1000)]
    weight: f64,
}

/// Weights of a project's workloads and metrics, which severities follow.
#[utoipa::path(
    get, path = "/projects/{name}/weights", operation_id = "read_weights", tag = "projects",
    params(("name" = String, Path, description = "Name of the project.")),
    responses((status = 200, description = "The weights.", body = Weights), Read),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(name): At<String>,
    params: Params,
) -> Answer<Json<Weights>> {
    params.finish()?;
    let project = lookup::project(&app, &viewer, &name).await?;
    let weights = db::severity::list_weights(&app.db, project.id).await?;
    Ok(Json(Weights { weights: weights.into_iter().map(WeightView::from).collect() }))
}

/// Sets these weights in the place of those there were.
#[utoipa::path(
    put, path = "/projects/{name}/weights", operation_id = "replace_weights", tag = "projects",
    params(("name" = String, Path, description = "Name of the project.")),
    request_body = Weights,
    responses((status = 200, description = "The weights now.", body = Weights), Write, NotFound),
    security(("token" = ["triage"])),
)]
pub async fn replace(
    State(app): State<App>,
    At(name): At<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Weights>> {
    caller.require(Scope::Triage)?;
    let project = lookup::project(&app, caller.viewer(), &name).await?;
    caller.require_in(Scope::Triage, project.id)?;
    let weights: Vec<Weight> = body::read(request, BODY_BYTES, checked).await?;
    let mut tx = app.db.begin().await?;
    let was = db::severity::list_weights(&app.db, project.id).await?;
    db::severity::replace_weights(&mut tx, project.id, &weights).await?;
    let told = |weights: &[Weight]| {
        let of = |one: &Weight| json!([one.workload, one.metric, one.weight]);
        Some(json!({ "weights": weights.iter().map(of).collect::<Vec<_>>() }))
    };
    let about = format!("project {}", project.name);
    let change = (told(&was), told(&weights));
    caller.by(&app).did(&mut tx, "weights_replaced", &about, change).await?;
    tx.commit().await?;
    Ok(Json(Weights { weights: weights.into_iter().map(WeightView::from).collect() }))
}

fn checked(sent: Weights) -> Result<Vec<Weight>> {
    if sent.weights.len() > MOST {
        return Err(Error::invalid("weights", format!("must have at most {MOST} entries")));
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut kept = Vec::new();
    for (i, one) in sent.weights.into_iter().enumerate() {
        if !(0.0..=LARGEST).contains(&one.weight) {
            let problem = format!("must be 0 to {LARGEST}");
            return Err(Error::invalid(format!("weights[{i}].weight"), problem));
        }
        for (field, name) in [("workload", &one.workload), ("metric", &one.metric)] {
            if name.len() > wire::limits::NAME || name.contains('\0') {
                let problem = format!("must have at most {} bytes, no NUL", wire::limits::NAME);
                return Err(Error::invalid(format!("weights[{i}].{field}"), problem));
            }
        }
        if !seen.insert((one.workload.clone(), one.metric.clone())) {
            let problem = "is there twice with this workload";
            return Err(Error::invalid(format!("weights[{i}].metric"), problem));
        }
        kept.push(Weight { workload: one.workload, metric: one.metric, weight: one.weight });
    }
    Ok(kept)
}

impl From<Weight> for WeightView {
    fn from(weight: Weight) -> WeightView {
        let Weight { workload, metric, weight } = weight;
        WeightView { workload, metric, weight }
    }
}
