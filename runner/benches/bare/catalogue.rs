//! Which workload, at which parameters, each bare loop is the twin of, and which have none.

use super::{Bare, Loop, calls, channels, files, locks, memory, programs};

const fn twin(id: &'static str, bare: Bare) -> Loop {
    Loop { id, parameters: &[], shared_bytes: |_| 0, processes_only: false, bare }
}

const fn at(
    id: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    bare: Bare,
) -> Loop {
    Loop { parameters, ..twin(id, bare) }
}

/// On one file of a page that all tasks open.
const fn on_one(
    id: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    bare: Bare,
) -> Loop {
    Loop { shared_bytes: |_| files::BLOCK, ..at(id, parameters, bare) }
}

/// On one file with a page for each task.
const fn on_own_page(
    id: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    bare: Bare,
) -> Loop {
    Loop { shared_bytes: |tasks| tasks * files::BLOCK, ..at(id, parameters, bare) }
}

const fn as_processes(twin: Loop) -> Loop {
    Loop { processes_only: true, ..twin }
}

const SAME_FILE: &[(&str, &str)] = &[("layout", "same-file")];
const OWN_OFFSET: &[(&str, &str)] = &[("layout", "own-offset")];
const OWN_DIR: &[(&str, &str)] = &[("layout", "own-dir")];

/// Every loop. Sizes are such that a round of the loop is short beside a window.
#[rustfmt::skip]
pub const LOOPS: &[Loop] = &[
    twin("ctl/int-loop", calls::int_loop),
    twin("sys/getppid", calls::getppid),
    twin("signal/raise", calls::raise),
    twin("sched/yield", calls::sched_yield),
    twin("sched/pipe-pingpong", channels::pingpong),
    twin("ipc/pipe", channels::pipe),
    twin("ipc/unix", channels::unix),
    twin("ipc/eventfd", channels::eventfd),
    twin("poll/1", channels::poll::<1>),
    twin("poll/128", channels::poll::<128>),
    twin("file/open", files::open),
    at("file/open", OWN_DIR, files::open),
    at("file/open", SAME_FILE, files::open),
    twin("file/dup", files::dup),
    twin("file/unlink", files::unlink),
    at("file/unlink", OWN_DIR, files::unlink),
    twin("file/lseek", files::lseek),
    on_one("file/lseek", SAME_FILE, files::lseek),
    twin("file/read", files::read),
    Loop { shared_bytes: |_| files::WHOLE, ..at("file/read", SAME_FILE, files::read) },
    twin("file/write", files::write),
    Loop { shared_bytes: |_| files::WHOLE, ..at("file/write", SAME_FILE, files::write) },
    twin("file/pread", files::pread),
    on_one("file/pread", SAME_FILE, files::pread),
    on_own_page("file/pread", OWN_OFFSET, files::pread),
    twin("file/pwrite", files::pwrite),
    on_one("file/pwrite", SAME_FILE, files::pwrite),
    on_own_page("file/pwrite", OWN_OFFSET, files::pwrite),
    twin("file/seek-read", files::seek_read),
    on_one("file/seek-read", SAME_FILE, files::seek_read),
    on_own_page("file/seek-read", OWN_OFFSET, files::seek_read),
    twin("file/seek-write", files::seek_write),
    on_one("file/seek-write", SAME_FILE, files::seek_write),
    on_own_page("file/seek-write", OWN_OFFSET, files::seek_write),
    twin("lock/posix", files::lock),
    on_one("lock/posix", SAME_FILE, files::lock),
    twin("fallocate/append-truncate", files::fallocate),
    as_processes(twin("fallocate/containers", programs::container)),
    as_processes(at("fallocate/containers", &[("isolation", "namespace")], programs::container)),
    at("fallocate/falloc-fill", &[("files", "16"), ("total", "262144")], files::falloc_fill),
    twin("mm/mmap", memory::mmap),
    at("mm/mmap", &[("memory", "file")], memory::mmap),
    at("mm/fault", &[("mib", "16")], memory::fault),
    at("mm/fault", &[("memory", "file-private"), ("mib", "16")], memory::fault),
    at("mm/fault", &[("memory", "file-shared"), ("mib", "16")], memory::fault),
    twin("mm/tlb-flush", memory::tlb_flush),
    at("mm/tlb-flush", &[("memory", "file-private")], memory::tlb_flush),
    at("mm/tlb-flush", &[("memory", "file-shared")], memory::tlb_flush),
    twin("mm/brk", memory::brk),
    at("mm/brk", &[("variant", "unshared")], memory::brk),
    twin("mm/malloc", memory::malloc),
    at("mm/malloc", &[("size", "1024")], memory::malloc),
    twin("sync/futex", locks::futex),
    at("sync/futex", &[("scope", "private")], locks::futex),
    at("sync/futex", &[("op", "wait")], locks::futex),
    at("sync/futex", &[("op", "wait"), ("scope", "private")], locks::futex),
    twin("sync/mutex", locks::mutex),
    at("sync/mutex", &[("variant", "uncontended")], locks::mutex),
    at("sync/mutex", &[("variant", "global")], locks::mutex),
    at("sync/mutex", &[("variant", "local")], locks::mutex),
    at("sync/mutex", &[("variant", "tls")], locks::mutex),
    twin("sync/sem", locks::semaphore),
    twin("syscall/mix-shared-fd", calls::mix_shared),
    twin("syscall/mix-private-fd", calls::mix),
    twin("syscall/close", calls::close),
    twin("syscall/getpid", calls::getpid),
    twin("syscall/exec", programs::exec),
    twin("sched/context1", channels::context1),
    twin("proc/spawn", programs::spawn),
    as_processes(twin("proc/execl", programs::execl)),
    twin("ipc/unixbench-pipe", channels::unixbench_pipe),
    at("fs/copy", &[("bufsize", "1024"), ("blocks", "2000")], files::copy),
    at("fs/copy", &[("bufsize", "256"), ("blocks", "500")], files::copy),
    at("fs/copy", &[("bufsize", "4096"), ("blocks", "8000")], files::copy),
    twin("aim/creat-close", files::creat_close),
    twin("aim/creat-close-fixed", files::creat_close),
    at("orphan/truncate-bytes", &[("size", "16384")], files::truncate_bytes),
    twin("orphan/unlink-open", files::unlink_open),
    at("orphan/unlink-open", &[("dir", "shared")], files::unlink_open),
];

