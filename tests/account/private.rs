//! A project that is not public: nothing of it reaches who has no role in it, by any address.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db::{self, Pool};
use scalewatch::model::{Role, Scope};
use serde_json::json;

use crate::support::browser::Browser;
use crate::support::history::{FAST, SLOW, a_run, upload_regression, work};
use crate::support::{Answer, Enrolled, Service, a_profile};

/// In everything that the private project has to say.
const MARKS: [&str; 2] = ["hush", "beefbeef"];

/// What a search finds of it, beyond the words that were looked for.
const FOUND: [&str; 4] = ["hush/", "hush:", "hush-branch", "beefbeef0"];

/// What is private, as addresses name it.
struct Hidden {
    machine: String,
    run: String,
    curve: i64,
    series: i64,
    incident: i64,
    revision: i64,
    job: i64,
}

fn commit(position: i64) -> String {
    format!("beefbeef{position:032x}")
}

fn hush(report: &mut wire::Report) {
    report.project.name = "hush".into();
    let position = report.revision.position.expect("these have one");
    report.revision.branch = "hush-branch".into();
    report.revision.commit = commit(position);
    report.revision.parents.clear();
    report.revision.subject = format!("hush: change {position}");
    report.environment.0.insert("hush.fact".into(), "hush".into());
    for point in &mut report.points {
        point.workload = "hush/workload".into();
        point.parameters.insert("hush".into(), "hush".into());
    }
    report.artefacts = vec![a_profile("hush.folded".into(), "hush;hush 3\n")];
}

/// A public and a private project on one machine, each with an incident.
async fn with_private(pool: Pool) -> (Service, Enrolled, Hidden) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    for position in 1..=11 {
        let level = if position < 7 { FAST } else { SLOW };
        service.accept(&box_a, &a_run(&box_a, position, level).with(hush).build()).await;
    }
    work(&service.app).await;
    let mut connection = service.app.db.acquire().await.unwrap();
    let project = db::project::find_by_name(&service.app.db, "hush").await.unwrap().unwrap();
    assert!(project.is_public, "what nobody said anything about is public");
    db::project::set_public(&mut connection, project.id, false).await.unwrap();
    let hidden = hidden(&service, &box_a).await;
    (service, box_a, hidden)
}

async fn hidden(service: &Service, box_a: &Enrolled) -> Hidden {
    let floors = json!({ "floors": [{
        "workload": "hush/workload", "metric": "ops_per_s_total", "relative": 0.01, "pairs": 10,
        "measured_at": "2026-03-01T11:00:00Z",
    }] });
    let path = format!("/api/v1/machines/{}/noise-floors", box_a.machine.id);
    let kept = service.post(&path, &box_a.token, floors.to_string()).await;
    assert_eq!(kept.status, 200, "{}", kept.text());
    let token = service.token(Scope::Read).await;
    let read = async |path: String| with_token(service, &path, &token).await.json();
    let curve = read("/api/v1/curves?project=hush".into()).await["items"][0]["id"].as_i64();
    let curve = curve.expect("a token of scope read sees it");
    let series = read(format!("/api/v1/curves/{curve}")).await["series"][0]["id"].as_i64();
    let run = read("/api/v1/runs?project=hush".into()).await["items"][0]["id"].clone();
    let incidents = read("/api/v1/incidents?state=all".into()).await;
    let incidents = incidents["items"].as_array().unwrap();
    let incident = incidents.iter().find(|one| one["project"] == "hush").expect("it has one");
    let revision = sqlx::query_scalar("select id from revision where commit_id = $1")
        .bind(commit(7))
        .fetch_one(&service.app.db)
        .await
        .unwrap();
    let asked = json!({
        "project": "hush", "machine": box_a.machine.id, "plan": { "workloads": ["sys/getppid"], "tasks": "1" },
        "revision": { "commit": commit(7), "branch": "hush-branch", "position": 7, "subject": "hush: change 7" },
    });
    let submit = service.token(Scope::Submit).await;
    let job = service.post("/api/v1/jobs", &submit, asked.to_string()).await;
    assert_eq!(job.status, 201, "{}", job.text());
    Hidden {
        job: job.json()["jobs"][0]["id"].as_i64().unwrap(),
        machine: box_a.machine.id.clone(),
        run: run.as_str().unwrap().into(),
        curve,
        series: series.unwrap(),
        incident: incident["id"].as_i64().unwrap(),
        revision,
    }
}

async fn with_token(service: &Service, path: &str, token: &str) -> Answer {
    let request = Request::get(path).header(header::AUTHORIZATION, format!("Bearer {token}"));
    service.send(request.body(Body::empty()).unwrap()).await
}

