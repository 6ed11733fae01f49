//! One small file of each tool's own shape: the same figures in the database, the API and the page.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use scalewatch::db::Pool;

use super::{REVISION, done, figures, file, runs, service};

/// Imports one file, and reads its figures back.
async fn imported(pool: &Pool, format: &str, name: &str, more: &[&str]) -> Vec<String> {
    let service = service(pool).await;
    done(pool, format, &[&file(name)], &[&REVISION[..], more].concat());
    figures(&service).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_csv_of_will_it_scale(pool: Pool) {
    let found = imported(&pool, "will-it-scale-csv", "read1.csv", &[]).await;
    let rate = "ops_per_s_total ops/s higher";
    assert_eq!(
        found,
        [
            format!(r#"will-it-scale/read1 {{"mode":"process"}} 1 {rate} [1250000.0]"#),
            format!(r#"will-it-scale/read1 {{"mode":"process"}} 2 {rate} [2400000.0]"#),
            format!(r#"will-it-scale/read1 {{"mode":"thread"}} 1 {rate} [1200000.0]"#),
            r#"will-it-scale/read1 {"mode":"thread"} 2 failed: no average was printed"#.into(),
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_a_test_of_will_it_scale_prints_without_its_warm_up(pool: Pool) {
    let found = imported(&pool, "will-it-scale", "read1_processes-2.txt", &[]).await;
    assert_eq!(
        found,
        [
            r#"will-it-scale/read1 {"mode":"process"} 2 ops_per_s_total ops/s higher [201000.0,201002.0,200999.0]"#
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_report_of_unixbench_with_scores_and_indexes(pool: Pool) {
    let found = imported(&pool, "unixbench", "unixbench.txt", &[]).await;
    assert_eq!(
        found,
        [
            "unixbench/double-precision-whetstone {} 2 index ratio higher [762.8]",
            "unixbench/double-precision-whetstone {} 2 score MWIPS higher [4195.2]",
            "unixbench/file-copy-256-bufsize-500-maxblocks {} 2 index ratio higher [302.1]",
            "unixbench/file-copy-256-bufsize-500-maxblocks {} 2 score KiB/s higher [50000.0]",
            "unixbench/system-call-overhead {} 2 index ratio higher [2107.2]",
            "unixbench/system-call-overhead {} 2 score lps higher [3160841.4]",
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_csv_of_re_aim(pool: Pool) {
    let found = imported(&pool, "reaim", "reaim.csv", &["--workload", "creat_clo"]).await;
    assert_eq!(
        found,
        [
            "reaim/creat_clo {} 1 jobs_per_min jobs/min higher [14705.88]",
            "reaim/creat_clo {} 1 jti % higher [100.0]",
            "reaim/creat_clo {} 1 real s lower [0.41]",
            "reaim/creat_clo {} 31 jobs_per_min jobs/min higher [67982.45]",
            "reaim/creat_clo {} 31 jti % higher [98.5]",
            "reaim/creat_clo {} 31 real s lower [2.74]",
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_csv_of_phoronix_whose_systems_are_revisions(pool: Pool) {
    let service = service(&pool).await;
    let revisions = file("revisions.tsv");
    let seven = ["--revisions", &revisions, "--unit", "pts/compress*=count"];
    let more = [&seven[..], &["--unit", "pts/build*=s"]].concat();
    done(&pool, "phoronix", &[&file("phoronix.csv")], &more);
    let compress = r#"phoronix/pts/compress-7zip-1.10.0 {"arguments":"Test: Compression Rating"} 1 pts/compress-7zip-1.10.0 - Test: Compression Rating count higher"#;
    let build = r#"phoronix/pts/build-linux-kernel-1.15.0 {"arguments":"Build: defconfig"} 1 pts/build-linux-kernel-1.15.0 - Build: defconfig s lower"#;
    assert_eq!(
        figures(&service).await,
        [
            format!("{build} [35.21]"),
            format!("{compress} [101500.0]"),
            format!("{compress} [99800.0]")
        ]
    );
    let runs = runs(&service).await;
    let places = runs
        .iter()
        .map(|run| (run["commit"].as_str().unwrap()[..4].to_owned(), &run["environment"]));
    for (commit, environment) in places {
        let kernel = if commit == "1111" { "6.8.0 (x86_64)" } else { "6.9.0 (x86_64)" };
        assert_eq!(environment["facts"]["imported.kernel"], kernel, "{environment}");
    }
    // One of the systems alone, named on the command line: it is known.
    let one = [&seven[..], &["--column", "6.9.0", "--commit", "6.9.0"]].concat();
    assert!(done(&pool, "phoronix", &[&file("phoronix.csv")], &one).contains("0 new"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn json_of_hyperfine_with_a_parameter_as_the_task_count(pool: Pool) {
    let more = ["--tasks-from", "threads", "--workload", "rsync"];
    let found = imported(&pool, "hyperfine", "hyperfine.json", &more).await;
    assert_eq!(
        found,
        [
            "hyperfine/rsync {} 4 peak_memory B lower [1048576.0,1048576.0,2097152.0]",
            "hyperfine/rsync {} 4 system s lower [0.5]",
            "hyperfine/rsync {} 4 time s lower [1.0,1.25,1.5]",
            "hyperfine/rsync {} 4 user s lower [2.5]",
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_tree_of_criterion(pool: Pool) {
    let found = imported(&pool, "criterion", "criterion", &[]).await;
    assert_eq!(
        found,
        [
            "criterion/find {} 1 time ns lower [71.5]",
            r#"criterion/sort/stable {"value":"1024"} 1 time ns lower [125.0,130.0,125.0]"#,
        ]
    );
    let service = service(&pool).await;
    let run = &runs(&service).await[0];
    let spread = &run["recorded"][0]["imported"]["spread"]["time"];
    assert_eq!(spread.to_string(), r#"{"high":72.5,"low":70.5,"sd":1.5}"#);
    let page = service.get(&format!("/runs/{}", run["id"].as_str().unwrap())).await.text();
    assert!(page.contains("sd 1.50, from 70.5, to 72.5"), "{page}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn json_of_google_benchmark_with_repetitions_aggregates_and_an_error(pool: Pool) {
    let found = imported(&pool, "google-benchmark", "google-benchmark.json", &[]).await;
    let copy = r#"google-benchmark/BM_Copy {"size":"64"} 2"#;
    assert_eq!(
        found,
        [
            "google-benchmark/BM_Broken {} 1 failed: no device".to_owned(),
            format!("{copy} bytes_per_second B/s higher [5120000000.0,4740740740.0]"),
            format!("{copy} cpu_time ns lower [25.0,27.0]"),
            format!("{copy} real_time ns lower [12.5,13.5]"),
            "google-benchmark/BM_Sort {} 1 cpu_time ms lower [1.9]".into(),
            "google-benchmark/BM_Sort {} 1 real_time ms lower [2.0]".into(),
        ]
    );
    let service = service(&pool).await;
    assert_eq!(runs(&service).await[0]["started_at"], "2026-02-03T09:00:00Z");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_go_test_prints(pool: Pool) {
    let more = ["--unit", "probes/op=count/op"];
    let found = imported(&pool, "go", "go.txt", &more).await;
    let find = r#"go/Find {"pkg":"example.org/sort"} 1"#;
    let sort = r#"go/Sort/stable {"pkg":"example.org/sort","size":"1024"} 8"#;
    assert_eq!(
        found,
        [
            format!("{find} ns/op ns lower [250.5]"),
            format!("{find} probes/op count/op lower [3.5]"),
            format!("{sort} B/op B lower [4096.0,4096.0]"),
            format!("{sort} MB/s MB/s higher [9.83,9.73]"),
            format!("{sort} allocs/op count/op lower [2.0,2.0]"),
            format!("{sort} ns/op ns lower [104123.0,105200.0]"),
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn json_of_pytest_benchmark_which_knows_its_commit(pool: Pool) {
    let service = service(&pool).await;
    done(&pool, "pytest", &[&file("pytest.json")], &[]);
    assert_eq!(
        figures(&service).await,
        [
            "pytest-benchmark/tests/test_sort.py::test_find {} 1 time s lower [0.2]",
            r#"pytest-benchmark/tests/test_sort.py::test_sort {"n":"100"} 1 time s lower [0.001,0.002,0.003]"#,
        ]
    );
    let run = &runs(&service).await[0];
    assert_eq!(run["commit"], "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567");
    assert_eq!(run["started_at"], "2026-02-01T12:30:00.123456Z");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn json_of_fio_with_grouped_and_single_jobs(pool: Pool) {
    let found = imported(&pool, "fio", "fio.json", &[]).await;
    let read = r#"fio/randread {"bs":"4k","direct":"1","iodepth":"16","ioengine":"io_uring","rw":"randread"} 4"#;
    let write = r#"fio/seqwrite {"bs":"1m","direct":"1","ioengine":"io_uring","rw":"write"} 2"#;
    assert_eq!(
        found,
        [
            r#"fio/broken {"direct":"1","ioengine":"io_uring","rw":"read"} 1 failed: the job ended with error 5"#.to_owned(),
            format!("{read} read_bw B/s higher [819200.0]"),
            format!("{read} read_clat_mean ns lower [5000.5]"),
            format!("{read} read_clat_p50 ns lower [4800.0]"),
            format!("{read} read_clat_p99 ns lower [20096.0]"),
            format!("{read} read_clat_p99_9 ns lower [60000.0]"),
            format!("{read} read_iops ops/s higher [200.0]"),
            format!("{write} write_bw B/s higher [4194304.0]"),
            format!("{write} write_clat_mean ns lower [175.0]"),
            format!("{write} write_iops ops/s higher [4.0]"),
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_sysbench_prints_with_its_intervals(pool: Pool) {
    let found =
        imported(&pool, "sysbench", "sysbench.txt", &["--workload", "oltp_read_write"]).await;
    let point = "sysbench/oltp_read_write {} 8";
    assert_eq!(
        found,
        [
            format!("{point} latency_avg ms lower [6.46]"),
            format!("{point} latency_p95 ms lower [8.43]"),
            format!("{point} queries_per_second ops/s higher [24750.0]"),
            format!("{point} transactions_per_second ops/s higher [1234.5,1240.5]"),
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn bencher_metric_format_with_a_measure_of_its_own(pool: Pool) {
    let more = ["--unit", "instructions=count", "--direction", "instructions=lower"];
    let found = imported(&pool, "bencher", "bencher.json", &more).await;
    assert_eq!(
        found,
        [
            "bencher/my_binary {} 1 file-size B lower [42.0]",
            "bencher/parse {} 1 instructions count lower [123456.0]",
            "bencher/parse {} 1 latency ns lower [88.0]",
        ]
    );
}

const COLUMNS: [&str; 16] = [
    "--map",
    "workload=test",
    "--map",
    "tasks=threads",
    "--map",
    "parameter.fs=fs",
    "--map",
    "commit=sha",
    "--map",
    "position=pos",
    "--map",
    "environment.kernel=kernel",
    "--map",
    "metric.rate=rate",
    "--map",
    "metric.p99=p99",
];

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_csv_by_its_columns(pool: Pool) {
    let service = service(&pool).await;
    let meaning = [
        "--unit",
        "rate=ops/s",
        "--direction",
        "rate=higher",
        "--unit",
        "p99=us",
        "--direction",
        "p99=lower",
        "--measured-at",
        "2026-01-05T00:00:00Z",
    ];
    let said = done(&pool, "csv", &[&file("table.csv")], &[&COLUMNS[..], &meaning[..]].concat());
    assert!(said.contains("3 points of 2 runs read: 2 new"), "{said}");
    assert_eq!(
        figures(&service).await,
        [
            r#"append {"fs":"ext4"} 1 p99 us lower [12.0,11.0]"#,
            r#"append {"fs":"ext4"} 1 p99 us lower [15.0]"#,
            r#"append {"fs":"ext4"} 1 rate ops/s higher [100.5,101.5]"#,
            r#"append {"fs":"ext4"} 1 rate ops/s higher [90.5]"#,
            r#"append {"fs":"ext4"} 4 rate ops/s higher [390.0]"#,
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn lines_of_json_by_their_fields(pool: Pool) {
    let service = service(&pool).await;
    let fields = [
        "workload=name",
        "tasks=run.threads",
        "commit=run.sha",
        "position=run.pos",
        "metric=metric",
        "value=value",
        "unit=unit",
        "direction=better",
    ];
    let mut more: Vec<&str> = fields.iter().flat_map(|field| ["--map", field]).collect();
    more.extend(["--measured-at", "2026-01-05T00:00:00Z"]);
    done(&pool, "ndjson", &[&file("table.ndjson")], &more);
    assert_eq!(
        figures(&service).await,
        ["append {} 2 p99 us lower [12.0]", "append {} 2 rate ops/s higher [100.5,101.5]"]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_tree_of_lkp_runs_and_one_of_pooled_ones(pool: Pool) {
    let service = service(&pool).await;
    let when = ["--position", "1", "--measured-at", "2026-01-05T00:00:00Z"];
    // The commit is in the tree, its place in history is not.
    let whole = ["--commit", "68ac5b3c8db2fda0d1f9ae5e8a3b0e4f5a6b7c8d"];
    done(&pool, "lkp", &[&file("lkp")], &[&whole[..], &when[..]].concat());
    let unix1 = r#"lkp/will-it-scale {"mode":"process","test":"unix1"} 4"#;
    assert_eq!(
        figures(&service).await,
        [
            format!("{unix1} per_process_ops ops/s higher [493140.0]"),
            format!("{unix1} per_process_ops ops/s higher [493141.0]"),
            format!("{unix1} scalability ratio higher [0.75]"),
            format!("{unix1} scalability ratio higher [0.75]"),
        ]
    );
    let facts = &runs(&service).await[0]["environment"]["facts"];
    assert_eq!(facts["imported.cpufreq_governor"], "performance");
    assert_eq!(facts["imported.tbox_group"], "lkp-csl-2sp3");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_compressed_matrix_of_lkp_has_a_run_a_column(pool: Pool) {
    let service = service(&pool).await;
    let path = "aim7/ext4-creat-clo-1000-1BRD_48G-performance/lkp-ivb-2ep1/debian-10/x86_64-rhel-8.3/\
                gcc-9/05c2c00f3769abb9e323fcaca70d2de0b48af7ba";
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(path)).unwrap();
    let plain = std::fs::read(file(&format!("lkp-matrix/{path}/matrix.json"))).unwrap();
    let target = std::fs::File::create(folder.path().join(path).join("matrix.json.gz")).unwrap();
    let mut gzip = GzEncoder::new(target, Compression::default());
    gzip.write_all(&plain).unwrap();
    gzip.finish().unwrap();
    let folder = folder.path().display().to_string();
    let when = ["--commit", "05c2c00f3769abb9e323fcaca70d2de0b48af7ba", "--position", "9"];
    let more = [&when[..], &["--tasks", "1000", "--measured-at", "2026-01-05T00:00:00Z"]].concat();
    done(&pool, "lkp", &[&folder], &more);
    let clo = r#"lkp/aim7 {"path_params":"ext4-creat-clo-1000-1BRD_48G-performance"} 1000"#;
    assert_eq!(
        figures(&service).await,
        [
            format!("{clo} jobs-per-min jobs/min higher [117000.5]"),
            format!("{clo} jobs-per-min jobs/min higher [118000.5]"),
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_folder_of_mmtests_has_a_run_for_each_kernel_and_iteration(pool: Pool) {
    let service = service(&pool).await;
    let more = ["--revisions", &file("revisions.tsv")];
    let said = done(&pool, "mmtests", &[&file("mmtests")], &more);
    assert!(said.contains("of 4 runs read: 4 new"), "{said}");
    let read = r#"mmtests/wis/read1 {"mode":"process"} 4 ops_per_s_total ops/s higher"#;
    assert_eq!(
        figures(&service).await,
        [
            "mmtests/hackbench-process-pipes {} 1 time s lower [0.512,0.488]".to_owned(),
            "mmtests/reaim/creat_clo {} 1 jobs_per_min jobs/min higher [14705.88]".into(),
            "mmtests/reaim/creat_clo {} 1 jti % higher [100.0]".into(),
            "mmtests/reaim/creat_clo {} 1 real s lower [0.41]".into(),
            "mmtests/unixbench/system-call-overhead {} 2 score lps higher [3160841.4,3160000.5]"
                .into(),
            format!("{read} [100000.0,100500.0]"),
            format!("{read} [100001.0,100501.0]"),
            format!("{read} [90000.0,90500.0]"),
            format!("{read} [90001.0,90501.0]"),
        ]
    );
}
