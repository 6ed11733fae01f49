//! The formats, and what each of them is called.

use std::io::BufRead;

use super::formats::mapping::Mapping;
use super::formats::{
    bencher, criterion, csv_table, fio, go, google_benchmark, hyperfine, lkp, mmtests, ndjson,
    phoronix, pytest, reaim, sysbench, unixbench, will_it_scale,
};
use super::found::FoundRun;
use super::inputs::Input;
use super::problem::{Problem, Result};

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[expect(clippy::doc_markdown, reason = "the command line shows these as they are")]
pub enum Format {
    /// The csv of will-it-scale's runtest.py
    WillItScaleCsv,
    /// What a test of will-it-scale prints
    WillItScale,
    /// The report that UnixBench prints
    Unixbench,
    /// A tree of LKP results: matrix.json or stats.json in folders
    Lkp,
    /// A folder of mmtests logs (will-it-scale, UnixBench, re-AIM and hackbench)
    Mmtests,
    /// re-AIM's csv
    Reaim,
    /// What phoronix-test-suite result-file-to-csv writes
    Phoronix,
    /// hyperfine --export-json
    Hyperfine,
    /// A tree of criterion results: target/criterion
    Criterion,
    /// Google Benchmark's JSON
    GoogleBenchmark,
    /// What go test -bench prints
    Go,
    /// pytest --benchmark-json
    Pytest,
    /// fio --output-format=json
    Fio,
    /// What sysbench 1.0 prints
    Sysbench,
    /// Bencher Metric Format
    Bencher,
    /// Any csv with a header, by --map
    Csv,
    /// Any file of one JSON object a line, by --map
    Ndjson,
}

/// What the command line tells a reader.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Name of the workload, where the file has none or a worse one.
    pub workload: Option<String>,
    /// Which column of a file with several systems.
    pub column: Option<String>,
    /// Which measurement of a criterion tree; `new` where nothing is said.
    pub baseline: Option<String>,
    /// What the columns of a table mean.
    pub mapping: Mapping,
}

/// Is handed each run as it is found.
pub type Each<'a> = dyn FnMut(FoundRun) -> Result<()> + 'a;

impl Format {
    /// The format's word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Format::WillItScaleCsv => "will-it-scale-csv",
            Format::WillItScale => "will-it-scale",
            Format::Unixbench => "unixbench",
            Format::Lkp => "lkp",
            Format::Mmtests => "mmtests",
            Format::Reaim => "reaim",
            Format::Phoronix => "phoronix",
            Format::Hyperfine => "hyperfine",
            Format::Criterion => "criterion",
            Format::GoogleBenchmark => "google-benchmark",
            Format::Go => "go",
            Format::Pytest => "pytest",
            Format::Fio => "fio",
            Format::Sysbench => "sysbench",
            Format::Bencher => "bencher",
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
        }
    }

    /// The tool that measured.
    pub fn tool(self) -> &'static str {
        match self {
            Format::WillItScaleCsv => "will-it-scale",
            Format::Pytest => "pytest-benchmark",
            _ => self.word(),
        }
    }

    /// Id of a workload: the tool's name before its own. A table's workloads are called as it says.
    pub fn workload(self, name: &str) -> String {
        match self {
            Format::Csv | Format::Ndjson => name.to_owned(),
            _ => format!("{}/{name}", self.tool()),
        }
    }

    /// Whether it is a tree of files rather than one file.
    pub fn reads_folders(self) -> bool {
        matches!(self, Format::Lkp | Format::Mmtests | Format::Criterion)
    }

    /// How its files end.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Format::WillItScaleCsv | Format::Reaim | Format::Phoronix | Format::Csv => &[".csv"],
            Format::WillItScale | Format::Unixbench | Format::Go | Format::Sysbench => {
                &[".txt", ".log", ".out"]
            }
            Format::Ndjson => &[".ndjson", ".jsonl"],
            _ => &[".json"],
        }
    }

    /// Whether a file of a folder is one of this format, by its name.
    pub fn names(self, file: &str) -> bool {
        let plain = file.strip_suffix(".gz").unwrap_or(file);
        self.endings().iter().any(|ending| plain.ends_with(ending))
    }

    /// Reads an input and hands over each run in it.
    ///
    /// # Errors
    /// What is wrong, with its file and place, and whatever `each` says.
    pub fn read(self, input: &Input, ask: &Ask, each: &mut Each<'_>) -> Result<()> {
        let source = &input.source;
        match (self, &input.file) {
            (Format::Lkp, _) => lkp::read(source, each),
            (Format::Mmtests, _) => mmtests::read(source, each),
            (Format::Criterion, _) => criterion::read(source, ask, each),
            (_, Some(file)) => {
                let read = |problem: Problem| problem.of_file(&source.shown(file));
                let mut content = source.open(file).map_err(read)?;
                self.read_file(file, &mut content, ask, each).map_err(read)
            }
            (_, None) => Err(Problem::whole("is not a file").of_file(&source.shown)),
        }
    }

    fn read_file(
        self,
        file: &str,
        content: &mut dyn BufRead,
        ask: &Ask,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let run = match self {
            Format::WillItScaleCsv => will_it_scale::read_csv(file, content, ask)?,
            Format::WillItScale => will_it_scale::read_output(file, content, ask)?,
            Format::Unixbench => unixbench::read(content)?,
            Format::Reaim => reaim::read(file, content, ask)?,
            Format::Hyperfine => hyperfine::read(content, ask)?,
            Format::GoogleBenchmark => google_benchmark::read(content)?,
            Format::Go => go::read(content)?,
            Format::Pytest => pytest::read(content)?,
            Format::Fio => fio::read(content, ask)?,
            Format::Sysbench => sysbench::read(file, content, ask)?,
            Format::Bencher => bencher::read(content)?,
            Format::Phoronix => return phoronix::read(content, ask, each),
            Format::Csv => return csv_table::read(content, ask, each),
            Format::Ndjson => return ndjson::read(content, ask, each),
            Format::Lkp | Format::Mmtests | Format::Criterion => {
                return Err(Problem::whole(format!("{} takes a folder", self.word())));
            }
        };
        if run.points.is_empty() {
            return Err(Problem::whole(format!("holds no result of {}", self.tool())));
        }
        each(run)
    }
}
