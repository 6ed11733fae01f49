//! `/incidents`: all incidents, or those in one state; and the rows other pages show of them.

use std::collections::BTreeMap;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use time::OffsetDateTime;

use super::failure::Failure;
use super::shown;
use super::triage::BulkForm;
use super::view::{Layout, Section, StateChoice, When};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::db::incident::Filter;
use crate::detect::severity;
use crate::error::Error;
use crate::format;
use crate::model::incident::{Headline, Incident, State as IncidentState};
use crate::model::severity::Severity;
use crate::model::step::{Change, place_words};
use crate::model::{IncidentId, Role};

/// Incidents on one page.
const SHOWN: i64 = 200;

/// One incident in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentRow {
    /// Row, and its address.
    pub id: i64,
    /// Workload, and where it moved.
    pub what: String,
    /// Class of the style sheet.
    pub class: &'static str,
    /// Verdict and figures.
    pub change: String,
    /// Last good commit, shortened.
    pub good: String,
    /// First bad commit, shortened.
    pub bad: String,
    /// `2 machines`, or the name of the one.
    pub machines: String,
    /// State in words.
    pub state: String,
    /// Severity in a word; a dash where no step stands.
    pub severity: &'static str,
    /// How it comes about.
    pub severity_words: String,
    /// When anything about it last changed.
    pub changed: When,
    /// Word of its state, where it can be picked to decide about it.
    pub pick: Option<&'static str>,
}

/// A list of incidents.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/incident_rows.html")]
pub struct IncidentRows {
    /// What the list holds.
    pub caption: String,
    /// Rows, in the order of the list.
    pub rows: Vec<IncidentRow>,
    /// By which many are decided about at once; none where nobody may.
    pub bulk: Option<BulkForm>,
}

impl HtmlSafe for IncidentRows {}

impl IncidentRows {
    /// Incidents as stored.
    pub fn new(
        caption: impl Into<String>,
        incidents: &[Incident],
        severities: &BTreeMap<IncidentId, Severity>,
        now: OffsetDateTime,
    ) -> IncidentRows {
        let severity = |incident: &Incident| severities.get(&incident.id);
        let row = |incident: &Incident| IncidentRow {
            id: incident.id.0,
            what: what(&incident.headline),
            class: class(incident.change),
            change: change_words(incident.change, incident.headline.ratio),
            good: format::commit(&incident.good.commit).to_owned(),
            bad: format::commit(&incident.bad.commit).to_owned(),
            machines: match incident.machines {
                0 | 1 => incident.headline.machine_name.clone(),
                n => format::count(usize::try_from(n).unwrap_or(0), "machine"),
            },
            state: incident.state_words(),
            severity: severity(incident).map_or("–", Severity::word),
            severity_words: severity(incident).map_or("no step stands".into(), Severity::words),
            changed: When::new(incident.changed_at, now),
            pick: None,
        };
        let rows = incidents.iter().map(row).collect();
        IncidentRows { caption: caption.into(), rows, bulk: None }
    }

    /// With what who looks can decide about them at once.
    fn pickable_by(
        mut self,
        incidents: &[Incident],
        visitor: &Visitor,
        list: &str,
    ) -> IncidentRows {
        self.bulk = BulkForm::new(incidents, visitor, list);
        for (row, incident) in self.rows.iter_mut().zip(incidents) {
            let may = visitor.viewer.may(Role::Triager, incident.project);
            let can = may && !incident.state.choices().is_empty();
            row.pick = can.then(|| incident.state.word());
        }
        self
    }
}

/// `fallocate/append-truncate at 1, 4 and 16 tasks`; a metric other than the usual first one is
/// named.
pub(super) fn what(headline: &Headline) -> String {
    if headline.derived {
        let place = place_words(&headline.metric, true, headline.tasks);
        return format!("{} bends: {place}", headline.workload);
    }
    let place = where_words(&headline.all_tasks, headline.tasks);
    let metric = match headline.metric.as_str() {
        "ops_per_s_total" => String::new(),
        other => format!(", {},", other.replace('_', " ")),
    };
    format!("{}{metric} {place}", headline.workload)
}

fn where_words(all: &[i32], strongest: i32) -> String {
    match all {
        [] => format!("at {}", tasks_words(strongest)),
        [one] => format!("at {}", tasks_words(*one)),
        [first, .., _] if all.len() > 3 => format!("at {} task counts from {first} on", all.len()),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(i32::to_string).collect();
            format!("at {} and {}", first.join(", "), tasks_words(*last))
        }
    }
}

pub(super) fn tasks_words(tasks: i32) -> String {
    format::count(tasks.unsigned_abs() as usize, "task")
}

pub(super) fn class(change: Change) -> &'static str {
    change.word()
}

/// `regression −11.8 % [−13.1, −10.4]`.
pub(super) fn change_words(change: Change, ratio: Option<(f64, f64, f64)>) -> String {
    match ratio {
        Some(ratio) => format!("{} {}", change.word(), format::change_with_interval(ratio)),
        None => change.word().to_owned(),
    }
}

/// What can be chosen in the address.
#[derive(Debug, Default, Deserialize)]
pub struct Choice {
    state: Option<String>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/incidents.html")]
pub struct IncidentsView {
    /// Frame.
    pub layout: Layout,
    /// States to choose from.
    pub choices: Vec<StateChoice>,
    /// The incidents.
    pub incidents: IncidentRows,
}

/// Shows the page.
pub async fn list(
    State(app): State<App>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Result<Response, Failure> {
    let (asked, states) = states(choice.state.as_deref().unwrap_or("open"))?;
    let visible = visitor.viewer.visible();
    let incidents =
        db::incident::list(&app.db, visible, &Filter::of_states(&states), SHOWN).await?;
    let severities = severity::list(&app.db, &incidents).await?;
    let one = |name: &'static str| StateChoice {
        name,
        href: format!("/incidents?state={name}"),
        chosen: name == asked,
    };
    let caption = match incidents.len() as i64 {
        n if n >= SHOWN => format!("The newest {SHOWN}"),
        n => format::count(n as usize, "incident"),
    };
    let view = IncidentsView {
        layout: Layout::new("Incidents", Section::Incidents).seen_by(&visitor),
        choices: ["open", "settled", "retracted", "all"].map(one).into(),
        incidents: IncidentRows::new(caption, &incidents, &severities, app.clock.now())
            .pickable_by(&incidents, &visitor, asked),
    };
    match view.incidents.bulk {
        Some(_) => visitor.shown(&view),
        None => Ok(shown(&view)?.into_response()),
    }
}

fn states(asked: &str) -> Result<(&str, Vec<IncidentState>), Error> {
    match asked {
        "open" => Ok((asked, IncidentState::OPEN.into())),
        "settled" => Ok((asked, IncidentState::SETTLED.into())),
        "all" => Ok((asked, IncidentState::ALL.into())),
        word => match IncidentState::parse(word) {
            Some(state) => Ok((asked, vec![state])),
            None => {
                let words = IncidentState::ALL.map(IncidentState::word).join(", ");
                let problem = format!("`{word}` is not open, settled, all, {words}");
                Err(Error::query("state", problem))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_change_lies_is_said_in_words() {
        assert_eq!(where_words(&[1], 1), "at 1 task");
        assert_eq!(where_words(&[4, 16], 16), "at 4 and 16 tasks");
        assert_eq!(where_words(&[1, 4, 16], 16), "at 1, 4 and 16 tasks");
        assert_eq!(where_words(&[1, 2, 4, 8], 8), "at 4 task counts from 1 on");
    }
}
