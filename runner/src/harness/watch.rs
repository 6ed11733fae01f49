//! Whether a window was disturbed: what else the machine did in it, against limits.

use std::fs;
use std::time::Duration;

use wire::Window;

use super::disturbance::{CpuTime, TICK_NS, Throttles, cpu_time, swapped};

/// Share of the machine's CPU time that a hypervisor may take.
const STEAL_LIMIT: f64 = 0.02;
/// Share of the machine's CPU time that others than the tasks may use.
const OTHERS_LIMIT: f64 = 0.10;
/// Shortest window that is judged: the kernel counts in ticks of 10 ms.
pub(crate) const SHORTEST: Duration = Duration::from_millis(100);

/// Watches the windows of one point.
pub(crate) struct Watch {
    throttles: Throttles,
    then: Marks,
}

/// What the kernel had counted at an edge.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    cpu: Option<CpuTime>,
    swapped: Option<u64>,
    throttled: Option<u64>,
}

impl Watch {
    /// Begins to watch here.
    pub fn start() -> Watch {
        let mut watch = Watch { throttles: Throttles::find(), then: Marks::default() };
        watch.restart();
        watch
    }

    /// What disturbed the window that ends now; none where nothing did or it is too short to tell.
    pub fn judge(&mut self, window: &Window) -> Option<String> {
        let then = self.then;
        self.restart();
        if window.dt_ns < SHORTEST.as_nanos() as i64 {
            return None;
        }
        self.then.against(&then, window.cpu_ns.iter().sum())
    }

    /// Begins the next window here.
    pub fn restart(&mut self) {
        self.then = self.marks();
    }

    fn marks(&self) -> Marks {
        let file = |path: &str| fs::read_to_string(path).ok();
        Marks {
            cpu: file("/proc/stat").and_then(|text| cpu_time(&text)),
            swapped: file("/proc/vmstat").and_then(|text| swapped(&text)),
            throttled: self.throttles.count(),
        }
    }
}

impl Marks {
    fn against(&self, then: &Marks, tasks_ns: u64) -> Option<String> {
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let mut why = vec![];
        if let Some((now, then)) = self.cpu.zip(then.cpu) {
            let total = now.total.saturating_sub(then.total).max(1) as f64;
            let steal = now.steal.saturating_sub(then.steal) as f64 / total;
            let busy = (now.busy.saturating_sub(then.busy) * TICK_NS).saturating_sub(tasks_ns);
            let others = busy as f64 / (total * TICK_NS as f64);
            let percent = |share: f64| (share * 100.0).round();
            if steal > STEAL_LIMIT {
                why.push(format!("the hypervisor took {} % of the CPU time", percent(steal)));
            }
            if others > OTHERS_LIMIT {
                why.push(format!("others used {} % of the CPU time", percent(others)));
            }
        }
        if let Some(pages) = more(self.swapped, then.swapped).filter(|pages| *pages > 0) {
            why.push(format!("{pages} pages were swapped"));
        }
        if let Some(times) = more(self.throttled, then.throttled).filter(|times| *times > 0) {
            why.push(format!("CPUs were slowed down for their heat {times} times"));
        }
        (!why.is_empty()).then(|| why.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(busy: u64, steal: u64, total: u64) -> Marks {
        Marks { cpu: Some(CpuTime { busy, steal, total }), ..Marks::default() }
    }

    #[test]
    fn a_window_is_disturbed_by_what_goes_beyond_a_limit_and_says_by_what() {
        let (quiet, then) = (marks(100, 0, 200), marks(0, 0, 0));
        assert_eq!(quiet.against(&then, 100 * TICK_NS), None);
        let words = marks(100, 10, 200).against(&then, 60 * TICK_NS);
        let expected = "the hypervisor took 5 % of the CPU time, others used 20 % of the CPU time";
        assert_eq!(words.as_deref(), Some(expected));
        let swapping = Marks { swapped: Some(12), throttled: Some(1), ..quiet };
        let then = Marks { swapped: Some(5), throttled: Some(0), ..then };
        let words = swapping.against(&then, 100 * TICK_NS).expect("it is disturbed");
        assert_eq!(words, "7 pages were swapped, CPUs were slowed down for their heat 1 times");
    }

    #[test]
    fn what_the_kernel_does_not_tell_disturbs_nothing() {
        assert_eq!(Marks::default().against(&Marks::default(), 5), None);
    }

    #[test]
    fn a_window_shorter_than_the_kernels_ticks_can_tell_is_not_judged() {
        let mut watch = Watch::start();
        watch.then = Marks { swapped: Some(0), ..Marks::default() };
        let window = Window { dt_ns: 20_000_000, ops: vec![0], cpu_ns: vec![0] };
        assert_eq!(watch.judge(&window), None);
    }
}
