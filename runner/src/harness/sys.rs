//! The operating system's calls that have no safe form in std, each with one.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::fault::{Attempt, Fault, check};

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`, since boot.
#[inline]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC_RAW).expect("CLOCK_MONOTONIC_RAW exists since Linux 2.6.28")
}

/// Nanoseconds of any clock.
#[inline]
pub(crate) fn clock_ns(clock: libc::clockid_t) -> Attempt<u64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: now is a valid timespec for the call.
    check("clock_gettime", unsafe { libc::clock_gettime(clock, &raw mut now) })?;
    Ok(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// Nanoseconds of CPU time that the calling thread received.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).expect("every thread has a CPU clock")
}

/// The clock of the CPU time that process `pid` received.
pub(crate) fn process_clock(pid: libc::pid_t) -> Attempt<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: clock is valid for the call.
    match unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) } {
        0 => Ok(clock),
        error => Err(Fault::io("clock_getcpuclockid", &std::io::Error::from_raw_os_error(error))),
    }
}

/// The clock of the CPU time that the calling thread receives, readable by its siblings.
pub(crate) fn own_thread_clock() -> Attempt<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: pthread_self is always valid, clock is valid for the call.
    match unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) } {
        0 => Ok(clock),
        error => Err(Fault::io("pthread_getcpuclockid", &std::io::Error::from_raw_os_error(error))),
    }
}

/// The clock of the CPU time that a thread of this process receives; `linux/posix-timers.h`.
pub(crate) fn thread_clock(tid: libc::pid_t) -> libc::clockid_t {
    const PER_THREAD: libc::clockid_t = 4;
    const SCHEDULER: libc::clockid_t = 2;
    (!tid << 3) | PER_THREAD | SCHEDULER
}

/// Writes out what the kernel holds back, on all file systems.
pub fn sync_disks() {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::sync() };
}

/// Waits until a child is gone; returns at once for what is no child.
pub(crate) fn reap(pid: libc::pid_t) {
    // SAFETY: no status wanted.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
    {}
}

/// Ends a process for sure; one that is gone, or not ours to end, is left.
pub fn kill(pid: u32) {
    if let Ok(pid @ 1..) = libc::pid_t::try_from(pid) {
        // SAFETY: no memory is involved.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Makes this process the parent of descendants that lose theirs.
pub(crate) fn adopt_orphans() {
    // SAFETY: prctl with constants.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// CPUs the calling thread may run on, ascending.
pub fn allowed_cpus() -> Attempt<Vec<u32>> {
    allowed_cpus_of(0)
}

/// CPUs the thread may run on, ascending; 0 is the calling one.
pub(crate) fn allowed_cpus_of(thread: libc::pid_t) -> Attempt<Vec<u32>> {
    let mut set = CpuMask::default();
    let (size, words) = (size_of_val(&set.0), set.0.as_mut_ptr());
    // SAFETY: words points to size writable bytes.
    check("sched_getaffinity", unsafe { libc::sched_getaffinity(thread, size, words.cast()) })?;
    Ok((0..CpuMask::CPUS).filter(|&cpu| set.0[cpu as usize / 64] >> (cpu % 64) & 1 == 1).collect())
}

/// Lets the calling thread run on these CPUs only; on all when there are none.
pub(crate) fn pin(cpus: &[u32]) -> Attempt<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuMask::default();
    for &cpu in cpus.iter().filter(|&&cpu| cpu < CpuMask::CPUS) {
        set.0[cpu as usize / 64] |= 1 << (cpu % 64);
    }
    // SAFETY: set is readable for its size.
    check("sched_setaffinity", unsafe {
        libc::sched_setaffinity(0, size_of_val(&set.0), set.0.as_ptr().cast())
    })?;
    Ok(())
}

/// A mask wide enough for any kernel's `NR_CPUS`; as long words, as the kernel wants it.
struct CpuMask([u64; 128]);

impl CpuMask {
    const CPUS: u32 = 128 * 64;
}

impl Default for CpuMask {
    fn default() -> CpuMask {
        CpuMask([0; 128])
    }
}

/// Bytes of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: reads a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("every Linux has a page size")
}

/// CPUs the machine may have: present or to come.
pub fn possible_cpus() -> u32 {
    // SAFETY: reads a constant of the system.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    u32::try_from(count).unwrap_or(1).max(1)
}

/// Raises the limit of open files to at least `wanted`.
///
/// # Errors
/// Says how many are needed and allowed when the hard limit is lower; the limit is then that.
pub fn allow_open_files(wanted: u64) -> Attempt<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: limit is valid for the call.
    check("getrlimit", unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    if limit.rlim_cur >= wanted {
        return Ok(());
    }
    limit.rlim_cur = wanted.min(limit.rlim_max);
    // SAFETY: limit is valid for the call.
    check("setrlimit", unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })?;
    if limit.rlim_cur < wanted {
        let allowed = limit.rlim_max;
        let detail = format!("{wanted} open files are needed, {allowed} are allowed (ulimit -Hn)");
        return Err(Fault { call: "setrlimit", errno: Some(libc::EMFILE), detail: detail.into() });
    }
    Ok(())
}

/// Size of the file system that holds `path`, bytes.
pub(crate) fn file_system_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: all-zero is a valid statvfs, path and it live for the call.
    unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut stat) == 0)
            .then_some(stat.f_blocks as u64 * stat.f_frsize as u64)
    }
}

/// Bytes of the file system of `path` that this process may still fill.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: all-zero is a valid statvfs, path and it live for the call.
    unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        let known = libc::statvfs(path.as_ptr(), &raw mut stat) == 0 && stat.f_blocks > 0;
        known.then_some(stat.f_bavail as u64 * stat.f_frsize as u64)
    }
}

/// Whether a program started now may be laid out without address randomisation. Changes nothing.
pub(crate) fn may_fix_addresses() -> bool {
    // SAFETY: personality only reads and sets a word of the calling thread, put back at once.
    unsafe {
        let now = libc::personality(0xffff_ffff);
        let fixed = now | libc::ADDR_NO_RANDOMIZE;
        now >= 0 && libc::personality(fixed as libc::c_ulong) >= 0 && {
            libc::personality(now as libc::c_ulong);
            true
        }
    }
}

/// Name and version of the C library.
pub(crate) fn libc_version() -> String {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: answers a static NUL-terminated string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("glibc {}", version.to_string_lossy())
    }
    #[cfg(not(target_env = "gnu"))]
    {
        "musl".into()
    }
}

/// `uname -m` and `uname -r`.
pub(crate) fn architecture_and_release() -> (String, String) {
    // SAFETY: all-zero is a valid utsname; uname fills it with NUL-terminated strings.
    let name = unsafe {
        let mut name: libc::utsname = std::mem::zeroed();
        libc::uname(&raw mut name);
        name
    };
    let text = |field: &[libc::c_char]| -> String {
        let bytes: Vec<u8> = field.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (text(&name.machine), text(&name.release))
}
