use scalewatch::db;
use scalewatch::model::Scope;

use crate::support::{Service, a_machine};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_registers_and_is_listed(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("kunpeng-a").await;
    assert!(enrolled.token.starts_with("sw_"));
    let machines = db::machine::list(&service.app.db).await.unwrap();
    assert_eq!(machines.len(), 1);
    assert_eq!(machines[0].name, "kunpeng-a");
    assert_eq!(machines[0].identity, enrolled.machine.identity);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_is_not_registered_without_the_scope(pool: db::Pool) {
    let service = Service::on(pool);
    let token = service.token(Scope::Read).await;
    let body = serde_json::to_vec(&a_machine("box-a")).unwrap();
    let answer = service.post("/api/v1/machines", &token, body).await;
    assert_eq!(answer.refusal(), (403, "forbidden".into(), None));
    assert!(db::machine::list(&service.app.db).await.unwrap().is_empty());
}
