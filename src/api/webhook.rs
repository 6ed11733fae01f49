//! What webhooks are sent: a line of an incident's history, and the incident as it stood when it
//! was first sent.

use anyhow::Context as _;
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::incidents::IncidentView;
use crate::app::App;
use crate::db;
use crate::detect::severity;
use crate::model::IncidentId;
use crate::model::incident::{Event, State};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// A regression or an improvement was found.
    IncidentOpened,
    /// It lies elsewhere than was told, or its state is another one that is open.
    IncidentChanged,
    /// Its state is one that is settled.
    IncidentClosed,
    /// Nothing: somebody tries the webhook.
    Test,
}

/// What is sent. The same `id` is the same event, however often it arrives.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct WebhookEvent {
    /// Number of the line of history, unique in the service; 0 for a test.
    id: i64,
    event: Happened,
    #[serde(with = "rfc3339")]
    at: OffsetDateTime,
    /// What happened, in a sentence.
    words: String,
    /// Who decided it; null where data did.
    by: Option<String>,
    /// Why, in the words of who decided it.
    note: Option<String>,
    /// The incident as it stood when the event was first sent; null for a test.
    incident: Option<IncidentView>,
}

/// The body that tells this line of an incident's history.
///
/// # Errors
/// When the database does not answer.
pub async fn of_event(app: &App, incident: IncidentId, event: i64) -> anyhow::Result<String> {
    let found = db::incident::find(&app.db, incident).await?.context("an incident is gone")?;
    let events = db::incident::list_events(&app.db, incident).await?;
    let line = events.into_iter().find(|line| line.id == event);
    let line = line.context("a line of history is gone")?;
    let severities = severity::list(&app.db, std::slice::from_ref(&found)).await?;
    let told = WebhookEvent {
        id: line.id,
        event: happened(&line),
        at: line.at,
        words: line.words().to_owned(),
        by: line.by().map(str::to_owned),
        note: line.note().map(str::to_owned),
        incident: Some(IncidentView::of(app, found, &severities)),
    };
    Ok(serde_json::to_string(&told)?)
}

/// The body of a test.
///
/// # Errors
/// None in practice: it serialises.
pub fn of_test(at: OffsetDateTime) -> anyhow::Result<String> {
    let words = "somebody tries this webhook".to_owned();
    let told = WebhookEvent {
        id: 0,
        event: Happened::Test,
        at,
        words,
        by: None,
        note: None,
        incident: None,
    };
    Ok(serde_json::to_string(&told)?)
}

fn happened(line: &Event) -> Happened {
    match (line.kind.as_str(), line.to()) {
        ("opened", _) => Happened::IncidentOpened,
        ("state_changed", Some(State::Reopened)) => Happened::IncidentOpened,
        ("state_changed", Some(state)) if !state.is_open() => Happened::IncidentClosed,
        _ => Happened::IncidentChanged,
    }
}

/// The document's section `webhooks`.
pub fn section() -> Value {
    let header = |name: &str, words: &str, schema: Value| {
        json!({ "name": name, "in": "header", "required": true, "description": words,
                "schema": schema })
    };
    let hex = json!({ "type": "string", "pattern": "^v1=[0-9a-f]{64}$" });
    json!({ "incident": { "post": {
        "operationId": "webhook_incident",
        "tags": ["webhooks"],
        "summary": "Tells what happens to the incidents of a project.",
        "description": "Sent to the addresses that `scalewatch admin webhook add` names, once for \
            each line of history that is worth telling, those of one incident in their order. 2xx \
            takes it, 410 ends it; anything else is tried again with growing pauses for some three \
            days. Redirects are not followed.",
        "parameters": [
            header("Scalewatch-Event", "`id` of the event.", json!({ "type": "integer" })),
            header(
                "Scalewatch-Timestamp",
                "When it was sent, seconds since 1970. Refuse what is old.",
                json!({ "type": "integer" }),
            ),
            header(
                "Scalewatch-Signature",
                "`v1=` and the hex digits of the HMAC-SHA256, by the webhook's secret, of the \
                 timestamp, a dot, and the body as it was sent.",
                hex,
            ),
        ],
        "requestBody": { "required": true, "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/WebhookEvent" },
        } } },
        "responses": {
            "2XX": { "description": "Taken." },
            "410": { "description": "Gone for good: this event is not sent again." },
        },
    } } })
}
