//! The gate: one exit code for each way it can end, and the forms of its verdict.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::process::Output;

use serde_json::{Value, json};
use support::home::{Home, ends, stderr, stdout};
use support::{Act, Stub, error};

const COMMITS: [&str; 4] = ["--base", "aaaaaaa", "--head", "bbbbbbb"];

fn say(status: u16, body: &Value) -> Act {
    Act::Say(status, body.to_string(), "")
}

/// No job of the two commits is open.
fn no_jobs() -> [Act; 2] {
    let none = json!({ "items": [], "next": null });
    [say(200, &none), say(200, &none)]
}

fn verdict(outcome: &str, verdict: &str, ratio: f64) -> Value {
    let side = |commit: &str| json!({ "asked": commit, "commits": [commit], "subject": "ext4: a change", "runs": 5 });
    json!({
        "project": "demo", "outcome": outcome, "words": format!("{outcome} on 1 curve"),
        "base": side("aaaaaaa"), "head": side("bbbbbbb"), "rule": "A point is called when so.",
        "url": "http://watch/projects/demo/compare?base=aaaaaaa&head=bbbbbbb", "unpaired": [],
        "curves": [{
            "curve": 1, "machine": "5f1d7a84db00d2fc", "machine_name": "box-a",
            "workload": "file/open", "version": 1, "parameters": { "mode": "process" },
            "metric": "ops_per_s_total", "unit": "ops/s", "direction": "higher",
            "words": "as it is", "failed": [], "set_aside": [],
            "why": "1. distance: 3 > 2 holds, and decides", "url": "http://watch/compare?curve=1",
            "points": [{
                "tasks": 1, "verdict": verdict, "unconfirmed": false, "base": 100.0,
                "head": 100.0 * ratio, "ratio": ratio, "low": ratio - 0.01, "high": ratio + 0.01,
            }],
        }],
    })
}

fn job(state: &str, reason: Option<&str>) -> Value {
    json!({
        "id": 7, "state": state, "reason": reason, "project": { "name": "demo", "subject": "model" },
        "plan": { "workloads": ["file/open"] }, "revisions": [], "turns": [0, 1],
        "machine": "5f1d7a84db00d2fc", "machine_name": "box-a", "label": null, "priority": 0,
        "deadline": null, "limit_s": 86400, "attempts": 1, "attempts_most": 3, "incident": null,
        "submitted_by": "ci", "created_at": "2026-03-01T12:00:00Z", "claimed_at": null,
        "ended_at": null, "progress": {}, "runs": [], "url": "http://watch/jobs/7",
    })
}

/// The gate against a service that answers so, without workloads to measure.
fn gate(home: &Home, stub: &Stub, more: &[&str]) -> Output {
    let url = stub.url();
    let mut args = vec!["gate", "--project", "demo", "--server", &url, "--outage", "0s"];
    args.extend(COMMITS);
    args.extend(more);
    home.command(&args).env("SCALEWATCH_TOKEN", "sw_secret").output().unwrap()
}

fn judged(outcome: &str, of_point: &str, ratio: f64, more: &[&str]) -> (Home, Output) {
    let home = Home::new();
    let [one, other] = no_jobs();
    let stub = Stub::start([one, other, say(200, &verdict(outcome, of_point, ratio))]);
    let output = gate(&home, &stub, more);
    (home, output)
}

#[test]
fn no_regression_ends_with_0() {
    let (_, output) = judged("no_regression", "no change", 1.0, &[]);
    ends(&output, 0);
    assert!(stdout(&output).ends_with("gate: no_regression on 1 curve\n"), "{}", stdout(&output));
    assert!(!stdout(&output).contains("and decides"));
}

#[test]
fn a_regression_ends_with_1_and_explains_itself_when_asked() {
    let (_, output) = judged("regression", "regression", 0.6, &["--explain"]);
    ends(&output, 1);
    let text = stdout(&output);
    assert!(text.contains("−40.0 % [−41.0, −39.0]  regression"), "{text}");
    assert!(text.contains("1. distance: 3 > 2 holds, and decides"), "{text}");
    assert!(text.contains("A point is called when so."), "{text}");
}

#[test]
fn wrong_usage_ends_with_2_and_asks_nobody() {
    let home = Home::new();
    for (more, why) in [
        (&["--output", "yaml=x"][..], "yaml"),
        (&["--output", "junit=no/such/folder/x"], "no/such/folder"),
        (&["file/open"], "--machine or --label"),
        (&["file/open", "--label", "ci", "--runs", "0"], "runs"),
        (&["file/open", "--label", "ci", "-p", "a=1", "-p", "a=2"], "given twice"),
    ] {
        let stub = Stub::start([]);
        let output = gate(&home, &stub, more);
        ends(&output, 2);
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert!(stub.requests().is_empty());
    }
    let named = ["gate", "--project", "demo", "--server", "http://127.0.0.1:1", "--base", "main"];
    let named = [&named[..], &["--head", "topic", "--label", "ci", "file/open"]].concat();
    let output = home.command(&named).env("SCALEWATCH_TOKEN", "sw_secret").output().unwrap();
    ends(&output, 2);
    assert!(stderr(&output).contains("--repo takes any name"), "{}", stderr(&output));
}

