//! The published measurements that started the project, judged: means as printed, five values a
//! side around them. Deviations were not published; those here give the stars that were.

use scalewatch_stats::mmtests::{self, Statistic};
use scalewatch_stats::two_sides::{CurveJudgement, History, Policy, Sides, judge};
use scalewatch_stats::{Direction, Sample, Verdict};

/// Five values whose harmonic mean is `mean` and whose deviation is about `cv`.
fn five(mean: f64, cv: f64) -> Vec<f64> {
    [-1.2, -0.6, 0.1, 0.5, 1.2].map(|d| mean / (1.0 + d * cv)).to_vec()
}

fn runs(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|&v| vec![v]).collect()
}

fn star(base: &[f64], head: &[f64]) -> (String, bool) {
    let sample = |v| Sample::new(v).expect("five finite values");
    let compared = mmtests::compare(sample(base), sample(head), Direction::Higher);
    let row = compared.rows.iter().find(|r| r.statistic == Statistic::Mean).expect("a mean");
    (format!("{:.2}", row.percent.expect("positive means")), row.starred)
}

fn judged(points: &[Sides]) -> CurveJudgement {
    judge(points, Direction::Higher, &Policy::default())
}

/// ext4 orphan list on a file system of 8 MiB by mistake, 7 tasks: `*-34.62%*`, `*-10.56%*`,
/// `(2.31%)`.
#[test]
fn the_regression_at_seven_tasks_is_starred_as_printed_with_our_verdict_beside() {
    let base = five(36458.33, 0.012);
    let column = |mean: f64| {
        let head = five(mean, 0.012);
        let curve = judged(&[Sides::new(7, runs(&base), runs(&head))]);
        (star(&base, &head), curve.points[0].verdict, curve.words)
    };
    let starred = |percent: &str| (percent.to_owned(), true);
    let (printed, verdict, words) = column(23836.55);
    assert_eq!((printed, verdict), (starred("-34.62"), Verdict::Regression));
    assert_eq!(words, "−34.6 % at 7");
    let (printed, verdict, words) = column(32608.70);
    assert_eq!((printed, verdict), (starred("-10.56"), Verdict::Regression));
    assert_eq!(words, "−10.6 % at 7");
    let (printed, verdict, words) = column(37300.18);
    assert_eq!((printed, verdict), (("2.31".to_owned(), false), Verdict::NoChange));
    assert!(words.starts_with("no change, within ±4."), "{words}");
}

/// The same on 8 GiB: original, patched, two experiments, another proposal; a star where printed.
#[test]
fn the_sweep_on_the_right_size_is_judged_point_by_point_and_never_collapsed() {
    let sweep: [(u32, [f64; 5], [bool; 4]); 8] = [
        (1, [12875.54, 12765.96, 12765.96, 12820.51, 12875.54], [false; 4]),
        (2, [20761.25, 19736.84, 20408.16, 19736.84, 20477.82], [true, false, true, false]),
        (3, [22727.27, 22500.00, 24390.24, 23255.81, 21176.47], [false; 4]),
        (4, [27149.32, 24539.88, 27272.73, 25806.45, 21660.65], [true, false, false, true]),
        (5, [32397.41, 27985.08, 28957.53, 29821.07, 23771.79], [true, false, true, true]),
        (6, [33898.30, 30769.23, 30981.07, 31858.41, 26086.96], [false, false, false, true]),
        (7, [29005.52, 29661.02, 30746.71, 33175.35, 24970.27], [false; 4]),
        (8, [30573.25, 32000.00, 29702.97, 34139.40, 23668.64], [false, false, false, true]),
    ];
    let side = |mean: f64, starred: bool| five(mean, if starred { 0.005 } else { 0.11 });
    let mut columns = Vec::new();
    for column in 1..5 {
        let mut points = Vec::new();
        for (tasks, means, starred) in sweep {
            let starred = starred[column - 1];
            let (base, head) = (five(means[0], 0.005), side(means[column], starred));
            assert_eq!(star(&base, &head).1, starred, "column {column} at {tasks}");
            points.push(Sides::new(tasks, runs(&base), runs(&head)));
        }
        let curve = judged(&points);
        for (point, (tasks, _, starred)) in curve.points.iter().zip(sweep) {
            assert_eq!(point.tasks, tasks);
            assert_eq!(point.verdict == Verdict::Regression, starred[column - 1], "at {tasks}");
        }
        columns.push(curve.words);
    }
    let said = [
        "−4.9 % at 2, −9.6 % at 4, −13.6 % at 5, all unconfirmed",
        "no change, within ±20.0 %",
        "−4.9 % at 2, −8.0 % at 5, all unconfirmed",
        "−20.2 % at 4 to −23.0 % at 6, −22.6 % at 8, all unconfirmed",
    ];
    assert_eq!(columns, said);
}

/// Memory orders in ext4's block allocator, 1 and 80 containers: more at one, less at eighty.
#[test]
fn sixteen_percent_more_at_one_and_less_at_eighty_are_both_said() {
    let published = [(1, 290_260.0, 337_597.0), (80, 9899.0, 9636.0)];
    let point = |(tasks, base, head), history| Sides {
        history,
        ..Sides::new(tasks, runs(&five(base, 0.004)), runs(&five(head, 0.004)))
    };
    let alone = judged(&published.map(|p| point(p, History::Builds(Vec::new()))));
    assert_eq!(alone.words, "+16.3 % at 1, −2.7 % at 80 (unconfirmed)");
    let builds = |level: f64| -> History {
        let earlier = (0..20).map(|i| five(level * (1.0 + 0.002 * f64::from(i % 3 - 1)), 0.004));
        History::Builds(earlier.collect())
    };
    let known = judged(&published.map(|p| point(p, builds(p.1))));
    assert_eq!(known.words, "+16.3 % at 1, −2.6 % at 80");
    let verdicts: Vec<Verdict> = known.points.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts, [Verdict::Improvement, Verdict::Regression]);
}
