//! will-it-scale's tests by name: which workload, at which parameters, each one is here, and the
//! description its program prints. `run wis/NAME` and the printed lines come from this table.

use std::collections::BTreeMap;
use std::path::Path;

use crate::harness::Values;

/// What precedes a test's name where a workload is asked for.
pub const PREFIX: &str = "wis/";

/// One test of will-it-scale.
#[derive(Debug)]
pub struct Test {
    /// Its name there, e.g. `fallocate2`.
    pub name: &'static str,
    /// What its program prints after `testcase:`.
    pub description: &'static str,
    /// Id of the workload that does the same.
    pub workload: &'static str,
    /// Parameters that differ from the workload's defaults, or must stay what they are.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Whether its files lie on tmpfs rather than in the directory under test.
    pub on_tmpfs: bool,
}

/// Where tests on tmpfs have their files unless a directory is named.
pub const TMPFS: &str = "/dev/shm";

const fn test(
    name: &'static str,
    description: &'static str,
    workload: &'static str,
    parameters: &'static [(&'static str, &'static str)],
) -> Test {
    Test { name, description, workload, parameters, on_tmpfs: false }
}

const OWN_FILE: (&str, &str) = ("layout", "own-file");
const SAME_FILE: (&str, &str) = ("layout", "same-file");
const OWN_OFFSET: (&str, &str) = ("layout", "own-offset");
const BUFFERED: (&str, &str) = ("io", "buffered");
const DIRECT: (&str, &str) = ("io", "direct");

const MIB_128: (&str, &str) = ("mib", "128");

/// All of them.
#[rustfmt::skip]
pub const TESTS: [Test; 60] = [
    test("getppid1", "getppid", "sys/getppid", &[]),
    test("sched_yield", "sched_yield", "sched/yield", &[]),
    test("futex1", "futex(FUTEX_WAKE)", "sync/futex", &[("op", "wake"), ("scope", "shared")]),
    test("futex2", "futex(FUTEX_WAIT)", "sync/futex", &[("op", "wait"), ("scope", "shared")]),
    test("futex3", "futex(FUTEX_WAKE_PRIVATE)", "sync/futex", &[("op", "wake"), ("scope", "private")]),
    test("futex4", "futex(FUTEX_WAIT_PRIVATE)", "sync/futex", &[("op", "wait"), ("scope", "private")]),
    test("signal1", "signal delivery", "signal/raise", &[]),
    test("posix_semaphore1", "POSIX semaphores", "sync/sem", &[]),
    test("pthread_mutex1", "Contended pthread mutex", "sync/mutex", &[("variant", "contended")]),
    test("pthread_mutex2", "Uncontended pthread mutex", "sync/mutex", &[("variant", "uncontended")]),
    test("pthread_mutex3", "Contended pthread mutex with global update", "sync/mutex", &[("variant", "global")]),
    test("pthread_mutex4", "Contended pthread mutex with local update", "sync/mutex", &[("variant", "local")]),
    test("pthread_mutex5", "Contended pthread mutex with TLS update", "sync/mutex", &[("variant", "tls")]),
    test("context_switch1", "Context switch via pipes", "sched/pipe-pingpong", &[]),
    test("pipe1", "pipe read/write", "ipc/pipe", &[]),
    test("unix1", "unix domain socket read/write", "ipc/unix", &[]),
    test("eventfd1", "eventfd read/write of 8 bytes", "ipc/eventfd", &[]),
    test("poll1", "poll of 1 fd", "poll/1", &[]),
    test("poll2", "poll of 128 fds", "poll/128", &[]),
    test("brk1", "brk increase/decrease of one page", "mm/brk", &[("variant", "shared")]),
    test("brk2", "brk unshared increase/decrease of one page", "mm/brk", &[("variant", "unshared")]),
    test("mmap1", "Anonymous memory mmap/munmap of 128MB", "mm/mmap", &[("memory", "anon"), MIB_128]),
    test("mmap2", "Separate file mmap/munmap of 128MB", "mm/mmap", &[("memory", "file"), MIB_128]),
    test("malloc1", "malloc/free of 128MB", "mm/malloc", &[("size", "134217728")]),
    test("malloc2", "malloc/free of 1kB", "mm/malloc", &[("size", "1024")]),
    test("page_fault1", "Anonymous memory page fault", "mm/fault", &[("memory", "anon"), MIB_128]),
    test("page_fault2", "Separate file private mapping page fault", "mm/fault", &[("memory", "file-private"), MIB_128]),
    test("page_fault3", "Separate file shared mapping page fault", "mm/fault", &[("memory", "file-shared"), MIB_128]),
    test("tlb_flush1", "TLB flush of separate file private mapping", "mm/tlb-flush", &[("memory", "file-private")]),
    test("tlb_flush2", "TLB flush of anonymous memory private mapping", "mm/tlb-flush", &[("memory", "anon")]),
    test("tlb_flush3", "TLB flush of separate file shared mapping", "mm/tlb-flush", &[("memory", "file-shared")]),
    test("open1", "Separate file open/close", "file/open", &[("layout", "shared-dir")]),
    test("open2", "Separate file open/close in different directories", "file/open", &[("layout", "own-dir")]),
    test("open3", "Same file open/close", "file/open", &[("layout", "same-file")]),
    test("dup1", "Separate file dup/close", "file/dup", &[]),
    test("unlink1", "Separate file open/close/unlink", "file/unlink", &[("layout", "shared-dir")]),
    test("unlink2", "Separate file open/close in different directories", "file/unlink", &[("layout", "own-dir")]),
    test("lseek1", "Separate file lseek", "file/lseek", &[OWN_FILE]),
    test("lseek2", "Same file lseek", "file/lseek", &[SAME_FILE]),
    test("lock1", "Separate file write lock/unlock", "lock/posix", &[OWN_FILE]),
    test("lock2", "Same file write lock/unlock", "lock/posix", &[SAME_FILE]),
    test("read1", "Separate file read", "file/read", &[OWN_FILE, BUFFERED]),
    test("read2", "Same file read", "file/read", &[SAME_FILE, BUFFERED]),
    test("read3", "Separate file O_DIRECT read", "file/read", &[OWN_FILE, DIRECT]),
    test("read4", "Same file O_DIRECT read", "file/read", &[SAME_FILE, DIRECT]),
    test("pread1", "Separate file pread", "file/pread", &[OWN_FILE, BUFFERED]),
    test("pread2", "Same file pread", "file/pread", &[SAME_FILE, BUFFERED]),
    test("pread3", "Same file pread to different offsets", "file/pread", &[OWN_OFFSET, BUFFERED]),
    test("pwrite1", "Separate file pwrite", "file/pwrite", &[OWN_FILE, BUFFERED]),
    test("pwrite2", "Same file pwrite", "file/pwrite", &[SAME_FILE, BUFFERED]),
    test("pwrite3", "Same file pwrite to different offsets", "file/pwrite", &[OWN_OFFSET, BUFFERED]),
    test("readseek1", "Separate file seek+read", "file/seek-read", &[OWN_FILE, BUFFERED]),
    test("readseek2", "Same file seek+read", "file/seek-read", &[SAME_FILE, BUFFERED]),
    test("readseek3", "Same file seek+read to different offsets", "file/seek-read", &[OWN_OFFSET, BUFFERED]),
    test("writeseek1", "Separate file seek+write", "file/seek-write", &[OWN_FILE, BUFFERED]),
    // The original says "read" here.
    test("writeseek2", "Same file seek+read", "file/seek-write", &[SAME_FILE, BUFFERED]),
    test("writeseek3", "Same file seek+write to different offsets", "file/seek-write", &[OWN_OFFSET, BUFFERED]),
    test("write1", "Separate file write", "file/write", &[OWN_FILE, BUFFERED]),
    Test {
        on_tmpfs: true,
        ..test("fallocate1", "Separate file fallocate against tmpfs", FALLOCATE, FALLOCATE_SIZES)
    },
    test("fallocate2", "Separate file fallocate", FALLOCATE, FALLOCATE_SIZES),
];

