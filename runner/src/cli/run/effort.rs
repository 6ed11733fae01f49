//! The arguments of `run` that say how much is done to get it right.

use std::path::Path;
use std::time::Duration;

use super::super::machine::put_back_left_over;
use super::super::{tell, values};
use crate::agent::StateDir;
use crate::harness::{Manner, Until};
use crate::machine::tune::Tuned;

#[derive(clap::Args)]
pub struct Effort {
    /// Go on until the mean, or of two sides the ratio, is known to ± this much, e.g. 1%, at 95 %
    #[arg(long, value_name = "PERCENT", value_parser = values::percent)]
    until: Option<f64>,
    /// Longest time that --until spends on a point, both sides together
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = values::duration)]
    budget: Duration,
    /// Most windows of a point that are thrown away because something disturbed them, and measured
    /// again [default: half the windows]
    #[arg(long, value_name = "N")]
    remeasure: Option<u32>,
    /// Set what makes the machine quiet (governor, turbo, address randomisation, NUMA balancing,
    /// NMI watchdog) as far as this user may, and put it back at any end
    #[arg(long)]
    tune: bool,
    /// With --tune: the policy of transparent huge pages
    #[arg(long, value_name = "POLICY", requires = "tune", value_parser = ["always", "madvise", "never"])]
    huge_pages: Option<String>,
    /// Profile the tasks of each point by perf, for some time after its windows
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true,
          default_missing_value = "2s", value_parser = values::duration)]
    profile: Option<Duration>,
    /// Do not measure the controls before and after
    #[arg(long)]
    pub no_controls: bool,
}

impl Effort {
    /// Puts back what a killed run left tuned, then tunes where that is asked for. What was done is
    /// said on standard error.
    ///
    /// # Errors
    /// When another run has tuned this machine, or when old values cannot be kept safely.
    pub fn prepare_machine(&self, state: &StateDir) -> anyhow::Result<Option<Tuned>> {
        put_back_left_over(state)?;
        if !self.tune {
            return Ok(None);
        }
        let (policy, runner) = (self.huge_pages.as_deref(), Path::new("/proc/self/exe"));
        let tuned = Tuned::set(Path::new("/"), state.path()?, policy, runner)?;
        tuned.remarks.iter().for_each(|remark| tell(remark));
        Ok(Some(tuned))
    }

    /// When a point is known well enough.
    pub fn until(&self) -> Option<Until> {
        self.until.map(|half_width| Until { half_width, budget: self.budget })
    }

    /// How a point of so many windows is measured; `until` is none where pairs are counted instead.
    pub fn manner(&self, windows: u32, until: Option<Until>) -> Manner {
        let remeasure = self.remeasure.unwrap_or(windows.div_ceil(2));
        Manner { remeasure, until, profile: self.profile, ..Manner::default() }
    }
}
