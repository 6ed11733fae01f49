//! A curve that bends earlier, from uploaded runs to the incident, its mail, its pages and the API.

use scalewatch::db;
use scalewatch::db::Pool;
use scalewatch::model::incident::{Incident, IncidentStep};
use scalewatch::model::step::Change;
use serde_json::Value;

use super::{incidents, the_incident};
use crate::support::history::work;
use crate::support::smtp::Mail;
use crate::support::{Enrolled, Service, a_point, a_report};

const TASKS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// The law before, in operations a second of one task, contention and coherency.
const BEFORE: (f64, f64, f64) = (100_000.0, 0.03, 0.0004);

fn throughput((one, contention, coherency): (f64, f64, f64), tasks: u32) -> f64 {
    let n = f64::from(tasks);
    one * n / (1.0 + (contention + coherency * n) * (n - 1.0))
}

/// −0.5 to 0.5, the same for the same arguments.
fn wobble(seed: u64) -> f64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 29;
    (x % 10_000) as f64 / 10_000.0 - 0.5
}

/// Uploads one run a revision. All points of a run share a factor within ± `shared`, as on a machine
/// whose frequency differs from boot to boot, and each is off by up to 0.5 % besides.
async fn upload(
    service: &Service,
    box_a: &Enrolled,
    positions: std::ops::RangeInclusive<i64>,
    law: (f64, f64, f64),
    shared: f64,
) {
    for position in positions {
        let at = position.unsigned_abs();
        let factor = 1.0 + 2.0 * shared * wobble(at);
        let points = TASKS.map(|tasks| {
            let level = throughput(law, tasks) * factor;
            let window = |i: u64| wobble(at * 1000 + u64::from(tasks) * 10 + i);
            let of_point = 1.0 + 0.01 * window(9);
            let windows: Vec<f64> =
                (0..5).map(|i| level * of_point * (1.0 + 0.002 * window(i))).collect();
            a_point(tasks, &windows)
        });
        let report = a_report().on(&box_a.machine).at(position).with_points(points.to_vec());
        service.accept(box_a, &report.build()).await;
    }
}

