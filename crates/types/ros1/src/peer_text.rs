//! Checks and escapes text from other nodes before it is stored or shown.

use std::borrow::Cow;

/// The length limit of the names of nodes, topics, services and types from other nodes, in bytes.
pub const MAX_NAME_BYTES: usize = 1024;
/// The limit on the part of another node's text that is shown, in bytes.
const MOST_SHOWN_BYTES: usize = 16 << 10;

/// Makes text from another node safe for a log or a terminal. Control characters except line ends
/// are written in the form `\u{1b}`, and text of more than 16 KiB is cut.
///
/// ```
/// assert_eq!(feros_ros1::shown("/talker"), "/talker");
/// assert_eq!(feros_ros1::shown("/a\u{1b}[2J"), "/a\\u{1b}[2J");
/// ```
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    cut(feros_wording::harmless_lines(beginning(text, MOST_SHOWN_BYTES)), text, MOST_SHOWN_BYTES)
}

/// Makes a name from another node safe for a log or a terminal. Like [`shown`], but the result is
/// one line of at most [`MAX_NAME_BYTES`].
#[must_use]
pub fn shown_name(text: &str) -> Cow<'_, str> {
    cut(feros_wording::harmless(beginning(text, MAX_NAME_BYTES)), text, MAX_NAME_BYTES)
}

/// Returns the beginning of a text. It consists of whole characters, and has at most `most` bytes.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Cuts the shown text and appends `...` if a part of the original is missing.
fn cut<'a>(shown: Cow<'a, str>, text: &str, most: usize) -> Cow<'a, str> {
    if text.len() <= most && shown.len() <= most {
        return shown;
    }
    Cow::Owned(format!("{}...", beginning(&shown, most)))
}

/// Whether a name from another node may be stored, which means that it is not too long and has no
/// invisible characters.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && !text.contains(feros_wording::is_unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_peers_are_escaped() {
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
