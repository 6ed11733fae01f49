//! Five prepared verdicts as they are explained, word for word. The texts are in `tests/golden/why`;
//! `UPDATE_GOLDEN=1` writes them anew after a rule was changed on purpose.

use std::path::Path;

use scalewatch::db::Pool;
use scalewatch::detect::policy;
use scalewatch::model::severity::{MOST_UNITS, WORDS};

use crate::support::history::{FAST, SLOW, a_run, noisy, upload, work};
use crate::support::{Enrolled, Service, a_point, a_report};

/// Compares a text with the one that is kept.
fn is_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/why/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        std::fs::write(&path, text).expect("a writable folder");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{} differs; UPDATE_GOLDEN=1 writes it anew", path.display());
}

/// The text at this path of the API.
async fn told(service: &Service, path: &str) -> String {
    let answer = service.get(path).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    answer.text()
}

/// Why the one incident stands.
async fn incident(service: &Service) -> String {
    work(&service.app).await;
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    told(service, &format!("/api/v1/incidents/{id}/why")).await
}

/// Why revision 2 compares with revision 1 as it does.
async fn two_sides(service: &Service) -> String {
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let commit = |position| a_report().at(position).build().revision.commit;
    let (base, head) = (commit(1), commit(2));
    told(service, &format!("/api/v1/compare/why?curve={curve}&base={base}&head={head}")).await
}

/// One point of one metric a run, so that a text stays readable; the run's id tells its place among
/// runs of one time.
async fn upload_point(
    service: &Service,
    enrolled: &Enrolled,
    (position, seed): (i64, i64),
    level: f64,
    governor: &str,
) {
    let point = a_point(2, &noisy(seed, 2, level));
    let report = a_run(enrolled, position, level)
        .with_points(vec![point])
        .in_environment("cpu.governor", governor)
        .with(|report| report.run = uuid::Uuid::from_u128(seed as u128).to_string());
    service.accept(enrolled, &report.build()).await;
}

async fn history(pool: Pool, before: f64, after: f64) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for position in 1..=11 {
        let level = if position < 7 { before } else { after };
        upload_point(&service, &box_a, (position, position), level, "performance").await;
    }
    service
}

async fn sides(pool: Pool, runs: i64, head: f64) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for run in 0..runs {
        upload_point(&service, &box_a, (1, run), FAST, "performance").await;
        upload_point(&service, &box_a, (2, 100 + run), head, "performance").await;
    }
    service
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_regression_is_explained_by_its_inequalities(pool: Pool) {
    is_golden("regression", &incident(&history(pool, FAST, SLOW).await).await);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_improvement_is_explained_by_its_inequalities(pool: Pool) {
    is_golden("improvement", &incident(&history(pool, SLOW, FAST).await).await);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn noise_is_not_called_and_the_line_that_kept_it_from_being_called_is_marked(pool: Pool) {
    is_golden("noise", &two_sides(&sides(pool, 5, FAST * 1.001).await).await);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_changed_environment_is_explained_field_by_field(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for run in 0..5 {
        for (position, level, governor) in [(1, FAST, "performance"), (2, SLOW, "powersave")] {
            upload_point(&service, &box_a, (position, 100 * position + run), level, governor).await;
        }
    }
    work(&service.app).await;
    is_golden("environment-changed", &two_sides(&service).await);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_change_seen_in_one_run_a_side_is_explained_with_what_it_lacks(pool: Pool) {
    is_golden("unconfirmed", &two_sides(&sides(pool, 1, FAST * 0.95).await).await);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_is_not_there_is_not_explained(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, [1], FAST).await;
    assert_eq!(service.get("/api/v1/incidents/1/why").await.status, 404);
    assert_eq!(service.get("/api/v1/compare/why").await.status, 400);
}

#[test]
fn the_text_on_incidents_states_the_limits_in_force() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join("docs/incidents.md")).expect("it is there");
    let text = text.replace('\n', " ");
    let [(severe, _), (serious, _), (moderate, _)] = WORDS;
    let percent = |share: f64| format!("{} %", share * 100.0);
    for words in [
        format!("From {severe} on *severe*, from {serious} *serious*, from {moderate} *moderate*"),
        format!("({}), at most {MOST_UNITS};", percent(policy::steps().least_effect)),
        format!("a history of {} builds or more", policy::LEAST_BUILDS),
        format!("at most {}, so that", percent(policy::REFUTED_CEILING)),
        format!("at least {} of the step", percent(policy::RETURNED_SHARE)),
    ] {
        assert!(text.contains(&words), "`{words}` is not said");
    }
}
