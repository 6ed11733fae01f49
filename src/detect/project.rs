//! Two sides compared over all curves of a project, by the judgement of [`super::two_sides`], and
//! what the whole comes to: a missing baseline never passes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use wire::GateOutcome;

use super::earlier::NEAREST_REVISIONS;
use super::explain;
use super::floor::Floor;
use super::history::{Environments, direction_of};
use super::policy;
use super::two_sides::{self, Across, Comparison, PointSides, SideRun};
use crate::db::history::EarlierRun;
use crate::db::sides::{self, CurveHead, FailedPoint, Filter, Runs, SideRow};
use crate::db::{self, Pool};
use crate::model::{BranchId, CurveId, EnvironmentId, ProjectId, SeriesId};

/// What is compared.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Whose code.
    pub project: ProjectId,
    /// Which series.
    pub filter: Filter<'a>,
    /// What is compared with.
    pub base: &'a Runs,
    /// What is judged.
    pub head: &'a Runs,
    /// Whether runs of different environments are compared.
    pub across: Across,
}

/// One metric of one curve, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveJudged {
    /// The curve.
    pub curve: CurveHead,
    /// Metric.
    pub metric: String,
    /// Unit of its values.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// The verdict.
    pub comparison: Comparison,
    /// What identical code differs by here.
    pub floor: Floor,
    /// Points that failed at the head and ran at the base.
    pub failed: Vec<FailedPoint>,
}

/// Everything, judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectJudged {
    /// Curves that both sides have, or that failed at the head: regressions first, then by size.
    pub curves: Vec<CurveJudged>,
    /// Curves that one side has alone, and which lacks them.
    pub unpaired: Vec<(CurveHead, &'static str)>,
    /// Runs of each side that count.
    pub runs: (usize, usize),
}

/// Loads and judges.
///
/// # Errors
/// When the database does not answer.
pub async fn compare(pool: &Pool, asked: &Asked<'_>) -> anyhow::Result<ProjectJudged> {
    let rows = Loaded::load(pool, asked).await?;
    let across = asked.across;
    // A thousand curves take a while: not on the threads that serve requests.
    let judge = move || rows.judge(across);
    tokio::task::spawn_blocking(judge).await.context("the thread that judged died")
}

struct Loaded {
    base: Vec<SideRow>,
    head: Vec<SideRow>,
    failed: Vec<FailedPoint>,
    earlier: Vec<EarlierRun>,
    heads: BTreeMap<CurveId, CurveHead>,
    floors: BTreeMap<CurveId, Vec<crate::model::NoiseFloor>>,
    facts: Environments,
}

impl Loaded {
    async fn load(pool: &Pool, asked: &Asked<'_>) -> anyhow::Result<Loaded> {
        let base = sides::list(pool, asked.project, &asked.filter, asked.base).await?;
        let head = sides::list(pool, asked.project, &asked.filter, asked.head).await?;
        let failed = sides::list_failed(pool, asked.project, &asked.filter, asked.head).await?;
        let curves: BTreeSet<CurveId> = base
            .iter()
            .chain(&head)
            .map(|row| row.curve)
            .chain(failed.iter().map(|point| point.curve))
            .collect();
        let curves: Vec<CurveId> = curves.into_iter().collect();
        let environments: BTreeSet<EnvironmentId> =
            base.iter().chain(&head).map(|row| row.environment).collect();
        let environments: Vec<EnvironmentId> = environments.into_iter().collect();
        let facts = db::environment::list(pool, &environments).await?;
        let mut floors: BTreeMap<CurveId, Vec<_>> = BTreeMap::new();
        for (curve, floor) in sides::list_floors(pool, &curves).await? {
            floors.entry(curve).or_default().push(floor);
        }
        let heads = sides::list_curves(pool, &curves).await?;
        Ok(Loaded {
            earlier: earlier(pool, &base, &head).await?,
            heads: heads.into_iter().map(|head| (head.id, head)).collect(),
            facts: facts.into_iter().map(|one| (one.id, one.facts)).collect(),
            floors,
            base,
            head,
            failed,
        })
    }

