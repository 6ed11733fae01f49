//! What a mail says, and what it cannot be made to say.

use scalewatch::db::Pool;

use super::{mailing, with_regression};
use crate::support::Service;
use crate::support::history::{FAST, SLOW, a_run, work};
use crate::support::smtp::Mail;

/// The one mail in the folder that takes them while no server is set.
fn the_mail(service: &Service) -> Mail {
    let mails: Vec<_> = std::fs::read_dir(service.app.config.data.join("mail"))
        .expect("mail was written")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0].to_string_lossy().ends_with("-opened.eml"));
    Mail::read(&mails[0])
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_text_says_what_moved_where_how_much_and_how_to_see_it_again(pool: Pool) {
    let service = with_regression(pool, None).await;
    work(&service.app).await;
    let mail = the_mail(&service);

    let subject = mail.header("Subject").unwrap();
    assert!(subject.starts_with("[linux] "), "{subject}");
    assert!(subject.contains(": fallocate/append-truncate.ops_per_s_total -3"), "{subject}");
    assert!(subject.ends_with("% regression"), "{subject}");
    assert_eq!(mail.header("Auto-Submitted").as_deref(), Some("auto-generated"));
    assert_eq!(mail.header("List-Id").as_deref(), Some("linux <linux.lab.example.org>"));
    let id = mail.header("Message-ID").unwrap();
    assert!(id.starts_with("<incident.") && id.ends_with(".opened@lab.example.org>"), "{id}");

    let text = mail.part("text/plain").replace("\r\n", "\n");
    for line in [
        "Hello,",
        "testcase: fallocate/append-truncate, version 1",
        "test machine: box-a: 8 threads, 1 socket, Test CPU 9000, 32 GiB memory",
        "\ttasks: 1, 2, 4",
        "\tmode: process",
        "         %stddev     %change         %stddev",
        "\tscalewatch-runner run fallocate/append-truncate --tasks 1,2,4 --mode process",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} is missing in\n{text}");
    }
    let rows = text.lines().filter(|line| line.contains("  fallocate/append-truncate.")).count();
    assert_eq!(rows, 6, "every point and metric that moved has a row\n{text}");
    assert!(text.contains("ext4: change number 7") && text.contains("/incidents/"));
    assert!(mail.0.contains("Content-Transfer-Encoding: 7bit"), "an archive shows it as it is");
    let prose = text.lines().filter(|line| !line.contains("  ") && !line.starts_with('\t'));
    for line in prose.filter(|line| !line.starts_with("commit:") && !line.starts_with("last")) {
        assert!(line.chars().count() < 78, "too long to quote: {line}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_html_part_shows_the_curve_before_and_after(pool: Pool) {
    let service = with_regression(pool, None).await;
    work(&service.app).await;
    let mail = the_mail(&service);
    let html = mail.part("text/html");
    assert!(html.contains("src=\"cid:curve@scalewatch\""), "{html}");
    assert!(html.contains("regression −3"), "words first, then figures");
    assert!(mail.0.contains("Content-ID: <curve@scalewatch>"));
    assert!(mail.0.contains("\r\niVBORw0KGgo"), "a PNG in base64");
    let alternative = mail.0.find("multipart/alternative").unwrap();
    let related = mail.0.find("multipart/related").unwrap();
    assert!(alternative < related, "text stands for the HTML and its picture");
}

/// Ten counters that grow the more the later their name, beside one that stands still.
fn with_counters(mut report: wire::Report, grown: bool) -> wire::Report {
    for point in &mut report.points {
        let wire::Outcome::Measured(measured) = &mut point.outcome else { panic!("measured") };
        measured.counters.insert("steady".into(), 3.0);
        measured.counters.insert("from.nothing\n<b>".into(), if grown { 0.5 } else { 0.0 });
        for (i, name) in "abcdefghi".chars().enumerate() {
            let factor = if grown { 2.0 + i as f64 } else { 1.0 };
            measured.counters.insert(format!("perf.{name}"), 1000.0 * factor);
        }
    }
    report
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_counters_that_moved_are_listed_largest_first_in_text_and_html(pool: Pool) {
    let service = mailing(pool, None);
    let box_a = service.registered("box-a").await;
    for position in 1..=11 {
        let level = if position < 7 { FAST } else { SLOW };
        let report = with_counters(a_run(&box_a, position, level).build(), position >= 7);
        service.accept(&box_a, &report).await;
    }
    work(&service.app).await;
    let mail = the_mail(&service);
    let text = mail.part("text/plain").replace("\r\n", "\n");
    assert!(text.contains("Counters per operation that moved with it at "), "{text}");
    let listed: Vec<&str> = text
        .lines()
        .filter(|line| line.ends_with("(told apart)"))
        .map(|line| line.split_whitespace().rev().nth(2).unwrap())
        .collect();
    let largest = ["perf.i", "perf.h", "perf.g", "perf.f", "perf.e", "perf.d", "perf.c"];
    assert_eq!(listed[1..], largest, "{text}");
    assert!(text.contains("from.nothing <b> (told apart)\n"), "on one line\n{text}");
    assert!(text.contains("      1000          +900.0%      10000        perf.i"), "{text}");
    assert!(text.contains("  and 2 more on the page\n"), "{text}");
    assert!(!text.contains("steady"), "what stood still is not told");
    let html = mail.part("text/html");
    for shown in ["<code>perf.i</code>", "+900.0 %", "from 0", "and 2 more on the page"] {
        assert!(html.contains(shown), "`{shown}` is not in {html}");
    }
    assert!(!html.contains("<b>"), "a name is no markup");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_commit_subject_can_neither_add_a_header_nor_markup(pool: Pool) {
    let service = mailing(pool, None);
    let box_a = service.registered("box-a").await;
    for position in 1..=11 {
        let level = if position < 7 { FAST } else { SLOW };
        let report = a_run(&box_a, position, level).with(|report| {
            report.revision.subject = "fix\r\nBcc: evil@example.org\r\n\r\n<b>bold</b>".into();
            report.project.name = "li<i>nux".into();
        });
        service.accept(&box_a, &report.build()).await;
    }
    work(&service.app).await;
    let mail = the_mail(&service);
    assert_eq!(mail.header("Bcc"), None);
    assert!(mail.part("text/plain").contains("(\"fix Bcc: evil@example.org <b>bold</b>\")"));
    let html = mail.part("text/html");
    assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_retraction_answers_the_mail_it_takes_back_and_says_what_happened(pool: Pool) {
    let service = with_regression(pool, None).await;
    work(&service.app).await;
    let opened = the_mail(&service);
    let box_a = service.registered("box-a").await;
    crate::support::history::upload_two_modes(&service, &box_a).await;
    work(&service.app).await;

    let folder = service.app.config.data.join("mail");
    let mail = Mail::read(&folder.join("incident-1-retracted.eml"));
    assert!(mail.header("Subject").unwrap().starts_with("Re: [linux] "));
    assert_eq!(mail.header("In-Reply-To"), opened.header("Message-ID"));
    assert_eq!(mail.header("References"), opened.header("Message-ID"));
    let text = mail.part("text/plain");
    assert!(text.contains("takes back the regression of"), "{text}");
    assert!(text.contains("judged again, the step of ops_per_s_total"), "{text}");
}
