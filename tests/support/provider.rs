//! A provider of identities on loopback: OpenID Connect by the code flow with PKCE, tokens signed with
//! keys of tests. What it tells of whom, and how it lies, is set by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openidconnect::core::{
    CoreEdDsaPrivateSigningKey, CoreJsonWebKey, CoreJwsSigningAlgorithm, CoreRsaPrivateSigningKey,
};
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use scalewatch::clock::Clock;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;

/// As which it knows the service.
pub const CLIENT: (&str, &str) = ("scalewatch", "client secret");

/// What it tells, and what it was asked.
#[derive(Debug, Clone)]
pub struct Script {
    /// What the token says; over it goes what a sign-in needs.
    pub claims: BTreeMap<String, Value>,
    /// What the token says instead, whatever is right.
    pub lies: BTreeMap<String, Value>,
    /// What its page on users says.
    pub user: Value,
    /// Signs with the newer key, and publishes it alone.
    pub rotated: bool,
    /// Times its description was read.
    pub described: usize,
    /// Codes that were exchanged, in order, good or not.
    pub exchanged: Vec<String>,
    codes: BTreeMap<String, BTreeMap<String, String>>,
}

/// A running provider, gone with the value.
pub struct Provider {
    pub issuer: String,
    inner: Arc<Inner>,
    serving: JoinHandle<()>,
}

struct Inner {
    issuer: String,
    clock: Clock,
    script: Mutex<Script>,
}

impl Provider {
    /// Tells of somebody with this subject and address, verified; its clock is the service's.
    pub async fn of(subject: &str, email: &str, clock: Clock) -> Provider {
        let claims =
            [("sub", json!(subject)), ("email", json!(email)), ("email_verified", json!(true))];
        let script = Script {
            claims: claims.map(|(name, value)| (name.to_owned(), value)).into(),
            lies: BTreeMap::new(),
            user: json!({}),
            rotated: false,
            described: 0,
            exchanged: Vec::new(),
            codes: BTreeMap::new(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Inner { issuer: issuer.clone(), clock, script: Mutex::new(script) });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(describe))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/user", get(user))
            .with_state(inner.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Provider { issuer, inner, serving }
    }

    /// What it tells, to be changed.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.inner.script.lock().unwrap()
    }

    /// Does not answer any more.
    pub fn stop(&self) {
        self.serving.abort();
    }

