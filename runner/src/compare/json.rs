//! The comparison as JSON: every figure at full precision, `null` for what is not there.

use serde::Serialize;
use stats::two_sides::PointJudgement;

use super::curves::{Curve, CurvePoint, Unpaired};
use super::files::Column;
use super::floors::Aged;
use super::json_scaling::{self, ScalingOut};
use super::judge::{Against, Beside, Change, Judged};

#[derive(Serialize)]
struct Output<'a> {
    columns: Vec<Head<'a>>,
    curves: Vec<CurveOut<'a>>,
    unpaired: Vec<UnpairedOut<'a>>,
}

#[derive(Serialize)]
struct Head<'a> {
    name: &'a str,
    given: &'a std::collections::BTreeMap<String, String>,
    revision: &'a wire::Revision,
    runs: Vec<&'a str>,
}

#[derive(Serialize)]
struct CurveOut<'a> {
    project: &'a str,
    machine: &'a str,
    machine_name: &'a str,
    workload: &'a str,
    version: u32,
    parameters: &'a std::collections::BTreeMap<String, String>,
    metric: &'a str,
    unit: &'static str,
    direction: &'static str,
    primary: bool,
    noise_floor: Option<FloorOut<'a>>,
    against: Vec<AgainstOut<'a>>,
}

#[derive(Serialize)]
struct FloorOut<'a> {
    relative: f64,
    pairs: u32,
    measured_at: &'a str,
}

#[derive(Serialize)]
struct AgainstOut<'a> {
    column: &'a str,
    words: String,
    environment_changes: &'a [Change],
    set_aside: &'a [String],
    /// Null where the metric counts no work of all tasks together, or the points are no sweep.
    scaling: Option<ScalingOut>,
    points: Vec<PointOut<'a>>,
}

#[derive(Serialize)]
struct PointOut<'a> {
    tasks: u32,
    verdict: &'static str,
    /// Two builds of one code might show the change too.
    unconfirmed: bool,
    words: String,
    base: Option<f64>,
    head: Option<f64>,
    ratio: Option<Ratio>,
    base_failures: &'a [String],
    head_failures: &'a [String],
    evidence: EvidenceOut,
    lkp: LkpOut,
    mmtests: Option<MmtestsOut>,
    counters_moved: Vec<MovedOut>,
}

/// A counter that moved, per operation; the surest and largest first.
#[derive(Serialize)]
struct MovedOut {
    name: String,
    base: f64,
    head: f64,
    ratio: Option<f64>,
    /// Whether LKP's rule tells the sides apart; null with too few runs.
    told_apart: Option<bool>,
}

/// head ÷ base: the value, its interval at the corrected level, and its 95 % interval.
#[derive(Serialize)]
struct Ratio {
    value: f64,
    level: f64,
    interval: (f64, f64),
    interval_95: Option<(f64, f64)>,
}

/// Why a verdict is what it is.
#[derive(Serialize)]
pub(super) struct EvidenceOut {
    used: Vec<f64>,
    set_aside: Vec<String>,
    notes: Vec<String>,
    inequalities: Vec<InequalityOut>,
    decided_by: Option<usize>,
}

#[derive(Serialize)]
struct InequalityOut {
    what: String,
    left: f64,
    relation: &'static str,
    right: f64,
    holds: bool,
}

#[derive(Serialize)]
struct LkpOut {
    verdict: &'static str,
    base_mean: Option<f64>,
    head_mean: Option<f64>,
    base_runs: usize,
    head_runs: usize,
    change_percent: Option<f64>,
}

#[derive(Serialize)]
struct MmtestsOut {
    mean: &'static str,
    base: Option<f64>,
    head: Option<f64>,
    percent: Option<f64>,
    starred: bool,
}

#[derive(Serialize)]
struct UnpairedOut<'a> {
    what: &'a str,
    verdict: &'static str,
    why: &'a str,
}

/// The comparison, pretty-printed, with a newline at its end.
///
/// # Errors
/// Never in practice: every value has a JSON form.
pub fn render(
    columns: &[Column],
    judged: &[Judged],
    unpaired: &[Unpaired],
) -> anyhow::Result<String> {
    let output = Output {
        columns: columns.iter().map(head).collect(),
        curves: judged.iter().map(|j| curve(columns, j)).collect(),
        unpaired: unpaired.iter().map(unpaired_out).collect(),
    };
    Ok(serde_json::to_string_pretty(&output)? + "\n")
}

fn head(column: &Column) -> Head<'_> {
    Head {
        name: &column.name,
        given: &column.given,
        revision: column.revision(),
        runs: column.reports.iter().map(|report| report.run.as_str()).collect(),
    }
}

