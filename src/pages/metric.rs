//! Metrics in words: what a metric is called on pages and plots, with its unit and direction.

use crate::model::Series;

/// One metric of a curve, named for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Name as stored.
    pub name: String,
    /// Unit of every value.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
}

impl Metric {
    /// The metric of a series.
    pub fn of(series: &Series) -> Metric {
        Metric { name: series.metric.clone(), unit: series.unit, direction: series.direction }
    }

    /// E.g. `Operations per second, all tasks`.
    pub fn title(&self) -> String {
        match self.name.as_str() {
            "ops_per_s_total" => "Operations per second, all tasks".into(),
            "ops_per_cpu_s" => "Operations per CPU-second".into(),
            "task_fairness" => "Fairness: slowest task ÷ fastest".into(),
            name => capitalised(&name.replace('_', " ")),
        }
    }

    /// E.g. `ops/s, higher is better`.
    pub fn axis(&self) -> String {
        format!("{}, {} is better", self.unit.symbol(), self.direction.word())
    }

    /// Title and axis in one: `Operations per second, all tasks (ops/s, higher is better)`.
    pub fn full(&self) -> String {
        format!("{} ({})", self.title(), self.axis())
    }
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What a workload does, in a sentence or two; none for one we were not told about.
pub fn workload_words(workload: &str) -> Option<&'static str> {
    Some(match workload {
        "ctl/int-loop" => {
            "A control: each task adds integers and enters no kernel. It should scale with the \
             cores; when it moves, the machine moved and not the code."
        }
        "sys/getppid" => {
            "A control: each task calls getppid, the floor of what entering the kernel costs."
        }
        "file/open" => {
            "Each task opens and closes a file: in one shared directory, in a directory of its \
             own, or the same file for all."
        }
        "file/dup" => "Each task duplicates a file descriptor and closes the copy.",
        "fallocate/append-truncate" => {
            "Each task grows its own file to 1 MiB by allocating 8 KiB at a time, then truncates \
             it to nothing, over and over: block allocation under contention."
        }
        "aim/creat-close" => {
            "Each task creates and closes a file again and again, and unlinks it at times: the \
             orphan list and directory locks of a file system."
        }
        "model/prefetch-bit" => {
            "A model of marking block groups as read: an atomic read-modify-write on every visit \
             against a test that writes only when it must."
        }
        "model/orphan-list" => {
            "A model of a file system's orphan list: adding and removing an inode under one lock, \
             with the checksum inside or outside of it, or in separate slots."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_says_its_unit_and_direction() {
        let metric = Metric {
            name: "cpu_us_per_op".into(),
            unit: wire::Unit::Microseconds,
            direction: wire::Direction::Lower,
        };
        assert_eq!(metric.full(), "Cpu us per op (us, lower is better)");
    }
}
