//! Searching from any page, and what a revision's page says.

use scalewatch::db::Pool;

use super::{assert_shows, link, page};
use crate::support::history::{upload_regression, work};
use crate::support::{Service, a_report};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_text_finds_commits_subjects_workloads_machines_runs_and_incidents(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let found = service.accept(&box_a, &a_report().on(&box_a.machine).at(12).build()).await;

    let runs = found.run.to_string();
    let by_run = page(&service, &format!("/search?q={}", &runs[..13])).await;
    assert_eq!(link(&by_run, "/runs/"), format!("/runs/{runs}"));

    let subject = page(&service, "/search?q=EXT4+numb+7").await;
    assert_shows(&subject, &["Found for “EXT4 numb 7”", "ext4: change number 7", "branch order"]);
    let revisions: Vec<_> =
        subject.links.iter().filter(|address| address.starts_with("/revisions/")).collect();
    assert_eq!(revisions.len(), 1, "all words must fit: {:?}", subject.links);

    let revision = page(&service, revisions[0]).await;
    let commit = revision.text.split_whitespace().find(|word| word.len() == 40);
    let commit = commit.expect("the page names the whole commit").to_owned();
    let by_digits = page(&service, &format!("/search?q={}", commit[..8].to_uppercase())).await;
    assert_eq!(link(&by_digits, "/revisions/"), *revisions[0]);

    let workload = page(&service, "/search?q=append-TRUNC").await;
    assert_eq!(link(&workload, "/curves?"), "/curves?workload=fallocate%2Fappend-truncate");
    assert_eq!(link(&workload, "/incidents/"), "/incidents/1");
    assert_shows(&workload, &["1 curve on 1 machine"]);

    let machine = page(&service, "/search?q=BOX").await;
    assert_eq!(link(&machine, "/machines/"), format!("/machines/{}", box_a.machine.id));
    assert_eq!(link(&page(&service, "/search?q=%231").await, "/incidents/1"), "/incidents/1");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_search_that_finds_nothing_or_asks_nothing_says_what_can_be_found(pool: Pool) {
    let service = Service::on(pool);
    service.registered("box-a").await;
    for nothing in ["'%3B+drop", "%25", "__", "%5C", "ffff", "99999999999999999999", "%27%3A*"] {
        let address = format!("/search?q={nothing}");
        assert_shows(&page(&service, &address).await, &["Nothing fits", "at least four digits"]);
    }
    assert_shows(&page(&service, "/search").await, &["Search", "First digits of a commit"]);
    for bad in ["x".repeat(201), "%00".into()] {
        let answer = service.get(&format!("/search?q={bad}")).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains("at most 200 characters"), "{}", answer.text());
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_revision_says_what_may_have_come_with_it_and_what_was_measured(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    // The oldest found: a word stands for all that begin with it.
    let address = async |subject: &str| {
        let found = page(&service, &format!("/search?q={subject}")).await;
        found.links.into_iter().rfind(|to| to.starts_with("/revisions/")).expect("a revision")
    };

    let bad = page(&service, &address("number+7").await).await;
    assert_eq!(link(&bad, "/incidents/"), "/incidents/1");
    assert_shows(
        &bad,
        &["ext4: change number 7", "branch order 7", "measured before it", "measured after it"],
    );
    let compare = page(&service, &link(&bad, "/compare?")).await;
    assert_shows(&compare, &["regression"]);
    page(&service, &link(&bad, "/curves/")).await;
    page(&service, &link(&bad, "/runs/")).await;

    let first = page(&service, &address("number+1").await).await;
    assert_shows(&first, &["None: no step lies between the revision before it and this one"]);
    assert!(!first.text.contains("measured before it"), "{}", first.text);
    assert!(!first.links.iter().any(|to| to.starts_with("/compare")), "nothing to compare with");

    for absent in ["/revisions/0", "/revisions/999", "/revisions/x"] {
        assert_eq!(service.get(absent).await.status, 404, "{absent}");
    }
}