/// How each address is asked for what is private, and whether it then is of nothing else.
fn asked(path: &str, hidden: &Hidden) -> Option<(Vec<String>, bool)> {
    let Hidden { machine, run, curve, series, incident, revision, job } = hidden;
    let sides = format!("curve={curve}&base={}&head={}", commit(6), commit(7));
    let (whole, own): (Vec<String>, bool) = match path {
        "/"
        | "/api"
        | "/incidents"
        | "/curves"
        | "/health"
        | "/login"
        | "/account"
        | "/login/provider"
        | "/login/provider/back" => (vec![path.into()], false),
        "/health/live" | "/health/ready" => (vec![path.into()], false),
        "/api/v1/openapi.json" | "/welcome" | "/admin" | "/admin/audit" => {
            (vec![path.into()], false)
        }
        "/search" => {
            let texts = ["hush", "beefbeef", "change", "workload", &run[..8]];
            let mut all: Vec<String> = texts.map(|text| format!("/search?q={text}")).into();
            all.push(format!("/search?q={incident}"));
            (all, false)
        }
        "/alert-quality" | "/api/v1/alert-quality" => (vec![path.into()], false),
        "/jobs" | "/api/v1/jobs" | "/api/v1/series" | "/api/v1/projects" | "/metrics" => {
            (vec![path.into()], false)
        }
        "/api/v1/incidents.atom" => (vec![format!("{path}?state=all")], false),
        "/jobs/{id}" | "/api/v1/jobs/{id}" => (vec![path.replace("{id}", &job.to_string())], true),
        "/api/v1/projects/{name}" | "/api/v1/projects/{name}/badge.svg" => {
            (vec![path.replace("{name}", "hush")], true)
        }
        "/projects/{name}/branches" => (vec![path.replace("{name}", "hush")], true),
        "/api/v1/projects/{name}/revisions" => {
            (vec![format!("{}?branch=hush-branch", path.replace("{name}", "hush"))], true)
        }
        "/api/v1/projects/{name}/compare" | "/projects/{name}/compare" => {
            let sides = format!("base={}&head={}", commit(6), commit(7));
            (vec![format!("{}?{sides}", path.replace("{name}", "hush"))], true)
        }
        "/api/v1/machines" | "/api/v1/audit" => (vec![path.into()], false),
        "/api/v1/machines/{id}" | "/machines/{id}" | "/api/v1/machines/{id}/noise-floors" => {
            (vec![path.replace("{id}", machine)], false)
        }
        "/api/v1/runs" | "/api/v1/curves" => {
            (vec![path.into(), format!("{path}?machine={machine}")], false)
        }
        "/api/v1/incidents" => (vec![format!("{path}?state=all")], false),
        "/api/v1/runs/{id}" | "/runs/{id}" => (vec![path.replace("{id}", run)], true),
        "/api/v1/runs/{id}/artefacts/{name}" | "/runs/{id}/profiles/{name}" => {
            (vec![path.replace("{id}", run).replace("{name}", "hush.folded")], true)
        }
        "/api/v1/curves/{id}" | "/curves/{id}" => {
            (vec![path.replace("{id}", &curve.to_string())], true)
        }
        "/api/v1/series/{id}" => (vec![path.replace("{id}", &series.to_string())], true),
        "/api/v1/incidents/{id}"
        | "/api/v1/incidents/{id}/why"
        | "/incidents/{id}"
        | "/incidents/{id}/why" => (vec![path.replace("{id}", &incident.to_string())], true),
        "/revisions/{id}" => (vec![path.replace("{id}", &revision.to_string())], true),
        "/api/v1/compare" | "/api/v1/compare/why" | "/compare" => {
            (vec![format!("{path}?{sides}")], true)
        }
        "/api/v1/projects/{name}/weights" => (vec![path.replace("{name}", "hush")], true),
        "/static/{hash}/{name}" => (Vec::new(), false),
        _ => return None,
    };
    Some((whole, own))
}

/// Every address that is read: of the API by its own description, of the pages by their routes.
async fn paths(service: &Service) -> BTreeSet<String> {
    let document = service.get("/api/v1/openapi.json").await.json();
    let described = document["paths"].as_object().unwrap().iter();
    let mut paths: BTreeSet<String> = described
        .filter(|(_, methods)| methods.get("get").is_some())
        .map(|(path, _)| path.clone())
        .collect();
    let routes = include_str!("../../src/pages/mod.rs").lines();
    let read = routes.filter(|line| line.contains(".route(\"") && line.contains("get("));
    paths.extend(read.filter_map(|line| line.split('"').nth(1)).map(str::to_owned));
    assert!(paths.len() > 35, "{paths:?}");
    paths
}

