//! The measurements that started the project, given to `compare` as results: every percentage,
//! index and star that was printed of them comes out.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::reports::{a_point, a_report, as_file};
use wire::{Direction, Metric, Outcome, Point, Report, Source, Unit};

/// One commit for each column.
const COMMITS: [&str; 5] =
    ["00aaaaaaaaaa", "01bbbbbbbbbb", "02cccccccccc", "03dddddddddd", "04eeeeeeeeee"];

fn published(seed: &str) -> Value {
    let text = include_str!("published/seeds.json");
    serde_json::from_str::<Value>(text).unwrap()[seed].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn whole(value: &Value) -> u32 {
    value.as_u64().unwrap().try_into().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What `compare` prints of the columns, the base first.
fn compared(columns: &[Vec<Report>], arguments: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..columns.len()).map(|n| format!("{n}.json")).collect();
    for (name, reports) in names.iter().zip(columns) {
        std::fs::write(home.path().join(name), as_file(reports)).unwrap();
    }
    run(home.path(), &names, arguments)
}

fn run(home: &Path, files: &[String], arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
        .arg("compare")
        .args(files)
        .args(arguments)
        .current_dir(home)
        .env("SCALEWATCH_RUNNER_STATE", home.join("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn point_of(workload: &str, parameters: &[(&str, String)], tasks: u32, rate: f64) -> Point {
    let mut point = a_point(tasks, &[rate]);
    point.workload = workload.into();
    point.parameters = BTreeMap::from([("mode".into(), "process".into())]);
    point.parameters.extend(parameters.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
    point
}

fn with_metric(mut point: Point, (name, unit, direction): Kind, value: f64) -> Point {
    let Outcome::Measured(measured) = &mut point.outcome else { panic!("it was measured") };
    let source = Source::Values(vec![value]);
    measured.metrics.push(Metric { name: name.into(), unit, direction, source });
    point
}

type Kind = (&'static str, Unit, Direction);

/// One run of a column.
fn a_run(n: u32, column: usize, points: Vec<Point>) -> Report {
    Report { points, ..a_report(n, COMMITS[column]) }
}

/// The points of the first curve, judged.
fn judged(sides: &[Vec<Report>]) -> Vec<Value> {
    let text = compared(sides, &["--format", "json"]);
    let tree: Value = serde_json::from_str(&text).unwrap();
    list(&tree["curves"][0]["against"][0]["points"]).to_vec()
}

/// The threads cut where we round: a figure agrees when it is off by less than one of its last
/// digit.
#[test]
fn the_block_allocators_percentages_come_out() {
    let seed = published("a_mballoc");
    for table in list(&seed["tables"]) {
        for scan in [0, 1] {
            let rows = || list(&table["rows"]).iter().filter(|r| r["mb_optimize_scan"] == scan);
            let side = |column: usize, name: &str| {
                let point = |row: &Value| {
                    let tasks = whole(&row["containers"]);
                    let rate = number(&row[name]) * f64::from(tasks);
                    let scan = [("mb_optimize_scan", scan.to_string())];
                    point_of("fallocate/containers", &scan, tasks, rate)
                };
                vec![a_run(column as u32, column, rows().map(point).collect())]
            };
            let sides = [side(0, "base"), side(1, "patched")];
            let lkp = compared(&sides, &["--format", "lkp"]);
            for point in judged(&sides) {
                let row = rows().find(|row| row["containers"] == point["tasks"]).unwrap();
                let printed = row["printed"].as_str().unwrap().trim_end_matches('%');
                let decimals = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
                let last_digit = 10_f64.powi(-(decimals as i32)).max(0.1);
                let ours = number(&point["lkp"]["change_percent"]);
                let off = (ours - printed.parse::<f64>().unwrap()).abs();
                assert!(off < last_digit, "{row}: {ours}");
                assert!(lkp.contains(&format!("{ours:+.1}%")), "{row}\n{lkp}");
            }
        }
    }
}

#[test]
fn scores_and_indexes_of_the_shared_file_come_out() {
    let seed = published("b_file_refcount");
    let copies = whole(&seed["copies"]);
    for row in list(&seed["rows"]) {
        let side = |column: usize, name: &str| {
            let point = point_of("syscall/mix-shared-fd", &[], copies, number(&row[name]));
            vec![a_run(column as u32, column, vec![point])]
        };
        let sides = [side(0, "base"), side(1, "patched")];
        let text = compared(&sides, &["--format", "unixbench"]);
        for name in ["base", "patched"] {
            let (score, index) = (number(&row[name]), number(&row[format!("{name}_index")]));
            let line = format!("{:<40} {:>12.1}", "System Call Overhead", 15_000.0);
            let line = format!("{line} {score:>12.1} {index:>8.1}\n");
            assert!(text.contains(&line), "{line}{text}");
            let whole =
                format!("{:<66} {index:>8.1}\n", "System Benchmarks Index Score (Partial Only)");
            assert!(text.contains(&whole), "{whole}{text}");
        }
    }
}

#[test]
fn the_prefetch_sweep_has_its_percentages_and_no_point_may_be_called() {
    let seed = published("c_prefetch_bit");
    let rows = list(&seed["rows"]);
    let side = |column: usize, name: &str| {
        let point = |row: &Value| {
            point_of("orphan/unlink-open", &[], whole(&row["threads"]), number(&row[name]))
        };
        vec![a_run(column as u32, column, rows.iter().map(point).collect())]
    };
    let sides = [side(0, "base"), side(1, "patched")];
    let points = judged(&sides);
    assert_eq!(points.len(), rows.len());
    for (row, point) in rows.iter().zip(&points) {
        assert_eq!(point["verdict"], "not enough data", "{point}");
        let ours = number(&point["lkp"]["change_percent"]);
        assert!((ours - number(&row["printed"])).abs() < 1e-5, "{row} {ours}");
    }
    let text = compared(&sides, &["--format", "table"]);
    assert!(text.contains("1 value a side") && !text.contains("regression"), "{text}");
}

const JOBS: Kind = ("jobs_per_min", Unit::JobsPerMinute, Direction::Higher);
const SECONDS: Kind = ("elapsed_s", Unit::Seconds, Direction::Lower);

/// Five values with this harmonic mean and, by mmtests' formula, this deviation of it.
fn around(mean: f64, deviation: f64) -> [f64; 5] {
    let step = deviation / (mean * mean) * 1.25_f64.sqrt();
    [-step, step, 0.0, -step, step].map(|off| 1.0 / (1.0 / mean + off))
}

/// One published row: tasks, the mean of each column, and what was printed beside all but the
/// first.
struct Row {
    tasks: u32,
    means: Vec<f64>,
    printed: Vec<String>,
}

impl Row {
    /// `creat_clo-7` and its figures.
    fn new(label: &str, means: &[&Value], printed: &[&Value]) -> Row {
        Row {
            tasks: label.rsplit_once('-').unwrap().1.parse().unwrap(),
            means: means.iter().map(|mean| number(mean)).collect(),
            printed: printed.iter().map(|p| p.as_str().unwrap().to_owned()).collect(),
        }
    }

    /// What five iterations of a column measured. Only means were published: the deviations are
    /// such that the star rule parts what was starred from what was not.
    fn values(&self, column: usize) -> [f64; 5] {
        let (base, mean) = (self.means[0], self.means[column]);
        let least = base * 1e-4;
        let starred = column > 0 && self.printed[column - 1].starts_with('*');
        let deviation = match column == 0 || starred {
            true => least,
            false => least + (mean - base).abs() / 1.96,
        };
        around(mean, deviation)
    }

    /// The row as it is to be printed, without its spaces.
    fn expected(&self) -> String {
        let cells = self.means[1..].iter().zip(&self.printed);
        let cells: String = cells.map(|(mean, printed)| format!("{mean:.2}{printed}")).collect();
        format!("Hmeanaim/creat-close-{}{:.2}(0.00%){cells}", self.tasks, self.means[0])
    }
}

fn mmtests_rows_come_out(rows: &[Row]) {
    let column = |column: usize| -> Vec<Report> {
        let run = |iteration: usize| {
            let point = |row: &Row| {
                let point = point_of("aim/creat-close", &[], row.tasks, 1000.0);
                with_metric(point, JOBS, row.values(column)[iteration])
            };
            let n = (5 * column + iteration) as u32;
            a_run(n, column, rows.iter().map(point).collect())
        };
        (0..5).map(run).collect()
    };
    let columns: Vec<Vec<Report>> = (0..rows[0].means.len()).map(column).collect();
    let text = compared(&columns, &["--format", "mmtests", "--metric", "jobs_per_min"]);
    let lines: Vec<String> = text.lines().map(|line| line.replace(' ', "")).collect();
    for row in rows {
        assert!(lines.contains(&row.expected()), "{}\n{text}", row.expected());
    }
}

#[test]
fn the_orphan_lists_tables_have_their_percentages_and_stars() {
    let seed = published("d_orphan_list");
    let first = &seed["first_table"];
    let columns = ["patched", "hack1", "hack2"];
    let printed = columns.map(|column| first[format!("{column}_printed")].clone());
    let means: Vec<&Value> =
        [&first["orig"]].into_iter().chain(columns.map(|c| &first[c])).collect();
    let label = first["label"].as_str().unwrap();
    mmtests_rows_come_out(&[Row::new(label, &means, &printed.iter().collect::<Vec<_>>())]);

    let second = &seed["after_fixing_the_ramdisk_size"];
    let of_label = |(label, printed): (&String, &Value)| {
        let means: Vec<&Value> = list(&second[label]).iter().collect();
        Row::new(label, &means, &list(printed).iter().collect::<Vec<_>>())
    };
    let rows: Vec<Row> = second["printed"].as_object().unwrap().iter().map(of_label).collect();
    assert_eq!(rows.len(), 8);
    mmtests_rows_come_out(&rows);

    let of_file = |(label, figures): (&String, &Value)| {
        let figures: Vec<&Value> = list(figures).iter().collect();
        Row::new(label, &figures[..2], &figures[2..])
    };
    let rows: Vec<Row> = seed["orphan_file"].as_object().unwrap().iter().map(of_file).collect();
    mmtests_rows_come_out(&rows);
}

/// Seconds are better when there are fewer of them, and a gain is positive all the same.
#[test]
fn the_orphan_stress_in_seconds_gains_where_it_takes_less_time() {
    let seed = published("d_orphan_list")["stress_orphan_seconds"].clone();
    let side = |column: usize, name: &str| {
        let point = |(tasks, seconds): (&Value, &Value)| {
            let point = point_of("orphan/truncate-bytes", &[], whole(tasks), 1000.0);
            with_metric(point, SECONDS, number(seconds))
        };
        let points = list(&seed["processes"]).iter().zip(list(&seed[name])).map(point).collect();
        vec![a_run(column as u32, column, points)]
    };
    let sides = [side(0, "locked"), side(1, "lockless")];
    let text = compared(&sides, &["--format", "mmtests", "--metric", "elapsed_s"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("Amean")).collect();
    let printed = ["0.66", "6.40", "10.75", "23.73", "42.99", "25.64", "34.49", "42.29"];
    assert_eq!(rows.len(), printed.len(), "{text}");
    for (row, percent) in rows.iter().zip(printed) {
        assert!(row.ends_with(&format!("({percent:>7}%)")), "{percent}: {row}");
    }
}
