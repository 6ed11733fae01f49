//! What a quiet machine would have set otherwise: files of sysfs and procfs, and the value wished.

use std::fs;
use std::path::{Path, PathBuf};

use super::text;

/// A setting that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub now: String,
    /// What it should say.
    pub wanted: String,
    /// What that does, in a few words.
    pub why: &'static str,
}

/// Files below the root, the value wished and why.
const FIXED: [(&str, &str, &str); 5] = [
    (
        "sys/devices/system/cpu/intel_pstate/no_turbo",
        "1",
        "turbo makes the frequency depend on heat and neighbours",
    ),
    (
        "sys/devices/system/cpu/cpufreq/boost",
        "0",
        "boost makes the frequency depend on heat and neighbours",
    ),
    ("proc/sys/kernel/randomize_va_space", "0", "a random layout moves page tables about"),
    ("proc/sys/kernel/numa_balancing", "0", "pages that move by themselves cost faults"),
    ("proc/sys/kernel/nmi_watchdog", "0", "it takes a counter and interrupts"),
];

/// What is not as it should be on the machine at `root`, `/` usually.
pub fn wishes(root: &Path, huge_pages: Option<&str>) -> Vec<Wish> {
    let mut all = governors(root);
    let fixed = FIXED.into_iter().map(|(file, wanted, why)| (root.join(file), wanted, why));
    all.extend(fixed.filter_map(|(path, wanted, why)| wish(path, wanted, why)));
    let enabled = root.join("sys/kernel/mm/transparent_hugepage/enabled");
    let why = "the policy asked for; huge pages change what a page fault is";
    all.extend(huge_pages.and_then(|policy| wish(enabled, policy, why)));
    all
}

fn wish(path: PathBuf, wanted: &str, why: &'static str) -> Option<Wish> {
    let now = current(&path)?;
    (now != wanted).then(|| Wish { path, now, wanted: wanted.into(), why })
}

fn governors(root: &Path) -> Vec<Wish> {
    let cpus = fs::read_dir(root.join("sys/devices/system/cpu")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = cpus.map(|cpu| cpu.path().join("cpufreq")).collect();
    files.sort();
    let one = |dir: PathBuf| {
        let offered = text(&dir.join("scaling_available_governors"))?;
        let performance = offered.split_whitespace().any(|word| word == "performance");
        let why = "the frequency follows the load";
        performance.then(|| wish(dir.join("scaling_governor"), "performance", why)).flatten()
    };
    files.into_iter().filter_map(one).collect()
}

/// What a setting is: its text, or the word in brackets where all choices are listed.
pub(super) fn current(path: &Path) -> Option<String> {
    let text = text(path)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    Some(chosen.map_or(text.clone(), |(word, _)| word.to_owned()))
}

impl Wish {
    /// Sets it; answers what was done, or why it could not be.
    pub(super) fn grant(&self) -> String {
        let (path, now, wanted) = (self.path.display(), &self.now, &self.wanted);
        match fs::write(&self.path, wanted) {
            Ok(()) => format!("{path}: {now} → {wanted}"),
            Err(error) => format!("{path} stays {now}: {error}"),
        }
    }

    /// As advice: `/sys/…/scaling_governor is powersave, better performance: …`.
    pub fn advice(&self) -> String {
        let (path, now, wanted) = (self.path.display(), &self.now, &self.wanted);
        format!("{path} is {now}, better {wanted}: {}", self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_what_the_machine_offers_and_has_otherwise() {
        let root = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(wishes(root.path(), Some("never")), []);
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let cpu = "sys/devices/system/cpu";
        for (n, governor) in [(0, "powersave"), (1, "performance")] {
            let dir = format!("{cpu}/cpu{n}/cpufreq");
            write(&format!("{dir}/scaling_available_governors"), "performance powersave\n");
            write(&format!("{dir}/scaling_governor"), governor);
        }
        write("proc/sys/kernel/randomize_va_space", "2\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
        let found: Vec<_> = wishes(root.path(), Some("never"))
            .into_iter()
            .map(|wish| (wish.now, wish.wanted))
            .collect();
        let pairs = [("powersave", "performance"), ("2", "0"), ("always", "never")];
        assert_eq!(found, pairs.map(|(now, wanted)| (now.to_owned(), wanted.to_owned())));
        assert_eq!(wishes(root.path(), None).len(), 2);
        assert_eq!(wishes(root.path(), Some("always")).len(), 2);
    }
}
