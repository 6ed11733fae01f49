//! Every fuzz target is this program under another name.
#![no_main]

#[path = "../entry.rs"]
mod entry;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static NAME: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::current_exe().expect("the program has a path");
    let name = path.file_stem().expect("the program has a name");
    name.to_string_lossy().into_owned()
});

fuzz_target!(|data: &[u8]| entry::run(&NAME, data));