fn assert_silent(who: &str, address: &str, answer: &Answer, own: bool) {
    let text = answer.text().to_lowercase();
    // The page of a search repeats what was looked for, and that is all it may say.
    let marks = if address.starts_with("/search") { &FOUND[..] } else { &MARKS[..] };
    for mark in marks {
        assert!(!text.contains(mark), "{who} reads `{mark}` at {address}: {text}");
    }
    if own {
        assert_eq!(answer.status, 404, "{who} at {address}: {text}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn nothing_of_a_private_project_reaches_who_has_no_role_in_it(pool: Pool) {
    let (service, _, hidden) = with_private(pool).await;
    let linux = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    let new = |scope, projects| db::token::New {
        name: "test",
        scope,
        machine: None,
        person: None,
        projects,
        created_at: service.app.clock.now(),
        expires_at: None,
    };
    let limit = [linux.id];
    let limited = service.token_of(&new(Scope::Read, &limit)).await;
    let register = service.token_of(&new(Scope::Register, &[])).await;
    let stranger = service.person("stranger", false).await;
    service.role(&stranger, "linux", Role::Maintainer).await;
    let mut browser = service.browser_of(&stranger).await;
    let mut asked_for = 0;
    for path in paths(&service).await {
        let Some((addresses, own)) = asked(&path, &hidden) else {
            panic!("say in this test how {path} is asked for what is private");
        };
        for address in addresses {
            asked_for += 1;
            assert_silent("nobody", &address, &service.get(&address).await, own);
            assert_silent("a stranger", &address, &browser.get(&address).await, own);
            if path.starts_with("/api/v1") {
                for token in [&limited, &register] {
                    let answer = with_token(&service, &address, token).await;
                    assert_silent("a token", &address, &answer, own);
                }
            }
        }
    }
    assert!(asked_for > 40, "{asked_for}");
    let filter = service.get("/api/v1/runs?project=hush").await;
    let unknown = service.get("/api/v1/runs?project=none").await;
    assert_eq!((filter.status, filter.text()), (unknown.status, unknown.text()));
    let page = service.get(&format!("/runs/{}", hidden.run)).await.text();
    let unknown = service.get("/runs/00000000-0000-4000-8000-000000000000").await.text();
    assert_eq!(page, unknown, "what may not be read is answered like what is not there");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_has_a_role_reads_all_of_it(pool: Pool) {
    let (service, _, hidden) = with_private(pool).await;
    let reader = service.person("reader", false).await;
    service.role(&reader, "hush", Role::Viewer).await;
    let root = service.person("root", true).await;
    let mut readers = [service.browser_of(&reader).await, service.browser_of(&root).await];
    let submit = service.token(Scope::Submit).await;
    for path in paths(&service).await {
        let (addresses, own) = asked(&path, &hidden).expect("the other test says how");
        for address in addresses.iter().filter(|_| own) {
            for browser in &mut readers {
                let answer = browser.get(address).await;
                assert_eq!(answer.status, 200, "{address}: {}", answer.text());
            }
            if path.starts_with("/api/v1") {
                assert_eq!(with_token(&service, address, &submit).await.status, 200, "{address}");
            }
        }
    }
    for (address, what) in [("/", "2 open incidents"), ("/curves", "hush/workload")] {
        let shown = readers[0].get(address).await.text();
        assert!(shown.contains(what), "{address}");
    }
    let shown = service.get("/").await.text();
    assert!(shown.contains("1 open incident") && shown.contains("11 runs"), "counts leave it out");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_admin_of_a_project_opens_and_closes_it(pool: Pool) {
    let (service, _, _) = with_private(pool).await;
    let lead = service.person("lead", false).await;
    service.role(&lead, "hush", Role::Admin).await;
    let mut browser = service.browser_of(&lead).await;
    let seen = async || service.get("/curves").await.text().contains("hush/workload");
    assert!(!seen().await);
    for (to, status, visible) in
        [("everybody", 303, true), ("roles", 303, false), ("me", 422, false)]
    {
        let fields = [("project", "hush"), ("to", to)];
        let answer = browser.post("/admin", "/admin/project", &fields).await;
        assert_eq!(answer.status, status, "{to}");
        assert_eq!(seen().await, visible, "{to}");
    }
    let others = [("project", "linux"), ("to", "roles")];
    assert_eq!(browser.post("/admin", "/admin/project", &others).await.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_stranger_decides_nothing_of_a_private_project_and_learns_nothing_by_trying(pool: Pool) {
    let (service, _, hidden) = with_private(pool).await;
    let mut nobody = Browser::new(&service);
    let word = crate::support::browser::form_word(&nobody.get("/login").await.text()).unwrap();
    let path = format!("/incidents/{}", hidden.incident);
    let fields = [("from", "new"), ("to", "confirmed")];
    assert_eq!(nobody.post_with(&word, &path, &fields).await.status, 404);
    let stranger = service.person("stranger", false).await;
    let mut browser = service.browser_of(&stranger).await;
    assert_eq!(browser.post("/account", &path, &fields).await.status, 404);
}
