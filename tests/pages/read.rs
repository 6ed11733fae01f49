//! A page as its reader has it: visible text and links.

/// What an HTML page shows.
#[derive(Debug)]
pub struct Read {
    /// Visible text, white space folded.
    pub text: String,
    /// Addresses of links, in order.
    pub links: Vec<String>,
}

/// Reads a page.
pub fn read(html: &str) -> Read {
    let mut text = String::new();
    let mut links = Vec::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text += &rest[..open];
        let close = rest[open..].find('>').expect("every tag ends") + open;
        let tag = &rest[open + 1..close];
        if let Some(address) = tag.strip_prefix("a ").and_then(|tag| attribute(tag, "href")) {
            links.push(decoded(address));
        }
        rest = &rest[close + 1..];
        if tag.starts_with("title") {
            rest = &rest[rest.find("</title>").expect("a title ends")..];
        } else if !matches!(tag.trim_start_matches('/'), t if t.starts_with("strong") || t == "code")
        {
            text.push(' ');
        }
    }
    let text = decoded(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    Read { text, links }
}

/// The value of an attribute of a tag.
pub fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!("{name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

fn decoded(text: &str) -> String {
    let mut plain = text.to_owned();
    for (entity, character) in [
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ] {
        plain = plain.replace(entity, character);
    }
    plain.replace("&#38;", "&").replace("&amp;", "&")
}