fn curve<'a>(columns: &'a [Column], judged: &'a Judged) -> CurveOut<'a> {
    let Curve { key, machine_name, metric, unit, direction, primary, .. } = &judged.curve;
    CurveOut {
        project: &key.project,
        machine: &key.machine,
        machine_name,
        workload: &key.workload,
        version: key.version,
        parameters: &key.parameters,
        metric,
        unit: unit.symbol(),
        direction: direction.word(),
        primary: *primary,
        noise_floor: judged.floor.as_ref().map(|Aged { floor, .. }| FloorOut {
            relative: floor.relative,
            pairs: floor.pairs,
            measured_at: &floor.measured_at,
        }),
        against: judged.against.iter().map(|a| against(columns, judged, a)).collect(),
    }
}

fn against<'a>(columns: &'a [Column], judged: &'a Judged, a: &'a Against) -> AgainstOut<'a> {
    let points = a.judgement.points.iter().zip(&a.beside).zip(&judged.curve.points);
    AgainstOut {
        column: &columns[a.column].name,
        words: a.headline(),
        environment_changes: &a.changes,
        set_aside: &a.set_aside,
        scaling: json_scaling::of(&judged.curve, a.column),
        points: points
            .map(|((judgement, beside), point)| PointOut {
                base_failures: &point.cells[0].failures,
                head_failures: &point.cells[a.column].failures,
                counters_moved: moved_out(judged, point, a.column),
                ..point_out(judgement, beside)
            })
            .collect(),
    }
}

fn point_out<'a>(judgement: &'a PointJudgement, beside: &Beside) -> PointOut<'a> {
    PointOut {
        tasks: judgement.tasks,
        verdict: judgement.verdict.words(),
        unconfirmed: judgement.unconfirmed,
        words: judgement.words(),
        base: judgement.base,
        head: judgement.head,
        ratio: judgement.ratio.map(|(value, low, high)| Ratio {
            value,
            level: judgement.level,
            interval: (low, high),
            interval_95: judgement.interval_95,
        }),
        base_failures: &[],
        head_failures: &[],
        evidence: EvidenceOut::from(&judgement.evidence),
        lkp: lkp_out(&beside.lkp),
        mmtests: beside.mmtests.as_ref().and_then(mmtests_out),
        counters_moved: Vec::new(),
    }
}

impl From<&stats::Evidence> for EvidenceOut {
    fn from(evidence: &stats::Evidence) -> EvidenceOut {
        let line = |line: &stats::Inequality| InequalityOut {
            what: line.what.clone(),
            left: line.left,
            relation: line.relation,
            right: line.right,
            holds: line.holds,
        };
        EvidenceOut {
            used: evidence.used.clone(),
            set_aside: evidence.set_aside.clone(),
            notes: evidence.notes.clone(),
            inequalities: evidence.inequalities.iter().map(line).collect(),
            decided_by: evidence.decided_by,
        }
    }
}

fn moved_out(judged: &Judged, point: &CurvePoint, column: usize) -> Vec<MovedOut> {
    let out = |moved: stats::counters::Moved| MovedOut {
        name: moved.name,
        base: moved.base,
        head: moved.head,
        ratio: moved.ratio,
        told_apart: moved.apart,
    };
    super::counters::of(judged, point, column).into_iter().map(out).collect()
}

fn lkp_out(lkp: &stats::lkp::Comparison) -> LkpOut {
    LkpOut {
        verdict: lkp.verdict.words(),
        base_mean: lkp.base.map(|side| side.mean),
        head_mean: lkp.head.map(|side| side.mean),
        base_runs: lkp.base.map_or(0, |side| side.n),
        head_runs: lkp.head.map_or(0, |side| side.n),
        change_percent: lkp.percent,
    }
}

fn mmtests_out(comparison: &stats::mmtests::Comparison) -> Option<MmtestsOut> {
    let row = comparison.rows.iter().find(|r| r.statistic == stats::mmtests::Statistic::Mean)?;
    Some(MmtestsOut {
        mean: row.statistic.name(comparison.base.kind),
        base: row.base,
        head: row.head,
        percent: row.percent,
        starred: row.starred,
    })
}

fn unpaired_out(unpaired: &Unpaired) -> UnpairedOut<'_> {
    let verdict = match unpaired.not_comparable {
        true => stats::Verdict::NotComparable,
        false => stats::Verdict::NotEnoughData,
    };
    UnpairedOut { what: &unpaired.what, verdict: verdict.words(), why: &unpaired.why }
}
