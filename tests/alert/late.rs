//! Late data move and retract.

use scalewatch::db;
use scalewatch::db::Pool;
use scalewatch::model::incident::State;

use super::{history, incidents, the_incident};
use crate::support::Service;
use crate::support::history::{
    FAST, SLOW, a_run, upload, upload_regression, upload_two_modes, work,
};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_revision_measured_late_narrows_the_range_without_a_second_message(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=6, FAST).await;
    upload(&service, &box_a, 12..=16, SLOW).await;
    work(&service.app).await;
    let first = the_incident(&service).await;
    assert_eq!((first.good.rank, first.bad.rank), (6, 12));

    upload(&service, &box_a, [9], SLOW).await;
    work(&service.app).await;
    let moved = the_incident(&service).await;
    assert_eq!((moved.id, moved.good.rank, moved.bad.rank), (first.id, 6, 9));
    assert_eq!(moved.steps, first.steps);
    assert!(history(&service, &moved).await.contains(&"step_moved".to_owned()));
    let messages = db::incident::list_messages(&service.app.db, moved.id).await.unwrap();
    assert_eq!(messages.len(), 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn late_data_that_disprove_every_step_retract_the_incident_and_say_so(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let told = the_incident(&service).await;

    upload_two_modes(&service, &box_a).await;
    work(&service.app).await;
    let retracted = &incidents(&service).await[0];
    assert_eq!((retracted.id, retracted.state), (told.id, State::Retracted));
    let steps = db::incident_step::list(&service.app.db, told.id).await.unwrap();
    assert!(steps.iter().all(|step| step.retracted_at.is_some()), "the evidence stays");
    let events: Vec<String> = db::incident::list_messages(&service.app.db, told.id)
        .await
        .unwrap()
        .into_iter()
        .map(|message| {
            assert!(message.sent_at.is_some());
            message.event
        })
        .collect();
    let id = told.id;
    assert_eq!(events, [format!("incident/{id}/opened"), format!("incident/{id}/retracted")]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_retracted_before_anyone_was_told_is_never_told(pool: Pool) {
    let mut service = Service::on(pool);
    // Nobody listens there: the message waits.
    let mut config = (*service.app.config).clone();
    config.mail.smtp_url = Some("smtp://127.0.0.1:1?tls=none".into());
    service.app.config = std::sync::Arc::new(config);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let incident = the_incident(&service).await;

    upload_two_modes(&service, &box_a).await;
    service.advance(time::Duration::hours(2));
    work(&service.app).await;
    let messages = db::incident::list_messages(&service.app.db, incident.id).await.unwrap();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert!(messages[0].withdrawn_at.is_some() && messages[0].sent_at.is_none());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_order_of_arrival_changes_nothing_that_is_found(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let mut found = Vec::new();
    for (branch, order) in [
        ("in-order", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("backwards", [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("mixed", [4, 11, 1, 7, 9, 2, 6, 10, 3, 8, 5]),
    ] {
        for position in order {
            let level = if position < 7 { FAST } else { SLOW };
            let report = a_run(&box_a, position, level)
                .with(|report| report.revision.branch = branch.into())
                .build();
            service.accept(&box_a, &report).await;
            work(&service.app).await;
        }
        let all = incidents(&service).await;
        let standing: Vec<_> = all
            .iter()
            .filter(|one| one.branch_name == branch && one.state != State::Retracted)
            .collect();
        assert_eq!(standing.len(), 1, "{branch}");
        let steps = db::incident_step::list(&service.app.db, standing[0].id).await.unwrap();
        let mut steps: Vec<_> = steps
            .into_iter()
            .filter(|step| step.retracted_at.is_none())
            .map(|step| {
                let place = (step.metric, step.tasks, step.good.rank, step.bad.rank);
                (place, step.before.to_bits(), step.after.to_bits(), step.evidence)
            })
            .collect();
        steps.sort_by(|a, b| a.0.cmp(&b.0));
        found.push(steps);
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}
