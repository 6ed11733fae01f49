//! One reader's way through the built service in a real browser: from the overview to the cause,
//! in light, dark and on a narrow screen. `SCALEWATCH_SHOTS` names a folder for pictures.

mod axe;
mod chromium;
mod scene;
mod service;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use chromium::{Browser, Driver, LOOKS, Look};
use fantoccini::Locator;
use fantoccini::key::Key;
use service::{Database, Service};

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_follows_an_incident_to_its_cause() {
    let database = Database::create().await.expect("a database for this test");
    let walked = tokio::spawn(walk(database.url())).await;
    database.drop_it().await.expect("the database goes with the test");
    walked.expect("the walk did not panic").expect("the walk");
}

async fn walk(database_url: String) -> Result<()> {
    let driver = Driver::start()?;
    let service = Service::start(database_url)?;
    let browser = driver.browser().await?;
    let walked = read(&browser, &service).await;
    let searched = browser.axe.nothing_was_found();
    browser.client.clone().close().await?;
    match (walked, searched) {
        (Err(walked), Err(searched)) => Err(walked.context(searched)),
        (walked, searched) => walked.and(searched),
    }
}

async fn read(browser: &Browser, service: &Service) -> Result<()> {
    let home = format!("http://{}/", service.address);
    browser.client.goto(&home).await?;
    expect_text(browser, "scalewatch-runner register --server").await?;
    check(browser, "empty").await?;

    upload(service)?;
    wait_until_judged(service).await?;

    browser.client.goto(&home).await?;
    expect_text(browser, "open incident").await?;
    expect_text(browser, "<script>alert('subject')</script>").await?;
    check(browser, "overview").await?;

    follow(browser, "#content td.regression", "..", "fallocate/append-truncate").await?;
    expect_text(browser, &scene::commit(scene::CULPRIT)[..10]).await?;
    expect_text(browser, "−11.").await?;
    check(browser, "incident").await?;
    decide(browser, service).await?;

    browser.client.find(Locator::LinkText("why")).await?.click().await?;
    expect_text(browser, "decides").await?;
    check(browser, "why").await?;

    browser.client.back().await?;
    browser.client.find(Locator::Css("#content h3 a")).await?.click().await?;
    expect_text(browser, "History at").await?;
    check(browser, "curve").await?;
    read_by_keys(browser).await?;
    browser.client.back().await?;
    browser.client.back().await?;
    expect_text(browser, "History at").await?;

    browser.client.find(Locator::LinkText("why")).await?.click().await?;
    expect_text(browser, "mmtests").await?;
    check(browser, "compare").await?;

    ask_for_a_job(service)?;
    let sides = format!("base={}&head={}", scene::commit(8), scene::commit(scene::CULPRIT));
    for (path, name) in [
        ("/curves", "curves"),
        ("/incidents", "incidents"),
        ("/alert-quality", "alert-quality"),
        ("/api", "api"),
        ("/jobs", "jobs"),
        ("/jobs/1", "job"),
        (&format!("/projects/linux/compare?{sides}"), "project-compare"),
        ("/nowhere", "not-found"),
    ] {
        browser.client.goto(&format!("http://{}{path}", service.address)).await?;
        check(browser, name).await?;
    }
    browser.client.goto(&home).await?;
    browser.client.find(Locator::Css("a[href^='/machines/']")).await?.click().await?;
    expect_text(browser, "Environment over time").await?;
    check(browser, "machine").await?;
    browser.client.goto(&home).await?;
    browser.client.find(Locator::Css("a[href^='/runs/']")).await?.click().await?;
    expect_text(browser, "every window").await?;
    check(browser, "run").await?;
    look_at_account(browser, service).await
}

