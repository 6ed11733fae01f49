use scalewatch::db;
use scalewatch::worker::Worker;
use serde_json::json;

use crate::support::{Service, a_report};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_shows_what_moved_why_and_what_was_told(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    for position in 1..=12 {
        let level = if position <= 6 { 10_000.0 } else { 6_500.0 };
        let samples: Vec<f64> =
            (0..9).map(|i| level + f64::from((position as i32 * 5 + i * 3) % 11) * 8.0).collect();
        let report = a_report().on(&enrolled.machine).at(position).with_samples(&samples);
        service.accept(&enrolled, &report.build()).await;
    }
    Worker::new(service.app.clone()).unwrap().run_until_idle().await.unwrap();

    let list = service.get("/api/v1/incidents").await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    let one = &list["items"][0];
    assert_eq!((&one["change"], &one["state"]), (&json!("regression"), &json!("new")));
    let commit = |position| a_report().at(position).build().revision.commit;
    assert_eq!(
        (&one["good"]["commit"], &one["bad"]["commit"]),
        (&json!(commit(6)), &json!(commit(7)))
    );
    assert!((one["ratio"]["value"].as_f64().unwrap() - 0.65).abs() < 0.02, "{one}");
    assert_eq!(one["url"], format!("http://scalewatch.test/incidents/{}", one["id"]));
    let retracted = service.get("/api/v1/incidents?state=retracted").await.json();
    assert_eq!(retracted["items"], json!([]));

    let shown = service.get(&format!("/api/v1/incidents/{}", one["id"])).await.json();
    let moved = shown["moved"].as_array().unwrap();
    assert_eq!(moved[0]["metric"], "ops_per_s_total");
    assert_eq!(moved.len() as i64, one["steps"].as_i64().unwrap());
    for step in moved {
        let decided = step["evidence"]["decided_by"].as_u64().unwrap() as usize;
        assert_eq!(step["evidence"]["inequalities"][decided]["holds"], true, "{step}");
    }
    assert_eq!(shown["events"][0]["kind"], "opened");
    let sent_to = shown["messages"][0]["sent_to"].as_str().unwrap();
    assert!(std::path::Path::new(sent_to).exists(), "{sent_to}");
    assert_eq!(
        service.get("/api/v1/incidents?state=open&limit=1").await.json()["next"],
        json!(null)
    );
}
