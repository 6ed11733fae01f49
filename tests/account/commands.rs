//! People from the command line.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use scalewatch::db::Pool;

use crate::support::browser::{Browser, PASSWORD};
use crate::support::processes::database_url;
use crate::support::{Service, a_report};

fn user(pool: &Pool, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch"))
        .arg("admin")
        .args(arguments)
        .env("DATABASE_URL", database_url(pool))
        .env("SCALEWATCH_URL", "https://perf.example.org")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who reads nothing may be gone by now.
    let _ = command.stdin.take().unwrap().write_all(input.as_bytes());
    command.wait_with_output().unwrap()
}

fn done(pool: &Pool, arguments: &[&str], input: &str) -> String {
    let output = user(pool, arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(pool: &Pool, arguments: &[&str], input: &str) -> String {
    let output = user(pool, arguments, input);
    assert!(!output.status.success(), "{arguments:?} is accepted");
    String::from_utf8(output.stderr).unwrap()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_first_admin_is_made_on_the_services_machine(pool: Pool) {
    let service = Service::on(pool.clone());
    let input = format!("{PASSWORD}\n");
    done(&pool, &["user", "add", "Root", "--admin"], &input);
    let mut browser = Browser::new(&service);
    assert_eq!(browser.log_in("root").await.status, 303);
    assert_eq!(browser.get("/admin").await.status, 200);
    let listed = done(&pool, &["user", "list"], "");
    assert!(listed.starts_with("root\tsite admin\tcan log in\tlast login 2026"), "{listed}");
    let told = done(&pool, &["audit"], "");
    let first = told.lines().next().unwrap();
    assert!(first.contains("command line\tthis machine\tperson_added\tperson root"), "{told}");
    assert!(!told.contains(PASSWORD));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn people_are_given_roles_disabled_and_removed(pool: Pool) {
    let service = Service::on(pool.clone());
    let box_a = service.registered("box-a").await;
    service.accept(&box_a, &a_report().on(&box_a.machine).build()).await;
    let link = done(&pool, &["user", "add", "ada", "--link"], "");
    assert!(link.starts_with("https://perf.example.org/welcome?code=sw_"), "{link}");
    done(&pool, &["user", "role", "ada", "triager", "--project", "linux"], "");
    assert!(done(&pool, &["user", "list"], "").contains("ada\tlinux:triager\thas no password"));
    done(&pool, &["user", "role", "ada", "admin"], "");
    assert!(done(&pool, &["user", "list"], "").contains("ada\tsite admin linux:triager\t"));
    done(&pool, &["user", "role", "ada", "none"], "");
    done(&pool, &["user", "role", "ada", "none", "--project", "linux"], "");
    done(&pool, &["user", "password", "ada"], &format!("{PASSWORD}\n"));
    let mut browser = Browser::new(&service);
    assert_eq!(browser.log_in("ada").await.status, 303);
    done(&pool, &["user", "password", "ada"], "another one entirely\n");
    assert_eq!(browser.get("/account").await.status, 303, "its session is over");
    done(&pool, &["user", "disable", "ada"], "");
    assert!(done(&pool, &["user", "list"], "").contains("ada\t\tdisabled 2"));
    done(&pool, &["user", "enable", "ada"], "");
    done(&pool, &["user", "remove", "ada"], "");
    assert_eq!(done(&pool, &["user", "list"], "").trim(), "");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_makes_no_sense_is_refused_and_nothing_is_kept(pool: Pool) {
    done(&pool, &["user", "add", "ada", "--link"], "");
    for (arguments, input, why) in [
        (&["user", "add", "ada", "--link"][..], "", "there is a person ada already"),
        (&["user", "add", "a da", "--link"], "", "must be 1 to 100 of a-z"),
        (&["user", "add", "bob"], "short\n", "at least 10 characters"),
        (&["user", "add", "bob"], "", "no password on standard input"),
        (&["user", "add", "bob", "secret words"], "", "unexpected argument"),
        (&["user", "role", "ada", "king"], "", "`king` is none of viewer, triager"),
        (&["user", "role", "ada", "viewer"], "", "without --project a role is admin or none"),
        (&["user", "role", "ada", "viewer", "--project", "x"], "", "there is no project `x`"),
        (&["user", "role", "bob", "admin"], "", "person not found"),
        (&["user", "remove", "bob"], "", "person not found"),
    ] {
        let said = refused(&pool, arguments, input);
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
    assert_eq!(done(&pool, &["user", "list"], "").lines().count(), 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_project_is_private_from_before_its_first_report(pool: Pool) {
    let service = Service::on(pool.clone());
    let add = ["project", "add", "hush", "--subject", "program", "--private"];
    done(&pool, &add, "");
    assert!(refused(&pool, &add, "").contains("there is a project hush already"));
    let box_a = service.registered("box-a").await;
    let report = a_report().on(&box_a.machine).with(|report| report.project.name = "hush".into());
    service.accept(&box_a, &report.build()).await;
    let shown = async || service.get("/curves").await.text().contains("fallocate");
    assert!(!shown().await);
    assert_eq!(done(&pool, &["project", "list"], "").trim(), "hush\tprivate");
    let create = ["token", "create", "--name", "ci", "--scope", "read", "--project"];
    let token = done(&pool, &[&create[..], &["hush"]].concat(), "");
    assert!(token.starts_with("sw_"));
    assert!(refused(&pool, &[&create[..], &["none"]].concat(), "").contains("no project `none`"));
    done(&pool, &["project", "public", "hush"], "");
    assert!(refused(&pool, &["project", "public", "hush"], "").contains("public already"));
    assert!(shown().await);
    done(&pool, &["project", "private", "hush"], "");
    assert!(!shown().await);
    assert!(refused(&pool, &["project", "private", "none"], "").contains("project not found"));
    let told = done(&pool, &["audit"], "");
    for what in [
        "project_added\tproject hush",
        "token_made\ttoken",
        "{\"public\":false}\t{\"public\":true}",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
}