/// The cursor goes through all plots of the curve's page; `/` searches, and the culprit is found.
async fn read_by_keys(browser: &Browser) -> Result<()> {
    let plot = browser.client.find(Locator::Css("svg.plot")).await?;
    browser.evaluate("document.querySelector('svg.plot').focus()").await?;
    plot.send_keys(&char::from(Key::Left).to_string()).await?;
    expect_text(browser, "32 tasks\n3f4cae3131 ").await?;
    let readings = "document.querySelectorAll('.reading').length";
    let readings = browser.evaluate(readings).await?;
    ensure!(readings.as_u64() > Some(3), "the cursor stands in {readings} plots");
    plot.send_keys(&char::from(Key::Escape).to_string()).await?;
    ensure!(browser.evaluate("document.querySelector('.reading')").await?.is_null());
    zoom_by_keys(browser).await?;

    browser.client.find(Locator::Css("body")).await?.send_keys("/").await?;
    let field = browser.client.active_element().await?;
    let found = scene::commit(scene::CULPRIT);
    field.send_keys(&format!("{}{}", &found[..12], char::from(Key::Enter))).await?;
    expect_text(browser, "Found for").await?;
    check(browser, "search").await?;
    browser.client.find(Locator::Css("a[href^='/revisions/']")).await?.click().await?;
    expect_text(browser, "Incidents whose cause it may be").await?;
    check(browser, "revision").await
}

/// Two task counts at the right of the curve are drawn alone, and all of it again.
async fn zoom_by_keys(browser: &Browser) -> Result<()> {
    let focus = "document.querySelector('svg.plot').focus()";
    browser.evaluate(focus).await?;
    press(browser, &char::from(Key::End).to_string()).await?;
    let (shift, left) = (char::from(Key::Shift), char::from(Key::Left));
    press(browser, &format!("{shift}{left}{left}")).await?;
    press(browser, "z").await?;
    expect_text(browser, "Plots and figures show 16 to 64 tasks").await?;
    check(browser, "curve-part").await?;
    browser.evaluate(focus).await?;
    press(browser, &char::from(Key::Escape).to_string()).await?;
    let mut pause = tokio::time::interval(Duration::from_millis(100));
    let mut address = browser.client.current_url().await?;
    for _ in 0..LOOKS_AGAIN {
        if !address.as_str().contains("from=") {
            break;
        }
        pause.tick().await;
        address = browser.client.current_url().await?;
    }
    ensure!(!address.as_str().contains("from="), "{address}");
    let log = format!("{address}{}axis=log", if address.query().is_some() { "&" } else { "?" });
    browser.client.goto(&log).await?;
    expect_text(browser, "History at").await?;
    check(browser, "curve-log").await
}

/// Logs in from the incident shown and acknowledges it, by forms and without a script.
async fn decide(browser: &Browser, service: &Service) -> Result<()> {
    let password = "correct horse battery";
    service.add_admin("maria", password)?;
    browser.client.find(Locator::LinkText("Log in")).await?.click().await?;
    expect_text(browser, "forgot a password").await?;
    type_into(browser, "name", "maria").await?;
    type_into(browser, "password", "something else").await?;
    browser.client.find(Locator::Css("#content form button")).await?.click().await?;
    expect_text(browser, "name or the password is wrong").await?;
    check(browser, "login").await?;
    type_into(browser, "password", password).await?;
    browser.client.find(Locator::Css("#content form button")).await?.click().await?;
    expect_text(browser, "Decide").await?;
    browser.client.find(Locator::Css("details.triage summary")).await?.click().await?;
    check(browser, "decide").await?;
    type_into(browser, "note", "group lock, see the flame graphs").await?;
    browser.client.find(Locator::Css("button[value='acknowledged']")).await?.click().await?;
    expect_text(browser, "state: acknowledged").await?;
    expect_text(browser, "group lock, see the flame graphs").await?;
    expect_text(browser, "acknowledged by maria").await?;
    check(browser, "decided").await?;
    triage_by_keys(browser, service).await
}

