//! What a peer says of itself, before it is kept or a person sees it.

use std::borrow::Cow;

/// The longest name of a node, topic, service or type that is taken from a peer, in bytes.
pub const MAX_NAME_BYTES: usize = 1024;
/// Most bytes of a peer's text that are shown.
const MOST_SHOWN_BYTES: usize = 16 << 10;

/// A peer's text as it may go to a log or a terminal: control characters but the ends of lines are
/// written as `\u{1b}`, and what is longer than 16 KiB is cut.
///
/// ```
/// assert_eq!(feros_ros1::shown("/talker"), "/talker");
/// assert_eq!(feros_ros1::shown("/a\u{1b}[2J"), "/a\\u{1b}[2J");
/// ```
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    cleaned(text, MOST_SHOWN_BYTES, |character| character == '\n' || character == '\t')
}

/// A peer's name as it may go to a log or a terminal: as [`shown`], in one line of at most
/// [`MAX_NAME_BYTES`].
#[must_use]
pub fn shown_name(text: &str) -> Cow<'_, str> {
    cleaned(text, MAX_NAME_BYTES, |_| false)
}

fn cleaned(text: &str, most: usize, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_bad = |character: char| is_unseen(character) && !is_kept(character);
    if text.len() <= most && !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for character in text.chars() {
        if out.len() >= most {
            out.push_str("...");
            break;
        }
        match is_bad(character) {
            true => out.extend(character.escape_unicode()),
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Control characters, and those that change the direction of what follows.
fn is_unseen(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a peer's name may be kept: not too long, and without what nobody sees.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && !text.contains(is_unseen)
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
