//! Bad files and bad words: each is refused with its place, and nothing is stored.

use std::path::PathBuf;

use scalewatch::db::Pool;

use super::{REVISION, file, refused, service};
use crate::support::row_counts;

/// Files of the test's own, gone with it.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_broken_file_of_each_format_is_refused_by_place_and_leaves_nothing(pool: Pool) {
    let _service = service(&pool).await;
    let before = row_counts(&pool).await;
    let files = Files::new();
    let hyperfine = std::fs::read_to_string(file("hyperfine.json")).unwrap();
    let with = |from: &str, to: &str| hyperfine.replacen(from, to, 1);
    let cases: Vec<(&str, &str, Vec<u8>, &[&str])> = vec![
        ("hyperfine", "empty.json", vec![], &["is empty"]),
        ("hyperfine", "cut.json", hyperfine[..200].into(), &["line", "EOF"]),
        ("hyperfine", "nan.json", with("1.25,\n", "NaN,\n").into(), &["line 5"]),
        (
            "hyperfine",
            "huge.json",
            with("1.25, 1.5", "1e999, 1.5").into(),
            &["line", "out of range"],
        ),
        ("hyperfine", "text.json", with("[1.0,", "[\"1.0\",").into(), &["results[0].times[0]"]),
        (
            "hyperfine",
            "none.json",
            with("[1.0, 1.25, 1.5]", "[]").into(),
            &["results[0].times", "empty"],
        ),
        ("hyperfine", "lacks.json", with("\"mean\"", "\"maen\"").into(), &["results[0]", "mean"]),
        (
            "hyperfine",
            "bytes.json",
            b"{\"results\": [{\"command\": \"\xff\"}]}".into(),
            &["line 1", "unicode"],
        ),
        ("hyperfine", "more.json", with("]\n}\n", "]\n}\n{}").into(), &["trailing characters"]),
        (
            "will-it-scale-csv",
            "a.csv",
            "tasks,ops\n".into(),
            &["line 1", "is not `tasks,processes"],
        ),
        (
            "will-it-scale-csv",
            "b.csv",
            wis("1,nan,0,5,0,5").into(),
            &["line 3", "not a finite number"],
        ),
        ("will-it-scale-csv", "c.csv", wis("1,-7,0,5,0,5").into(), &["line 3", "`-7`"]),
        ("will-it-scale-csv", "d.csv", wis("0.5,7,0,5,0,5").into(), &["line 3", "number of tasks"]),
        ("will-it-scale-csv", "e.csv", wis("1,7,0").into(), &["line 3", "3 columns"]),
        ("will-it-scale-csv", "f.csv", b"tasks\xff\n".into(), &["line 1", "not UTF-8"]),
        (
            "will-it-scale",
            "w.txt",
            "testcase:x\nwarmup\nmin:1 max:1 total:1\n".into(),
            &["warm-up"],
        ),
        (
            "unixbench",
            "u.txt",
            "System Call  5 lps (1 s, 1 samples)\n".into(),
            &["line 1", "running N"],
        ),
        ("unixbench", "v.txt", "nothing\n".into(), &["no result of unixbench"]),
        ("reaim", "r.csv", "Forks,JPM\n1,x\n".into(), &["line 2", "column `JPM`", "`x`"]),
        ("reaim", "s.csv", "Forks\n".into(), &["line 1", "no column `JPM`"]),
        ("go", "g.txt", "BenchmarkX-8 100 12.5\n".into(), &["line 1", "number and a unit"]),
        ("go", "h.txt", "BenchmarkX-8 100 inf ns/op\n".into(), &["line 1", "finite"]),
        (
            "google-benchmark",
            "k.json",
            r#"{"benchmarks":[{"name":"x","real_time":1}]}"#.into(),
            &["benchmarks[0].time_unit"],
        ),
        (
            "pytest",
            "p.json",
            r#"{"commit_info":{"dirty":true},"benchmarks":[]}"#.into(),
            &["commit_info.dirty"],
        ),
        ("fio", "f.json", "fio: fatal\n".into(), &["begins with `{`"]),
        (
            "fio",
            "n.json",
            r#"{"jobs":[{"jobname":"x","job options":{"numjobs":"0"}}]}"#.into(),
            &["numjobs"],
        ),
        (
            "sysbench",
            "x.txt",
            "sysbench 1.0.20\nNumber of threads: 1\n".into(),
            &["line 1", "no result"],
        ),
        ("bencher", "b.json", r#"{"a":{"latency":{"valeu":1}}}"#.into(), &["a.latency", "value"]),
        (
            "phoronix",
            "t.csv",
            " ,,\"a\"\nCPU,,x\n\n ,,\"a\"\n\"t - \",XX,1\n".into(),
            &["line 5", "`XX`"],
        ),
        ("phoronix", "y.csv", "title\n".into(), &["no result of phoronix"]),
    ];
    for (format, name, content, words) in cases {
        let path = files.write(name, content);
        let said = refused(&pool, format, &[&path], &REVISION);
        assert!(said.contains(name), "{format} {name}: {said}");
        for word in words {
            assert!(said.contains(word), "{format} {name} lacks {word}: {said}");
        }
    }
    assert_eq!(row_counts(&pool).await, before);
}

