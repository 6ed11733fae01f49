//! What came of it, in words: the incidents of the measured history, and where their mails lie.

use std::fmt::Write as _;

use anyhow::Result;

use super::history;
use crate::app::App;
use crate::db;
use crate::format;
use crate::model::incident::{Incident, Message, State};
use crate::model::step::Change;

/// Regressions that stand, each with its messages.
///
/// # Errors
/// When the database does not answer.
pub async fn regressions(app: &App) -> Result<Vec<(Incident, Vec<Message>)>> {
    let mut found = Vec::new();
    for incident in db::incident::list(&app.db, &State::OPEN, None, 100).await? {
        if incident.change == Change::Regression && incident.project_name == history::PROJECT {
            let messages = db::incident::list_messages(&app.db, incident.id).await?;
            found.push((incident, messages));
        }
    }
    found.reverse();
    Ok(found)
}

/// The last paragraph of `up`.
pub fn words(regressions: &[(Incident, Vec<Message>)], url: &str) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut line = |words: String| writeln!(text, "{words}").unwrap_or_default();
    if regressions.is_empty() {
        line("No regression was found in the history measured on this machine.".to_owned());
        line("The table above shows what the two variants differ by here.".to_owned());
    }
    for (incident, messages) in regressions {
        let found = &incident.headline;
        let tasks = found.all_tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let change = found.ratio.map_or_else(|| "changed".to_owned(), format::change_with_interval);
        line(format!("Regression: {} {change} at {} tasks", found.workload, found.tasks));
        line(format!(
            "  moved    {} at {tasks} tasks; {} series in all",
            found.metric, incident.steps
        ));
        line(format!("  since    {:.10} {}", incident.bad.commit, incident.bad.subject));
        line(format!("  good     {:.10} {}", incident.good.commit, incident.good.subject));
        line(format!("  page     {url}/incidents/{}", incident.id));
        for message in messages {
            line(format!("  mail     {}", mail(message)));
        }
    }
    text
}

fn in_tasks(counts: &str) -> String {
    match counts {
        "1" => "1 task".to_owned(),
        _ => format!("{counts} tasks"),
    }
}

fn mail(message: &Message) -> String {
    match (&message.sent_to, &message.last_error) {
        (Some(place), _) => place.clone(),
        (None, Some(error)) => format!("waits to be sent again: {error}"),
        (None, None) if message.withdrawn_at.is_some() => "withdrawn before it was sent".to_owned(),
        (None, None) => "waits to be sent".to_owned(),
    }
}
