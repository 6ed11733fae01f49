//! What is known of the noise of a series, in sentences: its floor with age and number of
//! observations, and two modes where it has them.

use time::OffsetDateTime;

use super::metric::Metric;
use crate::app::App;
use crate::db;
use crate::detect::modes::{Mode, Modes};
use crate::error::Result;
use crate::format;
use crate::model::{Curve, NoiseFloor};

/// The floors of a metric of a curve; none where nothing is known.
pub(super) async fn floor(app: &App, curve: &Curve, metric: &Metric) -> Result<Option<String>> {
    let mut floors = db::noise::list_of_curve(&app.db, curve.machine, curve.id).await?;
    floors.retain(|floor| floor.metric == metric.name);
    floors.sort_by(|a, b| b.relative.total_cmp(&a.relative));
    Ok(floor_words(&floors, app.clock.now()))
}

/// `Noise floor: ±1.20 % from A/A runs (10 pairs, 2 d ago); ±0.83 % from …`, the widest first.
fn floor_words(floors: &[NoiseFloor], now: OffsetDateTime) -> Option<String> {
    let one = |floor: &NoiseFloor| {
        let observations = usize::try_from(floor.observations).unwrap_or(0);
        format!(
            "±{:.2} % from {} ({}, {})",
            floor.relative * 100.0,
            floor.source.title(),
            format::count(observations, floor.source.observation()),
            format::ago(floor.at, now)
        )
    };
    let all: Vec<String> = floors.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("Noise floor: {}.", all.join("; ")))
}

/// `Two modes: 65.0 k ops/s in 12 runs, 2.4 in a row; 100 k ops/s in 18 runs, 3.6 in a row; …`.
pub(super) fn modes_words(modes: &Modes, metric: &Metric) -> String {
    let mode = |mode: Mode| {
        let runs = format::count(mode.runs, "run");
        let unit = metric.unit.symbol();
        format!("{} {unit} in {runs}, {:.1} in a row", format::number(mode.value), mode.dwell)
    };
    format!(
        "Two modes: {}; {}. The newest level goes from one to the other {} times, and a switch is \
         no step.",
        mode(modes.low),
        mode(modes.high),
        modes.switches
    )
}
