//! A receiver of webhooks on loopback: keeps what it hears and answers as it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::task::JoinHandle;

/// One request.
#[derive(Debug, Clone)]
pub struct Heard {
    pub path: String,
    pub headers: HeaderMap,
    pub body: String,
}

impl Heard {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

#[derive(Clone, Default)]
struct Script {
    heard: Arc<Mutex<Vec<Heard>>>,
    answers: Arc<Mutex<VecDeque<u16>>>,
}

/// A running receiver, gone with the value.
pub struct Receiver {
    pub url: String,
    script: Script,
    serving: JoinHandle<()>,
}

impl Receiver {
    /// Answers these statuses one after the other, then 204.
    pub async fn answering(statuses: &[u16]) -> Receiver {
        let script = Script::default();
        script.answers.lock().unwrap().extend(statuses);
        let router = axum::Router::new().fallback(hear).with_state(script.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Receiver { url, script, serving }
    }

    /// What it heard so far, in order.
    pub fn heard(&self) -> Vec<Heard> {
        self.script.heard.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn hear(State(script): State<Script>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let path = parts.uri.path().to_owned();
    script.heard.lock().unwrap().push(Heard { path, headers: parts.headers, body });
    let status = script.answers.lock().unwrap().pop_front().unwrap_or(204);
    let status = StatusCode::from_u16(status).unwrap();
    // Where a redirect would lead, if it were followed.
    (status, [("location", "/elsewhere")]).into_response()
}
