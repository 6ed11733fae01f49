use scalewatch::db;
use scalewatch::model::Scope;

use crate::support::{Service, a_machine, a_report, row_counts};

fn body(machine: &wire::Machine) -> Vec<u8> {
    serde_json::to_vec(machine).unwrap()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_registers_and_its_token_uploads(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("kunpeng-a").await;
    assert!(enrolled.token.starts_with("sw_"));
    let machines = db::machine::list(&service.app.db).await.unwrap();
    assert_eq!(machines.len(), 1);
    assert_eq!(machines[0].name, "kunpeng-a");
    assert_eq!(machines[0].identity, enrolled.machine.identity);
    assert_eq!(machines[0].last_seen_at, None);
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    let seen = db::machine::find(&service.app.db, enrolled.id).await.unwrap().unwrap();
    assert_eq!(seen.last_seen_at, Some(service.app.clock.now()));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn registering_again_gives_one_more_token_and_the_new_name(pool: db::Pool) {
    let service = Service::on(pool);
    let first = service.registered("box-a").await;
    let token = service.token(Scope::Register).await;
    let renamed = wire::Machine { name: "box-a in rack 7".into(), ..first.machine.clone() };
    let answer = service.post("/api/v1/machines", &token, body(&renamed)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let again: wire::Registered = answer.parsed();
    assert_eq!(again.machine, first.machine.id);
    assert_ne!(again.token, first.token);
    let machines = db::machine::list(&service.app.db).await.unwrap();
    assert_eq!(machines.len(), 1);
    assert_eq!(machines[0].name, "box-a in rack 7");
    for token in [&first.token, &again.token] {
        let report = serde_json::to_vec(&a_report().on(&renamed).build()).unwrap();
        assert_eq!(service.post("/api/v1/runs", token, report).await.status, 201);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_id_with_another_identity_is_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let first = service.registered("box-a").await;
    let token = service.token(Scope::Admin).await;
    let before = row_counts(&service.app.db).await;
    let mut other = first.machine.clone();
    other.identity.cores += 1;
    let answer = service.post("/api/v1/machines", &token, body(&other)).await;
    let field = Some("identity".to_owned());
    assert_eq!(answer.refusal(), (409, "machine_identity_changed".into(), field));
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_is_not_registered_without_the_scope(pool: db::Pool) {
    let service = Service::on(pool);
    for scope in [Scope::Read] {
        let token = service.token(scope).await;
        let answer = service.post("/api/v1/machines", &token, body(&a_machine("box-a"))).await;
        assert_eq!(answer.refusal(), (403, "forbidden".into(), None));
    }
    let enrolled = service.registered("box-b").await;
    let answer = service.post("/api/v1/machines", &enrolled.token, body(&a_machine("c"))).await;
    assert_eq!(answer.refusal(), (403, "forbidden".into(), None));
    assert_eq!(db::machine::list(&service.app.db).await.unwrap().len(), 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_that_breaks_a_limit_is_refused_by_field(pool: db::Pool) {
    let service = Service::on(pool);
    let token = service.token(Scope::Register).await;
    let machine = wire::Machine { id: "BOX".into(), ..a_machine("box-a") };
    let answer = service.post("/api/v1/machines", &token, body(&machine)).await;
    assert_eq!(answer.refusal(), (422, "invalid_field".into(), Some("id".into())));
    assert!(db::machine::list(&service.app.db).await.unwrap().is_empty());
}