    /// Opens the address that a browser was sent to, and lets whoever it is in there: path and query
    /// of where the browser is sent back to.
    pub async fn visit(&self, address: &str) -> String {
        let asked = address.to_owned();
        let answer = tokio::task::spawn_blocking(move || {
            let config = ureq::Agent::config_builder().max_redirects(0).proxy(None);
            config.max_redirects_will_error(false).build().new_agent().get(asked).call().unwrap()
        });
        let location =
            answer.await.unwrap().headers()[header::LOCATION].to_str().unwrap().to_owned();
        let path = location.strip_prefix("http://scalewatch.test").expect("back to the service");
        path.to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn signing(rotated: bool) -> (&'static str, CoreJwsSigningAlgorithm, Box<dyn Sign>) {
    if rotated {
        // An Ed25519 key of PKCS #8: its frame, and 32 bytes of one's choice.
        let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        der.extend([7; 32]);
        let body = STANDARD.encode(der);
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        let key = CoreEdDsaPrivateSigningKey::from_ed25519_pem(
            &pem,
            Some(JsonWebKeyId::new("two".into())),
        );
        return ("two", CoreJwsSigningAlgorithm::EdDsa, Box::new(key.unwrap()));
    }
    let pem = include_str!("provider_key.pem");
    let key = CoreRsaPrivateSigningKey::from_pem(pem, Some(JsonWebKeyId::new("one".into())));
    ("one", CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256, Box::new(key.unwrap()))
}

/// A key of any kind.
trait Sign {
    fn signed(&self, algorithm: &CoreJwsSigningAlgorithm, text: &str) -> Vec<u8>;
    fn public(&self) -> CoreJsonWebKey;
}

impl<K: PrivateSigningKey<VerificationKey = CoreJsonWebKey>> Sign for K {
    fn signed(&self, algorithm: &CoreJwsSigningAlgorithm, text: &str) -> Vec<u8> {
        self.sign(algorithm, text.as_bytes()).unwrap()
    }

    fn public(&self) -> CoreJsonWebKey {
        self.as_verification_key()
    }
}

async fn describe(State(inner): State<Arc<Inner>>) -> Json<Value> {
    inner.script.lock().unwrap().described += 1;
    let at = |path: &str| format!("{}{path}", inner.issuer);
    Json(json!({
        "issuer": inner.issuer,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "userinfo_endpoint": at("/user"),
        "jwks_uri": at("/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "EdDSA"],
    }))
}

async fn keys(State(inner): State<Arc<Inner>>) -> Json<Value> {
    let rotated = inner.script.lock().unwrap().rotated;
    Json(json!({ "keys": [signing(rotated).2.public()] }))
}

async fn authorize(
    State(inner): State<Arc<Inner>>,
    Query(asked): Query<BTreeMap<String, String>>,
) -> Redirect {
    assert_eq!((&*asked["response_type"], &*asked["client_id"]), ("code", CLIENT.0));
    assert_eq!(asked["code_challenge_method"], "S256");
    assert!(asked["scope"].split(' ').any(|scope| scope == "openid"), "{}", asked["scope"]);
    let mut script = inner.script.lock().unwrap();
    let code = format!("code-{}", script.codes.len() + script.exchanged.len());
    let back = format!("{}?code={code}&state={}", asked["redirect_uri"], asked["state"]);
    script.codes.insert(code, asked);
    Redirect::to(&back)
}

async fn token(
    State(inner): State<Arc<Inner>>,
    headers: HeaderMap,
    Form(asked): Form<BTreeMap<String, String>>,
) -> Response {
    let (id, secret) = (CLIENT.0, CLIENT.1.replace(' ', "+"));
    let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
    assert_eq!(headers[header::AUTHORIZATION].to_str().unwrap(), basic);
    let mut script = inner.script.lock().unwrap();
    script.exchanged.push(asked["code"].clone());
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(asked["code_verifier"].as_bytes()));
    let begun = script.codes.remove(&asked["code"]);
    let begun = begun.filter(|begun| {
        begun["code_challenge"] == challenge && begun["redirect_uri"] == asked["redirect_uri"]
    });
    let Some(begun) = begun else {
        let refusal =
            Json(json!({ "error": "invalid_grant", "error_description": "used or unknown" }));
        return (StatusCode::BAD_REQUEST, refusal).into_response();
    };
    let now = inner.clock.now().unix_timestamp();
    let mut claims = script.claims.clone();
    for (name, value) in [
        ("iss", json!(inner.issuer)),
        ("aud", json!(CLIENT.0)),
        ("iat", json!(now)),
        ("exp", json!(now + 300)),
        ("nonce", json!(begun["nonce"])),
    ] {
        claims.insert(name.to_owned(), value);
    }
    claims.extend(script.lies.clone());
    let (kid, algorithm, key) = signing(script.rotated);
    let header = json!({ "alg": algorithm, "kid": kid, "typ": "JWT" });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(&header), part(&json!(claims)));
    let id_token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(key.signed(&algorithm, &text)));
    Json(json!({
        "access_token": "access", "token_type": "Bearer", "expires_in": 300, "id_token": id_token,
    }))
    .into_response()
}

async fn user(State(inner): State<Arc<Inner>>, headers: HeaderMap) -> Json<Value> {
    assert_eq!(headers[header::AUTHORIZATION], "Bearer access");
    Json(inner.script.lock().unwrap().user.clone())
}
