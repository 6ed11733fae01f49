//! From judged curves to the tables of LKP and mmtests.

use stats::mmtests::Statistic;

use super::curves::{Curve, CurvePoint};
use super::files::Column;
use super::judge::{Against, Judged};
use super::{lkp, mmtests};

/// LKP's table of the curves of one key (all metrics, all task counts).
pub fn as_lkp(columns: &[Column], curves: &[&Judged]) -> lkp::Table {
    let key = &curves[0].curve.key;
    let mut keys: Vec<(String, String)> =
        key.parameters.iter().map(|(name, value)| (name.clone(), slashless(value))).collect();
    keys.push(("tbox_group".into(), slashless(&curves[0].curve.machine_name)));
    keys.push(("testcase".into(), slashless(&key.workload)));
    lkp::Table {
        keys,
        commits: columns.iter().map(|column| commit(column, columns)).collect(),
        failures: curves[0].curve.points.iter().filter_map(|p| failures(curves[0], p)).collect(),
        rows: curves.iter().flat_map(|judged| rows(judged, columns.len())).collect(),
    }
}

/// mmtests' table of one curve.
pub fn as_mmtests(columns: &[Column], judged: &Judged) -> mmtests::Table {
    let kernels = columns.iter().map(|column| kernel(column, judged)).collect();
    let mut rows = Vec::new();
    for statistic in Statistic::ALL {
        for (i, point) in judged.curve.points.iter().enumerate() {
            rows.extend(mmtests_row(judged, point, i, statistic, columns.len()));
        }
    }
    mmtests::Table { kernels, rows }
}

/// Slashes join the values of LKP's key line, so none may stand inside one.
fn slashless(text: &str) -> String {
    text.replace('/', "_")
}

fn commit(column: &Column, columns: &[Column]) -> lkp::Commit {
    let revision = column.revision();
    let same = columns.iter().filter(|c| c.revision().commit == revision.commit).count() > 1;
    let title = match (same, column.given.is_empty()) {
        (true, false) => column.given_in_words(),
        (true, true) => format!("{:.10}: {}", revision.commit, revision.subject),
        (false, _) => revision.subject.clone(),
    };
    let id = if same { column.name.clone() } else { revision.commit.clone() };
    lkp::Commit { id, title }
}

fn kernel(column: &Column, judged: &Judged) -> String {
    let commit = super::files::short_commit(&column.revision().commit);
    match (column.name.as_str(), column.given.is_empty()) {
        (name @ ("base" | "head"), false) => format!("{name}-{}", column.given_in_words()),
        (name @ ("base" | "head"), true) => format!("{name}-{commit}"),
        (name, _) if name == commit => format!("{}-{commit}", judged.curve.key.project),
        (name, _) => name.to_owned(),
    }
}

fn failures(judged: &Judged, point: &CurvePoint) -> Option<lkp::FailureRow> {
    point.cells.iter().any(|cell| !cell.failures.is_empty()).then(|| lkp::FailureRow {
        name: format!("{}.{}.fail", judged.curve.key.workload, point.tasks),
        cells: point
            .cells
            .iter()
            .map(|cell| (cell.failures.len(), cell.failures.len() + cell.runs.len()))
            .collect(),
    })
}

fn rows(judged: &Judged, columns: usize) -> Vec<lkp::Row> {
    let Curve { key, metric, points, .. } = &judged.curve;
    let row = |(i, point): (usize, &CurvePoint)| {
        let mut cells = vec![None; columns];
        for Against { column, beside, .. } in &judged.against {
            let lkp = &beside[i].lkp;
            cells[0] = cells[0].or(lkp.base.map(|side| figure(&side, None)));
            cells[*column] = lkp.head.map(|side| figure(&side, lkp.percent));
        }
        let name = format!("{}.{}.{metric}", key.workload, point.tasks);
        cells.iter().any(Option::is_some).then_some(lkp::Row { name, cells })
    };
    points.iter().enumerate().filter_map(row).collect()
}

fn figure(side: &stats::lkp::Side, change_percent: Option<f64>) -> lkp::Cell {
    lkp::Cell { mean: side.mean, deviation_percent: side.shown_percent(), change_percent }
}

fn mmtests_row(
    judged: &Judged,
    point: &CurvePoint,
    i: usize,
    statistic: Statistic,
    columns: usize,
) -> Option<mmtests::Row> {
    let nothing = mmtests::Cell { value: None, percent: None, starred: false };
    let mut cells = vec![nothing; columns];
    let compared = judged.against.iter().filter_map(|a| Some((a, a.beside[i].mmtests.as_ref()?)));
    for (against, comparison) in compared {
        let row = comparison.rows.iter().find(|row| row.statistic == statistic)?;
        cells[0] = mmtests::Cell { value: row.base, percent: Some(0.0), starred: false };
        cells[against.column] =
            mmtests::Cell { value: row.head, percent: row.percent, starred: row.starred };
    }
    let measured = cells.iter().any(|cell| *cell != nothing);
    measured.then(|| mmtests::Row {
        statistic: statistic.name(judged.direction().into()).to_owned(),
        label: format!("{}-{}", judged.curve.key.workload, point.tasks),
        cells,
    })
}
