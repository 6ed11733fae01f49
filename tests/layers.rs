//! Who may name whom. These tests read the source; every other test watches behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Path below the repository's root → code, comments and the unit tests at the end left out.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                let below = path.strip_prefix(root).expect("a path below the root");
                found.insert(below.display().to_string(), code_of(&text));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} holds no source");
    found
}

fn code_of(text: &str) -> String {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned() + "\n";
    product.lines().map(code).collect()
}

/// Names used as `name::…`, as a whole word.
fn names(code: &str) -> BTreeSet<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("::") {
        let before = &code[..at];
        let word = before.rfind(|c| !is_word(c)).map_or(before, |i| &before[i + 1..]);
        let qualified = before[..before.len() - word.len()].ends_with("::");
        if !qualified && !word.is_empty() {
            found.insert(word);
        }
    }
    found
}

/// Modules of the crate used as `crate::name`.
fn modules(code: &str) -> BTreeSet<&str> {
    assert!(!code.contains("crate::{"), "one `use crate::…` a module keeps this test simple");
    code.match_indices("crate::")
        .map(|(at, crate_)| {
            let rest = &code[at + crate_.len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect()
}

#[test]
fn each_outer_crate_is_named_only_by_its_layer() {
    let layers: [(&str, &[&str]); 20] = [
        ("sqlx", &["src/db/", "src/lib.rs", "src/app.rs", "src/error.rs"]),
        ("axum", &["src/api/", "src/pages/", "src/app"]),
        ("axum_extra", &["src/api/", "src/pages/"]),
        ("argon2", &["src/account/password.rs"]),
        ("tokio_rustls", &["src/app/"]),
        ("tower", &["src/app/"]),
        ("basic_toml", &["src/config/"]),
        ("rustix", &["src/api/", "src/cli/"]),
        ("rpassword", &["src/cli/"]),
        ("askama", &["src/pages/", "src/mail/"]),
        ("lettre", &["src/mail/"]),
        ("plotters", &["src/chart/"]),
        ("inferno", &["src/chart/"]),
        ("utoipa", &["src/api/", "src/model/", "src/alert/"]),
        ("utoipa_axum", &["src/api/"]),
        ("prometheus_client", &["src/metrics.rs"]),
        ("ureq", &["src/outward.rs"]),
        ("openidconnect", &["src/account/oidc/"]),
        ("quick_xml", &["src/api/"]),
        (
            "stats",
            &[
                "src/detect/",
                "src/chart/",
                "src/ingest/",
                "src/jobs/",
                "src/model/",
                "src/db/",
                "src/api/",
            ],
        ),
    ];
    let sources = sources("src");
    for (outer, allowed) in layers {
        let users: Vec<&String> = sources
            .iter()
            .filter(|(_, code)| names(code).contains(outer))
            .map(|(p, _)| p)
            .collect();
        assert!(!users.is_empty(), "nobody names {outer}: is the rule still needed?");
        for path in users {
            let fits = allowed.iter().any(|layer| path.starts_with(layer));
            assert!(fits, "{path} names {outer}, which belongs to {allowed:?}");
        }
    }
}

#[test]
fn judgements_are_made_in_detect_alone() {
    for (path, code) in sources("src") {
        let judges = ["two_sides::judge", "step::detect", "lkp::", "mmtests::"];
        if !path.starts_with("src/detect/") {
            let found = judges.iter().find(|call| code.contains(&format!("stats::{call}")));
            assert_eq!(found, None, "{path} judges by itself");
        }
        // Rows carry summaries; what computes anything lies in the layers of the rule above.
        if path.starts_with("src/db/") || path.starts_with("src/model/") {
            let uses = code.matches("stats::").count();
            let types = code.matches("stats::summary::Summary").count();
            assert_eq!(uses, types, "{path} takes more of stats than the type of a summary");
        }
    }
}

#[test]
fn sql_is_written_in_db_alone() {
    for (path, code) in sources("src") {
        let queries = ["query!(", "query_as!(", "query_scalar!(", "sqlx::query"];
        let found = queries.iter().find(|query| code.contains(*query));
        assert!(found.is_none() || path.starts_with("src/db/"), "{path} holds SQL: {found:?}");
    }
}

#[test]
fn every_route_of_the_api_is_described() {
    for (path, code) in sources("src").into_iter().filter(|(path, _)| path.starts_with("src/api/"))
    {
        let bare = code.matches(".route(").count() + code.matches("nest_service(").count();
        let fallback = code.matches(".route(\"/api/{*rest}\", any(unknown_path))").count();
        assert_eq!(bare, fallback, "{path}: routes!(…) joins a path with what is said of it");
    }
}

#[test]
fn the_wall_clock_is_read_in_one_file() {
    for (path, code) in sources("src") {
        let clocks = ["now_utc", "now_local", "SystemTime::now", "Utc::now"];
        let found = clocks.iter().find(|clock| code.contains(*clock));
        assert!(found.is_none() || path == "src/clock.rs", "{path} reads the clock: {found:?}");
    }
}

#[test]
fn inner_layers_do_not_know_outer_ones() {
    let known: [(&str, &[&str]); 14] = [
        ("src/model/", &["model"]),
        ("src/db/", &["db", "model", "MIGRATOR"]),
        ("src/import/", &[]),
        ("src/ingest/", &["app", "db", "error", "model"]),
        ("src/detect/", &["db", "detect", "model"]),
        ("src/alert/", &["alert", "db", "detect", "error", "model"]),
        ("src/jobs/", &["app", "db", "detect", "error", "jobs", "model"]),
        ("src/chart/", &["chart", "format"]),
        ("src/mail/", &["app", "chart", "config", "db", "detect", "format", "mail", "model"]),
        ("src/account/", &["account", "alert", "app", "db", "error", "model", "outward"]),
        ("src/webhook/", &["api", "app", "db", "model", "outward"]),
        ("src/lives/", &["account", "alert", "db", "error", "model"]),
        (
            "src/api/",
            &[
                "account", "alert", "api", "app", "chart", "config", "db", "detect", "error",
                "format", "ingest", "jobs", "lives", "metrics", "model",
            ],
        ),
        (
            "src/pages/",
            &[
                "account", "alert", "api", "app", "chart", "db", "detect", "error", "format",
                "jobs", "lives", "model", "pages",
            ],
        ),
    ];
    let sources = sources("src");
    for (layer, known) in known {
        for (path, code) in sources.iter().filter(|(path, _)| path.starts_with(layer)) {
            let unknown = modules(code).into_iter().find(|module| !known.contains(module));
            assert_eq!(unknown, None, "{path} names a layer that it must not know");
        }
    }
}

#[test]
fn unsafe_stays_in_the_runner_where_system_calls_are_made() {
    for (path, code) in sources("src").into_iter().chain(sources("runner/src")) {
        // A word of content policies, not of Rust.
        let code = code.replace("'unsafe-inline'", "");
        let has =
            code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|w| w == "unsafe");
        let allowed = ["runner/src/harness/", "runner/src/workloads/"];
        assert!(!has || allowed.iter().any(|layer| path.starts_with(layer)), "{path} is unsafe");
    }
}

/// Package → the packages it needs, from the lock file.
fn lock() -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let text = fs::read_to_string(path).expect("Cargo.lock");
    let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let package = |block: &str| {
        let name = block.lines().find(|line| line.starts_with("name = ")).map(quoted)?;
        let needs = block
            .lines()
            .filter(|line| line.starts_with(" \""))
            .map(|line| quoted(line).split(' ').next().unwrap_or_default().to_owned());
        Some((name, needs.collect::<Vec<String>>()))
    };
    let mut packages = BTreeMap::<String, Vec<String>>::new();
    for (name, needs) in text.split("[[package]]").filter_map(package) {
        packages.entry(name).or_default().extend(needs);
    }
    packages
}

/// Everything a package needs, itself included.
fn closure(packages: &BTreeMap<String, Vec<String>>, of: &str) -> BTreeSet<String> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![of.to_owned()]);
    while let Some(name) = next.pop() {
        if seen.insert(name.clone()) {
            next.extend(packages.get(&name).expect("a locked package").iter().cloned());
        }
    }
    seen
}

