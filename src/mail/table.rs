//! Text of a mail: LKP's two-column table, prose wrapped below 78 columns, commands that can be
//! pasted.

use std::collections::BTreeMap;

use super::section::{Row, Section};
use crate::detect::levels::Level;
use crate::format;

/// Columns of prose, short enough to be quoted twice.
const WIDTH: usize = 76;

/// Prose broken at spaces; a word longer than a line stands alone.
pub fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Text from outside on one line: no control character survives, white space is folded.
pub fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Our signs as every terminal and archive has them.
pub fn ascii(text: &str) -> String {
    text.replace('→', "->").replace('−', "-").replace('±', "+-").replace(" %", "%")
}

/// `at 1 task`, `at 2 and 4 tasks`, `at 1, 2 and 4 tasks`; `up to 64 tasks` of what all of them
/// together say.
pub fn places(tasks: &[i32], derived: bool) -> String {
    match tasks {
        [] => String::new(),
        [.., last] if derived => format!("up to {last} tasks"),
        [1] => "at 1 task".into(),
        [one] => format!("at {one} tasks"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(ToString::to_string).collect();
            format!("at {} and {last} tasks", most.join(", "))
        }
    }
}

/// The command that measures these points again.
pub fn reproduce(workload: &str, parameters: &BTreeMap<String, String>, tasks: &[i32]) -> String {
    let tasks: Vec<String> = tasks.iter().map(ToString::to_string).collect();
    let mut command =
        format!("scalewatch-runner run {} --tasks {}", quoted(workload), tasks.join(","));
    for (name, value) in parameters {
        if name == "mode" {
            command += &format!(" --mode {}", quoted(value));
        } else {
            command += &format!(" -p {}", quoted(&format!("{name}={value}")));
        }
    }
    command
}

/// As one word for a shell.
fn quoted(word: &str) -> String {
    let word = one_line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// LKP's table: value and deviation before, change, value and deviation after, key.
pub fn lkp(section: &Section, good: &str, bad: &str) -> String {
    let cut = |commit: &str, most: usize| commit.chars().take(most).collect::<String>();
    let mut text = format!("{:<16} {}\n", cut(good, 16), cut(bad, 27));
    text += "---------------- ---------------------------\n";
    text += "         %stddev     %change         %stddev\n";
    text += "             \\          |                \\\n";
    for row in &section.rows {
        text += &line(section, row);
    }
    if section.more_rows > 0 {
        text += &format!("  and {} more on the page\n", section.more_rows);
    }
    text
}

fn line(section: &Section, row: &Row) -> String {
    format!(
        "{}{:>11} {}  {}.{} {}\n",
        level(row.levels.before),
        percent(row.levels.percent),
        level(row.levels.after),
        one_line(&section.workload),
        one_line(&row.step.metric),
        places(&[row.step.tasks], row.step.derived)
    )
}

fn level(level: Level) -> String {
    let noise = level.noise_percent.map_or(String::new(), |n| format!(" ± {n:>2}%"));
    format!("{:>10}{noise:<6}", value(level.mean))
}

/// As LKP prints values: two decimals below 1000, four digits above 10⁸ and below 0.1.
pub fn value(value: f64) -> String {
    let size = value.abs();
    if size > 1e8 || (size > 0.0 && size < 0.1) {
        let text = format!("{value:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        let power: i32 = power.parse().unwrap_or(0);
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", power.abs());
    }
    if size < 1000.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// The change as LKP prints it; a change from 0 has no percentage.
pub fn percent(percent: Option<f64>) -> String {
    percent.map_or("from 0".into(), |percent| format!("{percent:+.1}%"))
}

/// Change of a ratio in the text of a mail, where the minus is one that every terminal has.
pub fn ascii_change(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0)
}

/// How many runs stand behind the table.
pub fn runs(section: &Section) -> String {
    let most = |side: fn(&Row) -> usize| section.rows.iter().map(side).max().unwrap_or(0);
    let before = most(|row| row.levels.before.runs);
    let after = most(|row| row.levels.after.runs);
    format!("{} before, {} after", format::count(before, "run"), format::count(after, "run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_long_words_stand_alone() {
        let long = "x".repeat(100);
        let text = wrapped(&format!("{} {long} end", "word ".repeat(40)));
        let (too_long, fitting): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.len() > WIDTH);
        assert_eq!(too_long, [long.as_str()]);
        assert_eq!(fitting.join(" ").split_whitespace().count(), 41);
    }

    #[test]
    fn text_from_outside_stays_on_its_line() {
        assert_eq!(one_line("fix it\r\nBcc: all@example.org\t!"), "fix it Bcc: all@example.org !");
    }

    #[test]
    fn the_command_quotes_what_a_shell_would_read() {
        let parameters = BTreeMap::from([
            ("dir".to_owned(), "/tmp/a b; rm -rf '$HOME'".to_owned()),
            ("mode".to_owned(), "process".to_owned()),
        ]);
        assert_eq!(
            reproduce("file/open", &parameters, &[1, 2]),
            r"scalewatch-runner run file/open --tasks 1,2 -p 'dir=/tmp/a b; rm -rf '\''$HOME'\''' --mode process"
        );
    }

    #[test]
    fn values_are_printed_as_lkp_prints_them() {
        assert_eq!(value(493_145.2), "493145");
        assert_eq!(value(0.98), "0.98");
        assert_eq!(value(2.5e9), "2.5e+09");
        assert_eq!(value(0.0123), "1.23e-02");
        assert_eq!(percent(Some(-21.34)), "-21.3%");
        assert_eq!(percent(None), "from 0");
    }
}
