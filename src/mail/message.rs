//! One event as one mail: text first, HTML with the plot beside it, headers by which readers and
//! other programs recognise it. The same event always gives the same Message-ID.

use anyhow::{Context as _, Result};
use askama::Template;
use lettre::Message;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};
use time::OffsetDateTime;

use super::letter::Letter;
use super::table::{one_line, runs, wrapped};
use crate::chart;
use crate::config;
use crate::db::outbox::{Claimed, Kind};
use crate::format;
use crate::model::incident::Event;
use crate::model::step::Change;

#[derive(Template)]
#[template(path = "mail/incident_opened/body.txt", escape = "none")]
struct OpenedText<'a> {
    letter: &'a Letter,
    intro: String,
    range: String,
    project: String,
    runs: String,
    confirmation: Option<String>,
    why: String,
}

#[derive(Template)]
#[template(path = "mail/incident_opened/body.html")]
struct OpenedHtml<'a> {
    letter: &'a Letter,
    range: String,
    project: String,
    color: &'static str,
    cid: &'a str,
    plot_sentence: Option<String>,
}

#[derive(Template)]
#[template(path = "mail/incident_retracted/body.txt", escape = "none")]
struct RetractedText<'a> {
    letter: &'a Letter,
    intro: String,
    project: String,
    events: &'a [String],
}

#[derive(Template)]
#[template(path = "mail/incident_retracted/body.html")]
struct RetractedHtml<'a> {
    letter: &'a Letter,
    intro: String,
    events: &'a [String],
}

#[derive(Template)]
#[template(path = "mail/incident_changed/body.txt", escape = "none")]
struct ChangedText<'a> {
    letter: &'a Letter,
    intro: String,
    note: Option<String>,
    project: String,
}

#[derive(Template)]
#[template(path = "mail/incident_changed/body.html")]
struct ChangedHtml<'a> {
    letter: &'a Letter,
    intro: String,
    note: Option<&'a str>,
    state: String,
}

#[derive(Template)]
#[template(path = "mail/incident_opened/subject.txt", escape = "none")]
struct OpenedSubject<'a> {
    letter: &'a Letter,
}

#[derive(Template)]
#[template(path = "mail/incident_changed/subject.txt", escape = "none")]
struct ChangedSubject<'a> {
    letter: &'a Letter,
}

#[derive(Template)]
#[template(path = "mail/incident_retracted/subject.txt", escape = "none")]
struct RetractedSubject<'a> {
    letter: &'a Letter,
}

/// Longest line that a mail may carry as it is (RFC 5322: 998), bytes.
const LONGEST_LINE: usize = 998;

/// Name of the plot inside the mail.
const PLOT: &str = "curve@scalewatch";

/// Writes the mail of an event.
///
/// # Errors
/// An address in the settings that is none, or a template that fails.
pub fn compose(
    claimed: &Claimed,
    letter: &Letter,
    events: &[Event],
    settings: &config::Mail,
    now: OffsetDateTime,
) -> Result<Message> {
    let domain = domain_of(&settings.from);
    let project = one_line(&letter.incident.project_name);
    let mut builder = Message::builder()
        .from(mailbox(&settings.from)?)
        .date(std::time::SystemTime::from(now))
        .message_id(Some(message_id(&claimed.event, &domain)))
        .subject(subject(claimed.kind, letter)?)
        .raw_header(raw("List-Id", &format!("{project} <{}.{domain}>", list_name(&project))))
        .raw_header(raw("Auto-Submitted", "auto-generated"))
        .raw_header(raw("X-Scalewatch-Event", &claimed.event));
    let first = format!("incident/{}/opened", claimed.incident);
    if claimed.event != first {
        let first = message_id(&first, &domain);
        builder = builder.in_reply_to(first.clone()).references(first);
    }
    for to in &settings.to {
        builder = builder.to(mailbox(to)?);
    }
    let (text, html) = bodies(claimed, letter, events, &project)?;
    let plot = letter.plot.as_ref().filter(|_| claimed.kind == Kind::IncidentOpened);
    let html = SinglePart::html(html);
    let related = match plot {
        Some(plot) => {
            let png = chart::png::curve(plot, chart::png::MAIL);
            let kind = ContentType::parse("image/png").context("a media type")?;
            let picture = Attachment::new_inline(PLOT.into()).body(png, kind);
            MultiPart::related().singlepart(html).singlepart(picture)
        }
        None => MultiPart::related().singlepart(html),
    };
    let body = MultiPart::alternative().singlepart(plain(&text)?).multipart(related);
    builder.multipart(body).context("the mail has no recipient or sender")
}

/// Lines stay as they are: a table must not be reflowed. ASCII needs no encoding then, however
/// long a row is, and reads the same in an archive.
fn plain(text: &str) -> Result<SinglePart> {
    let kind = ContentType::parse("text/plain; charset=utf-8; format=fixed").context("a type")?;
    let part = SinglePart::builder().header(kind);
    let fits = |line: &str| line.len() <= LONGEST_LINE && !line.contains('\0');
    if text.is_ascii() && text.lines().all(fits) {
        let lines = text.lines().map(|line| format!("{line}\r\n")).collect::<String>();
        let bare = ContentTransferEncoding::SevenBit;
        return Ok(part.body(Body::dangerous_pre_encoded(lines.into_bytes(), bare)));
    }
    Ok(part.body(text.to_owned()))
}

