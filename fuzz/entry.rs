//! What each fuzz target does with its bytes. The targets and the test over the corpus call these same
//! functions; they panic on what must never happen.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum as _;
use http_body_util::BodyExt as _;
use scalewatch::app::{App, router};
use scalewatch::clock::Clock;
use scalewatch::config::Config;
use scalewatch::import::{Ask, Format, Given, Input, Mapping, Meaning, Revisions, Setting, Source};
use scalewatch::{import, ingest};
use tower::ServiceExt as _;

/// Every target: one a format, and five more.
pub fn targets() -> Vec<&'static str> {
    let formats = Format::value_variants().iter().map(|format| format.word());
    formats.chain(["report", "query", "revisions", "machine", "mapping"]).collect()
}

/// Hands bytes to a target.
pub fn run(target: &str, data: &[u8]) {
    match target {
        "report" => report(data),
        "query" => query(data),
        "revisions" => drop(Revisions::read(&mut &*data)),
        "machine" => drop(import::machine_of(data)),
        "mapping" => mapping(data),
        format => {
            let known = Format::value_variants().iter().find(|known| known.word() == format);
            of_format(*known.unwrap_or_else(|| panic!("no target {format}")), data);
        }
    }
}

/// A report that passes its limits is prepared or refused, and is written as it was read.
fn report(data: &[u8]) {
    let Ok(report) = serde_json::from_slice::<wire::Report>(data) else { return };
    if report.check().is_ok() {
        survives(&report);
        drop(ingest::prepare(report));
    }
}

fn survives(report: &wire::Report) {
    let text = serde_json::to_vec(report).expect("a report serialises");
    let again: wire::Report = serde_json::from_slice(&text).expect("it is read again");
    assert_eq!(again, *report, "a report changes by being written and read");
}

/// Whatever a file holds, a report that is made of it keeps every limit, and is made again the same.
fn of_format(format: Format, data: &[u8]) {
    let made = reports(format, data);
    for report in &made {
        assert_eq!(report.check(), Ok(()), "a report that breaks a limit");
        survives(report);
        drop(ingest::prepare(report.clone()));
    }
    assert_eq!(reports(format, data), made, "the same file makes other reports");
}

fn reports(format: Format, data: &[u8]) -> Vec<wire::Report> {
    let ask = Ask { mapping: columns(), ..Ask::default() };
    let mut setting = setting(format);
    let mut made = Vec::new();
    let _ = format.read(&input(format, data), &ask, &mut |run| {
        made.extend(setting.report(run, None)?);
        Ok(())
    });
    made
}

/// Formats of one file take all bytes; a tree is files one below the other, each under `=== path`.
fn input(format: Format, data: &[u8]) -> Input {
    let mut files = BTreeMap::new();
    if !format.reads_folders() {
        files.insert("input".to_owned(), data.to_vec());
        return Input {
            source: Source::in_memory(files),
            file: Some("input".into()),
            revision: None,
        };
    }
    let mut path = String::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(b"=== ") {
            Some(name) => path = String::from_utf8_lossy(name).trim().to_owned(),
            None => files.entry(path.clone()).or_default().extend_from_slice(line),
        }
    }
    Input { source: Source::in_memory(files), file: None, revision: None }
}

fn columns() -> Mapping {
    let maps = [
        "workload=workload",
        "tasks=tasks",
        "commit=commit",
        "position=position",
        "branch=branch",
        "committed_at=committed_at",
        "subject=subject",
        "measured_at=measured_at",
        "parameter.p=p",
        "environment.e=e",
        "metric.m=m",
        "metric=metric",
        "value=value",
        "unit=unit",
        "direction=direction",
    ];
    Mapping::parse(&maps.map(str::to_owned), b',').expect("the mapping is good")
}

fn setting(format: Format) -> Setting {
    let machine =
        br#"{"name": "m", "identity": {"architecture": "x", "cpu_model": "x", "sockets": 1,
        "cores": 4, "threads": 8, "numa_nodes": 1, "caches": [], "memory_class": "1 GiB",
        "hardware_id": "x"}}"#;
    let owned = |text: &str| vec![text.to_owned()];
    Setting {
        format,
        machine: import::machine_of(machine).expect("the machine is good"),
        project: wire::Project { name: "p".into(), subject: wire::Subject::Program },
        given: Given { position: Some(1), commit: Some("0a1b2c3".into()), ..Given::default() },
        revisions: None,
        meaning: Meaning::parse(&owned("m=s"), &owned("m=lower"), &[]).expect("it is good"),
        measured_at: time::OffsetDateTime::from_unix_timestamp(1_700_000_000).ok(),
        environment: BTreeMap::new(),
        tasks: 1,
        tasks_from: None,
        first_name: None,
    }
}

/// The words of `--map`, one a line.
fn mapping(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    drop(Mapping::parse(&words, b','));
    drop(Meaning::parse(&words, &[], &words));
    drop(Meaning::parse(&[], &words, &[]));
}

/// Runtime and router of a thread. Its database never answers: parameters are read before it is asked.
struct Service {
    runtime: tokio::runtime::Runtime,
    router: axum::Router,
}

impl Service {
    fn new() -> Service {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let pool = {
            let _inside = runtime.enter();
            let options = sqlx::postgres::PgPoolOptions::new();
            let options = options.acquire_timeout(Duration::from_millis(1));
            options.connect_lazy("postgres://nobody@127.0.0.1:1/none").expect("a good address")
        };
        let config = Arc::new(Config::for_testing(std::path::Path::new("/nonexistent")));
        let router = router(App::new(pool, Clock::system(), config));
        Service { runtime, router }
    }
}

/// An address with its query, as `/api/v1/runs?limit=10`: a refusal says why, in the API's words where
/// it is one of the API's.
fn query(data: &[u8]) {
    thread_local! { static SERVICE: OnceCell<Service> = const { OnceCell::new() } }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let address = text.lines().next().unwrap_or_default();
    let Ok(request) = axum::http::Request::get(address).body(axum::body::Body::empty()) else {
        return;
    };
    if !request.uri().path().starts_with('/') {
        return;
    }
    let api = request.uri().path().starts_with("/api/v1/");
    SERVICE.with(|service| {
        let service = service.get_or_init(Service::new);
        service.runtime.block_on(async {
            let answer = service.router.clone().oneshot(request).await.expect("the router answers");
            let status = answer.status();
            let body = answer.into_body().collect().await.expect("the answer ends").to_bytes();
            if api && status.is_client_error() {
                let problem: wire::Problem = serde_json::from_slice(&body)
                    .unwrap_or_else(|error| panic!("{address}: {status}: {error}"));
                assert!(!problem.code.is_empty(), "{address}: {problem:?}");
            }
        });
    });
}
