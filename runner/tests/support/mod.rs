//! A scripted HTTP server on loopback and reports to send to it.
#![allow(dead_code, clippy::allow_attributes, reason = "each test binary uses its own part")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

pub mod home;
pub mod points;
pub mod reports;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use flate2::read::GzDecoder;

/// What the server does with one request.
#[derive(Clone)]
pub enum Act {
    /// Answers like the service: 201 with the run of the body.
    Accept,
    /// The same with 200 and `new: false`.
    Known,
    /// This status, body and extra header lines.
    Say(u16, String, &'static str),
    /// Closes the connection without an answer.
    Drop,
    /// Says on the channel that the request is there, and holds it until the client goes away.
    Hold,
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn run(&self) -> String {
        self.json()["run"].as_str().unwrap().to_owned()
    }
}

/// Answers requests in the order of its script, then accepts all.
pub struct Stub {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    held: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Stub {
    pub fn start(script: impl IntoIterator<Item = Act>) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let script: Vec<Act> = script.into_iter().collect();
        let (hold, held) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut script = script.into_iter();
            for stream in listener.incoming() {
                let Some(request) = read_request(stream.as_ref().unwrap()) else { return };
                let act = script.next().unwrap_or(Act::Accept);
                let answer = answer(&act, &request);
                seen.lock().unwrap().push(request);
                let mut stream = stream.unwrap();
                if matches!(act, Act::Hold) {
                    hold.send(()).unwrap();
                    let _ = stream.read(&mut [0]);
                }
                if let Some(answer) = answer {
                    let _ = stream.write_all(answer.as_bytes());
                }
            }
        });
        Stub { address, requests, held, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Runs in the order in which they arrived.
    pub fn runs(&self) -> Vec<String> {
        self.requests().iter().map(Request::run).collect()
    }

    /// Waits until a request is held.
    pub fn wait_until_held(&self) {
        self.held.recv().unwrap();
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        // An empty connection ends the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the stub server panicked");
        }
    }
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    if line.is_empty() {
        return None;
    }
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim().split_once(':') {
            Some((name, value)) => {
                headers.insert(name.trim().to_lowercase(), value.trim().to_owned())
            }
            None => break,
        };
    }
    let length: usize = headers.get("content-length").map_or(0, |n| n.parse().unwrap());
    let mut raw = vec![0; length];
    reader.read_exact(&mut raw).ok()?;
    let mut body = Vec::new();
    match headers.get("content-encoding").map(String::as_str) {
        Some("gzip") => drop(GzDecoder::new(&raw[..]).read_to_end(&mut body).unwrap()),
        _ => body = raw,
    }
    Some(Request { line: line.trim().to_owned(), headers, body })
}

fn answer(act: &Act, request: &Request) -> Option<String> {
    let accepted =
        |new: bool| format!(r#"{{"run":"{}","new":{new},"points":1,"windows":2}}"#, request.run());
    let (status, body, extra) = match act {
        Act::Accept => (201, accepted(true), ""),
        Act::Known => (200, accepted(false), ""),
        Act::Say(status, body, extra) => (*status, body.clone(), *extra),
        Act::Drop | Act::Hold => return None,
    };
    Some(format!(
        "HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\n{extra}Content-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    ))
}

/// The service's problem.
pub fn error(status: u16, code: &str, field: Option<&str>) -> String {
    let problem = wire::Problem {
        kind: format!("/api#{code}"),
        title: code.into(),
        status,
        code: code.into(),
        detail: format!("{code} for people"),
        field: field.map(str::to_owned),
        limit: None,
    };
    serde_json::to_string(&problem).unwrap()
}

/// Id of the machine of every report below.
pub const MACHINE: &str = "5f1d7a84db00d2fc";

/// A small valid report; `n` makes its UUID.
pub fn report(n: u32) -> wire::Report {
    let mut report: wire::Report =
        serde_json::from_str(include_str!("../../wire/tests/golden/report-v1-all-sources.json"))
            .unwrap();
    report.run = format!("00000000-0000-4000-8000-{n:012x}");
    report
}