#[test]
fn neither_program_drags_in_the_other() {
    let packages = lock();
    let runner = closure(&packages, "scalewatch-runner");
    for heavy in ["tokio", "axum", "hyper", "sqlx", "sqlx-core", "askama", "lettre", "plotters"] {
        assert!(packages.contains_key(heavy), "{heavy} is not locked: is the rule still needed?");
        assert!(!runner.contains(heavy), "the runner needs {heavy}");
    }
    assert!(!closure(&packages, "scalewatch").contains("scalewatch-runner"));
    for banned in ["openssl", "openssl-sys", "native-tls", "aws-lc-rs", "aws-lc-sys"] {
        assert!(!packages.contains_key(banned), "{banned} is locked");
    }
}

#[test]
fn the_shared_crates_stay_light() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (manifest, allowed) in
        // Schemas are a feature that the service alone asks for.
        [("runner/wire", &["serde", "utoipa"][..]), ("runner/stats", &[])]
    {
        let text = fs::read_to_string(root.join(manifest).join("Cargo.toml")).expect("a manifest");
        let needs: Vec<&str> = text
            .split("\n[")
            .find_map(|part| part.strip_prefix("dependencies]\n"))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| !name.is_empty())
            .collect();
        assert_eq!(needs, allowed, "{manifest}");
    }
}
