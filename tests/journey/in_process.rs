//! Report → rows → verdict → mail, API and page, with the clock standing still.

use scalewatch::db::Pool;
use scalewatch::mail::Sent;
use scalewatch::worker::Did;

use crate::support::history::{FAST, SLOW, a_run, work};
use crate::support::{Service, row_counts};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_report_becomes_a_verdict_a_mail_an_answer_and_a_page(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let reports: Vec<wire::Report> = (1..=11)
        .map(|position| a_run(&box_a, position, if position < 7 { FAST } else { SLOW }).build())
        .collect();
    for report in &reports {
        assert!(service.accept(&box_a, report).await.new);
    }
    let done = work(&service.app).await;
    let mailed: Vec<&Did> = done.iter().filter(|did| matches!(did, Did::Message(..))).collect();
    assert!(matches!(mailed[..], [Did::Message(_, Sent::To(_))]), "{done:?}");

    let list = service.get("/api/v1/incidents").await;
    assert_eq!(list.status.as_u16(), 200, "{}", list.text());
    assert!(list.text().contains("\"regression\""), "{}", list.text());
    let id =
        sqlx::query_scalar::<_, i64>("select id from incident").fetch_one(&service.app.db).await;
    let id = id.expect("there is one incident");
    let page = service.get(&format!("/incidents/{id}")).await;
    assert_eq!(page.status.as_u16(), 200, "{}", page.text());
    for told in ["fallocate/append-truncate", "ext4: change number 7", "box-a", "regression"] {
        assert!(page.text().contains(told), "{told} is missing");
    }

    let before = row_counts(&service.app.db).await;
    for report in &reports {
        assert!(!service.accept(&box_a, report).await.new);
    }
    assert_eq!(work(&service.app).await, [], "nothing new, nothing to do");
    assert_eq!(row_counts(&service.app.db).await, before);
}