/// Goes to an incident of the list and decides about it by keys alone.
async fn triage_by_keys(browser: &Browser, service: &Service) -> Result<()> {
    browser.client.goto(&format!("http://{}/incidents", service.address)).await?;
    check(browser, "incidents-to-decide").await?;
    let (enter, escape) = (char::from(Key::Enter), char::from(Key::Escape));
    press(browser, "j").await?;
    press(browser, "x").await?;
    let picked = "document.querySelectorAll('td input:checked').length";
    ensure!(browser.evaluate(picked).await? == 1, "x picks the row");
    for key in ["j", "k", "j"] {
        press(browser, key).await?;
    }
    press(browser, &enter.to_string()).await?;
    expect_text(browser, "state: acknowledged").await?;
    press(browser, "?").await?;
    expect_text(browser, "Keys of this page").await?;
    check(browser, "keys").await?;
    press(browser, &escape.to_string()).await?;
    ensure!(browser.evaluate("document.querySelector('dialog')").await?.is_null());
    press(browser, "n").await?;
    press(browser, &format!("the fan stood still{enter}")).await?;
    expect_text(browser, "state: acknowledged").await?;
    press(browser, "i").await?;
    press(browser, &format!("m{enter}")).await?;
    expect_text(browser, "state: invalid: measurement").await?;
    expect_text(browser, "the fan stood still").await?;
    press(browser, "r").await?;
    expect_text(browser, "state: reopened").await?;
    press(browser, "c").await?;
    expect_text(browser, "state: confirmed").await
}

/// To whatever has the focus.
async fn press(browser: &Browser, keys: &str) -> Result<()> {
    Ok(browser.client.active_element().await?.send_keys(keys).await?)
}

async fn type_into(browser: &Browser, name: &str, text: &str) -> Result<()> {
    let field = browser.client.find(Locator::Css(&format!("input[name='{name}']"))).await?;
    Ok(field.send_keys(text).await?)
}

/// The pages of who is logged in.
async fn look_at_account(browser: &Browser, service: &Service) -> Result<()> {
    for (path, text, name) in [
        ("/account", "Where you are logged in", "account"),
        ("/admin", "Add a person", "people"),
        ("/admin/audit", "incident decided", "audit"),
    ] {
        browser.client.goto(&format!("http://{}{path}", service.address)).await?;
        expect_text(browser, text).await?;
        check(browser, name).await?;
    }
    browser.client.goto(&format!("http://{}/admin", service.address)).await?;
    let adding = browser.client.find(Locator::Css("form[action='/admin/add']")).await?;
    adding.find(Locator::Css("input[name='name']")).await?.send_keys("otto").await?;
    adding.find(Locator::Css("button")).await?.click().await?;
    expect_text(browser, "/welcome?code=").await?;
    check(browser, "added").await?;
    let link =
        browser.evaluate("document.body.innerText.match(/\\/welcome\\?code=\\S+/)[0]").await?;
    let link = link.as_str().context("a link")?;
    browser.client.goto(&format!("http://{}{link}", service.address)).await?;
    expect_text(browser, "The link is good once").await?;
    check(browser, "welcome").await
}

/// Asks one of the machines to measure two revisions in turns.
fn ask_for_a_job(service: &Service) -> Result<()> {
    let revision = |index: usize| {
        serde_json::json!({
            "commit": scene::commit(index), "branch": "main", "position": 18_230 + index,
            "subject": "ext4: asked for",
        })
    };
    let asked = serde_json::json!({
        "project": "linux", "machine": scene::machines()[0].id, "revision": revision(scene::CULPRIT),
        "base": revision(8), "plan": { "workloads": ["fallocate/append-truncate"], "tasks": "1,16" },
    });
    service.post("/api/v1/jobs", &service.token("submit")?, &asked).map(drop)
}

