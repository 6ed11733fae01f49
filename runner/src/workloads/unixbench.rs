//! `UnixBench`'s tests by name: which workload, at which parameters, each one is here, what its
//! report calls it, and what the index is relative to. `run --unixbench` and its report come from
//! this table. Shell scripts, Dhrystone and Whetstone are not in it: an index is always a partial one.

use std::collections::BTreeMap;

/// One test of `UnixBench`, or a control of our own beside them.
#[derive(Debug)]
pub struct Test {
    /// Its name there, e.g. `context1`; one of ours where it has none.
    pub name: &'static str,
    /// What its report calls it.
    pub title: &'static str,
    /// Id of the workload that does the same.
    pub workload: &'static str,
    /// Parameters that differ from the workload's defaults, or must stay what they are.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Length of a pass, seconds.
    pub seconds: u64,
    /// Whether it has the long count of passes.
    pub long: bool,
    /// What a rate is called.
    pub rate: Rate,
    /// What the index is relative to; none for a test that is not part of it.
    pub baseline: Option<f64>,
    /// Whether it is one of those that make a whole run.
    pub usual: bool,
}

/// What a test counts, as its report prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Loops a second.
    Loops,
    /// Kilobytes of 1024 bytes a second; an operation is a buffer of so many bytes.
    Kilobytes(u32),
}

impl Rate {
    /// As printed.
    pub const fn unit(self) -> &'static str {
        match self {
            Rate::Loops => "lps",
            Rate::Kilobytes(_) => "KBps",
        }
    }
}

const LOOPS: Test = Test {
    name: "",
    title: "",
    workload: "",
    parameters: &[],
    seconds: 10,
    long: true,
    rate: Rate::Loops,
    baseline: None,
    usual: true,
};

const fn copy(
    name: &'static str,
    title: &'static str,
    bufsize: u32,
    parameters: &'static [(&'static str, &'static str)],
    baseline: f64,
) -> Test {
    let rate = Rate::Kilobytes(bufsize);
    let baseline = Some(baseline);
    Test {
        name,
        title,
        workload: "fs/copy",
        parameters,
        seconds: 30,
        long: false,
        rate,
        baseline,
        ..LOOPS
    }
}

/// All of them, in the order of the report.
#[rustfmt::skip]
pub const TESTS: [Test; 15] = [
    Test { name: "dhrystone-like", title: "Control: integers, records, strings", workload: "ctl/dhrystone-like", ..LOOPS },
    Test { name: "whetstone-like", title: "Control: floating point", workload: "ctl/whetstone-like", ..LOOPS },
    Test { name: "execl", title: "Execl Throughput", workload: "proc/execl", seconds: 30, long: false, baseline: Some(43.0), ..LOOPS },
    copy("fstime", "File Copy 1024 bufsize 2000 maxblocks", 1024, &[("bufsize", "1024"), ("blocks", "2000")], 3960.0),
    copy("fsbuffer", "File Copy 256 bufsize 500 maxblocks", 256, &[("bufsize", "256"), ("blocks", "500")], 1655.0),
    copy("fsdisk", "File Copy 4096 bufsize 8000 maxblocks", 4096, &[("bufsize", "4096"), ("blocks", "8000")], 5800.0),
    Test { name: "pipe", title: "Pipe Throughput", workload: "ipc/unixbench-pipe", baseline: Some(12_440.0), ..LOOPS },
    Test { name: "context1", title: "Pipe-based Context Switching", workload: "sched/context1", baseline: Some(4000.0), ..LOOPS },
    Test { name: "spawn", title: "Process Creation", workload: "proc/spawn", seconds: 30, long: false, baseline: Some(126.0), ..LOOPS },
    Test { name: "sysexec", title: "Exec System Call Overhead", workload: "syscall/exec", ..LOOPS },
    Test { name: "syscall", title: SYSCALL, workload: "syscall/mix-private-fd", baseline: Some(15_000.0), ..LOOPS },
    Test { name: "syscall-shared", title: SYSCALL, workload: SHARED_FD, baseline: Some(15_000.0), usual: false, ..LOOPS },
    Test { name: "syscall-close", title: "System Call Overhead, close only", workload: "syscall/close", usual: false, ..LOOPS },
    Test { name: "syscall-getpid", title: "System Call Overhead, getpid only", workload: "syscall/getpid", usual: false, ..LOOPS },
    Test { name: "getppid", title: "Control: getppid", workload: "sys/getppid", usual: false, ..LOOPS },
];

/// Up to version 5.1.3 the test duplicates standard input, which all copies share; since 6.0.0 a
/// pipe of its own. Both are called this, and are different measurements.
const SYSCALL: &str = "System Call Overhead";

/// The workload of versions up to 5.1.3.
pub const SHARED_FD: &str = "syscall/mix-shared-fd";

impl Test {
    /// Its parameters as they are given to a workload.
    pub fn given(&self) -> BTreeMap<String, String> {
        self.parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn is(&self, workload: &str, parameters: &BTreeMap<String, String>) -> bool {
        self.workload == workload
            && self
                .parameters
                .iter()
                .all(|(k, v)| parameters.get(*k).is_some_and(|given| given == v))
    }
}

/// The test with this name, or whose workload has this id.
pub fn find(name: &str) -> Option<&'static Test> {
    TESTS.iter().find(|test| test.name == name || test.workload == name)
}

/// The test that a workload at these parameters is.
pub fn of_point(workload: &str, parameters: &BTreeMap<String, String>) -> Option<&'static Test> {
    TESTS.iter().find(|test| test.is(workload, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Values;
    use std::collections::BTreeSet;

    #[test]
    fn every_test_is_a_registered_workload_at_valid_parameters_and_no_two_the_same() {
        let names: BTreeSet<&str> = TESTS.iter().map(|test| test.name).collect();
        assert_eq!(names.len(), TESTS.len());
        for test in &TESTS {
            let workload = super::super::find(test.workload).expect(test.workload);
            let Values(values) = workload.resolve(&test.given()).expect(test.name);
            let found = of_point(test.workload, &values).expect(test.name);
            assert_eq!(found.name, test.name);
            assert!(find(test.name).is_some_and(|found| found.name == test.name));
            if let Rate::Kilobytes(buffer) = test.rate {
                assert_eq!(values["bufsize"], buffer.to_string());
            }
        }
    }
}
