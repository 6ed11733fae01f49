//! What is kept of what people do.

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db::{self, Pool};
use scalewatch::model::Scope;

use crate::pages::read::read;
use crate::support::Service;
use crate::support::browser::Browser;
use crate::support::history::{upload_regression, work};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn each_deed_is_told_with_who_from_where_and_what_changed(pool: Pool) {
    let mut service = Service::on(pool);
    service.behind_proxy();
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    service.person_with_password("ada").await;
    let root = service.person("root", true).await;
    let mut admin = service.browser_of(&root).await;
    admin.headers.push(("x-forwarded-for", "198.51.100.7".into()));
    admin
        .post(
            "/admin",
            "/admin/role",
            &[("name", "ada"), ("project", "linux"), ("role", "triager")],
        )
        .await;
    admin.post("/admin", "/admin/person", &[("name", "ada"), ("do", "make_admin")]).await;
    let mut browser = Browser::new(&service);
    browser.headers.push(("x-forwarded-for", "203.0.113.9".into()));
    browser.post("/login", "/login", &[("name", "ada"), ("password", "wrong")]).await;
    browser.post("/login", "/login", &[("name", "my secret words"), ("password", "x")]).await;
    browser.log_in("ada").await;
    let decided = [("from", "new"), ("to", "invalid"), ("reason", "noise")];
    browser.post("/incidents/1", "/incidents/1", &decided).await;
    browser.post("/account", "/logout", &[]).await;
    admin.post("/admin", "/admin/person", &[("name", "ada"), ("do", "remove")]).await;

    let deeds = db::audit::list(&service.app.db, None, 100).await.unwrap();
    let told: Vec<String> = deeds
        .iter()
        .rev()
        .map(|deed| format!("{} {} | {} | {}", deed.who, deed.origin, deed.what, deed.about))
        .collect();
    let machine =
        format!("test 10.0.0.1 | machine_registered | machine box-a ({})", box_a.machine.id);
    let expected = [
        machine.as_str(),
        "root 198.51.100.7 | role_set | person ada",
        "root 198.51.100.7 | role_set | person ada",
        "nobody 203.0.113.9 | login_refused | person ada",
        "nobody 203.0.113.9 | login_refused | an unknown person",
        "ada 203.0.113.9 | logged_in | person ada",
        "ada 203.0.113.9 | incident_decided | incident 1 of linux",
        "ada 203.0.113.9 | logged_out | person ada",
        "root 198.51.100.7 | person_removed | person ada",
    ];
    assert_eq!(told, expected);

    let shown = read(&admin.get("/admin/audit").await.text()).text;
    for words in [
        "project linux, role none → project linux, role triager",
        "admin false → admin true",
        "state new → reason noise, state invalid",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_page_goes_back_to_the_first_line(pool: Pool) {
    let service = Service::on(pool);
    let root = service.person("root", true).await;
    let mut admin = service.browser_of(&root).await;
    for n in 0..101 {
        admin.post("/admin", "/admin/add", &[("name", &format!("person-{n}"))]).await;
    }
    let (mut address, mut lines) = ("/admin/audit".to_owned(), 0);
    loop {
        let page = admin.get(&address).await.text();
        lines += page.matches("<tr role=\"row\"><th scope=\"row\"").count();
        let older = read(&page).links.into_iter().find(|link| link.contains("before="));
        match older {
            Some(older) => address = older,
            None => break,
        }
    }
    assert_eq!(lines, 2 * 101, "each was added, with a link");
    assert_eq!(admin.get("/admin/audit?before=x").await.status, 400);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_api_tells_it_to_admins_page_by_page(pool: Pool) {
    let service = Service::on(pool);
    let root = service.person("root", true).await;
    let mut admin = service.browser_of(&root).await;
    for name in ["ada", "bob"] {
        admin.post("/admin", "/admin/add", &[("name", name)]).await;
    }
    let (reads, all) = (service.token(Scope::Read).await, service.token(Scope::Admin).await);
    let ask = async |token: Option<&str>, query: &str| {
        let mut request = Request::get(format!("/api/v1/audit{query}"));
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        service.send(request.body(Body::empty()).unwrap()).await
    };
    assert_eq!(ask(None, "").await.refusal().0, 401);
    assert_eq!(ask(Some(&reads), "").await.refusal().0, 403);
    let first = ask(Some(&all), "?limit=3").await.json();
    let line = &first["items"][2];
    assert_eq!(
        (&line["what"], &line["about"]),
        (&"password_link_made".into(), &"person ada".into())
    );
    let rest = ask(Some(&all), &format!("?after={}", first["next"].as_str().unwrap())).await.json();
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
    assert_eq!(rest["items"][0]["became"], serde_json::json!({ "admin": false }));
    assert_eq!(rest["next"], serde_json::Value::Null);
}
