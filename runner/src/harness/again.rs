//! A task that replaces its program by the same program, over and over: this executable with one
//! hidden argument. Counting needs no mapping then: the number is written into the counters' memory.

use std::ffi::{CString, OsString};
use std::os::fd::RawFd;

use super::fault::Fault;
use super::shared::Ticks;

/// First argument that makes the runner's executable call [`again_main`].
pub const AGAIN_ARGUMENT: &str = "__again";

const ITSELF: &std::ffi::CStr = c"/proc/self/exe";

/// Starts over in a new program for ever; one operation each time. Returns only when it cannot.
pub fn start_over(ticks: &Ticks) -> Fault {
    let (memory, place) = ticks.in_memory();
    // SAFETY: the descriptor is open; the next programs need it.
    if unsafe { libc::fcntl(memory, libc::F_SETFD, 0) } < 0 {
        return Fault::errno("fcntl");
    }
    replace(memory, place, 0);
    Fault::errno("execv")
}

/// One program of the chain: counts that it began and makes way for the next. Only the runner's
/// `main` calls it, for [`AGAIN_ARGUMENT`]. The process ends with an errno when it cannot go on.
pub fn again_main(arguments: impl Iterator<Item = OsString>) -> ! {
    let numbers: Vec<u64> = arguments.filter_map(|number| number.to_str()?.parse().ok()).collect();
    if let [memory, place, count] = numbers[..] {
        let count = count + 1;
        let bytes = count.to_ne_bytes();
        // SAFETY: the bytes live for the call; a wrong descriptor is an error and no harm.
        let written = unsafe {
            let (memory, place) = (memory as RawFd, place as libc::off_t);
            libc::pwrite(memory, bytes.as_ptr().cast(), bytes.len(), place)
        };
        if written == bytes.len() as isize {
            replace(memory as RawFd, place, count);
        }
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    // SAFETY: ends this process, which has nothing to clean up.
    unsafe { libc::_exit(errno) }
}

/// Returns only when the program cannot be replaced, with errno set.
fn replace(memory: RawFd, place: u64, count: u64) {
    let words = ["scalewatch-runner".to_owned(), AGAIN_ARGUMENT.to_owned()];
    let numbers = [memory.to_string(), place.to_string(), count.to_string()];
    let words: Vec<CString> = words
        .iter()
        .chain(&numbers)
        .map(|word| CString::new(word.as_bytes()).expect("no word of these has a NUL byte"))
        .collect();
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: NUL-terminated strings in a null-terminated list, which live for the call.
    unsafe { libc::execv(ITSELF.as_ptr(), pointers.as_ptr()) };
}
