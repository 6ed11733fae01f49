//! Tables of plain text: blanks between columns, nothing at the ends of lines.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table, presets};

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    name: String,
    number: bool,
}

/// A column of words.
pub fn words(name: impl Into<String>) -> Head {
    Head { name: name.into(), number: false }
}

/// A column of figures, which stand right.
pub fn number(name: impl Into<String>) -> Head {
    Head { name: name.into(), number: true }
}

/// The table, one line a row, indented by two blanks.
pub fn render(heads: &[Head], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let aligned = |(text, head): (String, &Head)| {
        let side = if head.number { CellAlignment::Right } else { CellAlignment::Left };
        Cell::new(text).set_alignment(side)
    };
    table.set_header(heads.iter().map(|head| aligned((head.name.clone(), head))));
    for row in rows {
        table.add_row(row.into_iter().zip(heads).map(aligned));
    }
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, " {}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_right_words_left_and_lines_end_without_blanks() {
        let text = render(
            &[number("tasks"), number("ops/s"), words("note")],
            vec![
                vec!["1".into(), "9.64".into(), "a".into()],
                vec!["16".into(), "103 k".into(), String::new()],
            ],
        );
        assert_eq!(text, "  tasks  ops/s  note\n      1   9.64  a\n     16  103 k\n");
    }
}
