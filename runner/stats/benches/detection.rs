//! Step detection: how well and how fast. `./dev bench detection [FOLDER …]` judges histories that it
//! generates, and with folders the series in their `.json` files too: `{name, values}` with `truth`
//! (places of steps) or `annotations` (places by annotator).

#[path = "../tests/support/found.rs"]
mod found;
#[path = "../tests/support/history.rs"]
mod history;

#[path = "detection/folder.rs"]
mod folder;
#[path = "detection/speed.rs"]
mod speed;

use std::collections::BTreeMap;

use found::{Count, count, online, whole};
use history::{History, histories};

/// Seeds of the histories judged; tests use others.
const SEEDS: [u64; 4] = [1, 2, 3, 4];

type Tell = fn(&[f64]) -> Vec<(usize, usize)>;

/// The two ways to judge a series.
const WAYS: [(&str, Tell); 2] = [("whole series", whole), ("point by point", online)];

fn main() {
    let histories: Vec<History> = SEEDS.iter().flat_map(|&seed| histories(seed)).collect();
    println!("{} histories of 300 points, nine shapes of noise", histories.len());
    for (way, tell) in WAYS {
        generated(way, tell, &histories);
    }
    for folder in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        folder::judge(std::path::Path::new(&folder));
    }
    speed::whole_series(&histories);
    speed::one_point();
}

fn generated(way: &str, tell: Tell, histories: &[History]) {
    let (mut all, mut shapes, mut shifts) =
        (Count::default(), BTreeMap::<_, Count>::new(), BTreeMap::<_, Count>::new());
    for one in histories {
        let truth: Vec<usize> = one.truth.iter().map(|(at, _)| *at).collect();
        let (counted, by) = count(one.values.len(), &truth, &tell(&one.values));
        all.add(&counted);
        shapes.entry(one.noise).or_default().add(&counted);
        for ((_, percent), delay) in one.truth.iter().zip(by) {
            let shift: &mut Count = shifts.entry(percent.round() as u32).or_default();
            shift.found += usize::from(delay.is_some());
            shift.missed += usize::from(delay.is_none());
            shift.delays.extend(delay);
        }
    }
    println!("\n{way}");
    println!(
        "{:16} {:>6} {:>6} {:>6} {:>9} {:>6} {:>9}",
        "", "F1", "P", "R", "false/1k", "exact", "delay"
    );
    row("all", &all);
    for (noise, count) in &shapes {
        row(&format!("{noise:?}"), count);
    }
    for (percent, count) in &shifts {
        let delay = delays(count);
        println!(
            "{:16} {:>6} {:>6} {:>6.3} {:>9} {:>6} {delay:>9}",
            format!("{percent} %"),
            "",
            "",
            count.recall(),
            "",
            ""
        );
    }
}

/// Median and ninth decile of the delays, in points; to a whole series, told at its end, they mean
/// nothing.
fn delays(count: &Count) -> String {
    format!("{}/{}", count.delay(0.5), count.delay(0.9))
}

/// One line of a table.
fn row(name: &str, count: &Count) {
    println!(
        "{name:16} {:6.3} {:6.3} {:6.3} {:9.3} {:6.3} {:>9}",
        count.f1(),
        count.precision(),
        count.recall(),
        count.wrong_per_1000(),
        count.exact_share(),
        delays(count),
    );
}
