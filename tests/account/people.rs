//! Who may do what to whom, on the pages.

use scalewatch::db::{self, Pool};
use scalewatch::model::Role;

use crate::pages::read::read;
use crate::support::history::{upload_regression, work};
use crate::support::{Service, a_report};

async fn with_incident(pool: Pool) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let other = a_report().on(&box_a.machine).with(|report| report.project.name = "musl".into());
    service.accept(&box_a, &other.build()).await;
    service
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn deciding_takes_the_role_in_that_project(pool: Pool) {
    let service = with_incident(pool).await;
    let fields = [("from", "new"), ("to", "confirmed")];
    for (name, project, role, may) in [
        ("stranger", None, Role::Admin, false),
        ("elsewhere", Some("musl"), Role::Admin, false),
        ("reader", Some("linux"), Role::Viewer, false),
        ("triager", Some("linux"), Role::Triager, true),
    ] {
        let person = service.person(name, false).await;
        if let Some(project) = project {
            service.role(&person, project, role).await;
        }
        let mut browser = service.browser_of(&person).await;
        let shown = read(&browser.get("/incidents/1").await.text()).text;
        assert_eq!(shown.contains("Confirm"), may, "{name}: {shown}");
        assert_eq!(shown.contains("takes the role triager"), !may, "{name}: {shown}");
        let answer = browser.post("/account", "/incidents/1", &fields).await;
        assert_eq!(answer.status, if may { 303 } else { 403 }, "{name}");
    }
    let shown = service.get("/incidents/1").await.text();
    assert!(shown.contains("confirmed by triager"), "who decided is told by name");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_admin_of_a_project_gives_roles_there_and_does_nothing_else(pool: Pool) {
    let service = with_incident(pool).await;
    let lead = service.person("lead", false).await;
    service.role(&lead, "linux", Role::Admin).await;
    let newbie = service.person("newbie", false).await;
    let mut browser = service.browser_of(&lead).await;
    let shown = browser.get("/admin").await.text();
    assert!(shown.contains("<option>linux</option>") && !shown.contains("<option>musl</option>"));
    assert!(!shown.contains("Remove") && !shown.contains("Add a person"));
    let give = [("name", "newbie"), ("project", "linux"), ("role", "triager")];
    assert_eq!(browser.post("/admin", "/admin/role", &give).await.status, 303);
    let held = db::role::list_named(&service.app.db, Some(newbie.id)).await.unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].project_name.as_str(), held[0].role), ("linux", Role::Triager));
    for (action, fields, status) in [
        ("/admin/role", vec![("name", "newbie"), ("project", "musl"), ("role", "viewer")], 404),
        ("/admin/role", vec![("name", "nobody"), ("project", "linux"), ("role", "viewer")], 404),
        ("/admin/role", vec![("name", "newbie"), ("project", "linux"), ("role", "king")], 422),
        ("/admin/add", vec![("name", "friend")], 403),
        ("/admin/person", vec![("name", "newbie"), ("do", "make_admin")], 403),
        ("/admin/person", vec![("name", "newbie"), ("do", "link")], 403),
    ] {
        let answer = browser.post("/admin", action, &fields).await;
        assert_eq!(answer.status, status, "{action} {fields:?}: {}", answer.text());
    }
    assert_eq!(browser.get("/admin/audit").await.status, 403);
    let none = [("name", "newbie"), ("project", "linux"), ("role", "none")];
    assert_eq!(browser.post("/admin", "/admin/role", &none).await.status, 303);
    let held = db::role::list_named(&service.app.db, Some(newbie.id)).await.unwrap();
    assert!(held.is_empty());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_site_admin_adds_people_by_a_link_and_cannot_lock_themselves_out(pool: Pool) {
    let service = Service::on(pool);
    let root = service.person("root", true).await;
    let mut browser = service.browser_of(&root).await;
    let added = browser.post("/admin", "/admin/add", &[("name", "Ada@Example.org")]).await;
    let text = read(&added.text()).text;
    assert!(text.contains("A link for ada@example.org"), "{text}");
    assert!(text.contains("http://scalewatch.test/welcome?code=sw_"), "{text}");
    assert!(!browser.get("/admin").await.text().contains("/welcome"), "it is shown once");
    for (action, fields, status) in [
        ("/admin/add", vec![("name", "ada@example.org")], 409),
        ("/admin/add", vec![("name", "two words")], 422),
        ("/admin/add", vec![], 422),
        ("/admin/person", vec![("name", "ada@example.org"), ("do", "dance")], 422),
        ("/admin/person", vec![("name", "nobody"), ("do", "disable")], 404),
        ("/admin/person", vec![("name", "root"), ("do", "disable")], 409),
        ("/admin/person", vec![("name", "root"), ("do", "take_admin")], 409),
        ("/admin/person", vec![("name", "root"), ("do", "remove")], 409),
        ("/admin/person", vec![("name", "ada@example.org"), ("do", "make_admin")], 303),
    ] {
        let answer = browser.post("/admin", action, &fields).await;
        assert_eq!(answer.status, status, "{action} {fields:?}: {}", answer.text());
    }
    let shown = read(&browser.get("/admin").await.text()).text;
    assert!(shown.contains("ada@example.org site admin has no password never"), "{shown}");
}
