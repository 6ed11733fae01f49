//! A history that was written anew: commits have other places, and some are not there any more.

use scalewatch::db::{self, Pool};
use scalewatch::model::Scope;
use serde_json::{Value, json};

use crate::pages::read::read;
use crate::support::history::{FAST, SLOW, a_run, upload, upload_regression, work};
use crate::support::{Answer, Enrolled, Service, a_report, row_counts};

/// The commit that reports at a position carry.
fn commit(position: i64) -> String {
    a_report().at(position).build().revision.commit
}

/// The order in which the commits of these positions lie now, from 1 on.
fn order(positions: impl IntoIterator<Item = i64>) -> Value {
    let entry = |(i, position)| json!({ "commit": commit(position), "position": i + 1 });
    json!({ "order": positions.into_iter().enumerate().map(entry).collect::<Vec<_>>() })
}

async fn tell(service: &Service, body: &Value) -> Answer {
    let token = service.token(Scope::Submit).await;
    let path = "/api/v1/projects/linux/branches/main/order";
    service.post(path, &token, body.to_string()).await
}

async fn told(service: &Service, body: &Value) -> Value {
    let answer = tell(service, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn revisions(service: &Service) -> Vec<String> {
    let shown = service.get("/api/v1/projects/linux/revisions?branch=main").await.json();
    let items = shown["items"].as_array().unwrap().iter().rev();
    items.map(|one| one["commit"].as_str().unwrap().to_owned()).collect()
}

async fn incident(service: &Service, id: i64) -> Value {
    service.get(&format!("/api/v1/incidents/{id}")).await.json()
}

async fn revision_id(service: &Service, commit: &str) -> i64 {
    let found = sqlx::query_scalar("select id from revision where commit_id = $1").bind(commit);
    found.fetch_one(&service.app.db).await.unwrap()
}

/// Fast up to revision 6, slow from 7 to 11: incident 1.
async fn with_regression(pool: Pool) -> (Service, Enrolled) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    assert_eq!(incident(&service, 1).await["state"], "new");
    (service, box_a)
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_report_at_another_place_is_refused_and_told_what_to_do(pool: Pool) {
    let (service, box_a) = with_regression(pool).await;
    let moved = a_run(&box_a, 7, SLOW).with(|report| report.revision.position = Some(8)).build();
    let answer = service.upload(&box_a, &moved).await;
    assert!(answer.text().contains("/branches/{branch}/order"), "{}", answer.text());
    assert_eq!(answer.refusal().1, "revision_moved");
    // Two commits were put in before it: everything from 7 on lies two further.
    let entry = |n: i64| json!({ "commit": commit(n), "position": if n < 7 { n } else { n + 2 } });
    let body = json!({ "order": (1..=11).map(entry).collect::<Vec<_>>() });
    let done = told(&service, &body).await;
    assert_eq!(done, json!({ "moved": 5, "returned": 0, "left": 0, "curves": 1 }));
    work(&service.app).await;
    let moved = a_run(&box_a, 7, SLOW).with(|report| report.revision.position = Some(9)).build();
    assert!(service.accept(&box_a, &moved).await.new);
    work(&service.app).await;
    let shown = incident(&service, 1).await;
    assert_eq!(shown["state"], "new", "the step is where it was: {shown}");
    assert_eq!(
        service.get("/api/v1/incidents?state=all").await.json()["items"].as_array().unwrap().len(),
        1
    );
    // Measurements carry the place: the history is read in the new order, whole.
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let series =
        service.get(&format!("/api/v1/curves/{curve}")).await.json()["series"][0]["id"].clone();
    let history = service.get(&format!("/api/v1/series/{series}")).await;
    assert_eq!(history.status, 200, "{}", history.text());
    let stale: i64 = sqlx::query_scalar(
        "select count(*) from measurement m join revision v on v.id = m.revision_id
         where m.rank <> v.rank or m.branch_id <> v.branch_id",
    )
    .fetch_one(&service.app.db)
    .await
    .unwrap();
    assert_eq!(stale, 0);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_step_follows_when_the_slow_commits_come_first(pool: Pool) {
    let (service, _) = with_regression(pool).await;
    // The branch was rebased: the slow ones first, then the fast ones.
    told(&service, &order((7..=11).chain(1..=6))).await;
    let shown = incident(&service, 1).await;
    assert_eq!(shown["state"], "retracted", "{shown}");
    let page = service.get("/incidents/1").await.text();
    assert!(page.contains("the branch was written anew"), "{page}");
    work(&service.app).await;
    let all = service.get("/api/v1/incidents?state=all&change=improvement").await.json();
    let found = all["items"].as_array().unwrap();
    assert_eq!(found.len(), 1, "what got slower got faster: {all}");
    let steps = incident(&service, found[0]["id"].as_i64().unwrap()).await["moved"].clone();
    assert_eq!(steps[0]["bad"]["commit"], json!(commit(1)), "{steps}");
    assert_eq!(incident(&service, 1).await["state"], "retracted");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_commit_that_left_is_in_no_history_and_reachable_and_comes_back(pool: Pool) {
    let (service, box_a) = with_regression(pool).await;
    let before = row_counts(&service.app.db).await;
    // The commit that broke it was dropped, and with it every later one rewritten.
    let done = told(&service, &order(1..=6)).await;
    assert_eq!(done, json!({ "moved": 0, "returned": 0, "left": 5, "curves": 1 }));
    work(&service.app).await;
    assert_eq!(incident(&service, 1).await["state"], "retracted");
    assert_eq!(revisions(&service).await, (1..=6).map(commit).collect::<Vec<_>>());
    let after = row_counts(&service.app.db).await;
    for table in ["revision", "run", "point", "measurement"] {
        assert_eq!(after[table], before[table], "{table}");
    }
    let gone = revision_id(&service, &commit(7)).await;
    let page = service.get(&format!("/revisions/{gone}")).await;
    assert_eq!(page.status, 200);
    let text = read(&page.text()).text;
    assert!(text.contains("left the branch"), "{text}");
    assert!(!text.contains("measured before it") && !text.contains("branch order"), "{text}");
    let last = revision_id(&service, &commit(6)).await;
    let page = read(&service.get(&format!("/revisions/{last}")).await.text()).text;
    assert!(!page.contains("measured after it"), "{page}");
    let branches = read(&service.get("/projects/linux/branches").await.text());
    assert!(branches.links.contains(&format!("/revisions/{gone}")), "{:?}", branches.links);
    // Its runs show what they measured.
    let runs = service.get("/api/v1/runs?limit=100").await.json();
    let slow = runs["items"].as_array().unwrap().iter().find(|run| run["commit"] == commit(7));
    let slow = slow.unwrap_or_else(|| panic!("{runs}"))["id"].as_str().unwrap().to_owned();
    let run = service.get(&format!("/api/v1/runs/{slow}")).await.json();
    assert!(
        run["recorded"][0]["measured"]["metrics"][0]["samples"]
            .as_array()
            .is_some_and(|all| !all.is_empty()),
        "{run}"
    );
    // The curve's page shows the history that is.
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let page = service.get(&format!("/curves/{curve}")).await.text();
    assert!(page.contains(&commit(6)[..10]) && !page.contains(&commit(7)[..10]), "{page}");
    let refused = service.upload(&box_a, &a_run(&box_a, 7, SLOW).build()).await.refusal();
    assert_eq!(refused.1, "revision_moved", "it is told that it left");
    // Commits that took their places are judged with what stayed.
    for position in 7..=11 {
        let fresh = |report: &mut wire::Report| {
            report.revision.commit = format!("{position:040x}");
            report.revision.parents.clear();
        };
        service.accept(&box_a, &a_run(&box_a, position, FAST).with(fresh).build()).await;
    }
    work(&service.app).await;
    assert_eq!(service.get("/api/v1/incidents").await.json()["items"], json!([]));
    // The rewrite is taken back.
    let done = told(&service, &order(1..=11)).await;
    assert_eq!(done, json!({ "moved": 0, "returned": 5, "left": 5, "curves": 1 }));
    work(&service.app).await;
    let open = service.get("/api/v1/incidents").await.json();
    assert_eq!(open["items"][0]["id"], 1, "{open}");
    assert_eq!(revisions(&service).await, (1..=11).map(commit).collect::<Vec<_>>());
    let again = told(&service, &order(1..=11)).await;
    assert_eq!(again, json!({ "moved": 0, "returned": 0, "left": 0, "curves": 0 }));
    assert!(service.accept(&box_a, &a_run(&box_a, 7, SLOW).build()).await.new);
    let deeds = db::audit::list(&service.app.db, None, 100).await.unwrap();
    let told: Vec<_> = deeds.iter().filter(|deed| deed.what == "branch_reordered").collect();
    assert_eq!(told.len(), 2, "what changed nothing is no deed");
    assert_eq!(told[0].about, "branch main of linux");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_cannot_be_an_order_changes_nothing(pool: Pool) {
    let (service, box_a) = with_regression(pool).await;
    let before = row_counts(&service.app.db).await;
    let (c1, c2) = (commit(1), commit(2));
    for (body, field) in [
        (json!({ "order": [] }), "order"),
        (json!({ "order": [{ "commit": "0123456789", "position": 1 }] }), "order"),
        (json!({ "order": [{ "commit": c1 }] }), "order[0].position"),
        (
            json!({ "order": [{ "commit": c1, "committed_at": "2026-01-01T00:00:00Z" }] }),
            "order[0].position",
        ),
        (json!({ "order": [{ "commit": c1, "position": -1 }] }), "order[0].position"),
        (json!({ "order": [{ "commit": "xyz", "position": 1 }] }), "order[0].commit"),
        (json!({ "order": [{ "commit": c1.to_uppercase(), "position": 1 }] }), "order[0].commit"),
        (
            json!({ "order": [{ "commit": c1, "position": 1 }, { "commit": c1, "position": 2 }] }),
            "order[1].commit",
        ),
        (
            json!({ "order": [{ "commit": c1, "position": 1 }, { "commit": c2, "position": 1 }] }),
            "order[1].position",
        ),
        (json!({ "order": [{ "commit": c1, "position": 1, "rank": 1 }] }), "order[0].rank"),
    ] {
        let refused = tell(&service, &body).await;
        assert!(refused.status.is_client_error(), "{body}: {}", refused.text());
        let (status, _, named) = refused.refusal();
        assert!(status == 422 || status == 400, "{body}: {status}");
        if status == 422 {
            assert_eq!(named.as_deref(), Some(field), "{body}");
        }
    }
    let mut after = row_counts(&service.app.db).await;
    *after.get_mut("token").unwrap() -= 10;
    assert_eq!(after, before);
    assert_eq!(incident(&service, 1).await["state"], "new");
    let path = "/api/v1/projects/linux/branches/main/order";
    let body = order(1..=6).to_string();
    for scope in [Scope::Read, Scope::Triage, Scope::Register] {
        let token = service.token(scope).await;
        assert_eq!(service.post(path, &token, body.clone()).await.refusal().0, 403, "{scope:?}");
    }
    assert_eq!(service.post(path, &box_a.token, body.clone()).await.refusal().0, 403);
    let token = service.token(Scope::Submit).await;
    for path in [path.replace("linux", "musl"), path.replace("main", "next")] {
        assert_eq!(service.post(&path, &token, body.clone()).await.refusal().0, 404, "{path}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_branch_by_committer_time_is_ordered_by_times_and_others_are_left_alone(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=3, FAST).await;
    let at = |hour: i64| format!("2026-02-01T{hour:02}:00:00Z");
    for n in 1..=3 {
        let timed = |report: &mut wire::Report| {
            report.revision.branch = "topic/x".into();
            report.revision.position = None;
            report.revision.committed_at = Some(at(n));
        };
        service.accept(&box_a, &a_run(&box_a, n, FAST).with(timed).build()).await;
    }
    work(&service.app).await;
    let token = service.token(Scope::Submit).await;
    let body = json!({ "order": [
        { "commit": commit(1), "committed_at": at(9) },
        { "commit": commit(3), "committed_at": at(3) },
    ] });
    let path = "/api/v1/projects/linux/branches/topic%2Fx/order";
    let answer = service.post(path, &token, body.to_string()).await;
    assert_eq!(answer.json(), json!({ "moved": 1, "returned": 0, "left": 1, "curves": 1 }));
    let shown = service.get("/api/v1/projects/linux/revisions?branch=topic%2Fx").await.json();
    let commits: Vec<&Value> =
        shown["items"].as_array().unwrap().iter().map(|one| &one["commit"]).collect();
    assert_eq!(commits, [&json!(commit(1)), &json!(commit(3))]);
    assert_eq!(revisions(&service).await, (1..=3).map(commit).collect::<Vec<_>>());
}
