//! The service on a test's database, called through its router: no socket, a clock moved by hand.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use scalewatch::api::problem;
use scalewatch::app::{App, router};
use scalewatch::clock::Clock;
use scalewatch::config::Config;
use scalewatch::db;
use scalewatch::model::{MachineId, Scope, Secret};
use serde_json::Value;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use tower::ServiceExt as _;

use super::a_machine;

/// Where every test's clock stands until it is moved.
pub fn noon() -> OffsetDateTime {
    datetime!(2026-03-01 12:00 UTC)
}

/// The service, its data in a folder that goes with it.
pub struct Service {
    pub app: App,
    /// Where requests come from; unknown unless it is set.
    pub peer: Option<SocketAddr>,
    _data: tempfile::TempDir,
}

/// A registered machine and the upload token it was given.
#[derive(Debug, Clone)]
pub struct Enrolled {
    pub machine: wire::Machine,
    pub id: MachineId,
    pub token: String,
}

impl Service {
    /// The service on `pool`, its clock standing at [`noon`].
    pub fn on(pool: db::Pool) -> Service {
        // What fails inside is shown with the test that fails by it.
        let log = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN);
        let _ = log.with_test_writer().try_init();
        let data = tempfile::tempdir().expect("a folder for the test's data");
        let config = Arc::new(Config::for_testing(data.path()));
        Service { app: App::new(pool, Clock::standing_at(noon()), config), peer: None, _data: data }
    }

    /// Changes the settings.
    pub fn configure(&mut self, change: impl FnOnce(&mut Config)) {
        change(Arc::make_mut(&mut self.app.config));
    }

    /// From now on every request comes by a proxy that is trusted.
    pub fn behind_proxy(&mut self) {
        self.peer = Some(SocketAddr::from(([10, 0, 0, 1], 4000)));
        let trusted = vec!["10.0.0.0/24".parse().expect("a network")];
        self.configure(|config| config.proxy.trusted = trusted);
    }

    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        self.app.clock.advance(by);
    }

    /// Sends one request through the router.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let mut request = request;
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(ConnectInfo(peer));
        }
        let answer = router(self.app.clone()).oneshot(request).await.expect("the router answers");
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.expect("the body ends").to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// GET without a token.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    /// POST of a JSON body as given, with a token.
    pub async fn post(&self, path: &str, token: &str, body: impl Into<Body>) -> Answer {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(body.into());
        self.send(request.expect("a request")).await
    }

    /// A fresh token of this scope, bound to no machine.
    pub async fn token(&self, scope: Scope) -> String {
        let new = db::token::New {
            name: "test",
            scope,
            machine: None,
            person: None,
            projects: &[],
            created_at: self.app.clock.now(),
            expires_at: None,
        };
        self.token_of(&new).await
    }

    /// A fresh token as described.
    pub async fn token_of(&self, new: &db::token::New<'_>) -> String {
        let secret = Secret::random();
        db::token::insert(&self.app.db, new, &secret).await.expect("the token is stored");
        secret.reveal().to_owned()
    }

    /// A machine of this name, registered through the API.
    pub async fn registered(&self, name: &str) -> Enrolled {
        self.register(a_machine(name)).await
    }

    /// This machine, registered through the API.
    pub async fn register(&self, machine: wire::Machine) -> Enrolled {
        let token = self.token(Scope::Register).await;
        let body = serde_json::to_vec(&machine).expect("a machine serialises");
        let answer = self.post("/api/v1/machines", &token, body).await;
        assert!(answer.status.is_success(), "{}", answer.text());
        let registered: wire::Registered = answer.parsed();
        let found = db::machine::find_by_public_id(&self.app.db, &machine.id).await;
        let id = found.expect("the database answers").expect("it is registered").id;
        Enrolled { machine, id, token: registered.token }
    }

    /// Uploads a report with the machine's token.
    pub async fn upload(&self, enrolled: &Enrolled, report: &wire::Report) -> Answer {
        let body = serde_json::to_vec(report).expect("a report serialises");
        self.post("/api/v1/runs", &enrolled.token, body).await
    }

    /// Uploads a report that must be accepted.
    pub async fn accept(&self, enrolled: &Enrolled, report: &wire::Report) -> wire::Accepted {
        let answer = self.upload(enrolled, report).await;
        assert!(answer.status.is_success(), "{}", answer.text());
        answer.parsed()
    }
}

/// What came back.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        self.parsed()
    }

    /// The body as one of our types.
    pub fn parsed<T: serde::de::DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {} {}", self.status, self.text()))
    }

    /// Status, code and field of an error answer, which is a problem of a code that is known.
    pub fn refusal(&self) -> (u16, String, Option<String>) {
        let problem: wire::Problem = self.parsed();
        let status = self.status.as_u16();
        assert_eq!(self.headers[header::CONTENT_TYPE], wire::Problem::MEDIA_TYPE);
        assert_eq!(problem.status, status);
        let code = problem::find(&problem.code).expect("a code of the table");
        assert!(code.statuses.contains(&status), "{} comes with {status}", code.code);
        (status, problem.code, problem.field)
    }
}