    fn judge(self, across: Across) -> ProjectJudged {
        let mut judged = ProjectJudged {
            runs: (count_runs(&self.base), count_runs(&self.head)),
            ..ProjectJudged::default()
        };
        let key = |row: &SideRow| (row.curve, row.metric.clone());
        let keys: BTreeSet<(CurveId, String)> =
            self.base.iter().chain(&self.head).map(key).collect();
        for (curve, metric) in keys {
            let Some(head) = self.heads.get(&curve) else { continue };
            let of = |rows: &[SideRow]| -> Vec<SideRow> {
                let fits = |row: &&SideRow| row.curve == curve && row.metric == metric;
                rows.iter().filter(fits).cloned().collect()
            };
            let (base_rows, head_rows) = (of(&self.base), of(&self.head));
            let failed = self.failed_at(curve, &base_rows, &head_rows);
            match (base_rows.first().or(head_rows.first()), base_rows.len(), head_rows.len()) {
                (_, 0, _) => judged.unpaired.push((head.clone(), "not measured at the base")),
                (_, _, 0) if failed.is_empty() => {
                    judged.unpaired.push((head.clone(), "not measured at the head"));
                }
                (Some(first), ..) => {
                    let (floor, comparison) = self.compare(&base_rows, &head_rows, across);
                    judged.curves.push(CurveJudged {
                        curve: head.clone(),
                        metric,
                        unit: first.unit,
                        direction: first.direction,
                        comparison,
                        floor,
                        failed,
                    });
                }
                (None, ..) => {}
            }
        }
        judged.curves.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        judged
    }

    /// Points that failed at the head, never ran there, and ran at the base.
    fn failed_at(&self, curve: CurveId, base: &[SideRow], head: &[SideRow]) -> Vec<FailedPoint> {
        let ran = |rows: &[SideRow], tasks: i32| rows.iter().any(|row| row.tasks == tasks);
        let counts = |point: &&FailedPoint| {
            point.curve == curve && ran(base, point.tasks) && !ran(head, point.tasks)
        };
        self.failed.iter().filter(counts).cloned().collect()
    }

    fn compare(&self, base: &[SideRow], head: &[SideRow], across: Across) -> (Floor, Comparison) {
        let first = base.first().or(head.first());
        let floors = first.and_then(|row| self.floors.get(&row.curve));
        let floor = first.map_or_else(Floor::default, |row| {
            Floor::of_sides(floors.map_or(&[][..], Vec::as_slice), &row.metric)
        });
        let mut points: BTreeMap<i32, PointSides> = BTreeMap::new();
        for (rows, is_base) in [(base, true), (head, false)] {
            for row in rows {
                let point = points.entry(row.tasks).or_insert_with(|| PointSides {
                    tasks: row.tasks.unsigned_abs(),
                    base: Vec::new(),
                    head: Vec::new(),
                    earlier: self.earlier_of(row.series),
                    noise_floor: floor.relative,
                });
                let side = if is_base { &mut point.base } else { &mut point.head };
                let samples = row.samples.clone();
                side.push(SideRun { environment: row.environment, samples });
            }
        }
        let points: Vec<PointSides> = points.into_values().collect();
        let direction = direction_of(first.map_or(wire::Direction::Higher, |row| row.direction));
        let policy = policy::two_sides();
        (floor, two_sides::compare_curve(&points, direction, &self.facts, &policy, across))
    }

    fn earlier_of(&self, series: SeriesId) -> Vec<EarlierRun> {
        let begin = self.earlier.partition_point(|run| run.series < series);
        let of_series = self.earlier[begin..].iter().take_while(|run| run.series == series);
        of_series.cloned().collect()
    }
}

fn count_runs(rows: &[SideRow]) -> usize {
    rows.iter().map(|row| row.run).collect::<BTreeSet<_>>().len()
}

/// Runs of earlier builds on the level of the base, by series: back to the newest step, the sides'
/// own revisions left out.
async fn earlier(
    pool: &Pool,
    base: &[SideRow],
    head: &[SideRow],
) -> anyhow::Result<Vec<EarlierRun>> {
    let mut newest: BTreeMap<SeriesId, (BranchId, i64)> = BTreeMap::new();
    let mut rows: Vec<&SideRow> = base.iter().collect();
    rows.sort_by_key(|row| row.finished_at);
    for row in rows {
        newest.insert(row.series, (row.branch, row.rank));
    }
    let mut places: BTreeMap<(BranchId, i64), Vec<SeriesId>> = BTreeMap::new();
    for (series, place) in newest {
        places.entry(place).or_default().push(series);
    }
    let own: BTreeSet<_> = base.iter().chain(head).map(|row| row.revision).collect();
    let mut found = Vec::new();
    for (place, series) in places {
        let levels: BTreeMap<(SeriesId, EnvironmentId), i64> =
            sides::list_levels(pool, &series, place)
                .await?
                .into_iter()
                .map(|level| ((level.series, level.environment), level.rank))
                .collect();
        let since = |run: &EarlierRun| levels.get(&(run.series, run.environment)).copied();
        let runs = sides::list_before(pool, &series, place, NEAREST_REVISIONS).await?;
        found.extend(runs.into_iter().filter(|run| {
            since(run).is_none_or(|rank| run.rank >= rank) && !own.contains(&run.revision)
        }));
    }
    found.sort_by_key(|run| (run.series, run.rank, run.revision));
    Ok(found)
}

