//! A control group for each task: its CPUs and an own account of memory, in whichever hierarchy
//! this system has.
//!
//! How it works: (1) one folder is made beside this process's own group, named for it, and in it
//! one for each task; (2) a task writes the CPUs it is pinned to into its group and joins; (3) the
//! folders go once the tasks are gone, or at the next start when this process was killed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::harness::{Attempt, Fault, allowed_cpus};

const PREFIX: &str = "scalewatch-";
/// Controllers a container needs.
const CONTROLLERS: [&str; 2] = ["cpuset", "memory"];

/// The groups of all tasks.
#[derive(Debug)]
pub(super) struct Groups {
    /// In version 1 one folder for each controller, in version 2 one for both.
    folders: Vec<PathBuf>,
    tasks: u32,
}

impl Groups {
    /// Makes a group for each task.
    ///
    /// # Errors
    /// [`Fault::unavailable`] where this user may not, or the controllers are not there.
    pub fn new(tasks: u32) -> Attempt<Groups> {
        let cannot = |e: io::Error| Fault::unavailable("control groups for containers", &e);
        let hierarchies = Hierarchy::of_this_process(Path::new("/")).map_err(cannot)?;
        let mut groups = Groups { folders: vec![], tasks };
        for hierarchy in &hierarchies {
            match hierarchy.make_folder() {
                Ok(folder) => groups.folders.push(folder),
                Err(error) => {
                    groups.remove();
                    return Err(cannot(error));
                }
            }
        }
        let made = groups.folders.iter().try_for_each(|folder| {
            (0..tasks).try_for_each(|task| fs::create_dir(folder.join(format!("task{task}"))))
        });
        made.map_err(|error| {
            groups.remove();
            cannot(error)
        })?;
        Ok(groups)
    }

    /// Puts the calling process into the group of `task`, with the CPUs it may use now.
    ///
    /// # Errors
    /// The write that failed, or that the process is not where it should be afterwards.
    pub fn join(&self, task: u32) -> Attempt<()> {
        let cpus: Vec<String> = allowed_cpus()?.iter().map(u32::to_string).collect();
        for folder in &self.folders {
            let group = folder.join(format!("task{task}"));
            let has_cpus = group.join("cpuset.cpus").exists();
            let joined = match has_cpus {
                true => inherit_memory_nodes(folder, &group)
                    .and_then(|()| fs::write(group.join("cpuset.cpus"), cpus.join(","))),
                false => Ok(()),
            };
            joined
                .and_then(|()| fs::write(group.join("cgroup.procs"), "0"))
                .map_err(|e| Fault::io("cgroup", &e))?;
        }
        self.check_joined(task)
    }

    fn check_joined(&self, task: u32) -> Attempt<()> {
        let groups =
            fs::read_to_string("/proc/self/cgroup").map_err(|e| Fault::io("cgroup", &e))?;
        let joined = |folder: &PathBuf| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let group = format!("{name}/task{task}");
            groups.lines().filter(|line| line.ends_with(&group)).count() >= self.folders.len()
        };
        match self.folders.iter().all(joined) {
            true => Ok(()),
            false => Err(Fault::wrong("cgroup", "the task is not in its control groups")),
        }
    }

    /// Removes them; for when no task is left.
    pub fn remove(&self) {
        for folder in &self.folders {
            remove_folder(folder, self.tasks);
        }
    }
}

/// Memory nodes must be named in version 1, and are taken from above in version 2.
fn inherit_memory_nodes(above: &Path, group: &Path) -> io::Result<()> {
    let file = "cpuset.mems";
    match fs::read_to_string(group.join("cgroup.controllers")) {
        Ok(_) => Ok(()),
        Err(_) => fs::write(group.join(file), fs::read_to_string(above.join(file))?),
    }
}

fn remove_folder(folder: &Path, tasks: u32) {
    for task in 0..tasks {
        let _ = fs::remove_dir(folder.join(format!("task{task}")));
    }
    let _ = fs::remove_dir(folder);
}

/// One mounted hierarchy, and where this process is in it.
#[derive(Debug, PartialEq, Eq)]
struct Hierarchy {
    mount: PathBuf,
    /// The group of this process, below the mount.
    own: PathBuf,
    unified: bool,
    /// Which of [`CONTROLLERS`] it is for.
    controllers: Vec<&'static str>,
}

impl Hierarchy {
    /// Those of version 1 that have the controllers, else the one of version 2.
    fn of_this_process(root: &Path) -> io::Result<Vec<Hierarchy>> {
        let mounts = fs::read_to_string(root.join("proc/self/mounts"))?;
        let groups = fs::read_to_string(root.join("proc/self/cgroup"))?;
        let mut found: Vec<Hierarchy> = vec![];
        for line in mounts.lines() {
            let [_, mount, kind, options, ..] = line.split(' ').collect::<Vec<_>>()[..] else {
                continue;
            };
            let names: Vec<&str> = options.split(',').collect();
            let old = || CONTROLLERS.into_iter().filter(|name| names.contains(name)).collect();
            let controllers: Vec<&str> = match kind {
                "cgroup" => old(),
                "cgroup2" => CONTROLLERS.to_vec(),
                _ => continue,
            };
            let Some(own) = group_of(&groups, kind == "cgroup2", &controllers) else { continue };
            let mount = root.join(mount.trim_start_matches('/'));
            found.push(Hierarchy { mount, own, unified: kind == "cgroup2", controllers });
        }
        let (unified, old): (Vec<_>, Vec<_>) = found.into_iter().partition(|h| h.unified);
        let in_old = old.iter().flat_map(|h| &h.controllers).count();
        match in_old {
            0 if !unified.is_empty() => Ok(unified.into_iter().take(1).collect()),
            n if n >= CONTROLLERS.len() => Ok(old),
            _ => Err(io::Error::new(ErrorKind::NotFound, "no hierarchy has cpuset and memory")),
        }
    }

