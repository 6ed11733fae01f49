//! The same hardware registered twice becomes one machine.

use axum::http::header;
use scalewatch::db::{self, Pool};
use scalewatch::model::Scope;
use serde_json::{Value, json};

use crate::pages::read::read;
use crate::support::history::{FAST, SLOW, a_run, upload, upload_regression, work};
use crate::support::{Answer, Enrolled, Service, a_machine, row_counts};

async fn merge(service: &Service, from: &str, into: &str) -> Answer {
    let token = service.token(Scope::Admin).await;
    let path = format!("/api/v1/machines/{into}/merge");
    service.post(&path, &token, json!({ "from": from }).to_string()).await
}

/// Merges what must be merged.
async fn merged(service: &Service, from: &Enrolled, into: &Enrolled) -> Value {
    let answer = merge(service, &from.machine.id, &into.machine.id).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn incidents(service: &Service) -> Vec<Value> {
    let answer = service.get("/api/v1/incidents?state=all").await.json();
    answer["items"].as_array().unwrap().clone()
}

/// Two machines whose rows lie in different partitions; the first is fast up to revision 6, the second
/// slow from revision 7 on.
async fn halves(pool: Pool) -> (Service, Enrolled, Enrolled) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for n in 0..8 {
        service.registered(&format!("filler-{n}")).await;
    }
    let box_b = service.registered("box-b").await;
    assert!(box_a.id.0 / 8 < box_b.id.0 / 8);
    upload(&service, &box_a, 1..=6, FAST).await;
    upload(&service, &box_b, 7..=11, SLOW).await;
    work(&service.app).await;
    assert!(incidents(&service).await.is_empty(), "neither half shows anything");
    (service, box_a, box_b)
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_halves_of_a_history_are_judged_as_one(pool: Pool) {
    let (service, box_a, box_b) = halves(pool).await;
    let curves = service.get("/api/v1/curves").await.json()["items"].clone();
    let (curve_a, curve_b) = (curves[0]["id"].clone(), curves[1]["id"].clone());
    let rows = row_counts(&service.app.db).await;
    let done = merged(&service, &box_b, &box_a).await;
    let expected = json!({
        "machine": box_a.machine.id, "runs": 5, "curves": 1, "joined": 1, "tokens": 1,
    });
    assert_eq!(done, expected);
    let after = row_counts(&service.app.db).await;
    for table in ["run", "point", "measurement"] {
        assert_eq!(after[table], rows[table], "{table}");
    }
    work(&service.app).await;
    let found = incidents(&service).await;
    assert_eq!(found.len(), 1, "the regression between the halves is seen: {found:?}");
    let shown = service.get(&format!("/api/v1/incidents/{}", found[0]["id"])).await.json();
    let machines: Vec<&Value> =
        shown["moved"].as_array().unwrap().iter().map(|step| &step["machine"]).collect();
    assert!(machines.iter().all(|id| **id == box_a.machine.id), "{shown}");
    // The old ids lead on.
    let joined = service.get(&format!("/api/v1/curves/{curve_b}")).await.json();
    assert_eq!(joined["id"], curve_a, "{joined}");
    assert_eq!(service.get(&format!("/curves/{curve_b}")).await.status, 200);
    let machine = service.get(&format!("/api/v1/machines/{}", box_b.machine.id)).await.json();
    assert_eq!(
        (&machine["id"], &machine["identity"]["hardware_id"]),
        (&json!(box_a.machine.id), &json!("dmi-box-a"))
    );
    let page = service.get(&format!("/machines/{}", box_b.machine.id)).await;
    assert_eq!(page.status, 308);
    assert_eq!(page.headers[header::LOCATION], format!("/machines/{}", box_a.machine.id));
    for id in [&box_a.machine.id, &box_b.machine.id] {
        let runs = service.get(&format!("/api/v1/runs?machine={id}")).await.json();
        assert_eq!(runs["items"].as_array().unwrap().len(), 11, "{id}");
    }
    // Windows came along.
    let last = service.get("/api/v1/runs?limit=1").await.json()["items"][0]["id"].clone();
    let run = service.get(&format!("/api/v1/runs/{}", last.as_str().unwrap())).await.json();
    assert_eq!(run["machine"], json!(box_a.machine.id), "{run}");
    assert_eq!(run["recorded"].as_array().unwrap().len(), 3, "{run}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_merged_machine_goes_on_under_its_id_and_token(pool: Pool) {
    let (service, box_a, box_b) = halves(pool).await;
    let known = a_run(&box_b, 12, SLOW).build();
    service.accept(&box_b, &known).await;
    let asked = json!({
        "project": "linux", "machine": box_b.machine.id, "plan": { "workloads": ["sys/getppid"], "tasks": "1" },
        "revision": { "commit": format!("{:040x}", 99), "branch": "main", "position": 99 },
    });
    let submit = service.token(Scope::Submit).await;
    let job = service.post("/api/v1/jobs", &submit, asked.to_string()).await;
    assert_eq!(job.status, 201, "{}", job.text());
    merged(&service, &box_b, &box_a).await;
    assert!(!service.accept(&box_b, &known).await.new, "a report sent again is still known");
    let new = a_run(&box_b, 13, SLOW).build();
    assert!(service.accept(&box_b, &new).await.new);
    let run = service.get(&format!("/api/v1/runs/{}", new.run)).await.json();
    assert_eq!(run["machine"], json!(box_a.machine.id));
    let mut other = new.clone();
    other.run = uuid::Uuid::new_v4().to_string();
    other.machine.identity.cores += 1;
    let refused = service.upload(&box_b, &other).await.refusal();
    assert_eq!(refused.1, "machine_identity_changed", "the id stands for its own hardware still");
    // Both reports of the one and of the other are of one machine.
    assert!(service.accept(&box_a, &a_run(&box_a, 14, SLOW).build()).await.new);
    let claim = json!({ "labels": [], "projects": ["linux"], "runner": "0.1.0" });
    let given = service.post("/api/v1/jobs/claim", &box_b.token, claim.to_string()).await.json();
    assert_eq!(given["job"]["id"], job.json()["jobs"][0]["id"], "its agent does its jobs");
    // Registering again makes no machine.
    let again = service.register(box_b.machine.clone()).await;
    assert_eq!(again.id, box_a.id);
    assert_eq!(db::machine::list(&service.app.db).await.unwrap().len(), 9);
    assert!(service.accept(&again, &a_run(&again, 15, SLOW).build()).await.new);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn incidents_keep_what_people_decided(pool: Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    upload_regression(&service, &box_a).await;
    upload_regression(&service, &box_b).await;
    // A curve that one of them has alone moves with its incident.
    let alone = |report: &mut wire::Report| {
        for point in &mut report.points {
            point.workload = "alone/here".into();
        }
    };
    for position in 1..=11 {
        let level = if position < 4 { FAST } else { SLOW };
        service.accept(&box_b, &a_run(&box_b, position, level).with(alone).build()).await;
    }
    work(&service.app).await;
    let before = incidents(&service).await;
    assert_eq!(before.len(), 2, "{before:?}");
    let token = service.token(Scope::Triage).await;
    for incident in &before {
        let path = format!("/api/v1/incidents/{}/state", incident["id"]);
        let decided = service.post(&path, &token, json!({ "to": "confirmed" }).to_string()).await;
        assert_eq!(decided.status, 200, "{}", decided.text());
    }
    merged(&service, &box_b, &box_a).await;
    work(&service.app).await;
    let after = incidents(&service).await;
    assert_eq!(after.len(), 2, "{after:?}");
    for incident in &after {
        assert_eq!(incident["state"], "confirmed", "{incident}");
        let shown = service.get(&format!("/api/v1/incidents/{}", incident["id"])).await.json();
        let steps = shown["moved"].as_array().unwrap();
        assert!(steps.iter().any(|step| step["retracted_at"].is_null()), "{shown}");
        assert!(steps.iter().all(|step| step["machine"] == box_a.machine.id), "{shown}");
    }
    let page = service.get("/incidents/1").await.text();
    assert!(page.contains("its machine was merged into box-a, which has the same step"), "{page}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn other_hardware_is_merged_by_force_alone(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let mut larger = a_machine("box-b");
    larger.identity.memory_class = "64 GiB".into();
    larger.identity.numa_nodes = 2;
    let box_b = service.register(larger).await;
    upload(&service, &box_b, 1..=2, FAST).await;
    let before = row_counts(&service.app.db).await;
    let refused = merge(&service, &box_b.machine.id, &box_a.machine.id).await;
    assert!(refused.text().contains("NUMA nodes, memory"), "{}", refused.text());
    assert_eq!(refused.refusal(), (409, "machine_hardware_differs".into(), Some("from".into())));
    let mut after = row_counts(&service.app.db).await;
    // The token that asked.
    *after.get_mut("token").unwrap() -= 1;
    assert_eq!(after, before, "nothing is half merged");
    let root = service.person("root", true).await;
    let mut browser = service.browser_of(&root).await;
    let page = format!("/machines/{}", box_a.machine.id);
    let action = format!("{page}/merge");
    let fields = [("from", box_b.machine.id.as_str()), ("force", "yes")];
    assert_eq!(browser.post(&page, &action, &fields[..1]).await.status, 409);
    assert_eq!(browser.post(&page, &action, &fields).await.status, 303);
    assert!(read(&browser.get(&page).await.text()).text.contains("fallocate/append-truncate"));
    let deeds = db::audit::list(&service.app.db, None, 1).await.unwrap();
    assert_eq!((&*deeds[0].who, &*deeds[0].what), ("root", "machine_merged"));
    let became = deeds[0].became.clone().unwrap();
    assert_eq!(
        (&became["runs"], &became["differs_in"]),
        (&json!(2), &json!(["NUMA nodes", "memory"]))
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_contradicts_or_is_nothing_is_refused_whole(pool: Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    upload(&service, &box_a, 1..=2, FAST).await;
    upload(&service, &box_b, 3..=4, FAST).await;
    let (a, b) = (box_a.machine.id.as_str(), box_b.machine.id.as_str());
    for (from, into, status, code) in [
        ("nobody", a, 404, "not_found"),
        (b, "nobody", 404, "not_found"),
        ("a\u{0}", a, 404, "not_found"),
        (a, a, 409, "machine_merged"),
    ] {
        let refused = merge(&service, from, into).await.refusal();
        assert_eq!((refused.0, refused.1.as_str()), (status, code), "{from} into {into}");
    }
    // The database cannot keep it apart by itself: a UUID is unique within a machine.
    sqlx::query(
        "insert into run (machine_id, id, revision_id, environment_id, body_digest, started_at,
             finished_at, received_at)
         select $1, id, revision_id, environment_id, body_digest, started_at, finished_at, received_at
         from run where machine_id = $2 limit 1",
    )
    .bind(box_b.id.0)
    .bind(box_a.id.0)
    .execute(&service.app.db)
    .await
    .unwrap();
    let before = row_counts(&service.app.db).await;
    assert_eq!(merge(&service, b, a).await.refusal().1, "run_reused");
    let mut after = row_counts(&service.app.db).await;
    *after.get_mut("token").unwrap() -= 1;
    assert_eq!(after, before);
    sqlx::query("delete from run where machine_id = $1 and id in (select id from run where machine_id = $2)")
        .bind(box_b.id.0)
        .bind(box_a.id.0)
        .execute(&service.app.db)
        .await
        .unwrap();
    let claim = json!({ "labels": [], "projects": ["linux"], "runner": "0.1.0" });
    let submit = service.token(Scope::Submit).await;
    for (n, enrolled) in [&box_a, &box_b].into_iter().enumerate() {
        let asked = json!({
            "project": "linux", "machine": enrolled.machine.id,
            "plan": { "workloads": ["sys/getppid"], "tasks": "1" },
            "revision": { "commit": format!("{:040x}", 99 + n), "branch": "main", "position": 99 + n },
        });
        assert_eq!(service.post("/api/v1/jobs", &submit, asked.to_string()).await.status, 201);
        let path = "/api/v1/jobs/claim";
        let given = service.post(path, &enrolled.token, claim.to_string()).await.json();
        assert!(given["job"].is_object(), "{given}");
    }
    assert_eq!(merge(&service, b, a).await.refusal().1, "machines_busy");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn merging_takes_an_admin(pool: Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    let path = format!("/api/v1/machines/{}/merge", box_a.machine.id);
    let body = json!({ "from": box_b.machine.id }).to_string();
    for scope in [Scope::Register, Scope::Triage, Scope::Submit] {
        let token = service.token(scope).await;
        assert_eq!(service.post(&path, &token, body.clone()).await.refusal().0, 403, "{scope:?}");
    }
    assert_eq!(service.post(&path, &box_a.token, body).await.refusal().0, 403);
    let ada = service.person("ada", false).await;
    let mut browser = service.browser_of(&ada).await;
    let page = format!("/machines/{}", box_a.machine.id);
    assert!(!browser.get(&page).await.text().contains("Merge it into"));
    let fields = [("from", box_b.machine.id.as_str())];
    assert_eq!(browser.post("/account", &format!("{page}/merge"), &fields).await.status, 403);
    assert_eq!(db::machine::list(&service.app.db).await.unwrap().len(), 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_that_was_merged_into_moves_on_with_all_its_ids(pool: Pool) {
    let service = Service::on(pool);
    let mut boxes = Vec::new();
    for (n, name) in ["box-a", "box-b", "box-c"].into_iter().enumerate() {
        let enrolled = service.registered(name).await;
        let first = 10 * n as i64;
        upload(&service, &enrolled, first + 1..=first + 2, FAST).await;
        boxes.push(enrolled);
    }
    let curves = service.get("/api/v1/curves").await.json()["items"].clone();
    merged(&service, &boxes[2], &boxes[1]).await;
    merged(&service, &boxes[1], &boxes[0]).await;
    for enrolled in &boxes {
        let path = format!("/api/v1/runs?machine={}", enrolled.machine.id);
        assert_eq!(service.get(&path).await.json()["items"].as_array().unwrap().len(), 6);
    }
    for curve in curves.as_array().unwrap() {
        let shown = service.get(&format!("/api/v1/curves/{}", curve["id"])).await.json();
        assert_eq!(shown["id"], curves[0]["id"], "{shown}");
    }
    assert!(service.accept(&boxes[2], &a_run(&boxes[2], 40, FAST).build()).await.new);
    let again = merge(&service, &boxes[2].machine.id, &boxes[0].machine.id).await.refusal();
    assert_eq!(again.1, "machine_merged");
}
