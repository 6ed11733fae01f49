//! Series of a folder, with known steps or with people's annotations.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::found::{Count, count};
use crate::{WAYS, row};

struct Series {
    values: Vec<f64>,
    truth: Option<Vec<usize>>,
    annotations: Vec<Vec<usize>>,
}

/// Prints how the series of a folder and those below it are judged.
pub fn judge(folder: &Path) {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let series: Vec<Series> = files.iter().filter_map(|file| read(file)).collect();
    println!("\n{}: {} series", folder.display(), series.len());
    for (way, tell) in WAYS {
        let (mut sum, mut steady, mut alarmed) = (Count::default(), 0, 0);
        let (mut f1, mut cover, mut annotated) = (0.0, 0.0, 0);
        for one in &series {
            let told = tell(&one.values);
            if let Some(truth) = &one.truth {
                let counted = count(one.values.len(), truth, &told).0;
                if truth.is_empty() {
                    steady += 1;
                    alarmed += usize::from(counted.wrong > 0);
                }
                sum.add(&counted);
            } else if !one.annotations.is_empty() {
                let places: Vec<usize> = told.iter().map(|(index, _)| *index).collect();
                f1 += agreement(&one.annotations, &places);
                cover += covering(&one.annotations, &places, one.values.len());
                annotated += 1;
            }
        }
        if sum.points > 0 {
            row(way, &sum);
            println!("{:16} {alarmed} of {steady} series without a step alarmed", "");
        }
        if annotated > 0 {
            let n = f64::from(annotated);
            println!("{way:16} annotated: F1 {:.3}, covering {:.3}", f1 / n, cover / n);
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "json") {
            files.push(path);
        }
    }
}

/// None where the file holds no series.
fn read(file: &Path) -> Option<Series> {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    let places = |list: &Value| -> Option<Vec<usize>> {
        list.as_array()?.iter().map(|place| Some(place.as_u64()? as usize)).collect()
    };
    let values = json["values"].as_array()?.iter().map(|v| v.as_f64().unwrap_or(f64::NAN));
    let annotations = json["annotations"].as_object().into_iter().flat_map(|all| all.values());
    Some(Series {
        values: values.collect(),
        truth: places(&json["truth"]),
        annotations: annotations.filter_map(places).collect(),
    })
}

/// With the series' start as a place that all agree on.
fn with_start(places: &[usize]) -> Vec<usize> {
    let mut places = [places, &[0]].concat();
    places.sort_unstable();
    places.dedup();
    places
}

fn hits(truth: &[usize], told: &[usize]) -> f64 {
    let told: Vec<(usize, usize)> = told.iter().map(|&index| (index, index + 1)).collect();
    count(0, truth, &told).0.found as f64
}

/// F1 of several annotators (van den Burg and Williams 2020): precision against all places anyone
/// gave, recall the mean over annotators.
fn agreement(annotations: &[Vec<usize>], told: &[usize]) -> f64 {
    let told = with_start(told);
    let precision = hits(&with_start(&annotations.concat()), &told) / told.len() as f64;
    let recalls = annotations.iter().map(|places| {
        let places = with_start(places);
        hits(&places, &told) / places.len() as f64
    });
    let recall = recalls.sum::<f64>() / annotations.len() as f64;
    2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE)
}

/// Starts and ends of the segments.
fn segments(places: &[usize], n: usize) -> Vec<(usize, usize)> {
    let starts = with_start(places);
    let ends = starts.iter().skip(1).copied().chain([n]);
    starts.iter().copied().zip(ends).filter(|(start, end)| start < end).collect()
}

/// Mean over annotators of how well the best segment told covers each of theirs (same source).
fn covering(annotations: &[Vec<usize>], told: &[usize], n: usize) -> f64 {
    let told = segments(told, n);
    let overlap = |a: (usize, usize), b: (usize, usize)| {
        let shared = a.1.min(b.1).saturating_sub(a.0.max(b.0));
        shared as f64 / (a.1.max(b.1) - a.0.min(b.0)) as f64
    };
    let of_one = |places: &Vec<usize>| -> f64 {
        let best = |a| told.iter().map(|&b| overlap(a, b)).fold(0.0, f64::max);
        segments(places, n).iter().map(|&a| (a.1 - a.0) as f64 * best(a)).sum::<f64>() / n as f64
    };
    annotations.iter().map(of_one).sum::<f64>() / annotations.len() as f64
}
