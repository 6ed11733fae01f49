//! A badge: a label and a short message, to be shown in a README.

/// How the message is meant; its words say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// All is well.
    Good,
    /// Something is not.
    Bad,
    /// Nothing can be said yet.
    Unknown,
}

impl Tone {
    const fn color(self) -> &'static str {
        match self {
            Tone::Good => "#1a6b3a",
            Tone::Bad => "#b3261e",
            Tone::Unknown => "#575d64",
        }
    }
}

/// Width of a character on average, and of the space around a text, pixels.
const CHARACTER: usize = 7;
const AROUND: usize = 12;

/// The badge as SVG.
pub fn badge(label: &str, message: &str, tone: Tone) -> String {
    let width = |text: &str| text.chars().count() * CHARACTER;
    let (left, right) = (width(label) + AROUND, width(message) + AROUND);
    let (label_width, message_width) = (width(label), width(message));
    let (label_at, message_at) = (AROUND / 2, left + AROUND / 2);
    let (label, message) = (escaped(label), escaped(message));
    let color = tone.color();
    let all = left + right;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" \
         aria-label=\"{label}: {message}\"><title>{label}: {message}</title>\
         <rect width=\"{all}\" height=\"20\" rx=\"3\" fill=\"#1b1d20\"/>\
         <path d=\"M{left} 0h{inner}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{inner}z\" fill=\"{color}\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{label_at}\" y=\"14\" textLength=\"{label_width}\">{label}</text>\
         <text x=\"{message_at}\" y=\"14\" textLength=\"{message_width}\">{message}</text></g></svg>\n",
        inner = right - 3,
    )
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars().filter(|character| !character.is_control()) {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_says_in_words_what_its_colour_says_and_no_text_is_markup() {
        let badge = badge("linux/<b>\"&", "2 regressions", Tone::Bad);
        assert!(badge.contains("<title>linux/&lt;b&gt;&quot;&amp;: 2 regressions</title>"));
        assert!(badge.contains("#b3261e") && !badge.contains("<b>"));
        assert_eq!(badge.matches('<').count(), badge.matches('>').count());
    }
}
