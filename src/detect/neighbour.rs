//! Tells a change of the code from a neighbour on the machine. A metric against wall time that
//! moves while ops per CPU-second stands still has received another share of the CPU: because its
//! tasks sleep more (their own doing), or because others took the CPU (a neighbour's). Where the
//! kernel is under test only a hypervisor counts as a neighbour: other CPU time may be the kernel's.

use super::policy::{EXPLAINED_BY_OTHERS, LEAST_CPU_CHANGE};
use crate::model::step::{Change, CpuShare, Inequality, Neighbour};

/// Weighs the CPU time received and taken before and after a step that ops per CPU-second does not
/// show. None where no run recorded what others took: then nothing can be put down to them.
pub fn weigh(before: &[CpuShare], after: &[CpuShare], change: Change) -> Option<Neighbour> {
    let received = (median(before, received)?, median(after, received)?);
    let taken = (median(before, taken)?, median(after, taken)?);
    // A regression loses CPU time that others gain; an improvement the other way round.
    let sign = if change == Change::Regression { 1.0 } else { -1.0 };
    let lost = sign * (received.0 - received.1);
    let gained = sign * (taken.1 - taken.0);
    let inequalities = vec![
        line(
            "CPUs received that changed with the step",
            lost,
            "least that counts, of the CPUs received before",
            LEAST_CPU_CHANGE * received.0,
        ),
        line(
            "CPUs of others that changed the other way",
            gained,
            "half of the change of the CPUs received",
            EXPLAINED_BY_OTHERS * lost,
        ),
    ];
    let blamed = inequalities.iter().all(|line| line.holds);
    Some(Neighbour { blamed, words: words(blamed, received, taken), inequalities })
}

fn line(what: &str, left: f64, limit: &str, right: f64) -> Inequality {
    Inequality {
        what: format!("{what}, against {limit}"),
        left: Some(left),
        relation: ">".into(),
        right: Some(right),
        holds: left > right,
    }
}

fn words(blamed: bool, received: (f64, f64), taken: (f64, f64)) -> String {
    let conclusion = if blamed {
        "put down to others on the machine, no incident"
    } else {
        "others on the machine do not explain it"
    };
    format!(
        "ops per CPU-second did not move; the tasks received {:.2} CPUs before and {:.2} after \
         while others took {:.2} and {:.2}: {conclusion}",
        received.0, received.1, taken.0, taken.1
    )
}

fn received(share: &CpuShare) -> Option<f64> {
    (share.wall_ns > 0.0).then(|| share.received_ns / share.wall_ns)
}

fn taken(share: &CpuShare) -> Option<f64> {
    let taken = share.taken_ns?;
    (share.wall_ns > 0.0).then(|| taken / share.wall_ns)
}

fn median(shares: &[CpuShare], of: fn(&CpuShare) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = shares.iter().filter_map(of).collect();
    Some(stats::summary::summarise(stats::Sample::new(&values)?).median)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(received: f64, taken: Option<f64>) -> Vec<CpuShare> {
        let run = uuid::Uuid::nil();
        let share = |wall_ns: f64| CpuShare {
            run,
            wall_ns,
            received_ns: received * wall_ns,
            taken_ns: taken.map(|taken| taken * wall_ns),
        };
        vec![share(1e9), share(2e9), share(3e9)]
    }

    #[test]
    fn a_neighbour_that_takes_the_lost_cpu_time_is_blamed() {
        let verdict = weigh(&shares(2.0, Some(0.0)), &shares(1.4, Some(0.6)), Change::Regression);
        let verdict = verdict.expect("others were recorded");
        assert!(verdict.blamed, "{}", verdict.words);
    }

    #[test]
    fn tasks_that_sleep_more_are_not_excused_by_an_idle_machine() {
        let verdict = weigh(&shares(2.0, Some(0.1)), &shares(1.4, Some(0.1)), Change::Regression);
        assert!(!verdict.expect("others were recorded").blamed);
    }

    #[test]
    fn an_improvement_because_a_neighbour_left_is_put_down_to_him() {
        let verdict = weigh(&shares(1.4, Some(0.6)), &shares(2.0, Some(0.0)), Change::Improvement);
        assert!(verdict.expect("others were recorded").blamed);
    }

    #[test]
    fn nothing_is_put_down_to_others_that_were_not_recorded() {
        assert_eq!(weigh(&shares(2.0, None), &shares(1.4, None), Change::Regression), None);
    }
}