/// Registers both machines and uploads their reports as a runner does.
fn upload(service: &Service) -> Result<()> {
    let register = service.token("register")?;
    let now = wall_clock();
    for machine in scene::machines() {
        let answer = service.post("/api/v1/machines", &register, &machine)?;
        let registered: wire::Registered = serde_json::from_str(&answer)?;
        for report in scene::reports(&machine, now) {
            service.post("/api/v1/runs", &registered.token, &report)?;
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the service under test runs on the wall clock")]
fn wall_clock() -> time::OffsetDateTime {
    time::OffsetDateTime::now_utc()
}

/// The worker runs beside the server: its work is done when nothing is due and an incident stands.
async fn wait_until_judged(service: &Service) -> Result<()> {
    let mut pause = tokio::time::interval(Duration::from_millis(100));
    for _ in 0..600 {
        pause.tick().await;
        let page = service.get("/")?;
        if page.contains("/incidents/") && !page.contains("not judged yet") {
            return Ok(());
        }
    }
    anyhow::bail!("the worker judged nothing in a minute: {}", service.get("/")?)
}

/// Clicks the link in the row that `mark` stands in.
async fn follow(browser: &Browser, mark: &str, up: &str, text: &str) -> Result<()> {
    let mark = browser.client.find(Locator::Css(mark)).await?;
    let row = mark.find(Locator::XPath(up)).await?;
    let link = row.find(Locator::XPath(&format!(".//a[contains(., '{text}')]"))).await?;
    Ok(link.click().await?)
}

/// How often a page is looked at again, every tenth of a second: it comes, and takes its width, when
/// the browser gets to it.
const LOOKS_AGAIN: u32 = 100;

async fn expect_text(browser: &Browser, text: &str) -> Result<()> {
    let mut pause = tokio::time::interval(Duration::from_millis(100));
    let mut shown = Ok(String::new());
    for _ in 0..LOOKS_AGAIN {
        pause.tick().await;
        shown = browser.text().await;
        if shown.as_ref().is_ok_and(|shown| shown.contains(text)) {
            return Ok(());
        }
    }
    anyhow::bail!("`{text}` is not on the page:\n{}", shown?)
}

/// Nothing is wider than the screen, but what can be scrolled by itself.
async fn fits(browser: &Browser, name: &str, look: Look) -> Result<()> {
    let mut pause = tokio::time::interval(Duration::from_millis(100));
    for _ in 0..LOOKS_AGAIN {
        pause.tick().await;
        let width = browser.evaluate("document.documentElement.scrollWidth").await?;
        if width.as_u64() <= Some(look.width.into()) {
            return Ok(());
        }
    }
    let wide = "[...document.querySelectorAll('body *')]\
                .filter(e => e.getBoundingClientRect().right > innerWidth)\
                .map(e => e.outerHTML.slice(0, 200))";
    let wide = browser.evaluate(wide).await?;
    anyhow::bail!("{name}, {}: wider than {} px, one of {wide:#}", look.name, look.width)
}

/// In every look: nothing sticks out, nothing comes from elsewhere, nothing complains, the scheme
/// is followed; and a picture, when asked for.
async fn check(browser: &Browser, name: &str) -> Result<()> {
    let shots = std::env::var_os("SCALEWATCH_SHOTS").map(PathBuf::from);
    for look in LOOKS {
        browser.look(look).await?;
        fits(browser, name, look).await?;
        let background = "getComputedStyle(document.body).backgroundColor";
        let background = browser.evaluate(background).await?;
        let expected = if look.scheme == "dark" { "rgb(18, 20, 22)" } else { "rgb(251, 251, 249)" };
        ensure!(background == expected, "{name}, {}: background {background}", look.name);
        browser.axe.search(browser, &format!("{name}, {}", look.name)).await?;
        if let Some(folder) = &shots {
            std::fs::create_dir_all(folder).context("the folder for pictures")?;
            browser.screenshot(&folder.join(format!("{name}-{}.png", look.name))).await?;
        }
    }
    let elsewhere = "performance.getEntriesByType('resource').map(e => e.name)\
                     .filter(name => !name.startsWith(location.origin))";
    let elsewhere = browser.evaluate(elsewhere).await?;
    ensure!(elsewhere == serde_json::json!([]), "{name} loads {elsewhere}");
    let unlabelled =
        browser.evaluate("document.querySelectorAll('svg.plot:not([aria-label])').length");
    ensure!(unlabelled.await? == 0, "{name} has a plot without a sentence");
    browser.look(LOOKS[0]).await?;
    let complaints = browser.complaints().await?;
    let complaints: Vec<_> = complaints
        .into_iter()
        .filter(|said| {
            // Chromium complains of the very answers that are looked at.
            !matches!(name, "not-found" if said.contains("404"))
                && !matches!(name, "login" if said.contains("401"))
        })
        .collect();
    ensure!(complaints.is_empty(), "{name}: {complaints:?}");
    Ok(())
}