const FALLOCATE: &str = "fallocate/append-truncate";
const FALLOCATE_SIZES: &[(&str, &str)] = &[("chunk", "8192"), ("file", "1048576")];

impl Test {
    /// Its parameters as they are given to a workload.
    pub fn given(&self) -> BTreeMap<String, String> {
        self.parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn is(&self, workload: &str, values: &Values) -> bool {
        self.workload == workload
            && self.parameters.iter().all(|(k, v)| values.0.get(*k).is_some_and(|given| given == v))
    }
}

/// The test with this name, `wis/` in front or not.
pub fn find(name: &str) -> Option<&'static Test> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    TESTS.iter().find(|test| test.name == name)
}

/// Where the files of these workloads lie when no directory is named: tests on tmpfs have their own
/// place.
///
/// # Errors
/// When only some of them are such tests: one run has its files in one place.
pub fn usual_dir(names: &[String]) -> anyhow::Result<&'static Path> {
    let is_test =
        |name: &&String| name.starts_with(PREFIX) && find(name).is_some_and(|t| t.on_tmpfs);
    match names.iter().filter(is_test).count() {
        0 => Ok(Path::new(".")),
        n if n == names.len() => Ok(Path::new(TMPFS)),
        _ => anyhow::bail!(
            "some of these tests have their files in {TMPFS} and some have not: name the \
             directory with --dir, or measure them apart"
        ),
    }
}

/// The test that a workload at these parameters is, with its files on tmpfs or not.
pub fn of_point(workload: &str, values: &Values, on_tmpfs: bool) -> Option<&'static Test> {
    let mut tests: Vec<&Test> = TESTS.iter().filter(|test| test.is(workload, values)).collect();
    tests.sort_by_key(|test| test.on_tmpfs != on_tmpfs);
    tests.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_sixty_tests_are_registered_workloads_at_valid_parameters_and_no_two_the_same() {
        let names: BTreeSet<&str> = TESTS.iter().map(|test| test.name).collect();
        assert_eq!(names.len(), 60);
        for test in &TESTS {
            let workload = super::super::find(test.workload)
                .unwrap_or_else(|| panic!("{}: no workload {}", test.name, test.workload));
            let values = workload.resolve(&test.given()).expect(test.name);
            let found = of_point(test.workload, &values, test.on_tmpfs).expect(test.name);
            assert_eq!(found.name, test.name);
            assert!(find(test.name).is_some_and(|found| found.name == test.name));
        }
    }
}
