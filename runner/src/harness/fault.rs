//! Why a task cannot go on: the call, its errno and a sentence.

use std::borrow::Cow;

/// A failed task or set-up. Becomes [`wire::Failure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What failed, e.g. `fallocate`.
    pub call: &'static str,
    /// errno, where a system call failed.
    pub errno: Option<i32>,
    /// A sentence for people.
    pub detail: Cow<'static, str>,
}

/// A value, or why there is none.
pub type Attempt<T> = Result<T, Fault>;

impl Fault {
    /// The system call `call` failed just now, with errno set.
    #[cold]
    pub fn errno(call: &'static str) -> Fault {
        Fault::io(call, &std::io::Error::last_os_error())
    }

    /// The system call `call` failed with this error.
    #[cold]
    pub fn io(call: &'static str, error: &std::io::Error) -> Fault {
        Fault { call, errno: error.raw_os_error(), detail: format!("{call}: {error}").into() }
    }

    /// What was asked for needs a privilege or a facility that is not to be had here.
    #[cold]
    pub fn unavailable(what: &str, error: &std::io::Error) -> Fault {
        let detail = format!("{what}: {error}").into();
        Fault { call: Fault::UNAVAILABLE, errno: error.raw_os_error(), detail }
    }

    /// The call that [`Fault::unavailable`] names.
    pub const UNAVAILABLE: &'static str = "unavailable";

    /// A result that must not be, in words.
    #[cold]
    pub fn wrong(call: &'static str, detail: impl Into<Cow<'static, str>>) -> Fault {
        Fault { call, errno: None, detail: detail.into() }
    }
}

/// The result of a system call that answers −1 on failure.
///
/// # Errors
/// The errno of `call`.
#[inline]
pub fn check(call: &'static str, result: i32) -> Attempt<i32> {
    if result < 0 { Err(Fault::errno(call)) } else { Ok(result) }
}