fn subject(kind: Kind, letter: &Letter) -> Result<String> {
    let subject = match kind {
        Kind::IncidentOpened => OpenedSubject { letter }.render()?,
        Kind::IncidentChanged => ChangedSubject { letter }.render()?,
        Kind::IncidentRetracted => RetractedSubject { letter }.render()?,
    };
    Ok(one_line(&subject))
}

fn bodies(
    claimed: &Claimed,
    letter: &Letter,
    events: &[Event],
    project: &str,
) -> Result<(String, String)> {
    let project = format!("{project}, branch {}", one_line(&letter.incident.branch_name));
    match claimed.kind {
        Kind::IncidentOpened => opened(letter, project),
        Kind::IncidentChanged => {
            let event = events.iter().find(|event| Some(event.id) == claimed.change);
            changed(letter, event.context("the change it tells is gone")?, project)
        }
        Kind::IncidentRetracted => retracted(letter, events, project),
    }
}

fn opened(letter: &Letter, project: String) -> Result<(String, String)> {
    let range = range(letter);
    let more = match letter.sections.len() {
        0 | 1 => String::new(),
        n => format!(" It shows on {} in all.", format::count(n, "curve")),
    };
    let interval = letter.interval().map_or(String::new(), |i| format!(", {i}"));
    let intro = format!(
        "scalewatch noticed a {} {} of {} {}{interval}.{more}",
        letter.change(),
        letter.incident.change.word(),
        letter.what(),
        letter.places()
    );
    let text = OpenedText {
        letter,
        intro: wrapped(&intro),
        range: wrapped(&range),
        project: project.clone(),
        runs: letter.sections.first().map_or(String::new(), runs),
        confirmation: letter.confirmation.as_deref().map(suspect),
        why: wrapped(
            "The incident, and why it is one (the runs used, every inequality with its numbers, \
             and the line that decided):",
        ),
    };
    let html = OpenedHtml {
        letter,
        range,
        project,
        color: match letter.incident.change {
            Change::Regression => "#b3261e",
            Change::Improvement => "#1a6b3a",
        },
        cid: PLOT,
        plot_sentence: letter.plot.as_ref().map(chart::CurvePlot::sentence),
    };
    Ok((text.render()?, html.render()?))
}

/// `Suspect confirmed by 3 runs …`, in letters that need no encoding.
fn suspect(words: &str) -> String {
    let words = one_line(words).replace('−', "-").replace('±', "+-").replace('×', "x");
    wrapped(&format!("Suspect {words}."))
}

/// Where the cause lies: at one commit, or between two.
fn range(letter: &Letter) -> String {
    let incident = &letter.incident;
    format!(
        "It came after {} and is there from {} on.",
        incident.good.short(),
        incident.bad.short()
    )
}

fn retracted(letter: &Letter, events: &[Event], project: String) -> Result<(String, String)> {
    let intro = format!(
        "scalewatch takes back the {} of {} that it told you of: later runs disproved every step \
         it was made of.",
        letter.incident.change.word(),
        letter.what()
    );
    let events: Vec<String> = events
        .iter()
        .map(|event| format!("{}  {}", format::full_time(event.at), one_line(event.words())))
        .collect();
    let html = RetractedHtml { letter, intro: intro.clone(), events: &events };
    let text = RetractedText { letter, intro: wrapped(&intro), project, events: &events };
    Ok((text.render()?, html.render()?))
}

/// One line of the history, told as it was kept.
fn changed(letter: &Letter, event: &Event, project: String) -> Result<(String, String)> {
    let incident = &letter.incident;
    let from = event.from().map_or(String::new(), |from| format!("was {}; ", from.title()));
    let intro = format!(
        "Incident {}, the {} {} of {} {}, {from}now: {}.",
        incident.id,
        letter.change(),
        incident.change.word(),
        letter.what(),
        letter.places(),
        one_line(event.words())
    );
    let html = ChangedHtml {
        letter,
        intro: intro.clone(),
        note: event.note(),
        state: incident.state_words(),
    };
    let note = event.note().map(|note| wrapped(&one_line(note)));
    let text = ChangedText { letter, intro: wrapped(&intro), note, project };
    Ok((text.render()?, html.render()?))
}

pub(super) fn mailbox(address: &str) -> Result<Mailbox> {
    address.parse().with_context(|| format!("`{}` is no mail address", one_line(address)))
}

/// `<incident.12.opened@example.org>`: a mail that arrives twice after a crash is known by it.
fn message_id(event: &str, domain: &str) -> String {
    format!("<{}@{domain}>", event.replace('/', "."))
}

fn domain_of(from: &str) -> String {
    let domain = from.rsplit('@').next().unwrap_or_default().trim_end_matches('>');
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    match domain.is_empty() || !domain.chars().all(good) {
        true => "localhost".into(),
        false => domain.into(),
    }
}

fn list_name(project: &str) -> String {
    project
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}

fn raw(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), one_line(value))
}
