//! Sending the spool: each answer of the service, outages, two uploaders, and what is sent.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::time::Duration;

use scalewatch_runner::agent::{
    Client, Drained, NotRegistered, Patience, Spool, StateDir, Stopped, Token, drain, register,
};
use support::{Act, MACHINE, Stub, error, report};

const ONCE: Patience = Patience { rounds: Some(1), within: None };
const THRICE: Patience = Patience { rounds: Some(3), within: None };

struct Bench {
    _folder: tempfile::TempDir,
    state: StateDir,
    spool: Spool,
    pauses: Vec<Duration>,
    said: Vec<String>,
}

impl Bench {
    fn with(reports: u32) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::at(folder.path().join("state"));
        let spool = state.spool().unwrap();
        for n in 0..reports {
            let entry = spool.put(&report(n)).unwrap();
            let at = std::time::UNIX_EPOCH + Duration::from_secs(u64::from(n));
            std::fs::File::options()
                .write(true)
                .open(entry.path)
                .unwrap()
                .set_modified(at)
                .unwrap();
        }
        Bench { _folder: folder, state, spool, pauses: Vec::new(), said: Vec::new() }
    }

    fn drain(&mut self, url: &str, patience: Patience) -> Drained {
        let client = client(url);
        drain(
            &self.spool,
            &client,
            Some(MACHINE),
            patience,
            &mut |pause| self.pauses.push(pause),
            &mut |line| self.said.push(line.to_owned()),
        )
        .unwrap()
    }

    fn waiting(&self) -> Vec<String> {
        self.spool.list().unwrap().into_iter().map(|entry| entry.run).collect()
    }

    fn refused(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.state.path().unwrap().join("refused"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn client(url: &str) -> Client {
    Client::new(url.parse().unwrap(), Token::new("sw_secret").unwrap())
}

fn run(n: u32) -> String {
    report(n).run
}

#[test]
fn reports_go_oldest_first_compressed_and_with_the_token() {
    let mut bench = Bench::with(3);
    let stub = Stub::start([]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert_eq!(drained.accepted.len(), 3);
    assert_eq!((drained.kept, drained.stopped), (0, None));
    assert_eq!(stub.runs(), [run(0), run(1), run(2)]);
    assert_eq!(bench.waiting(), [""; 0]);
    let request = &stub.requests()[0];
    assert_eq!(request.line, "POST /api/v1/runs HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.headers["content-encoding"], "gzip");
    assert_eq!(request.headers["authorization"], "Bearer sw_secret");
    let arrived: wire::Report = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(arrived, report(0));
}

#[test]
fn a_run_that_the_service_knew_already_leaves_the_spool_too() {
    let mut bench = Bench::with(1);
    let stub = Stub::start([Act::Known]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert!(!drained.accepted[0].new);
    assert_eq!(bench.waiting(), [""; 0]);
}

#[test]
fn a_refused_report_is_set_aside_with_the_reason_and_the_rest_goes_on() {
    let mut bench = Bench::with(3);
    let bad = error(422, "invalid_field", Some("points[0].tasks"));
    let stub = Stub::start([Act::Accept, Act::Say(422, bad, ""), Act::Accept]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert_eq!(drained.accepted.len(), 2);
    assert_eq!(drained.refused[0].0, run(1));
    assert_eq!(drained.refused[0].1.field.as_deref(), Some("points[0].tasks"));
    assert_eq!((drained.kept, drained.stopped), (0, None));
    assert_eq!(bench.refused(), [format!("{}.json", run(1)), format!("{}.reason", run(1))]);
    assert!(bench.said[0].contains("points[0].tasks"), "{:?}", bench.said);
    assert!(bench.pauses.is_empty(), "a refusal is not tried again");
}

#[test]
fn a_wrong_token_keeps_every_report_and_stops() {
    for status in [401, 403] {
        let mut bench = Bench::with(3);
        let stub =
            Stub::start([Act::Accept, Act::Say(status, error(status, "bad_token", None), "")]);
        let drained = bench.drain(&stub.url(), THRICE);
        assert_eq!(drained.kept, 2);
        assert!(matches!(drained.stopped, Some(Stopped::Unauthorised(_))), "{drained:?}");
        assert_eq!(bench.waiting(), [run(1), run(2)]);
        assert_eq!(stub.requests().len(), 2, "nothing is sent after the refusal");
        assert_eq!(bench.refused(), [""; 0]);
    }
}

#[test]
fn an_answer_of_not_now_keeps_the_report_and_tries_again_after_a_growing_pause() {
    for status in [408, 425, 429, 500, 502, 503] {
        let mut bench = Bench::with(1);
        let busy = || Act::Say(status, error(status, "busy", None), "");
        let stub = Stub::start([busy(), busy()]);
        let drained = bench.drain(&stub.url(), THRICE);
        assert_eq!(drained.accepted.len(), 1, "{status}");
        assert_eq!(bench.pauses.len(), 2);
        assert!(bench.pauses[0] <= Duration::from_millis(500));
        assert!(bench.pauses[1] >= Duration::from_millis(500));
        assert_eq!(stub.runs(), [run(0), run(0), run(0)]);
    }
}

#[test]
fn one_report_that_the_service_cannot_take_does_not_hold_up_the_others() {
    let mut bench = Bench::with(3);
    let stub = Stub::start([Act::Say(500, error(500, "internal", None), "")]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert_eq!(stub.runs(), [run(0), run(1), run(2)]);
    assert_eq!(drained.kept, 1);
    assert_eq!(bench.waiting(), [run(0)]);
}

#[test]
fn a_service_that_is_not_there_is_asked_once_a_round_and_not_for_every_report() {
    for status in [429, 502, 503, 504] {
        let mut bench = Bench::with(3);
        let stub = Stub::start([Act::Say(status, "gateway".into(), "")]);
        let drained = bench.drain(&stub.url(), ONCE);
        assert_eq!(stub.runs(), [run(0)]);
        assert_eq!(drained.kept, 3);
    }
}

#[test]
fn the_pause_that_the_service_asks_for_is_kept() {
    let mut bench = Bench::with(2);
    let stub = Stub::start([Act::Say(429, error(429, "slow_down", None), "Retry-After: 7\r\n")]);
    let drained = bench.drain(&stub.url(), THRICE);
    assert_eq!(drained.accepted.len(), 2);
    assert_eq!(bench.pauses, [Duration::from_secs(7)]);
    assert_eq!(stub.runs(), [run(0), run(0), run(1)], "the round ends at once");
}

#[test]
fn an_answer_that_breaks_off_loses_nothing() {
    let mut bench = Bench::with(2);
    let stub = Stub::start([Act::Drop, Act::Known]);
    let drained = bench.drain(&stub.url(), THRICE);
    assert_eq!(drained.accepted.len(), 2);
    assert_eq!(stub.runs(), [run(0), run(0), run(1)]);
}

#[test]
fn an_unreachable_service_keeps_everything_within_the_patience_given() {
    let mut bench = Bench::with(2);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    let within = Duration::from_secs(20);
    let drained = bench.drain(&url, Patience { rounds: None, within: Some(within) });
    assert!(matches!(drained.stopped, Some(Stopped::Unreachable(_))));
    assert_eq!(drained.kept, 2);
    assert_eq!(bench.waiting(), [run(0), run(1)]);
    assert!(bench.pauses.len() > 3);
    assert!(bench.pauses.iter().sum::<Duration>() <= within);
}

#[test]
fn another_program_on_the_port_takes_no_report_away() {
    for (status, body) in [(200, "<html>log in</html>"), (404, "nothing here"), (204, "")] {
        let mut bench = Bench::with(1);
        let stub = Stub::start([Act::Say(status, body.into(), "")]);
        let drained = bench.drain(&stub.url(), ONCE);
        assert!(matches!(drained.stopped, Some(Stopped::Unreachable(_))), "{drained:?}");
        assert_eq!(bench.waiting(), [run(0)]);
    }
}

#[test]
fn a_redirect_is_not_followed_with_the_token() {
    let mut bench = Bench::with(1);
    let elsewhere = Stub::start([]);
    let location: &'static str =
        Box::leak(format!("Location: {}/api/v1/runs\r\n", elsewhere.url()).into_boxed_str());
    let stub = Stub::start([Act::Say(307, String::new(), location)]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert_eq!(drained.kept, 1);
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn an_acceptance_of_another_run_is_not_believed() {
    let mut bench = Bench::with(1);
    let other = format!(r#"{{"run":"{}","new":true,"points":1,"windows":1}}"#, run(99));
    let stub = Stub::start([Act::Say(201, other, "")]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert_eq!((drained.accepted.len(), drained.kept), (0, 1));
    assert_eq!(bench.waiting(), [run(0)]);
}

#[test]
fn a_damaged_file_is_set_aside_without_being_sent() {
    let mut bench = Bench::with(2);
    let first = bench.spool.list().unwrap()[0].clone();
    std::fs::write(&first.path, b"{\"format\":1,\"run\":").unwrap();
    let stub = Stub::start([]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert_eq!(stub.runs(), [run(1)]);
    assert_eq!(drained.refused[0].1.code, "unreadable_report");
    assert_eq!(bench.refused().len(), 2);
}

#[test]
fn a_report_of_another_machine_is_set_aside_without_being_sent() {
    let mut bench = Bench::with(0);
    let mut foreign = report(1);
    foreign.machine.id = "ffffffffffffffff".into();
    bench.spool.put(&foreign).unwrap();
    let stub = Stub::start([]);
    let drained = bench.drain(&stub.url(), ONCE);
    assert!(stub.requests().is_empty());
    assert_eq!(drained.refused[0].1.code, "wrong_machine");
}

#[test]
fn two_uploaders_at_once_send_every_report_once() {
    let bench = Bench::with(20);
    let stub = Stub::start([]);
    let url = stub.url();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let patience = Patience { rounds: None, within: None };
                let mut yields = |_| std::thread::yield_now();
                drain(&bench.spool, &client(&url), None, patience, &mut yields, &mut |_| {})
                    .unwrap()
            });
        }
    });
    let mut runs = stub.runs();
    assert_eq!(runs.len(), 20);
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), 20);
    assert_eq!(bench.waiting(), [""; 0]);
}

#[test]
fn a_spool_that_another_uploader_holds_is_said() {
    let mut bench = Bench::with(1);
    let lock = bench.spool.try_lock().unwrap();
    let drained = bench.drain("http://127.0.0.1:9", ONCE);
    assert_eq!((drained.kept, drained.stopped), (1, Some(Stopped::Busy)));
    drop(lock);
}

#[test]
fn registering_keeps_the_token_and_a_refusal_keeps_the_old_one() {
    let bench = Bench::with(0);
    let machine = report(0).machine;
    let answer = r#"{"machine":"5f1d7a84db00d2fc","token":"sw_upload"}"#;
    let refusal = error(401, "bad_token", None);
    let stub = Stub::start([
        Act::Say(201, answer.into(), ""),
        Act::Say(401, refusal, ""),
        Act::Say(503, String::new(), ""),
    ]);
    let registered = register(&bench.state, &client(&stub.url()), &machine).unwrap();
    assert_eq!(registered.machine, MACHINE);
    assert_eq!(registered.token, Token::new("sw_upload").unwrap());
    let sent: wire::Machine = serde_json::from_slice(&stub.requests()[0].body).unwrap();
    assert_eq!(sent, machine);
    assert_eq!(stub.requests()[0].line, "POST /api/v1/machines HTTP/1.1");
    let again = register(&bench.state, &client(&stub.url()), &machine);
    assert!(matches!(again, Err(NotRegistered::Refused(_))));
    let again = register(&bench.state, &client(&stub.url()), &machine);
    assert!(matches!(again, Err(NotRegistered::Unreachable(_))));
    assert_eq!(bench.state.registration().unwrap(), Some(registered));
}

#[test]
fn the_noise_floors_of_this_machine_go_along() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    std::fs::create_dir(&state).unwrap();
    let machine = scalewatch_runner::machine::machine(&state).unwrap().id;
    let floor = |machine: &str| {
        serde_json::json!({
            "machine": machine, "workload": "file/open", "metric": "ops_per_cpu_s",
            "relative": 0.012, "pairs": 10, "measured_at": "2026-03-01T12:00:00Z",
        })
    };
    let kept = serde_json::json!([floor(&machine), floor("another machine")]);
    std::fs::write(state.join("noise-floors.json"), kept.to_string()).unwrap();
    let stub = Stub::start([Act::Say(200, r#"{"kept":1}"#.into(), "")]);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
        .args(["upload", "--server", &stub.url()])
        .env("SCALEWATCH_RUNNER_STATE", &state)
        .env("SCALEWATCH_TOKEN", "sw_secret")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 noise floors new to it"), "{said}");
    let request = &stub.requests()[0];
    assert_eq!(request.line, format!("POST /api/v1/machines/{machine}/noise-floors HTTP/1.1"));
    let sent: wire::NoiseFloors = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(sent.floors.len(), 1, "of this machine alone");
    assert_eq!((sent.floors[0].relative, sent.floors[0].pairs), (0.012, 10));
}
