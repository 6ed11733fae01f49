//! Anything shown comes out as CSV and NDJSON too, with all its digits.

use std::io::Read as _;

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db;
use serde_json::{Value, json};

use crate::support::history::{upload_regression, work};
use crate::support::{Answer, Service, a_point, a_report};

async fn export(service: &Service, path: &str, format: &str) -> Answer {
    let sign = if path.contains('?') { '&' } else { '?' };
    let answer = service.get(&format!("/api/v1/{path}{sign}format={format}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer
}

/// The rows of a table, each cell by the name of its column, its apostrophe taken away.
async fn table(service: &Service, path: &str) -> Vec<Vec<(String, String)>> {
    let answer = export(service, path, "csv").await;
    let media_type = answer.headers[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    assert!(media_type.starts_with("text/csv"), "{media_type}");
    let mut table = csv::Reader::from_reader(answer.body.as_slice());
    let names: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |row: csv::StringRecord| {
        let cells = row.iter().map(|cell| cell.strip_prefix('\'').unwrap_or(cell).to_owned());
        names.iter().cloned().zip(cells).collect()
    };
    table.records().map(|record| row(record.unwrap())).collect()
}

fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/x-ndjson");
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn at<'a>(row: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(row, |value, name| &value[name])
}

/// Each cell says what the field of the JSON says.
fn assert_same(table: &[Vec<(String, String)>], rows: &[Value]) {
    assert_eq!(table.len(), rows.len());
    for (cells, row) in table.iter().zip(rows) {
        for (column, cell) in cells {
            let expected = match at(row, column) {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(*cell, expected, "{column}");
        }
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn every_list_says_the_same_in_each_form(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("=HYPERLINK(\"x\")").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let floors = format!("machines/{}/noise-floors", box_a.machine.id);
    for list in [
        "machines",
        "projects",
        "projects/linux/revisions",
        "runs",
        "runs?limit=3",
        "curves",
        "series",
        "incidents",
        &floors,
    ] {
        let items = service.get(&format!("/api/v1/{list}")).await.json()["items"].clone();
        let items = items.as_array().unwrap();
        assert!(!items.is_empty(), "{list}");
        assert_same(&table(&service, list).await, items);
        assert_eq!(lines(&export(&service, list, "ndjson").await), *items, "{list}");
    }
    let machines = export(&service, "machines", "csv").await.text();
    assert!(machines.contains(",\"'=HYPERLINK(\"\"x\"\")\","), "no formula: {machines}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_run_a_series_a_curve_and_a_comparison_come_out_with_every_digit(pool: db::Pool) {
    let service = Service::on(pool);
    let a = service.registered("a").await;
    let samples = [0.1 + 0.2, 1e-300, 98_765.432_109_876_54];
    let mut point = a_point(1, &[1.0, 2.0, 3.0]);
    if let wire::Outcome::Measured(measured) = &mut point.outcome {
        measured.metrics[0].source = wire::Source::Values(samples.to_vec());
    }
    let mut failed = a_point(8, &[1.0]);
    let failure = json!({"call": "open", "errno": 24, "detail": "-too many files"});
    failed.outcome = wire::Outcome::Failed(serde_json::from_value(failure).unwrap());
    let report = a_report().on(&a.machine).at(1).with_points(vec![point.clone(), failed]).build();
    service.accept(&a, &report).await;
    let next = a_report().on(&a.machine).at(2).with_points(vec![point]).build();
    service.accept(&a, &next).await;

    let cell = |row: &[(String, String)], column: &str| -> String {
        row.iter().find(|(name, _)| name == column).unwrap().1.clone()
    };
    let run = table(&service, &format!("runs/{}", report.run)).await;
    let values: Vec<f64> = run[..3].iter().map(|row| cell(row, "value").parse().unwrap()).collect();
    assert_eq!(values, samples);
    assert_eq!(cell(run.last().unwrap(), "failure"), "-too many files");
    let points = lines(&export(&service, &format!("runs/{}", report.run), "ndjson").await);
    assert_eq!(points[0]["measured"]["metrics"][0]["samples"], json!(samples));

    let series =
        service.get("/api/v1/series?metric=ops_per_s_total").await.json()["items"][0].clone();
    let path = format!("series/{}", series["id"]);
    let all = table(&service, &format!("{path}?samples=true")).await;
    assert_eq!(all.len(), 6);
    assert_eq!(cell(&all[1], "value").parse(), Ok(1e-300));
    let shown = service.get(&format!("/api/v1/{path}")).await.json();
    assert_same(&table(&service, &path).await, shown["measurements"].as_array().unwrap());

    let curve = format!("curves/{}", series["curve"]);
    let points = table(&service, &curve).await;
    assert_eq!((points.len(), cell(&points[0], "rank")), (2, "1".into()));
    let (base, head) = (&report.revision.commit, &next.revision.commit);
    let compare = format!("compare?curve={}&base={base}&head={head}", series["curve"]);
    let shown = service.get(&format!("/api/v1/{compare}")).await.json();
    assert_same(&table(&service, &compare).await, shown["points"].as_array().unwrap());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_form_is_asked_for_by_accept_as_well(pool: db::Pool) {
    let service = Service::on(pool);
    service.registered("a").await;
    let request = Request::get("/api/v1/machines").header(header::ACCEPT, "text/csv");
    let answer = service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(
        answer.headers[header::CONTENT_DISPOSITION],
        "attachment; filename=\"machines.csv\""
    );
    assert_eq!(answer.headers[header::VARY], "accept");
    assert_eq!(answer.text().lines().count(), 2);
    let request =
        Request::get("/api/v1/machines?format=csv").header(header::ACCEPT_ENCODING, "gzip");
    let packed = service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(packed.headers[header::CONTENT_ENCODING], "gzip");
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, answer.text());
    let refused = service.get("/api/v1/machines?format=xml").await;
    assert_eq!(refused.refusal().2.as_deref(), Some("format"));
}
