//! Registering with a service and sending it reports, from the command line.

mod support;

use std::process::Stdio;

use support::home::{Home, QUICK, ends, stderr, stdout};
use support::reports::as_file;
use support::{Act, MACHINE, Stub, error, report};

#[test]
fn registering_takes_the_token_from_the_environment_or_a_file_and_shows_it_nowhere() {
    let home = Home::new();
    let answer =
        || Act::Say(201, format!(r#"{{"machine":"{MACHINE}","token":"sw_secret_upload"}}"#), "");
    let stub = Stub::start([
        answer(),
        answer(),
        Act::Say(403, error(403, "not_allowed", None), ""),
        Act::Say(503, String::new(), ""),
    ]);
    let url = stub.url();
    let args = ["register", "--server", url.as_str(), "--name", "kunpeng-a"];
    let output = home.command(&args).env("SCALEWATCH_TOKEN", "sw_enrol").output().unwrap();
    ends(&output, 0);
    let token = home.write("token", "sw_enrol_file\n");
    let by_file = [&args[..], &["--enrol-token-file", token.to_str().unwrap()]].concat();
    ends(&home.run(&by_file), 0);
    let requests = stub.requests();
    assert_eq!(requests[0].headers["authorization"], "Bearer sw_enrol");
    assert_eq!(requests[1].headers["authorization"], "Bearer sw_enrol_file");
    let machine: wire::Machine = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(machine.name, "kunpeng-a");
    assert_eq!(machine.check(""), Ok(()));
    let kept = std::fs::read_to_string(home.path("state/registration.json")).unwrap();
    assert!(kept.contains("sw_secret_upload") && !kept.contains("sw_enrol"));
    assert!(!(stdout(&output) + &stderr(&output)).contains("sw_"), "no token is shown");

    let refused = home.run(&by_file);
    ends(&refused, 4);
    assert!(stderr(&refused).contains("not_allowed"), "{}", stderr(&refused));
    ends(&home.run(&by_file), 5);
    let after = std::fs::read_to_string(home.path("state/registration.json")).unwrap();
    assert_eq!(after, kept, "what was registered before stays");
}

#[test]
fn uploading_ends_with_0_when_sent_4_when_refused_and_5_when_unreachable() {
    let home = Home::new();
    let reports = |n: u32| [report(n), report(n + 1)];
    let stub = Stub::start([
        Act::Accept,
        Act::Known,
        Act::Say(422, error(422, "invalid_field", Some("points[0].tasks")), ""),
        Act::Accept,
        Act::Say(401, error(401, "bad_token", None), ""),
    ]);
    home.registered_with(&stub.url());
    let file = |n| home.write("r.json", &as_file(&reports(n))).to_str().unwrap().to_owned();
    let output = home.run(&["upload", &file(1)]);
    ends(&output, 0);
    assert!(stderr(&output).contains("2 sent (1 known already), 0 refused, 0 kept"));
    assert_eq!(stub.requests()[0].headers["authorization"], "Bearer sw_secret_upload");

    let output = home.run(&["upload", &file(3)]);
    ends(&output, 4);
    assert!(stderr(&output).contains("points[0].tasks"), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 sent, 1 refused, 0 kept"));

    let output = home.run(&["upload", &file(5)]);
    ends(&output, 4);
    assert!(stderr(&output).contains("register again"), "{}", stderr(&output));
    assert_eq!(home.spooled(), 2, "the token is at fault, not the reports");
    assert!(!stderr(&output).contains("sw_secret"));

    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.registered_with(&format!("http://{closed}"));
    let output = home.run(&["upload", "--for", "1ms"]);
    ends(&output, 5);
    assert_eq!(home.spooled(), 2);

    home.registered_with(&stub.url());
    ends(&home.run(&["upload"]), 0);
    assert_eq!(home.spooled(), 0);
    ends(&home.run(&["upload"]), 0);
}

#[test]
fn a_token_goes_to_no_other_service_than_its_own() {
    let home = Home::new();
    home.registered_with("http://127.0.0.1:9");
    let other = Stub::start([]);
    let file = home.write("r.json", &as_file(&[report(1)]));
    let args = ["upload", file.to_str().unwrap(), "--server", &other.url()];
    let output = home.run(&args);
    ends(&output, 2);
    assert!(stderr(&output).contains("registered with http://127.0.0.1:9"));
    assert!(other.requests().is_empty());
    let with_token = home.command(&args).env("SCALEWATCH_TOKEN", "sw_other").output().unwrap();
    ends(&with_token, 0);
    assert_eq!(other.requests()[0].headers["authorization"], "Bearer sw_other");
}

#[test]
fn a_run_that_is_uploaded_is_on_disk_before_it_is_sent() {
    let home = Home::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let code = ["--upload", "--commit", "0a1b2c3d4e", "--position", "1", "--for", "1ms"];
    let run = [&["run", "sys/getppid"], &code[..], &QUICK[..]].concat();
    let unregistered = home.run(&run);
    ends(&unregistered, 2);
    home.registered_with(&format!("http://{closed}"));
    let elsewhere = home.run(&run);
    ends(&elsewhere, 2);
    assert!(stderr(&elsewhere).contains("another machine"), "{}", stderr(&elsewhere));
    for early in [unregistered, elsewhere] {
        assert!(!stderr(&early).contains("[1/1]"), "found out before measuring");
    }
    let machine: serde_json::Value =
        serde_json::from_slice(&home.run(&["machine", "--json"]).stdout).unwrap();
    let machine = machine["machine"]["id"].as_str().unwrap();
    home.registered_as(machine, &format!("http://{closed}"));
    let output = home.run(&run);
    ends(&output, 5);
    assert!(stdout(&output).contains("sys/getppid"), "the table is not lost");
    assert_eq!(home.spooled(), 1);
}

#[test]
fn killing_an_upload_at_any_moment_loses_nothing_and_the_next_one_sends_it() {
    let home = Home::new();
    let stub = Stub::start([Act::Accept, Act::Hold, Act::Hold, Act::Known]);
    home.registered_with(&stub.url());
    let file = home.write("r.json", &as_file(&[report(1), report(2), report(3)]));
    let mut first = true;
    for kept in [2, 2] {
        let mut args = vec!["upload"];
        if std::mem::take(&mut first) {
            args.push(file.to_str().unwrap());
        }
        let mut child = home.command(&args).stderr(Stdio::null()).spawn().unwrap();
        stub.wait_until_held();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(home.spooled(), kept);
    }
    ends(&home.run(&["upload"]), 0);
    assert_eq!(home.spooled(), 0);
    let run = |n| report(n).run;
    assert_eq!(stub.runs(), [run(1), run(2), run(2), run(2), run(3)]);
}
