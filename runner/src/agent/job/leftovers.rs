//! Processes that an agent which died left at work for its job. Each carries the job's lease in its
//! environment, so nothing else is ever taken for one of them.

use std::fs;
use std::time::Duration;

use crate::harness;

/// The variable that marks every process of a job.
pub const MARK: &str = "SCALEWATCH_LEASE";

/// How often is looked for processes that were born meanwhile.
const ROUNDS: u32 = 100;

/// Ends every process of the job with this lease, and their children with them.
pub fn end(lease: &str) {
    let mark = format!("{MARK}={lease}");
    for _ in 0..ROUNDS {
        let found = marked(&mark);
        if found.is_empty() {
            return;
        }
        found.into_iter().for_each(harness::kill);
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn marked(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own)
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn processes_of_the_job_are_ended_with_their_children_and_no_others() {
        let sleeper = |lease: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 600 & sleep 600"]).env(MARK, lease);
            command.spawn().unwrap()
        };
        let (ours, other) = ("3d0a-ours", "3d0a-other");
        let (mut mine, mut theirs) = (sleeper(ours), sleeper(other));
        end(ours);
        assert!(!mine.wait().unwrap().success());
        assert_eq!(marked(&format!("{MARK}={ours}")), [0; 0]);
        assert_eq!(theirs.try_wait().unwrap(), None, "another job's goes on");
        end(other);
        theirs.wait().unwrap();
    }
}
