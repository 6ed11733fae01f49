//! A browser without a screen: keeps cookies, and posts the forms of pages it was shown.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::account::{Client, password, session};
use scalewatch::db;
use scalewatch::model::{PersonName, Role};

use super::{Answer, Service};

/// The password of everybody in tests.
pub const PASSWORD: &str = "correct horse battery";

/// What a browser sends beside its requests.
pub struct Browser<'a> {
    service: &'a Service,
    /// Its cookies.
    pub cookies: BTreeMap<String, String>,
    /// The `Host` header.
    pub host: &'static str,
    /// More headers.
    pub headers: Vec<(&'static str, String)>,
}

impl<'a> Browser<'a> {
    /// One that was never here.
    pub fn new(service: &'a Service) -> Browser<'a> {
        Browser { service, cookies: BTreeMap::new(), host: "scalewatch.test", headers: Vec::new() }
    }

    /// Shows a page.
    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::get(path), String::new()).await
    }

    /// Posts the form of a page, as it is shown right now, to `action`.
    pub async fn post(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let word = form_word(&self.get(page).await.text()).unwrap_or_default();
        self.post_with(&word, action, fields).await
    }

    /// Posts a form that carries this word.
    pub async fn post_with(&mut self, word: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.append_pair("form_word", word).extend_pairs(fields);
        let request = Request::post(action)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin");
        self.send(request, body.finish()).await
    }

    /// Logs in with [`PASSWORD`].
    pub async fn log_in(&mut self, name: &str) -> Answer {
        self.post("/login", "/login", &[("name", name), ("password", PASSWORD)]).await
    }

    async fn send(&mut self, mut request: axum::http::request::Builder, body: String) -> Answer {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        request = request.header(header::HOST, self.host);
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let answer = self.service.send(request.body(Body::from(body)).expect("a request")).await;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let text = cookie.to_str().expect("a cookie is text");
            let (pair, _) = text.split_once(';').unwrap_or((text, ""));
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            match text.contains("Max-Age=0") {
                true => self.cookies.remove(name),
                false => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        answer
    }
}

/// The word that the first form of a page carries.
pub fn form_word(html: &str) -> Option<String> {
    let (_, rest) = html.split_once("name=\"form_word\" value=\"")?;
    Some(rest.split('"').next()?.to_owned())
}

impl Service {
    /// Adds a person, without a password.
    pub async fn person(&self, name: &str, is_admin: bool) -> scalewatch::model::Person {
        let now = self.app.clock.now();
        let mut tx = self.app.db.begin().await.expect("the database answers");
        let parsed = PersonName::parse(name).expect("a name");
        let id = db::person::insert(&mut tx, &parsed, is_admin, now).await.expect("it is stored");
        let id = id.expect("the name is free");
        tx.commit().await.expect("it is kept");
        db::person::find(&self.app.db, id).await.expect("it answers").expect("it was added")
    }

    /// Adds a person whose password is [`PASSWORD`].
    pub async fn person_with_password(&self, name: &str) -> scalewatch::model::Person {
        let person = self.person(name, false).await;
        let hash = password::hash(PASSWORD).await.expect("it is hashed");
        let mut connection = self.app.db.acquire().await.expect("the database answers");
        db::person::set_password(&mut connection, person.id, &hash).await.expect("it is stored");
        person
    }

    /// Gives a person a role in a project that is known.
    pub async fn role(&self, person: &scalewatch::model::Person, project: &str, role: Role) {
        let project = db::project::find_by_name(&self.app.db, project).await;
        let project = project.expect("the database answers").expect("the project is known");
        let mut connection = self.app.db.acquire().await.expect("the database answers");
        db::role::put(&mut connection, person.id, project.id, Some(role)).await.expect("stored");
    }

    /// A browser in which a person is logged in.
    pub async fn browser_of(&self, person: &scalewatch::model::Person) -> Browser<'_> {
        let client = Client { address: "192.0.2.1".into(), user_agent: "test".into() };
        let mut connection = self.app.db.acquire().await.expect("the database answers");
        let begun = session::begin(&self.app, &mut connection, person.id, &client).await;
        let secret = begun.expect("a session begins");
        let mut browser = Browser::new(self);
        browser.cookies.insert("scalewatch_session".into(), secret.reveal().to_owned());
        browser
    }
}
