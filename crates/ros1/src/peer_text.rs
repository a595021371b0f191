//! Checks and escapes texts of peers before they are kept or shown.

use std::borrow::Cow;

/// The longest name of a node, topic, service or type that is taken from a peer, in bytes.
pub const MAX_NAME_BYTES: usize = 1024;
/// The most bytes of a peer's text that are shown.
const MOST_SHOWN_BYTES: usize = 16 << 10;

/// A peer's text, made safe for a log or a terminal: control characters except line ends are
/// written as `\u{1b}`, and a text of more than 16 KiB is cut.
///
/// ```
/// assert_eq!(feros_ros1::shown("/talker"), "/talker");
/// assert_eq!(feros_ros1::shown("/a\u{1b}[2J"), "/a\\u{1b}[2J");
/// ```
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    cut(feros_wording::harmless_lines(beginning(text, MOST_SHOWN_BYTES)), text, MOST_SHOWN_BYTES)
}

/// A peer's name, made safe for a log or a terminal: like [`shown`], in one line of at most
/// [`MAX_NAME_BYTES`].
#[must_use]
pub fn shown_name(text: &str) -> Cow<'_, str> {
    cut(feros_wording::harmless(beginning(text, MAX_NAME_BYTES)), text, MAX_NAME_BYTES)
}

/// At most this many bytes of a text, in whole characters.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Appends a sign to the shown text if a part of the original is missing.
fn cut<'a>(shown: Cow<'a, str>, text: &str, most: usize) -> Cow<'a, str> {
    if text.len() <= most && shown.len() <= most {
        return shown;
    }
    Cow::Owned(format!("{}...", beginning(&shown, most)))
}

/// Whether a peer's name may be kept: not too long, and without invisible characters.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && !text.contains(feros_wording::is_unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(shown("a\nb\tc\u{7}\r"), "a\nb\tc\\u{7}\\u{d}");
        assert_eq!(shown_name("a\nb\u{202e}"), "a\\u{a}b\\u{202e}");
        assert!(is_name("/zwölf") && !is_name("/a\n") && !is_name(&"a".repeat(1025)));
    }

    #[test]
    fn long_texts_are_cut() {
        for text in ["a".repeat(1 << 20), "\u{1}".repeat(1 << 20), "ö".repeat(1 << 20)] {
            assert!(shown_name(&text).len() < MAX_NAME_BYTES + 16);
            assert!(shown(&text).len() < MOST_SHOWN_BYTES + 16);
        }
    }
}
