//! Log lines as other programs read them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use scalewatch::db::Pool;
use serde_json::Value;

use super::{refused, scalewatch};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn each_line_is_json_and_those_of_a_request_carry_its_id(pool: Pool) {
    let data = tempfile::tempdir().unwrap();
    let mut serving = scalewatch(&pool, &["serve", "--log-format", "json"])
        .env("SCALEWATCH_DATA", data.path())
        .env("RUST_LOG", "scalewatch=debug")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(serving.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().rsplit("http://").next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "X-Request-Id: build-17\r\nAuthorization: Bearer sw_secret\r\nConnection: close";
    write!(stream, "GET /api/v1/runs HTTP/1.1\r\nHost: {address}\r\n{head}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.to_lowercase().contains("x-request-id: build-17\r\n"), "{answer}");
    let pid = serving.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let said = serving.wait_with_output().unwrap().stderr;
    let said = String::from_utf8(said).unwrap();
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let answered = lines.iter().find(|line| line["message"] == "answered").expect("a line");
    assert_eq!(answered["span"]["id"], "build-17");
    assert_eq!(
        (&answered["span"]["path"], &answered["status"]),
        (&"/api/v1/runs".into(), &401.into()),
        "a token that is unknown"
    );
    assert!(!said.contains("sw_secret"), "{said}");
    assert!(refused(&pool, &["serve", "--log-format", "xml"]).contains("neither text nor json"));
}
