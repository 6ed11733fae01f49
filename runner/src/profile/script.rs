//! What perf recorded → folded stacks: `perf script` prints each sample, inferno sums them up.

use std::fs::File;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};

use super::Folded;
use crate::harness;

/// Folds a recording of perf.
///
/// # Errors
/// When perf cannot read it, or holds no sample.
pub fn fold(recording: &File) -> anyhow::Result<Folded> {
    let script = Command::new("perf")
        .args(["script", "-F", "comm,pid,tid,time,event,ip,sym,dso", "-i"])
        .arg(harness::path_of(recording))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .context("perf script cannot be started")?;
    ensure!(script.status.success(), "perf script cannot read what perf recorded");
    let folded = folded(&String::from_utf8_lossy(&script.stdout))?;
    ensure!(folded.samples() > 0, "perf took no sample: the tasks received no CPU time");
    Ok(folded)
}

fn folded(script: &str) -> anyhow::Result<Folded> {
    let mut text = Vec::new();
    let mut folder = Folder::from(Options::default());
    folder.collapse(trustworthy(script).as_bytes(), &mut text).context("perf script's output")?;
    Folded::parse(&String::from_utf8_lossy(&text))
}

/// Leaves out the user-space frames outside the innermost one. Frames are indented, innermost
/// first; kernels live in the upper half of the addresses.
fn trustworthy(script: &str) -> String {
    let mut kept = String::with_capacity(script.len());
    let mut in_user_space = false;
    for line in script.lines() {
        let is_frame = line.starts_with(|c: char| c.is_whitespace());
        let address = line.split_whitespace().next().map(|word| u64::from_str_radix(word, 16));
        let in_kernel = matches!(address, Some(Ok(address)) if address >> 63 == 1);
        if !(is_frame && in_user_space) {
            kept.push_str(line);
            kept.push('\n');
        }
        in_user_space = is_frame && (in_user_space || !in_kernel);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "\
scalewatch-runn  5125/5125  6115.075571:  cpu-clock: 
\tffffffff816cdb25 step_into ([kernel.kallsyms])
\tffffffff816ceafe link_path_walk ([kernel.kallsyms])
\tffffffff81000130 entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])
\t          108d6b open64 (/usr/lib/libc.so.6)
\t  746c2d00656c2d [unknown] ([unknown])

scalewatch-runn  5126/5126  6115.075571:  cpu-clock: 
\t          5584d6 spin (/usr/bin/scalewatch-runner)
\t    5584d6de6ae0 [unknown] ([unknown])

scalewatch-runn  5126/5126  6115.095571:  cpu-clock: 
\t          5584d9 spin (/usr/bin/scalewatch-runner)

";

    #[test]
    fn kernel_stacks_are_whole_and_user_space_is_its_innermost_frame() {
        let found = folded(SCRIPT).expect("three samples");
        let expected = "\
scalewatch-runn;open64;entry_SYSCALL_64_after_hwframe;link_path_walk;step_into 1
scalewatch-runn;spin 2
";
        assert_eq!(found.text(), expected);
    }

    #[test]
    fn a_recording_without_a_sample_folds_to_nothing() {
        assert_eq!(folded("").expect("no sample").samples(), 0);
    }
}
