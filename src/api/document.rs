//! The document of the API (OpenAPI 3.1), made from the handlers: `routes` of the API joins each path
//! with what its handler says of itself, so that neither is without the other.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{OpenApi as Document, Required};
use utoipa::{IntoParams, Modify, OpenApi};

use super::params::{MOST_ROWS, ROWS};
use super::{Answer, Params};

/// What the document says beside the operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "scalewatch",
        description = "Reads and writes what scalewatch knows of machines, runs, curves, series and \
            incidents.\n\nWhat is public is read without a token; a project that is not public, \
            and writing, takes one, sent as `Authorization: Bearer sw_…`. Times are RFC 3339 and always have a zone. Numbers that are not finite are null. \
            Unknown parameters and unknown fields are refused by name. Every refusal is a problem \
            (RFC 9457) with a stable `code`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(wire::Problem, super::webhook::WebhookEvent)),
    modifiers(&Token),
    tags(
        (name = "runs", description = "What machines measured and sent."),
        (name = "curves", description = "What was measured, over task counts and revisions."),
        (name = "compare", description = "Base against head."),
        (name = "incidents", description = "Steps of one cause, and what people decide about them."),
        (name = "jobs", description = "Measurements that are asked for, and the agents that do them."),
        (name = "machines", description = "Registered hardware and what identical code differs by there."),
        (name = "projects", description = "Whose code: branches, revisions, and what people set."),
        (name = "webhooks", description = "What is sent to addresses outside."),
        (name = "service", description = "The service itself.")
    )
)]
pub struct Base;

/// The bearer token of operations that write, and of reading what is not public.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut Document) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

/// `after` and `limit` of every list.
pub enum PageParams {}

impl IntoParams for PageParams {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let after = ObjectBuilder::new().schema_type(Type::String).build();
        let limit = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(MOST_ROWS))
            .default(Some(ROWS.into()))
            .build();
        let parameter = |name: &str, words: &str, schema| {
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(words))
                .schema(Some(schema))
                .build()
        };
        vec![
            parameter("after", "`next` of the page before; the first page when left out.", after),
            parameter("limit", "Most rows of the page.", limit),
        ]
    }
}

/// The document as JSON.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let (_, document) = super::routes().split_for_parts();
    let mut document = serde_json::to_value(document).expect("a document serialises");
    document["webhooks"] = super::webhook::section();
    document
});

static TEXT: LazyLock<String> = LazyLock::new(|| DOCUMENT.to_string());

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "read_document", tag = "service",
    responses(
        (status = 200, description = "OpenAPI 3.1.", body = Value),
        super::problem::Read,
    ),
)]
pub async fn show(params: Params) -> Answer<impl IntoResponse> {
    params.finish()?;
    Ok(([(header::CONTENT_TYPE, "application/json")], TEXT.as_str()))
}
