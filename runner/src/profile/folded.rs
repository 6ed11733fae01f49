//! Stacks with their numbers of samples, as text and as an artefact.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use anyhow::{Context, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use wire::{Artefact, Point};

/// Most bytes of a profile's text: rarer stacks are summed into one.
const TEXT: usize = 256 << 10;

/// Most bytes that an artefact may unpack to.
const UNPACKED: u64 = 8 << 20;

/// The frame that stands for the stacks left out.
const RARE: &str = "[rare stacks]";

/// Stacks, frames from the outermost joined by `;`, with their numbers of samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded(BTreeMap<String, u64>);

impl Folded {
    /// Reads lines of a stack, a blank and a number.
    ///
    /// # Errors
    /// The number of the line that is none.
    pub fn parse(text: &str) -> anyhow::Result<Folded> {
        let mut folded = Folded::default();
        for (i, line) in text.lines().enumerate() {
            let parts = line.rsplit_once(' ').and_then(|(stack, n)| Some((stack, n.parse().ok()?)));
            let (stack, samples) =
                parts.with_context(|| format!("line {} is no stack with a number", i + 1))?;
            folded.add(stack, samples);
        }
        Ok(folded)
    }

    /// Counts samples of a stack.
    pub fn add(&mut self, stack: &str, samples: u64) {
        *self.0.entry(stack.to_owned()).or_default() += samples;
    }

    /// Adds another profile's samples, each stack below the frame `root` where one is given.
    pub fn add_all(&mut self, other: &Folded, root: Option<&str>) {
        for (stack, samples) in &other.0 {
            match root {
                Some(root) => self.add(&format!("{root};{stack}"), *samples),
                None => self.add(stack, *samples),
            }
        }
    }

    /// Samples in all.
    pub fn samples(&self) -> u64 {
        self.0.values().sum()
    }

    /// One line a stack, in order of the stacks.
    pub fn text(&self) -> String {
        self.0.iter().map(|(stack, samples)| format!("{stack} {samples}\n")).collect()
    }

    /// The commonest stacks within `bytes` of text; the rest is summed into one.
    fn within(&self, bytes: usize) -> Folded {
        let mut stacks: Vec<(&String, u64)> = self.0.iter().map(|(s, n)| (s, *n)).collect();
        stacks.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let (mut kept, mut left) = (Folded::default(), bytes);
        for (stack, samples) in stacks {
            let fits = left.checked_sub(stack.len() + 22);
            left = fits.unwrap_or(0);
            kept.add(if fits.is_some() { stack } else { RARE }, samples);
        }
        kept
    }

    /// The artefact of `point`.
    ///
    /// # Errors
    /// When it cannot be compressed.
    pub fn artefact(&self, point: &Point) -> anyhow::Result<Artefact> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(self.within(TEXT).text().as_bytes())?;
        Ok(Artefact {
            name: point.profile_name(),
            media_type: Artefact::PROFILE.into(),
            content: STANDARD.encode(gzip.finish()?),
        })
    }

    /// Reads an artefact of [`Artefact::PROFILE`].
    ///
    /// # Errors
    /// Names the artefact and what is wrong with it.
    pub fn of_artefact(artefact: &Artefact) -> anyhow::Result<Folded> {
        let read = || {
            ensure!(artefact.media_type == Artefact::PROFILE, "it is {}", artefact.media_type);
            let packed = STANDARD.decode(&artefact.content)?;
            let mut text = String::new();
            GzDecoder::new(&*packed).take(UNPACKED + 1).read_to_string(&mut text)?;
            ensure!(text.len() as u64 <= UNPACKED, "it unpacks to more than {UNPACKED} bytes");
            Folded::parse(&text)
        };
        read().with_context(|| format!("artefact {} is no profile", artefact.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point() -> Point {
        let golden = include_str!("../../wire/tests/golden/report-v1-evidence.json");
        let report: wire::Report = serde_json::from_str(golden).expect("a golden report");
        report.points[0].clone()
    }

    #[test]
    fn a_profile_survives_its_artefact() {
        let folded = Folded::parse("a;b c 12\na 1\na;b c 3\n").expect("three lines");
        assert_eq!(folded.text(), "a 1\na;b c 15\n");
        let artefact = folded.artefact(&point()).expect("an artefact");
        assert_eq!(artefact.name, point().profile_name());
        assert_eq!(Folded::of_artefact(&artefact).expect("a profile"), folded);
    }

    #[test]
    fn an_artefact_that_is_no_profile_is_named() {
        let good = Folded::default().artefact(&point()).expect("an artefact");
        for broken in [
            Artefact { media_type: "text/plain".into(), ..good.clone() },
            Artefact { content: "?".into(), ..good.clone() },
            Artefact { content: "AAEC".into(), ..good.clone() },
        ] {
            let error = format!("{:#}", Folded::of_artefact(&broken).expect_err("it is broken"));
            assert!(error.contains(&good.name), "{error}");
        }
        assert!(Folded::parse("a;b\n").is_err() && Folded::parse("a -1").is_err());
    }

    #[test]
    fn only_the_rarest_stacks_lose_their_names() {
        let mut folded = Folded::default();
        for n in 1..=100u64 {
            folded.add(&format!("root;function_{n:03}"), n);
        }
        let kept = folded.within(1_000);
        assert_eq!(kept.samples(), folded.samples());
        assert!(kept.text().len() <= 1_000 + RARE.len() + 22, "{}", kept.text().len());
        assert!(kept.0.contains_key("root;function_100") && kept.0.contains_key(RARE));
        assert!(!kept.0.contains_key("root;function_001"));
    }
}