#[test]
fn an_undecided_verdict_no_baseline_and_a_job_that_is_late_end_with_3() {
    let (_, output) = judged("undecided", "not enough data", 1.0, &[]);
    ends(&output, 3);

    let home = Home::new();
    let [one, other] = no_jobs();
    let stub = Stub::start([one, other, Act::Say(404, error(404, "not_found", None), "")]);
    let output = gate(&home, &stub, &[]);
    ends(&output, 3);
    assert!(stderr(&output).contains("no baseline"), "{}", stderr(&output));

    let open = json!({ "items": [job("queued", None)], "next": null });
    let stub = Stub::start([say(200, &open), say(200, &open)]);
    let output = gate(&home, &stub, &["--wait", "0s"]);
    ends(&output, 3);
    assert!(stderr(&output).contains("job 7 is still queued"), "{}", stderr(&output));
}

#[test]
fn a_refusal_of_the_service_ends_with_4() {
    let home = Home::new();
    let measure = ["file/open", "--label", "ci"];
    for (status, code, field) in [
        (401, "unauthorised", None),
        (403, "forbidden", None),
        (422, "invalid_field", Some("subject")),
    ] {
        let stub = Stub::start([Act::Say(status, error(status, code, field), "")]);
        let output = gate(&home, &stub, &measure);
        ends(&output, 4);
        assert!(stderr(&output).contains(code), "{}", stderr(&output));
    }
}

#[test]
fn a_service_out_of_reach_ends_with_5() {
    let home = Home::new();
    let stub = Stub::start([Act::Drop]);
    ends(&gate(&home, &stub, &[]), 5);
    let stub = Stub::start([Act::Say(503, error(503, "internal", None), "")]);
    ends(&gate(&home, &stub, &[]), 5);
}

#[test]
fn a_job_that_cannot_be_done_and_a_head_that_failed_end_with_6() {
    let (_, output) = judged("measurement_failed", "not enough data", 1.0, &[]);
    ends(&output, 6);

    let home = Home::new();
    for (state, reason) in
        [("failed", "no such commit"), ("cancelled", "by ada"), ("timed_out", "late")]
    {
        let submitted = json!({ "new": true, "jobs": [job("queued", None)] });
        let over = job(state, Some(reason));
        let stub = Stub::start([say(201, &submitted), say(200, &over)]);
        let output = gate(&home, &stub, &["file/open", "--label", "ci"]);
        ends(&output, 6);
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn measuring_asks_once_under_a_key_waits_and_compares_on_the_machine_that_did_it() {
    let home = Home::new();
    let submitted = json!({ "new": true, "jobs": [job("queued", None)] });
    let stub = Stub::start([
        say(201, &submitted),
        say(200, &job("running", None)),
        say(200, &job("done", None)),
        say(200, &verdict("no_regression", "no change", 1.0)),
    ]);
    let more =
        ["file/open", "--label", "ci", "--runs", "3", "--key", "pipeline-1", "--tasks", "1,2"];
    let more =
        [&more[..], &["--window", "250ms", "-p", "layout=own-dir", "--subject", "model"]].concat();
    ends(&gate(&home, &stub, &more), 0);
    let requests = stub.requests();
    let asked = requests[0].json();
    assert_eq!(requests[0].headers["idempotency-key"], "pipeline-1");
    assert_eq!(
        (&asked["base"]["commit"], &asked["revision"]["commit"]),
        (&json!("aaaaaaa"), &json!("bbbbbbb"))
    );
    assert_eq!(
        (&asked["runs"], &asked["label"], &asked["subject"]),
        (&json!(3), &json!("ci"), &json!("model"))
    );
    let plan = json!({
        "workloads": ["file/open"], "tasks": "1,2", "window_ms": 250,
        "parameters": { "layout": "own-dir" },
    });
    assert_eq!(asked["plan"], plan);
    let compared = &requests[3].line;
    assert!(
        compared.contains("machine=5f1d7a84db00d2fc") && compared.contains("workload=file%2Fopen"),
        "{compared}"
    );
}

#[test]
fn every_form_is_written_at_once() {
    let outputs = ["markdown=a.md", "junit=a.xml", "json=a.json", "text=a.txt"];
    let more: Vec<&str> = outputs.iter().flat_map(|output| ["--output", output]).collect();
    let more = [&more[..], &["--format", "markdown"]].concat();
    let (home, output) = judged("regression", "regression", 0.6, &more);
    ends(&output, 1);
    let read = |name: &str| std::fs::read_to_string(home.path(name)).unwrap();
    assert!(read("a.md").starts_with("### scalewatch: blocked"), "{}", read("a.md"));
    assert_eq!(read("a.md"), stdout(&output));
    assert!(read("a.xml").contains("<failure message="));
    let json: Value = serde_json::from_str(&read("a.json")).unwrap();
    assert_eq!(json["outcome"], "regression");
    assert!(read("a.txt").ends_with("gate: regression on 1 curve\n"));
    assert!(stderr(&output).contains("gate: regression on 1 curve"));
}