/// Regressions first, the larger change before the smaller one.
fn weight(judged: &CurveJudged) -> f64 {
    let size = |point: &two_sides::PointJudgement| {
        let size = point.ratio.map_or(0.0, |(ratio, ..)| ratio.ln().abs().min(100.0));
        let first = match (point.verdict, point.unconfirmed) {
            (stats::Verdict::Regression, false) => 1000.0,
            (stats::Verdict::Regression, true) => 600.0,
            (verdict, _) if verdict.is_change() => 300.0,
            _ => 0.0,
        };
        first + size
    };
    let failed = if judged.failed.is_empty() { 0.0 } else { 800.0 };
    judged.comparison.judgement.points.iter().map(size).fold(failed, f64::max)
}

impl CurveJudged {
    fn any(&self, verdict: stats::Verdict) -> bool {
        self.comparison.judgement.any(verdict)
    }

    /// The verdict over the curve in words, and where the head failed.
    pub fn words(&self) -> String {
        let words = &self.comparison.judgement.words;
        match self.failed.as_slice() {
            [] => words.clone(),
            failed => {
                let tasks: Vec<String> = failed.iter().map(|one| one.tasks.to_string()).collect();
                format!("{words}; failed at {}", tasks.join(", "))
            }
        }
    }

    /// Each point with everything its verdict rests on, in plain text.
    pub fn why(&self) -> String {
        let mut told = format!("{}: {}\n", self.metric, self.words());
        if let Some(floor) = self.floor.words() {
            told += &format!("  {floor}\n");
        }
        for sentence in &self.comparison.set_aside {
            told += &format!("  {sentence}\n");
        }
        for point in &self.comparison.judgement.points {
            told += "\n";
            told += &explain::point(point.tasks, &point.words(), &(&point.evidence).into());
        }
        told
    }
}

impl ProjectJudged {
    /// What it comes to, and why, in a sentence. A regression beyond doubt comes before everything,
    /// a failed measurement before missing data and a regression that two builds of one code might
    /// show as well; only "no point is worse, all could be judged" passes.
    pub fn outcome(&self) -> (GateOutcome, String) {
        use stats::Verdict::{EnvironmentChanged, NotComparable, NotEnoughData, Regression};
        let curves = |n: usize| stats::words::counted(n, "curve");
        let count = |fits: &dyn Fn(&CurveJudged) -> bool| {
            self.curves.iter().filter(|curve| fits(curve)).count()
        };
        let sure = |one: &CurveJudged| one.comparison.judgement.any_confirmed(Regression);
        match count(&sure) {
            0 => {}
            n => return (GateOutcome::Regression, format!("regression on {}", curves(n))),
        }
        match count(&|one| !one.failed.is_empty()) {
            0 => {}
            n => {
                let words = format!("the head failed where the base ran, on {}", curves(n));
                return (GateOutcome::MeasurementFailed, words);
            }
        }
        let undecided = |words: String| (GateOutcome::Undecided, format!("undecided: {words}"));
        match count(&|one| one.any(Regression)) {
            0 => {}
            n => return undecided(format!("unconfirmed regression on {}", curves(n))),
        }
        for verdict in [NotEnoughData, EnvironmentChanged, NotComparable] {
            match count(&|one| one.any(verdict)) {
                0 => {}
                n => return undecided(format!("{} on {}", verdict.words(), curves(n))),
            }
        }
        if let Some((head, why)) = self.unpaired.first() {
            let (n, workload) = (self.unpaired.len(), &head.workload);
            return undecided(format!("{workload} is {why}, {} in all", curves(n)));
        }
        if self.curves.is_empty() {
            return undecided("nothing was measured at both sides".into());
        }
        (GateOutcome::NoRegression, format!("no regression on {}", curves(self.curves.len())))
    }
}
