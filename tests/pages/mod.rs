//! What readers see, on pages made from reports that were really uploaded.

mod curve;
mod evidence;
mod hostile;
mod incident;
mod machine_and_run;
mod noise;
mod quality;
pub mod read;
mod search;
mod triage;

use std::collections::BTreeSet;

use axum::http::header;
use scalewatch::db::Pool;

use crate::support::history::{upload_regression, work};
use crate::support::{Service, a_report};
use read::{Read, read};

/// A page that must be there.
async fn page(service: &Service, address: &str) -> Read {
    let answer = service.get(address).await;
    assert_eq!(answer.status, 200, "{address}: {}", answer.text());
    read(&answer.text())
}

/// The address of the first link that begins so.
fn link(page: &Read, begin: &str) -> String {
    let found = page.links.iter().find(|address| address.starts_with(begin));
    found.unwrap_or_else(|| panic!("no link to {begin}… in {:?}", page.links)).clone()
}

fn assert_shows(page: &Read, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "`{text}` is not shown: {}", page.text);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_empty_service_says_what_would_fill_it(pool: Pool) {
    let service = Service::on(pool);
    let overview = page(&service, "/").await;
    assert_shows(
        &overview,
        &[
            "No open incident",
            "0 machines 0 curves 0 runs",
            "scalewatch-runner register --server http://scalewatch.test",
            "scalewatch-runner run --upload",
        ],
    );
    assert_shows(&page(&service, "/curves").await, &["No run was uploaded yet"]);
    assert_shows(&page(&service, "/incidents").await, &["No incident here."]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_overview_tells_of_incidents_machines_and_runs(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    let waiting = page(&service, "/").await;
    assert_shows(&waiting, &["1 machine 1 curve 11 runs 1 not judged yet", "steady"]);
    work(&service.app).await;

    let overview = page(&service, "/").await;
    assert_shows(
        &overview,
        &[
            "1 open incident",
            "fallocate/append-truncate at 1, 2 and 4 tasks regression −3",
            "workload box-a fallocate/append-truncate −3",
            "Test CPU 9000, 32 GiB",
            "ext4: change number 11",
            "3 points",
            "5 min ago",
        ],
    );
    assert!(!overview.text.contains("not judged yet"));
    assert!(overview.links.contains(&format!("/machines/{}", box_a.machine.id)));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn every_link_leads_somewhere(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;

    let mut seen = BTreeSet::from(["/".to_owned()]);
    let mut to_read = vec!["/".to_owned()];
    while let Some(address) = to_read.pop() {
        let answer = service.get(&address).await;
        assert_eq!(answer.status, 200, "{address}");
        let is_page = answer.headers[header::CONTENT_TYPE].as_bytes().starts_with(b"text/html");
        let links = if is_page { read(&answer.text()).links } else { Vec::new() };
        for address in links.iter().filter_map(|link| link.split('#').next()) {
            if !address.is_empty() && seen.insert(address.to_owned()) {
                assert!(address.starts_with('/'), "{address} leads away");
                to_read.push(address.to_owned());
            }
        }
    }
    assert!(seen.len() > 25, "{seen:?}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_api_is_described_to_people(pool: Pool) {
    let service = Service::on(pool);
    let html = service.get("/api").await.text();
    let api = read(&html);
    assert_shows(
        &api,
        &[
            "POST /api/v1/runs Stores the report of a run, all of it or nothing.",
            "Takes a token of scope upload.",
            "application/json Page_Run",
            "list of Window",
            "integer, 1 to 500, 100 when left out",
            "invalid_field 422 A field breaks a limit",
        ],
    );
    for anchor in api.links.iter().filter_map(|link| link.strip_prefix('#')) {
        assert!(html.contains(&format!("id=\"{anchor}\"")), "#{anchor} leads nowhere");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_is_not_there_is_said_with_a_way_back(pool: Pool) {
    let service = Service::on(pool);
    let addresses = [
        "/nowhere",
        "/curves/99",
        "/curves/x",
        "/curves?machine=none",
        "/incidents/7",
        "/incidents/7/why",
        "/incidents/9223372036854775808",
        "/machines/none",
        "/runs/none",
        "/runs/00000000-0000-4000-8000-000000000000",
        "/compare?curve=1&base=a&head=b",
        "/static/0000/app.css",
    ];
    for address in addresses {
        let answer = service.get(address).await;
        assert_eq!(answer.status, 404, "{address}");
        let page = read(&answer.text());
        assert_shows(&page, &["Not found", "Back to the overview"]);
        assert!(page.links.contains(&"/".to_owned()), "{address}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_cannot_be_asked_for_is_named(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    for (address, named) in [
        (format!("{curve}?rev=ffff"), "rev: nothing was measured on this curve at commit `ffff`"),
        (format!("{curve}?base=zz"), "base: nothing was measured on this curve at commit `zz`"),
        (format!("{curve}?tasks=3"), "tasks: `3` is not a task count of this curve"),
        ("/incidents?state=lost".into(), "state: `lost` is not open, settled, all,"),
        ("/compare".into(), "curve: must be given"),
        (curve.replace("/curves/", "/compare?curve="), "base: must be given"),
    ] {
        let answer = service.get(&address).await;
        assert_eq!(answer.status, 400, "{address}");
        assert_shows(&read(&answer.text()), &[named, "Back to the overview"]);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_subject_from_outside_never_becomes_markup(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let report = a_report().on(&box_a.machine).with(|report| {
        report.revision.subject = "<script>alert(1)</script>".into();
        report.project.name = "<b>linux".into();
        report.environment.0.insert("x".into(), "\"><script>alert(2)</script>".into());
        report.points[0].parameters.insert("p".into(), "<img src=x onerror=alert(3)>".into());
    });
    let accepted = service.accept(&box_a, &report.build()).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let run = format!("/runs/{}", accepted.run);
    let machine = format!("/machines/{}", box_a.machine.id);
    for address in ["/", "/curves", &curve, &run, &machine] {
        let html = service.get(address).await.text();
        for markup in ["<script>", "<img", "<b>linux"] {
            assert!(!html.contains(markup), "{markup} in {address}");
        }
    }
    assert_shows(&page(&service, &run).await, &["<script>alert(1)</script>"]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn pages_load_nothing_from_elsewhere_and_files_are_kept_for_ever(pool: Pool) {
    let service = Service::on(pool);
    let answer = service.get("/").await;
    let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str();
    assert!(policy.is_ok_and(|policy| policy.starts_with("default-src 'none'; style-src 'self'")));
    assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    let html = answer.text();
    assert!(!html.contains("style="));
    let scripts: Vec<_> = html.split("<script").skip(1).collect();
    assert_eq!(scripts.len(), 1, "no script stands in a page");
    let script = read::attribute(scripts[0], "src").expect("it is a file of ours");
    let script = service.get(script).await;
    assert_eq!(script.headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
    for (begin, media_type) in [("stylesheet", "text/css"), ("icon", "image/svg+xml")] {
        let tag = html.split('<').find(|tag| tag.contains(&format!("rel=\"{begin}\"")));
        let address = tag.and_then(|tag| read::attribute(tag, "href")).expect("a link");
        let file = service.get(address).await;
        assert_eq!(file.status, 200);
        assert!(file.headers[header::CONTENT_TYPE].as_bytes().starts_with(media_type.as_bytes()));
        let kept = file.headers[header::CACHE_CONTROL].to_str();
        assert!(kept.is_ok_and(|kept| kept.contains("immutable")));
        assert!(!file.body.is_empty());
    }
}
