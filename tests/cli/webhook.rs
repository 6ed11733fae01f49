//! `admin webhook`.

use scalewatch::db::Pool;

use super::{done, refused, scalewatch, words};
use crate::support::{Service, a_report};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_webhook_is_added_listed_tried_and_removed(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", closed.local_addr().unwrap());
    drop(closed);
    let add = |project: &str, url: &str| -> Vec<String> {
        ["admin", "webhook", "add", "--project", project, "--url", url].map(str::to_owned).into()
    };
    let added = add("linux", &url);
    let added: Vec<&str> = added.iter().map(String::as_str).collect();
    let secret = done(&pool, &added);
    assert!(secret.trim().starts_with("sw_"), "{secret}");
    assert!(refused(&pool, &added).contains("is a webhook of this project"));
    for (project, url, problem) in [
        ("none", "https://ci.example.org/", "no project is named"),
        ("linux", "ftp://ci.example.org/", "must begin with http"),
        ("linux", "https://me:pw@ci.example.org/", "a user or a password"),
    ] {
        let arguments = add(project, url);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert!(refused(&pool, &arguments).contains(problem), "{url}");
    }
    let listed = done(&pool, &["admin", "webhook", "list"]);
    assert!(listed.contains(&url) && listed.contains("nothing waits"), "{listed}");
    assert!(!listed.contains(secret.trim()));
    let id = listed.split('\t').next().unwrap();
    let tried = scalewatch(&pool, &["admin", "webhook", "test", id]).output().unwrap();
    assert!(!tried.status.success() && words(&tried).contains("no answer"), "{}", words(&tried));
    done(&pool, &["admin", "webhook", "remove", id]);
    assert_eq!(done(&pool, &["admin", "webhook", "list"]), "");
    assert!(refused(&pool, &["admin", "webhook", "remove", id]).contains("there is no webhook"));
}
