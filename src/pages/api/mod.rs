//! `/api`: the document of the API, to be read by people. Everything on it comes from the document
//! itself.

mod schema;

use askama::Template;
use axum::response::Html;
use serde_json::Value;

use super::failure::Failure;
use super::shown;
use super::view::{Layout, Section};
use super::visitor::Visitor;
use crate::api::document::DOCUMENT;
use crate::api::problem::{CODES, Code};
pub use schema::{Field, Schema, Type};

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// `path` or `query`.
    pub place: String,
    /// What it may be.
    pub kind: Type,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub words: String,
}

/// A body, or an answer with its bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// `body`, or the status.
    pub name: String,
    /// What it means.
    pub words: String,
    /// Media types and what they hold.
    pub types: Vec<(String, Type)>,
}

/// One method of one path, or one event that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its id in the document.
    pub id: String,
    /// `GET`, `POST` …
    pub method: String,
    /// Path with its parameters in braces, or name of the event.
    pub path: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// More of it.
    pub words: String,
    /// Scope of the token it takes; none where it takes none.
    pub scope: Option<String>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// What is sent and what comes back, refusals left out.
    pub contents: Vec<Content>,
    /// Statuses of refusals.
    pub refusals: String,
}

/// Operations of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Name.
    pub name: String,
    /// What they are about.
    pub words: String,
    /// In the order of their paths.
    pub operations: Vec<Operation>,
}

/// A code of problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRow {
    /// Code.
    pub code: String,
    /// Statuses it comes with.
    pub statuses: String,
    /// What happened, short.
    pub title: String,
    /// What it means.
    pub meaning: String,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/api.html")]
pub struct ApiView {
    /// Frame.
    pub layout: Layout,
    /// What holds for all operations, a paragraph each.
    pub words: Vec<String>,
    /// Operations by subject.
    pub groups: Vec<Group>,
    /// Codes of problems.
    pub codes: Vec<CodeRow>,
    /// What bodies hold.
    pub schemas: Vec<Schema>,
}

/// Shows the page.
pub async fn show(visitor: Visitor) -> Result<Html<String>, Failure> {
    let mut view = ApiView::of(&DOCUMENT);
    view.layout = view.layout.seen_by(&visitor);
    shown(&view)
}

impl ApiView {
    fn of(document: &Value) -> ApiView {
        let groups = list(&document["tags"]).map(|tag| group(document, tag));
        let words = text(&document["info"]["description"]);
        let schemas = entries(&document["components"]["schemas"]);
        ApiView {
            layout: Layout::new("API", Section::None),
            words: words.split("\n\n").map(str::to_owned).collect(),
            groups: groups.filter(|group| !group.operations.is_empty()).collect(),
            codes: CODES.iter().map(code_row).collect(),
            schemas: schemas.map(|(name, schema)| Schema::of(name, schema)).collect(),
        }
    }
}

fn group(document: &Value, tag: &Value) -> Group {
    let name = text(&tag["name"]);
    let of_tag = |operation: &Value| list(&operation["tags"]).any(|tag| text(tag) == name);
    let mut operations = Vec::new();
    for (path, methods) in entries(&document["paths"]).chain(entries(&document["webhooks"])) {
        let methods = entries(methods).filter(|(_, operation)| of_tag(operation));
        operations.extend(methods.map(|(method, one)| operation(method, path, one)));
    }
    Group { words: text(&tag["description"]), name, operations }
}

fn operation(method: &str, path: &str, operation: &Value) -> Operation {
    let mut contents = Vec::new();
    let body = &operation["requestBody"];
    if body.is_object() {
        contents.push(content("body", body));
    }
    let mut refusals = Vec::new();
    for (status, answer) in entries(&operation["responses"]) {
        match &answer["content"][wire::Problem::MEDIA_TYPE] {
            Value::Null => contents.push(content(status, answer)),
            _ => refusals.push(status),
        }
    }
    let scope = operation["security"][0]["token"][0].as_str();
    Operation {
        id: text(&operation["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&operation["summary"]),
        words: text(&operation["description"]).replace('\n', " "),
        scope: scope.map(str::to_owned),
        parameters: list(&operation["parameters"]).map(parameter).collect(),
        contents,
        refusals: refusals.join(", "),
    }
}

fn parameter(parameter: &Value) -> Parameter {
    Parameter {
        name: text(&parameter["name"]),
        place: text(&parameter["in"]),
        kind: Type::of(&parameter["schema"]),
        required: parameter["required"] == true,
        words: text(&parameter["description"]),
    }
}

fn content(name: &str, of: &Value) -> Content {
    let types = entries(&of["content"]);
    Content {
        name: name.to_owned(),
        words: text(&of["description"]),
        types: types.map(|(media, one)| (media.to_owned(), Type::of(&one["schema"]))).collect(),
    }
}

fn code_row(code: &Code) -> CodeRow {
    let statuses: Vec<String> = code.statuses.iter().map(u16::to_string).collect();
    CodeRow {
        code: code.code.into(),
        statuses: statuses.join(", "),
        title: code.title.into(),
        meaning: code.meaning.into(),
    }
}

/// The text, or nothing.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}
