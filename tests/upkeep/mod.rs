//! Retention, partitions ahead of need, machines that retire, branches that change.

use scalewatch::db::{self, Pool, history};
use scalewatch::{upkeep, worker::Worker};
use time::Duration;

use crate::support::history::{FAST, upload_regression, work};
use crate::support::{Service, a_point, a_report, row_counts};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn raw_samples_go_after_their_days_and_summaries_and_verdicts_stay(pool: Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    upload_regression(&service, &enrolled).await;
    work(&service.app).await;
    assert!(db::upkeep::set_retention(&service.app.db, "linux", Some(30)).await.unwrap());
    let curves = db::curve::list(
        &service.app.db,
        &scalewatch::model::Visible::ALL,
        &db::curve::Filter::default(),
        1,
    )
    .await
    .unwrap();
    let read = async |samples| {
        let filter = history::Filter { tasks: Some(1), ..Default::default() };
        history::list(&service.app.db, &curves[0], &filter, samples).await.unwrap()
    };
    let before = read(true).await;

    service.advance(Duration::days(29));
    assert_eq!(upkeep::run_if_due(&service.app).await.unwrap().unwrap().thinned, 0);
    service.advance(Duration::days(2));
    let done = upkeep::run_if_due(&service.app).await.unwrap().unwrap();
    assert_eq!(done.thinned, 11);
    assert_eq!(upkeep::run_if_due(&service.app).await.unwrap(), None, "not twice in an hour");

    let after = read(true).await;
    assert_eq!(after.len(), before.len());
    for (after, before) in after.iter().zip(&before) {
        assert_eq!((&after.summary, after.interval), (&before.summary, before.interval));
        assert_eq!(after.samples, [before.summary.median], "the median stands for them");
    }
    let bytes: i64 = sqlx::query_scalar("select sum(length(packed)) from point")
        .fetch_one(&service.app.db)
        .await
        .unwrap();
    assert_eq!(bytes, 0);
    // Judged again, the same step stands on what is left.
    sqlx::query("insert into due select machine_id, id, now() from curve")
        .execute(&service.app.db)
        .await
        .unwrap();
    let steps = "select id, level_before, level_after from step where retracted_at is null";
    let steps = || sqlx::query_as::<_, (i64, f64, f64)>(steps).fetch_all(&service.app.db);
    let standing = steps().await.unwrap();
    work(&service.app).await;
    assert!(!standing.is_empty());
    assert_eq!(steps().await.unwrap(), standing);
    for page in ["/".to_owned(), format!("/curves/{}", curves[0].id)] {
        assert_eq!(service.get(&page).await.status, 200, "{page}");
    }
    let run = format!("/runs/{}", before[0].run);
    let page = service.get(&run).await;
    assert_eq!(page.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn samples_that_a_workload_gave_go_too_and_other_projects_keep_theirs(pool: Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for project in ["linux", "kept"] {
        let mut point = a_point(1, &[FAST, FAST + 1.0]);
        if let wire::Outcome::Measured(measured) = &mut point.outcome {
            measured.metrics[1].source = wire::Source::Values(vec![3.0, 4.0]);
        }
        let report = a_report().on(&enrolled.machine).with_points(vec![point]);
        let report = report.with(|report| report.project.name = project.into()).build();
        service.accept(&enrolled, &report).await;
    }
    db::upkeep::set_retention(&service.app.db, "linux", Some(1)).await.unwrap();
    service.advance(Duration::days(2));
    upkeep::run_if_due(&service.app).await.unwrap();
    let kept: Vec<(String, i64, i64)> = sqlx::query_as(
        "select p.name, count(m.samples), sum(length(t.packed))
         from measurement m
         join series s on s.id = m.series_id join curve c on c.id = s.curve_id
         join project p on p.id = c.project_id
         join point t on t.machine_id = m.machine_id and t.run_id = m.run_id
         group by 1 order by 1",
    )
    .fetch_all(&service.app.db)
    .await
    .unwrap();
    assert_eq!((kept[0].0.as_str(), kept[0].1), ("kept", 1));
    assert!(kept[0].2 > 0);
    assert_eq!(kept[1], ("linux".into(), 0, 0));
    let told = db::upkeep::list_retention(&service.app.db).await.unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|one| (one.project.as_str(), one.raw_days, one.whole, one.thinned))
        .collect();
    assert_eq!(told, [("kept", None, 1, 0), ("linux", Some(1), 0, 1)]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn partitions_are_made_before_the_machines_that_need_them(pool: Pool) {
    let service = Service::on(pool);
    for number in 0..9 {
        service.registered(&format!("box-{number}")).await;
    }
    let done = upkeep::run_if_due(&service.app).await.unwrap().unwrap();
    assert_eq!(done.partitions, 2, "one more of each table");
    let tables = row_counts(&service.app.db).await;
    assert!(tables.contains_key("measurement_of_machines_24"));
    let worker = Worker::new(service.app.clone()).unwrap();
    worker.run_until_idle().await.unwrap();
}
