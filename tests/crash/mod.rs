//! `kill -9` of the service in the middle of an upload loses nothing and doubles nothing.

mod chaos;

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use scalewatch::db::{self, Pool};

use crate::support::history::FAST;
use crate::support::processes::{Runner, ServiceProcess, eventually};
use crate::support::{a_point, a_report};

const RUNS: usize = 200;
const KILLS: usize = 10;

/// The upload in the background, gone with the value.
struct Upload(Child);

impl Drop for Upload {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn stored(pool: &Pool) -> BTreeSet<String> {
    let runs = sqlx::query_scalar::<_, uuid::Uuid>("select id from run").fetch_all(pool).await;
    runs.expect("the database answers").iter().map(ToString::to_string).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_service_killed_ten_times_has_every_run_once_in_the_end(pool: Pool) {
    let data = tempfile::tempdir().expect("a data folder");
    let mut service = ServiceProcess::start(&pool, data.path(), "127.0.0.1:0", &[]);
    let listen = service.address.clone();
    let runner = Runner::registered(&pool, &service).await;
    let machine = db::machine::list(&pool).await.expect("the database answers").remove(0);
    let machine =
        wire::Machine { id: machine.public_id, name: machine.name, identity: machine.identity };
    let reports: Vec<wire::Report> = (1..=RUNS as i64)
        .map(|position| {
            let point = a_point(1, &[FAST, FAST + position as f64]);
            a_report().on(&machine).at(position).with_points(vec![point]).build()
        })
        .collect();
    let all: BTreeSet<String> = reports.iter().map(|report| report.run.clone()).collect();
    let file = runner.file_of(&reports);
    let upload = runner.command(&["upload", "--for", "120s", &file]).stderr(Stdio::null()).spawn();
    let mut upload = Upload(upload.expect("the runner starts"));

    for kill in 1..=KILLS {
        // In the middle of the work: some more were stored since the last kill, some are left.
        let enough = (RUNS * kill / (KILLS + 5)).max(1);
        eventually("progress", async || (stored(&pool).await.len() >= enough).then_some(())).await;
        service.kill();
        let spooled: BTreeSet<String> = runner.spooled().into_iter().collect();
        let acknowledged: BTreeSet<String> = all.difference(&spooled).cloned().collect();
        let kept = stored(&pool).await;
        assert!(acknowledged.is_subset(&kept), "after kill {kill} an acknowledged run is gone");
        assert!(!spooled.is_empty(), "kill {kill} came after the end of the upload");
        service = ServiceProcess::start(&pool, data.path(), &listen, &[]);
    }

    let ended = eventually("the upload's end", async || upload.0.try_wait().expect("a child"));
    assert!(ended.await.success());
    assert_eq!((runner.spooled(), runner.refused()), (Vec::new(), Vec::new()));
    assert_eq!(stored(&pool).await, all);
    let rows = sqlx::query_as::<_, (i64, i64, i64)>(
        "select (select count(*) from run), (select count(*) from point),
                (select count(*) from measurement)",
    );
    let rows = rows.fetch_one(&pool).await.expect("the database answers");
    assert_eq!(rows, (200, 200, 400), "runs, points and measurements");
    drop(service);
}
