//! A mount namespace for one task, in which its folder is a mount of its own. Where the user may
//! not have one, a user namespace comes first. All of it goes with the task.

use std::fs;
use std::ptr;

use crate::harness::{Attempt, Fault};

/// Puts the calling process into a namespace of its own and `folder` under a mount of its own.
///
/// # Errors
/// [`Fault::unavailable`] where the system gives no namespace; else the call that failed.
pub(super) fn enter(folder: &str) -> Attempt<()> {
    if unshare(libc::CLONE_NEWNS).is_err() {
        enter_user_namespace()?;
    }
    let (root, folder) = (c_string("/")?, c_string(folder)?);
    // SAFETY: all pointers are null or to strings that live for the calls.
    unsafe {
        let apart = libc::MS_REC | libc::MS_PRIVATE;
        mounted(libc::mount(ptr::null(), root.as_ptr(), ptr::null(), apart, ptr::null()))?;
        let (from, bind) = (folder.as_ptr(), libc::MS_BIND);
        mounted(libc::mount(from, from, ptr::null(), bind, ptr::null()))
    }
}

fn unshare(flags: libc::c_int) -> std::io::Result<()> {
    // SAFETY: changes what the calling process sees, no memory.
    match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// A user namespace with a mount namespace in it, in which the user is who he was.
fn enter_user_namespace() -> Attempt<()> {
    // SAFETY: neither call has arguments or can fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)
        .map_err(|e| Fault::unavailable("unshare of a user and a mount namespace", &e))?;
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|e| Fault::unavailable("map of the user namespace", &e))
    };
    write("setgroups", "deny".into())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}

fn mounted(answer: libc::c_int) -> Attempt<()> {
    match answer {
        0 => Ok(()),
        _ => Err(Fault::unavailable("mount", &std::io::Error::last_os_error())),
    }
}

fn c_string(path: &str) -> Attempt<std::ffi::CString> {
    std::ffi::CString::new(path).map_err(|_| Fault::wrong("mount", "a path has a NUL byte"))
}