async fn steps(service: &Service, incident: &Incident) -> Vec<IncidentStep> {
    db::incident_step::list(&service.app.db, incident.id).await.unwrap()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn coherency_that_grows_is_a_step_of_the_incident_in_which_the_points_fell(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=14, BEFORE, 0.001).await;
    upload(&service, &box_a, 15..=26, (100_000.0, 0.03, 0.0010), 0.001).await;
    work(&service.app).await;

    let incident = the_incident(&service).await;
    assert_eq!((incident.good.rank, incident.bad.rank), (14, 15));
    assert_eq!(incident.headline.metric, "ops_per_s_total", "points speak first");
    let steps = steps(&service, &incident).await;
    let coherency = steps.iter().find(|step| step.metric == "coherency").expect("it grew");
    assert!(coherency.derived && coherency.change == Change::Regression);
    assert_eq!((coherency.tasks, coherency.bad.rank), (32, 15));
    assert!(steps.iter().all(|step| step.metric != "contention"), "contention did not grow");
    let points: Vec<i32> =
        steps.iter().filter(|step| step.primary).map(|step| step.tasks).collect();
    assert!(points.contains(&32) && !points.contains(&1), "{points:?}");

    // The same steps are a coefficient's and a point's of one cause: late data about one task
    // count change nothing else.
    upload(&service, &box_a, 27..=30, (100_000.0, 0.03, 0.0010), 0.001).await;
    work(&service.app).await;
    assert_eq!(the_incident(&service).await.id, incident.id);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_curve_bends_earlier_where_no_point_stands_out_and_everybody_is_told(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    // The machine's speed wanders by ± 15 %, which hides the loss at every single task count.
    upload(&service, &box_a, 1..=16, BEFORE, 0.15).await;
    upload(&service, &box_a, 17..=32, (100_000.0, 0.03, 0.0008), 0.15).await;
    work(&service.app).await;

    let incident = the_incident(&service).await;
    assert_eq!((incident.change, incident.bad.rank), (Change::Regression, 17));
    assert_eq!((incident.headline.metric.as_str(), incident.headline.tasks), ("coherency", 32));
    let steps = steps(&service, &incident).await;
    assert!(steps.iter().all(|step| step.derived), "no point moved by itself");
    let bend = steps[0].evidence.bend.clone().expect("what it does to the curve");
    assert!((0.7..0.95).contains(&bend.throughput), "{bend:?}");

    // The page of the incident, why, the curve and the API show it.
    let page = service.get(&format!("/incidents/{}", incident.id)).await.text();
    for shown in ["bends: coherency up to 32 tasks", "to 32", "/curves/1#laws", "knee "] {
        assert!(page.contains(shown), "`{shown}` is not in {page}");
    }
    let why = service.get(&format!("/api/v1/incidents/{}/why", incident.id)).await.text();
    for shown in ["coherency, up to 32 tasks on box-a", "knee ", "throughput at 32 tasks by this"] {
        assert!(why.contains(shown), "`{shown}` is not in {why}");
    }
    assert_eq!(service.get(&format!("/incidents/{}/why", incident.id)).await.status, 200);
    let curve = service.get("/curves/1").await.text();
    for shown in ["How it scales, over revisions", "coherency, % of the work", "32 laws as a table"]
    {
        assert!(curve.contains(shown), "`{shown}` is not in {curve}");
    }
    let api = service.get("/api/v1/curves/1").await.json();
    let laws = api["scaling_history"].as_array().unwrap();
    assert_eq!(laws.len(), 32);
    let near = |law: &Value, value: f64| {
        (law["law"]["coherency"]["value"].as_f64().unwrap() / value - 1.0).abs() < 0.25
    };
    assert!(near(&laws[3], 0.0004) && near(&laws[30], 0.0008), "{laws:?}");
    let detail = service.get(&format!("/api/v1/incidents/{}", incident.id)).await.json();
    let told = &detail["moved"][0];
    assert_eq!((&told["derived"], &told["series"]), (&Value::Bool(true), &Value::Null));
    assert_eq!(told["evidence"]["bend"]["tasks"], serde_json::json!([1, 2, 4, 8, 16, 32]));

    // The mail names it, has its levels as a row, and a command that measures all of the curve.
    let folder = service.app.config.data.join("mail");
    let mail = Mail::read(&folder.join(format!("incident-{}-opened.eml", incident.id)));
    assert!(mail.header("Subject").unwrap().contains("append-truncate.coherency +"));
    let text = mail.part("text/plain").replace("\r\n", "\n");
    for shown in ["coherency up to 32 tasks", "--tasks 1,2,4,8,16,32", "knee ", "bends earlier"] {
        assert!(text.contains(shown), "`{shown}` is not in {text}");
    }
    let html = mail.part("text/html");
    assert!(html.contains("to 32") && html.contains("bends earlier"), "{html}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_whose_speed_wanders_does_not_bend(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=32, BEFORE, 0.15).await;
    work(&service.app).await;
    assert_eq!(incidents(&service).await, []);
    let laws = service.get("/api/v1/curves/1").await.json()["scaling_history"].clone();
    assert_eq!(laws.as_array().unwrap().len(), 32, "its laws are known all the same");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn contention_that_grows_because_one_task_got_faster_is_no_regression(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    // One task runs 30 % faster; what all tasks together reach is the same.
    upload(&service, &box_a, 1..=14, (100_000.0, 0.10, 0.0), 0.001).await;
    upload(&service, &box_a, 15..=26, (130_000.0, 0.136, 0.0), 0.001).await;
    work(&service.app).await;
    let all = incidents(&service).await;
    assert!(!all.is_empty(), "one task got faster");
    assert!(all.iter().all(|one| one.change == Change::Improvement), "{all:#?}");
    let standing =
        db::incident_step::list_standing_of_curve(&service.app.db, scalewatch::model::CurveId(1));
    let steps = standing.await.unwrap();
    let contention = steps.iter().find(|step| step.metric == "contention").expect("it is shown");
    assert_eq!((contention.incident, contention.change), (None, Change::Regression));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_measured_metric_may_be_called_as_a_figure_of_the_law_is(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=16, BEFORE, 0.15).await;
    upload(&service, &box_a, 17..=32, (100_000.0, 0.03, 0.0008), 0.15).await;
    work(&service.app).await;
    let mut point = a_point(32, &[throughput(BEFORE, 32); 5]);
    if let wire::Outcome::Measured(measured) = &mut point.outcome {
        let mut metric = wire::Metric::task_fairness();
        (metric.name, metric.unit) = ("coherency".into(), wire::Unit::Count);
        measured.metrics.push(metric);
    }
    let report = a_report().on(&box_a.machine).at(33).with_points(vec![point]);
    service.accept(&box_a, &report.build()).await;
    work(&service.app).await;
    assert_eq!(the_incident(&service).await.headline.metric, "coherency");
    let series = service.get("/api/v1/curves/1").await.json()["series"].clone();
    let of_that_name =
        series.as_array().unwrap().iter().filter(|one| one["metric"] == "coherency").count();
    assert_eq!(of_that_name, 1, "what was measured alone");
}
