//! How much a project's users care: weights of workloads and metrics, which severities follow.

use axum::Json;
use axum::extract::{Path, Request, State};
use serde::{Deserialize, Serialize};

use super::auth::Caller;
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

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    weights: Vec<WeightView>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightView {
    /// Every workload where it is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    workload: String,
    /// Every metric where it is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    metric: String,
    weight: f64,
}

/// `GET /projects/{name}/weights`: the most particular one counts, 1 where there is none.
pub async fn list(
    State(app): State<App>,
    Path(name): Path<String>,
    params: Params,
) -> Answer<Json<Weights>> {
    params.finish()?;
    let project = lookup::project(&app, &name).await?;
    let weights = db::severity::list_weights(&app.db, project.id).await?;
    Ok(Json(Weights { weights: weights.into_iter().map(WeightView::from).collect() }))
}

/// `PUT /projects/{name}/weights`: these in the place of those there were.
pub async fn replace(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Weights>> {
    caller.require(Scope::Triage)?;
    let project = lookup::project(&app, &name).await?;
    let weights: Vec<Weight> = body::read(request, BODY_BYTES, checked).await?;
    let mut tx = app.db.begin().await?;
    db::severity::replace_weights(&mut tx, project.id, &weights).await?;
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
