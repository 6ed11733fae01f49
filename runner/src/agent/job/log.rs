//! The end of a job's log, and how far `run` says it is there.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use wire::job_limits::LOG_BYTES;

/// The last bytes of a log that the service keeps, from the beginning of a line; none where there
/// is no log.
pub fn end_of(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let from = length.saturating_sub(LOG_BYTES as u64);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES as u64).read_to_end(&mut bytes).ok()?;
    let clean: String = String::from_utf8_lossy(&bytes)
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    // Replaced bytes are longer than they were.
    let mut start = clean.len().saturating_sub(LOG_BYTES);
    while !clean.is_char_boundary(start) {
        start += 1;
    }
    let end = &clean[start..];
    let whole_line = |end: &str| end.split_once('\n').map(|(_, rest)| rest.to_owned());
    match from > 0 || start > 0 {
        true => Some(whole_line(end).unwrap_or_else(|| end.to_owned())),
        false => Some(end.to_owned()),
    }
}

/// Points done and points in all of the last line that says so: `[3/8] file/open …`.
pub fn points_of(log: &str) -> Option<(u32, u32)> {
    log.lines().rev().find_map(|line| {
        let (done, rest) = line.strip_prefix('[')?.split_once('/')?;
        let (all, _) = rest.split_once(']')?;
        Some((done.parse().ok()?, all.parse().ok()?))
    })
}

/// The last line that says anything.
pub fn last_line(log: &str) -> Option<&str> {
    log.lines().rev().map(str::trim).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_log_begins_with_a_line_and_keeps_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        assert_eq!(end_of(&path), None);
        std::fs::write(&path, "one\ntwo\x1b[2J\n").unwrap();
        assert_eq!(end_of(&path).as_deref(), Some("one\ntwo[2J\n"));
        let lines: String = (0..9000).map(|n| format!("line {n} \u{e4}\n")).collect();
        std::fs::write(&path, &lines).unwrap();
        let end = end_of(&path).unwrap();
        assert!(end.len() <= LOG_BYTES && end.starts_with("line ") && lines.ends_with(&end));
        std::fs::write(&path, vec![0xff; 3 * LOG_BYTES]).unwrap();
        assert!(end_of(&path).unwrap().len() <= LOG_BYTES);
    }

    #[test]
    fn how_far_a_run_is_is_read_from_its_lines() {
        let log = "[1/8] file/open process 1 task: 4 k/s\n[2/8] file/open …\nno profile\n\n";
        assert_eq!(points_of(log), Some((2, 8)));
        assert_eq!(last_line(log), Some("no profile"));
        assert_eq!(points_of("[x/8] [1]\n"), None);
    }
}