/// Beginning of an id, a word of a parameter or all of them, and the reason.
pub type Without = (&'static str, Option<(&'static str, &'static str)>, &'static str);

/// Workloads, or words of their parameters, that have no twin, and why.
pub const WITHOUT: &[Without] = &[
    ("file/", Some(("io", "direct")), "the same loop on a descriptor opened otherwise"),
    (
        "fallocate/containers",
        Some(("isolation", "cgroup")),
        "the loop of isolation=plain, elsewhere",
    ),
    ("model/", None, MODEL),
    ("ctl/dhrystone-like", None, "a control: its round is a function that knows no harness"),
    ("ctl/whetstone-like", None, "a control: its round is a function that knows no harness"),
    ("alloc/", None, "measures memory as well as time, and counts once a round of its own"),
    ("aim/disk-", None, JOBS),
    ("aim/sync-disk-", None, JOBS),
    ("aim/link-test", None, JOBS),
    ("aim/fserver", None, JOBS),
];

/// A model is not a loop around something: it is the something. Its twin would be the model over
/// again, and what the harness adds to it is what it adds to `ctl/int-loop`, one load, one store,
/// and one load more of the flag that ends it.
const MODEL: &str = "the loop is the model itself";

/// What surrounds them, rounds of fixed work, is measured by `aim/creat-close-fixed` and
/// `orphan/truncate-bytes`.
const JOBS: &str = "a list of jobs of fixed work, of many calls each";
