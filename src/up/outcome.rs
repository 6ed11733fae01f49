//! What came of it, in words: the incidents of the measured history, and where their mails lie.

use anyhow::Result;

use super::history;
use crate::app::App;
use crate::db;
use crate::db::incident::Filter;
use crate::format;
use crate::model::Visible;
use crate::model::incident::{Headline, Incident, Message, State};
use crate::model::step::Change;

/// Regressions that stand, each with its messages.
///
/// # Errors
/// When the database does not answer.
pub async fn regressions(app: &App) -> Result<Vec<(Incident, Vec<Message>)>> {
    let mut found = Vec::new();
    let open = Filter::of_states(&State::OPEN);
    for incident in db::incident::list(&app.db, &Visible::ALL, &open, 100).await? {
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
    if regressions.is_empty() {
        return "No regression was found in the history measured on this machine.\n\
                The tables above show what the variants differ by here, now."
            .to_owned();
    }
    let of_one = |(incident, messages): &(Incident, Vec<Message>)| one(incident, messages, url);
    regressions.iter().map(of_one).collect::<Vec<_>>().join("\n")
}

fn one(incident: &Incident, messages: &[Message], url: &str) -> String {
    let Headline { workload, metric, tasks, derived, ratio, all_tasks, .. } = &incident.headline;
    let change = ratio.map_or_else(|| "changed".to_owned(), format::change_with_interval);
    let (since, good, steps) = (&incident.bad, &incident.good, incident.steps);
    let mut lines = vec![
        format!(
            "Regression: {workload} {metric} {change} {} {}",
            at(*derived),
            in_tasks(&[*tasks])
        ),
        format!(
            "  moved    {} {}; {steps} series of the incident moved",
            at(*derived),
            in_tasks(all_tasks)
        ),
        format!("  since    {:.10} {}", since.commit, since.subject),
        format!("  good     {:.10} {}", good.commit, good.subject),
        format!("  page     {url}/incidents/{}", incident.id),
    ];
    lines.extend(messages.iter().map(|message| format!("  mail     {}", mail(message))));
    lines.join("\n")
}

const fn at(derived: bool) -> &'static str {
    if derived { "up to" } else { "at" }
}

fn in_tasks(counts: &[i32]) -> String {
    let listed = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("{listed} {}", if counts == [1] { "task" } else { "tasks" })
}

fn mail(message: &Message) -> String {
    match (&message.sent_to, &message.last_error) {
        (Some(place), _) => place.clone(),
        (None, Some(error)) => format!("waits to be sent again: {error}"),
        (None, None) if message.withdrawn_at.is_some() => "withdrawn before it was sent".to_owned(),
        (None, None) => "waits to be sent".to_owned(),
    }
}
