//! What a search asks for and finds.

use uuid::Uuid;

use super::incident::Incident;
use super::{Machine, NamedRevision, Run};

/// Longest text that is searched for, characters.
pub const LONGEST: usize = 200;
/// Fewest hex digits that stand for a commit or a run: fewer are words.
const FEWEST_DIGITS: usize = 4;
/// Hex digits of a UUID.
const UUID_DIGITS: usize = 32;

/// What is looked for, read in every way it can be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// As typed, without white space around it.
    pub text: String,
    /// First digits of a commit, in lower case.
    pub commit: Option<String>,
    /// Smallest and largest id of a run that begins with these digits.
    pub runs: Option<(Uuid, Uuid)>,
    /// Number of an incident, with or without `#`.
    pub incident: Option<i64>,
    /// Words, each as the beginning of a word of a subject.
    pub words: Vec<String>,
}

impl Query {
    /// Reads what was typed; none where nothing was.
    pub fn parse(typed: &str) -> Option<Query> {
        let text = typed.trim();
        let digits = text.to_ascii_lowercase();
        let is_hex = |text: &str| {
            text.len() >= FEWEST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        (!text.is_empty()).then(|| Query {
            text: text.to_owned(),
            commit: is_hex(&digits).then(|| digits.clone()),
            runs: Some(digits.replace('-', "")).filter(|id| is_hex(id)).and_then(|id| range(&id)),
            incident: text.strip_prefix('#').unwrap_or(text).parse().ok().filter(|id| *id > 0),
            words: words.map(str::to_lowercase).collect(),
        })
    }
}

fn range(digits: &str) -> Option<(Uuid, Uuid)> {
    let filled = |with: &str| {
        let rest = UUID_DIGITS.checked_sub(digits.len())?;
        Uuid::try_parse(&(digits.to_owned() + &with.repeat(rest))).ok()
    };
    filled("0").zip(filled("f"))
}

/// A workload and how much there is of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundWorkload {
    /// Its id.
    pub workload: String,
    /// Its curves.
    pub curves: i64,
    /// Machines that have one.
    pub machines: i64,
}

/// Everything found, each list with the likeliest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// By number or by workload, newest first.
    pub incidents: Vec<Incident>,
    /// By first digits or by subject, newest first.
    pub revisions: Vec<NamedRevision>,
    /// By any part of the id.
    pub workloads: Vec<FoundWorkload>,
    /// By any part of the name, or the first digits of the id.
    pub machines: Vec<Machine>,
    /// By the first digits of the UUID, latest first.
    pub runs: Vec<Run>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(typed: &str) -> Query {
        Query::parse(typed).expect("something was typed")
    }

    #[test]
    fn what_is_typed_is_read_in_every_way_it_can_be_meant() {
        assert_eq!(Query::parse("  "), None);
        let digits = parsed(" 05C2C00f ");
        assert_eq!(digits.commit.as_deref(), Some("05c2c00f"));
        assert_eq!(digits.incident, None);
        let number = parsed("#12");
        assert_eq!((number.incident, number.commit, number.runs), (Some(12), None, None));
        assert_eq!(parsed("1234").incident, Some(1234), "a number may also be a commit");
        assert_eq!(parsed("1234").commit.as_deref(), Some("1234"));
        assert_eq!(parsed("-3").incident, None);
        assert_eq!(parsed("ext4: Take the_lock").words, ["ext4", "take", "the", "lock"]);
    }

    #[test]
    fn first_digits_of_a_run_are_a_range_of_ids() {
        let (first, last) = parsed("75a4ec49-f3").runs.expect("digits of a UUID");
        assert_eq!(first.to_string(), "75a4ec49-f300-0000-0000-000000000000");
        assert_eq!(last.to_string(), "75a4ec49-f3ff-ffff-ffff-ffffffffffff");
        let whole = "75a4ec49-f372-52d9-97fc-a4863c3e0659";
        let (first, last) = parsed(whole).runs.expect("a UUID");
        assert_eq!((first.to_string(), first), (whole.to_owned(), last));
        assert_eq!(parsed(&format!("{whole}0")).runs, None, "longer than a UUID");
    }
}
