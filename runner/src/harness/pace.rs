//! How windows come about: by time, or as rounds of fixed work. What is done with them is the same.

use std::time::Duration;

use wire::Window;

use super::fault::Attempt;
use super::job::Job;
use super::message::Message;
use super::spawn::{Stage, Tasks};
use super::tally::Tally;
use super::window::Clocks;

/// Where messages for the parent go.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&Message);

/// A point at work.
pub(crate) struct Scene<'a> {
    pub job: &'a Job,
    pub stage: &'a Stage,
    pub tasks: &'a Tasks,
    pub clocks: Clocks,
}

/// Lets the tasks work and says what they did.
pub(crate) trait Pace {
    /// Waits until the tasks stand where the next window can begin.
    ///
    /// # Errors
    /// A task that failed or died.
    fn gather(&mut self) -> Attempt<()>;

    /// Begins the next window here and not where the last one ended.
    ///
    /// # Errors
    /// A task that is gone.
    fn restart(&mut self) -> Attempt<()>;

    /// The next window; `length` is for those who have none of their own, `tell` gets a sign of life
    /// where it lasts long.
    ///
    /// # Errors
    /// A task that failed or died.
    fn window(&mut self, length: Duration, tell: Tell<'_>) -> Attempt<(Window, Tally)>;

    /// What else the machine did in the window just taken, beyond the limits.
    fn what_disturbed(&mut self, window: &Window) -> Option<String>;

    /// Whether tasks do between two windows what belongs to none.
    fn is_apart(&self) -> bool;

    /// Largest time so far between the first and the last task's start.
    fn start_skew_ns(&self) -> u64;

    /// Lets the tasks work on for at most so long, measuring nothing. Waits for no child process.
    fn go_on(&mut self, patience: Duration);
}
