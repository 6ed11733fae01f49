//! The built runner against the built service on loopback, mail to a real server.

use scalewatch::db::Pool;
use wire::{Outcome, Report};

use crate::support::processes::{Runner, ServiceProcess, eventually};
use crate::support::smtp::SmtpServer;

/// Eleven revisions made of the first window of a real run, so that what else the machine does
/// meanwhile plays no part: the last five do 60 % of its work.
fn history(measured: &Report) -> Vec<Report> {
    (1..=11_i64)
        .map(|position| {
            let mut report = measured.clone();
            report.run = uuid::Uuid::new_v4().to_string();
            report.revision.commit = format!("{position:040x}");
            report.revision.position = Some(position);
            report.revision.subject = format!("change number {position}");
            let wobble = 1.0 + 0.002 * ((position * 7) % 5 - 2) as f64;
            let share = if position < 7 { 1.0 } else { 0.6 } * wobble;
            for point in &mut report.points {
                let Outcome::Measured(measured) = &mut point.outcome else {
                    panic!("{} failed: {:?}", point.workload, point.outcome)
                };
                let first = measured.windows[0].clone();
                for (i, window) in measured.windows.iter_mut().enumerate() {
                    *window = first.clone();
                    let share = share * (1.0 + 0.001 * (i % 3) as f64);
                    window.ops.iter_mut().for_each(|ops| *ops = (*ops as f64 * share) as u64);
                }
            }
            report
        })
        .collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_regression_measured_by_the_runner_reaches_mail_and_page(pool: Pool) {
    let smtp = SmtpServer::start();
    let data = tempfile::tempdir().expect("a data folder");
    let url = format!("smtp://localhost:{}?tls=none", smtp.port);
    let settings = [("SCALEWATCH_SMTP_URL", &*url), ("SCALEWATCH_MAIL_TO", "ada@example.org")];
    let service = ServiceProcess::start(&pool, data.path(), "127.0.0.1:0", &settings);
    let runner = Runner::registered(&pool, &service).await;

    let file = data.path().join("run.json").display().to_string();
    let commit = "1".repeat(40);
    let mut run = vec!["run", "sys/getppid", "--tasks", "1,2", "--placement", "none"];
    run.extend(["--windows", "5", "--window", "20ms", "--warmup", "1", "--json", &file]);
    run.extend(["--project", "demo", "--subject", "program", "--branch", "main"]);
    run.extend(["--commit", &commit, "--position", "1", "--message", "as measured"]);
    runner.succeed(&run);
    let text = std::fs::read_to_string(&file).expect("the runner wrote its report");
    let measured: Report = serde_json::from_str(text.trim()).expect("it is one report");

    let reports = runner.file_of(&history(&measured));
    runner.succeed(&["upload", &reports]);
    assert_eq!((runner.spooled(), runner.refused()), (Vec::new(), Vec::new()));
    let mails = eventually("the mail", async || {
        let mails = smtp.messages();
        (!mails.is_empty()).then_some(mails)
    })
    .await;
    let subject = mails[0].header("Subject").expect("a mail has a subject");
    assert!(subject.contains("sys/getppid.ops_per_s_total -"), "{subject}");
    assert!(subject.starts_with("[demo] 0000000000:"), "{subject}");

    let id = sqlx::query_scalar::<_, i64>("select id from incident").fetch_one(&pool).await;
    let page = service.get(&format!("/incidents/{}", id.expect("there is one incident")));
    assert!(page.contains("change number 7"));

    // The same reports again change nothing and tell nobody.
    runner.succeed(&["upload", &reports]);
    let due = async || {
        let n = sqlx::query_scalar::<_, i64>("select count(*) from due").fetch_one(&pool).await;
        (n.expect("the database answers") == 0).then_some(())
    };
    eventually("the queue's end", due).await;
    let runs = sqlx::query_scalar::<_, i64>("select count(*) from run").fetch_one(&pool).await;
    assert_eq!((runs.expect("the database answers"), smtp.messages().len()), (11, 1));
}
