//! AIM's jobs about names: looking up and making files in a tree, links, and directories.

use std::fs::{self, File};

use super::{Desk, shuffle};
use crate::harness::{Attempt, Fault, Ticks};

/// The tree: 15 directories of 5 files, three deep.
const TREE: &str = "sources";
const DIRECTORIES: u32 = 15;
const FILES: u32 = 5;

fn directory(nth: u32) -> String {
    match nth % 3 {
        0 => format!("{TREE}/a{nth}"),
        1 => format!("{TREE}/a{}/b{nth}", nth - 1),
        _ => format!("{TREE}/a{}/b{}/c{nth}", nth - 2, nth - 1),
    }
}

fn paths(name: impl Fn(u32) -> String) -> Vec<String> {
    let in_directory =
        |nth| (0..FILES).map(move |file| (nth, file)).map(|(nth, file)| (directory(nth), file));
    (0..DIRECTORIES)
        .flat_map(in_directory)
        .map(|(directory, file)| format!("{directory}/{}", name(file)))
        .collect()
}

/// Makes the tree that all tasks look names up in.
pub(super) fn make_tree() -> Attempt<()> {
    for nth in 0..DIRECTORIES {
        fs::create_dir_all(directory(nth)).map_err(|e| Fault::io("mkdir", &e))?;
    }
    let mut all = paths(|file| format!("file{file}")).into_iter();
    all.try_for_each(|path| File::create(path).map(drop).map_err(|e| Fault::io("open", &e)))
}

/// Looks every file of the tree up, then creates, closes and unlinks as many of the task's own.
pub(super) fn sources(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut there = paths(|file| format!("file{file}"));
    let mut own = paths(|file| format!("own{}.{file}", desk.task));
    shuffle(&mut there, &mut desk.random);
    shuffle(&mut own, &mut desk.random);
    for path in &there {
        fs::metadata(path).map_err(|e| Fault::io("stat", &e))?;
        ticks.tick();
    }
    for path in &own {
        File::create_new(path).map_err(|e| Fault::io("creat", &e))?;
        fs::remove_file(path).map_err(|e| Fault::io("unlink", &e))?;
        ticks.tick();
    }
    Ok(())
}

const LINKS: u32 = 7;
const TURNS: u32 = 9;

/// A file and seven links to it; each link is taken away and made again nine times.
pub(super) fn links(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let file = format!("link{}", desk.task);
    let links: Vec<String> = (0..LINKS).map(|nth| format!("{file}.{nth}")).collect();
    let link = |name| fs::hard_link(&file, name).map_err(|e| Fault::io("link", &e));
    let unlink = |name: &str| fs::remove_file(name).map_err(|e| Fault::io("unlink", &e));
    File::create_new(&file).map_err(|e| Fault::io("creat", &e))?;
    links.iter().try_for_each(link)?;
    for _ in 0..TURNS {
        for name in &links {
            unlink(name)?;
            link(name)?;
            ticks.tick();
        }
    }
    links.iter().chain([&file]).try_for_each(|name| unlink(name))
}

/// Directories made, listed and removed.
pub(super) fn directories(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let root = format!("dirs{}", desk.task);
    fs::create_dir(&root).map_err(|e| Fault::io("mkdir", &e))?;
    for nth in 0..FILES {
        let path = format!("{root}/{nth}");
        fs::create_dir(&path).map_err(|e| Fault::io("mkdir", &e))?;
        let listed = fs::read_dir(&root).map_err(|e| Fault::io("opendir", &e))?.count();
        if listed != nth as usize + 1 {
            return Err(Fault::wrong("readdir", format!("{listed} entries after {}", nth + 1)));
        }
    }
    for nth in 0..FILES {
        fs::remove_dir(format!("{root}/{nth}")).map_err(|e| Fault::io("rmdir", &e))?;
    }
    fs::remove_dir(&root).map_err(|e| Fault::io("rmdir", &e))?;
    ticks.tick();
    Ok(())
}