    /// A folder for the tasks' groups, in the group of this process or the nearest one above that
    /// lets it.
    fn make_folder(&self) -> io::Result<PathBuf> {
        let own = self.mount.join(&self.own);
        // Within a container the path may be one of outside.
        let own = if own.is_dir() { own } else { self.mount.clone() };
        let mut first_error = None;
        for above in own.ancestors().take_while(|above| above.starts_with(&self.mount)) {
            remove_leftovers(above);
            let folder = above.join(format!("{PREFIX}{}", std::process::id()));
            match self.make(above, &folder) {
                Ok(()) => return Ok(folder),
                Err(error) => {
                    let _ = fs::remove_dir(&folder);
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| ErrorKind::NotFound.into()))
    }

    fn make(&self, above: &Path, folder: &Path) -> io::Result<()> {
        let enable = |group: &Path| {
            let wanted: Vec<String> = self.controllers.iter().map(|c| format!("+{c}")).collect();
            fs::write(group.join("cgroup.subtree_control"), wanted.join(" "))
        };
        if self.unified {
            enable(above)?;
            fs::create_dir(folder)?;
            return enable(folder);
        }
        fs::create_dir(folder)?;
        if self.controllers.contains(&"cpuset") {
            for file in ["cpuset.cpus", "cpuset.mems"] {
                let effective = above.join(file.replace("cpuset.", "cpuset.effective_"));
                let text = fs::read_to_string(effective)
                    .or_else(|_| fs::read_to_string(above.join(file)))?;
                fs::write(folder.join(file), text)?;
            }
        }
        Ok(())
    }
}

/// The group of this process in the hierarchy of these controllers, from `/proc/self/cgroup`.
fn group_of(groups: &str, unified: bool, controllers: &[&str]) -> Option<PathBuf> {
    groups.lines().find_map(|line| {
        let [number, names, path] = line.splitn(3, ':').collect::<Vec<_>>()[..] else {
            return None;
        };
        let here = match unified {
            true => number == "0",
            false => names.split(',').any(|name| controllers.contains(&name)),
        };
        here.then(|| PathBuf::from(path.trim_start_matches('/')))
    })
}

/// Removes the folders of runners that are dead; a group in use cannot be removed.
fn remove_leftovers(above: &Path) {
    let Ok(entries) = fs::read_dir(above) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(Ok(owner)) = owner.map(str::parse::<u32>) else { continue };
        if !Path::new(&format!("/proc/{owner}")).exists() {
            let groups = fs::read_dir(entry.path()).into_iter().flatten().flatten();
            groups.for_each(|group| drop(fs::remove_dir(group.path())));
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mounts: &str, groups: &str) -> io::Result<Vec<Hierarchy>> {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(root.path().join("proc/self")).expect("a folder");
        fs::write(root.path().join("proc/self/mounts"), mounts).expect("a file");
        fs::write(root.path().join("proc/self/cgroup"), groups).expect("a file");
        let mut found = Hierarchy::of_this_process(root.path())?;
        for hierarchy in &mut found {
            let mount = hierarchy.mount.strip_prefix(root.path()).expect("below the root");
            hierarchy.mount = mount.to_owned();
        }
        Ok(found)
    }

    const OLD: &str = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
                       cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n\
                       cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n";
    const UNIFIED: &str = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";

    #[test]
    fn old_hierarchies_are_used_where_they_have_the_controllers() {
        let groups = "4:memory:/a/b\n3:cpuset:/\n0::/\n";
        let found = found(&format!("{OLD}{UNIFIED}"), groups).expect("both are there");
        let places: Vec<_> = found.iter().map(|h| h.mount.join(&h.own)).collect();
        let expected = ["sys/fs/cgroup/cpuset", "sys/fs/cgroup/memory/a/b"].map(PathBuf::from);
        assert_eq!(places, expected);
    }

    #[test]
    fn the_unified_hierarchy_serves_where_there_is_no_other() {
        let found = found(UNIFIED, "0::/user.slice/session.scope\n").expect("it is there");
        assert_eq!(found.len(), 1);
        assert!(found[0].unified);
        assert_eq!(found[0].own, Path::new("user.slice/session.scope"));
    }

    #[test]
    fn without_the_controllers_there_are_no_groups() {
        let error = found("proc /proc proc rw 0 0\n", "").expect_err("there is nothing");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn leftovers_of_the_dead_go_and_folders_of_the_living_stay() {
        let above = tempfile::tempdir().expect("a temporary folder");
        let of = |owner: u32| above.path().join(format!("{PREFIX}{owner}"));
        // No process has this number: it is above the kernel's limit.
        let (dead, alive) = (of(u32::MAX), of(std::process::id()));
        fs::create_dir_all(dead.join("task0")).expect("a folder");
        fs::create_dir_all(&alive).expect("a folder");
        remove_leftovers(above.path());
        assert!(!dead.exists() && alive.exists());
    }
}
