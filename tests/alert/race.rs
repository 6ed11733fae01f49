//! Two workers on one database.

use scalewatch::db;
use scalewatch::db::Pool;
use scalewatch::worker::Worker;

use super::the_incident;
use crate::support::Service;
use crate::support::history::upload_regression;

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_workers_open_one_incident_and_tell_of_it_once(pool: Pool) {
    let service = Service::on(pool);
    for name in ["box-a", "box-b", "box-c", "box-d"] {
        let machine = service.registered(name).await;
        upload_regression(&service, &machine).await;
    }
    let worker = || Worker::new(service.app.clone()).unwrap();
    let (one, other) = (worker(), worker());
    let (one, other) = tokio::join!(one.run_until_idle(), other.run_until_idle());
    let mut done = one.unwrap();
    done.extend(other.unwrap());
    // A worker that met only locked curves went idle early; what is left is done now.
    done.extend(worker().run_until_idle().await.unwrap());

    let incident = the_incident(&service).await;
    assert_eq!((incident.machines, incident.steps), (4, 4 * 6), "{done:?}");
    let messages = db::incident::list_messages(&service.app.db, incident.id).await.unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!((messages[0].attempts, messages[0].sent_at.is_some()), (1, true));
}