fn wis(row: &str) -> String {
    format!("tasks,processes,processes_idle,threads,threads_idle,linear\n0,0,100,0,100,0\n{row}\n")
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn broken_trees_are_refused_by_file(pool: Pool) {
    let _service = service(&pool).await;
    let before = row_counts(&pool).await;
    let files = Files::new();
    for (format, tree, path, content, words) in [
        ("criterion", "c1", "x/new/benchmark.json", r#"{"group_id":"x"}"#, &["estimates.json"][..]),
        ("criterion", "c2", "x/base/benchmark.json", r#"{"group_id":"x"}"#, &["no folder `new`"]),
        ("lkp", "l1", "stats.json", r#"{"x.y": 1}"#, &["job.yaml"]),
        ("lkp", "l2", "matrix.json", r#"{"x.y": 1}"#, &["job.yaml"]),
        (
            "mmtests",
            "m1",
            "6.9/iter-0/wis-x/wis-x-processes-2.log",
            "min:1 max:2\n",
            &["line 1", "total:"],
        ),
        ("mmtests", "m2", "6.9/iter-0/other/x.log", "x\n", &["no log of"]),
    ] {
        files.write(&format!("{tree}/{path}"), content);
        let folder = files.0.path().join(tree).display().to_string();
        let said = refused(&pool, format, &[&folder], &REVISION);
        assert!(words.iter().all(|word| said.contains(word)), "{format} {tree}: {said}");
    }
    let said =
        refused(&pool, "hyperfine", &[&files.0.path().join("m2").display().to_string()], &REVISION);
    assert!(said.contains("without a file that ends in .json"), "{said}");
    assert_eq!(row_counts(&pool).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_metric_without_unit_or_direction_is_refused_by_name(pool: Pool) {
    let _service = service(&pool).await;
    let before = row_counts(&pool).await;
    let path = file("bencher.json");
    let with = |more: &[&str]| refused(&pool, "bencher", &[&path], &[&REVISION[..], more].concat());
    let said = with(&[]);
    assert!(
        said.contains("metric `instructions` has no unit") && said.contains("`parse`"),
        "{said}"
    );
    let said = with(&["--unit", "instructions=count"]);
    assert!(said.contains("--direction 'instructions=higher'"), "{said}");
    let said = with(&["--unit", "instructions=furlongs"]);
    assert!(said.contains("`furlongs` is none of ops/s"), "{said}");
    let said = with(&["--skip", "instructions", "--unit", "latency=us"]);
    assert!(said.contains("given as us, but the file says ns"), "{said}");
    let said = with(&["--skip", "instructions", "--unit", "latnecy=ns"]);
    assert!(said.contains("--unit latnecy names no metric"), "{said}");
    assert!(with(&["--skip", "*"]).contains("nothing is left to import"));
    assert_eq!(row_counts(&pool).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_table_that_does_not_fit_its_mapping_is_refused_by_line_and_column(pool: Pool) {
    let _service = service(&pool).await;
    let before = row_counts(&pool).await;
    let files = Files::new();
    let meaning = ["--unit", "m=s", "--direction", "m=lower", "--workload", "w"];
    for (format, name, content, map, words) in [
        ("csv", "a.csv", "x,y\n1,2\n", "metric.m=z", &["line 1", "no column `z`", "x, y"][..]),
        ("csv", "b.csv", "x,y\n1,2\n", "metrics.m=x", &["`metrics.m` is none of"]),
        ("csv", "c.csv", "x,y\n1,2\n", "tasks=x", &["no column is a metric"]),
        ("csv", "d.csv", "x,y\n1,2,3\n", "metric.m=x", &["line 2", "has 3 columns"]),
        ("csv", "e.csv", "x,x\n1,2\n", "metric.m=x", &["line 1", "two columns `x`"]),
        ("csv", "f.csv", "x\n1\nabc\n", "metric.m=x", &["line 3", "column `x`", "`abc`"]),
        ("csv", "g.csv", "x\n1e400\n", "metric.m=x", &["line 2", "finite"]),
        ("csv", "h.csv", "", "metric.m=x", &["empty"]),
        ("ndjson", "i.ndjson", "{\"x\": 1}\n[1]\n", "metric.m=x", &["line 2", "not a JSON object"]),
        ("ndjson", "j.ndjson", "{\"x\": [1, \"a\"]}\n", "metric.m=x", &["line 1", "column `x`"]),
        ("ndjson", "k.ndjson", "{\"x\": {\"y\": 1}}\n", "metric.m=x", &["line 1", "not a number"]),
    ] {
        let path = files.write(name, content);
        let more = [&REVISION[..], &meaning[..], &["--map", map]].concat();
        let said = refused(&pool, format, &[&path], &more);
        assert!(words.iter().all(|word| said.contains(word)), "{name}: {said}");
    }
    let quote = format!("x\n\"{}", "1".repeat(2 << 20));
    let path = files.write("quote.csv", quote);
    let more = [&REVISION[..], &meaning[..], &["--map", "metric.m=x"]].concat();
    let said = refused(&pool, "csv", &[&path], &more);
    assert!(said.contains("longer than 1048576 bytes"), "{said}");
    assert_eq!(row_counts(&pool).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn code_machine_and_project_that_are_not_told_are_refused(pool: Pool) {
    let _service = service(&pool).await;
    let before = row_counts(&pool).await;
    let path = file("hyperfine.json");
    let none = |more: &[&str]| refused(&pool, "hyperfine", &[&path], more);
    assert!(none(&[]).contains("give --commit"));
    let said = none(&["--by-revision"]);
    assert!(said.contains("`hyperfine` is not a commit") && said.contains("--revisions"), "{said}");
    let said = none(&["--by-revision", "--revisions", &file("revisions.tsv")]);
    assert!(said.contains("`hyperfine` is not in the file of revisions"), "{said}");
    let said = none(&["--commit", "1111111"]);
    assert!(said.contains("place of `1111111` in history"), "{said}");
    let said = none(&["--commit", "1111111", "--position", "1"]);
    assert!(said.contains("--measured-at"), "{said}");
    assert!(
        none(&["--commit", "1111111", "--committed-at", "yesterday"]).contains("--committed-at")
    );
    assert!(none(&["--revisions", &file("hyperfine.json")]).contains("line 1"));
    let said = none(&[&REVISION[..], &["--tasks-from", "jobs"]].concat());
    assert!(said.contains("results[0]: there is no parameter `jobs`"), "{said}");
    let two = [&REVISION[..], &["--unit", "*=s"]].concat();
    let said = refused(&pool, "phoronix", &[&file("phoronix.csv")], &two);
    assert!(said.contains("several revisions, `6.8.0` and `6.9.0`"), "{said}");
    let missing = files_missing();
    assert!(refused(&pool, "hyperfine", &[&missing], &REVISION).contains("cannot be read"));
    assert_eq!(row_counts(&pool).await, before);
}

fn files_missing() -> String {
    file("there-is-no-such-file.json")
}
