//! Incidents as an Atom feed, for readers that ask from time to time.

use std::io;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::auth::Reader;
use super::problem::Read;
use super::{Answer, Params, incidents};
use crate::app::App;
use crate::db;
use crate::format;
use crate::model::incident::{Incident, State as Standing};

/// Incidents in the feed.
const SHOWN: i64 = 50;

/// The newest incidents as an Atom feed; an entry is updated when its incident changes.
#[utoipa::path(
    get, path = "/incidents.atom", operation_id = "read_feed", tag = "incidents",
    params(
        ("state" = Option<String>, Query, description = "`all` (when left out), `open`, \
            `settled`, or one state."),
        incidents::FilterParams,
    ),
    responses(
        (status = 200, description = "The feed.", body = String,
            content_type = "application/atom+xml"),
        Read,
    ),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<impl IntoResponse> {
    let state = params.take::<String>("state")?;
    let states = match state.as_deref() {
        None => Standing::ALL.to_vec(),
        word => incidents::states(word)?,
    };
    let filter = incidents::filter(&app, &viewer, params).await?;
    let filter = db::incident::Filter { states: Some(states), ..filter };
    let rows = db::incident::list(&app.db, viewer.visible(), &filter, SHOWN).await?;
    let feed = feed(&app.config.public_url, &rows).map_err(anyhow::Error::from)?;
    Ok(([(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")], feed))
}

fn feed(url: &str, incidents: &[Incident]) -> io::Result<Vec<u8>> {
    let mut xml = Writer::new(Vec::new());
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    let changed = incidents.iter().map(|incident| incident.changed_at).max();
    let address = format!("{url}/api/v1/incidents.atom");
    xml.create_element("feed")
        .with_attribute(("xmlns", "http://www.w3.org/2005/Atom"))
        .write_inner_content(|xml| {
            text(xml, "title", "scalewatch incidents")?;
            text(xml, "id", &address)?;
            text(xml, "updated", &time(changed.unwrap_or(OffsetDateTime::UNIX_EPOCH)))?;
            let own = [("rel", "self"), ("type", "application/atom+xml"), ("href", &address)];
            xml.create_element("link").with_attributes(own).write_empty()?;
            let page = format!("{url}/incidents");
            let page = [("rel", "alternate"), ("type", "text/html"), ("href", &page)];
            xml.create_element("link").with_attributes(page).write_empty()?;
            xml.create_element("author")
                .write_inner_content(|xml| text(xml, "name", "scalewatch"))?;
            incidents.iter().try_for_each(|incident| entry(xml, url, incident))
        })?;
    Ok(xml.into_inner())
}

fn entry(xml: &mut Writer<Vec<u8>>, url: &str, incident: &Incident) -> io::Result<()> {
    let page = format!("{url}/incidents/{}", incident.id);
    xml.create_element("entry").write_inner_content(|xml| {
        text(xml, "title", &title(incident))?;
        text(xml, "id", &page)?;
        let link = [("rel", "alternate"), ("type", "text/html"), ("href", &page)];
        xml.create_element("link").with_attributes(link).write_empty()?;
        text(xml, "published", &time(incident.opened_at))?;
        text(xml, "updated", &time(incident.changed_at))?;
        for term in [incident.change.word(), incident.state.word(), &incident.project_name] {
            let term = printable(term);
            let term = [("term", term.as_str())];
            xml.create_element("category").with_attributes(term).write_empty()?;
        }
        text(xml, "summary", &summary(incident))
    })?;
    Ok(())
}

/// `regression −11.8 % [−13.1, −10.4]: fallocate/append-truncate at 1, 4, 16 tasks`.
fn title(incident: &Incident) -> String {
    let headline = &incident.headline;
    let change = match headline.ratio {
        Some(ratio) => {
            format!("{} {}", incident.change.word(), format::change_with_interval(ratio))
        }
        None => incident.change.word().to_owned(),
    };
    let tasks: Vec<String> = headline.all_tasks.iter().map(i32::to_string).collect();
    format!("{change}: {}, {}, at {} tasks", headline.workload, headline.metric, tasks.join(", "))
}

fn summary(incident: &Incident) -> String {
    let (good, bad) = (&incident.good, &incident.bad);
    let machines = usize::try_from(incident.machines).unwrap_or(0);
    format!(
        "{}, branch {}: between {} and {} ({}), on {}. State: {}.",
        incident.project_name,
        incident.branch_name,
        good.short(),
        bad.short(),
        bad.subject,
        format::count(machines, "machine"),
        incident.state_words(),
    )
}

fn text(xml: &mut Writer<Vec<u8>>, name: &str, content: &str) -> io::Result<()> {
    let content = printable(content);
    xml.create_element(name).write_text_content(BytesText::new(&content))?;
    Ok(())
}

/// Without the characters that XML cannot hold; what comes from outside may have some.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

fn time(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}
