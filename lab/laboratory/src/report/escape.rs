//! Keeps foreign text from being read as Markdown.

/// Escapes a text so that Markdown shows it literally, on one line.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => safe.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => {
                safe.extend(['\\', letter])
            }
            _ => safe.push(letter),
        }
    }
    safe
}
