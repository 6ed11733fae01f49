//! Every fuzz target over its corpus, whole, cut short and with bytes changed: what a long run of the
//! fuzzer does by the million, done by the hundred in every test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/entry.rs"]
mod entry;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(fuzz().join("corpus").join(target)).expect(target);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_target_has_a_program_and_a_corpus() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let bins = manifest.split("[[bin]]").skip(1);
    let bins: BTreeSet<&str> = bins.map(|bin| bin.split('"').nth(1).unwrap()).collect();
    let targets = entry::targets();
    assert_eq!(bins, targets.iter().copied().collect::<BTreeSet<_>>());
    for target in targets {
        assert!(!corpus(target).is_empty(), "{target}");
    }
}

#[test]
fn no_target_breaks_on_its_corpus_or_on_what_is_near_it() {
    for target in entry::targets() {
        for (path, whole) in corpus(target) {
            // Shown with the test where a target panics.
            println!("{target}: {path}");
            entry::run(target, &whole);
            for part in 1..16 {
                entry::run(target, &whole[..whole.len() * part / 16]);
            }
            for (at, byte) in near(&whole) {
                let mut changed = whole.clone();
                changed[at] = byte;
                entry::run(target, &changed);
            }
        }
    }
}

/// Places and bytes to change, the same each time.
fn near(whole: &[u8]) -> Vec<(usize, u8)> {
    let telling = *b"\0\n\"{}[],:-09e\xff= ";
    let mut seed = whole.iter().fold(1_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(*byte));
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let count = if whole.is_empty() { 0 } else { 60 };
    (0..count).map(|_| (next() % whole.len(), telling[next() % telling.len()])).collect()
}
