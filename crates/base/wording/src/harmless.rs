//! Makes untrusted text harmless for a terminal. Names, types, values and reasons arrive from the
//! network or are read from files. A terminal does not show some characters but obeys them, and
//! other characters make it show text in the wrong place or order.

use std::borrow::Cow;

/// Whether a terminal obeys this character, shows neighbouring characters in another place because
/// of it, or shows nothing, so that two different names look the same. This is true for control
/// characters (C0, DEL, C1), for the marks, embeddings, overrides and isolates of right-to-left
/// text, for the separators of lines and paragraphs, and for characters without width: spaces,
/// fillers, annotations and tags (Unicode's property `Default_Ignorable_Code_Point`). The joiners
/// U+200C and U+200D and the variation selectors U+FE00 to U+FE0F, U+180B to U+180D and U+180F are
/// not among them, because words and emoji need them.
///
/// ```
/// assert!(feros_wording::is_unseen('\u{9b}') && feros_wording::is_unseen('\u{202e}'));
/// assert!(!feros_wording::is_unseen('ö'));
/// ```
#[must_use]
pub fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns untrusted text in a form that is safe as a part of one line. Each unseen character,
/// including line breaks, is written in the form `\u{1b}`.
///
/// ```
/// assert_eq!(feros_wording::harmless("/talker"), "/talker");
/// assert_eq!(feros_wording::harmless("/a\u{1b}[2J\n"), "/a\\u{1b}[2J\\u{a}");
/// ```
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Like [`harmless`], for text with untrusted parts, but line breaks and tabs are kept. All line
/// breaks must be from the caller, because an untrusted line could look like a line that Feros
/// prints. For untrusted line breaks, use [`harmless_block`].
#[must_use]
pub fn harmless_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// Like [`harmless_lines`], but for untrusted text with several lines. Each line after the first
/// line is indented, so that it cannot look like a line that Feros prints.
///
/// ```
/// let said = "no gear\r\nerror: no robot";
/// assert_eq!(feros_wording::harmless_block(said), "no gear\\u{d}\n  error: no robot");
/// ```
#[must_use]
pub fn harmless_block(text: &str) -> Cow<'_, str> {
    let shown = harmless_lines(text);
    let begins_as_ours = |line: &str| !line.is_empty() && !line.starts_with([' ', '\t']);
    if !shown.split('\n').skip(1).any(begins_as_ours) {
        return shown;
    }
    let mut block = String::with_capacity(shown.len() + 16);
    for (index, line) in shown.split('\n').enumerate() {
        if index > 0 {
            block.push_str(if begins_as_ours(line) { "\n  " } else { "\n" });
        }
        block.push_str(line);
    }
    Cow::Owned(block)
}

/// Writes each unseen character of a JSON document in the form `\u009b`. JSON itself does not
/// escape many of these characters, and they can occur only in its strings. Line breaks between
/// values are kept.
///
/// ```
/// assert_eq!(feros_wording::harmless_json("[\"\u{9b}0m\"]"), "[\"\\u009b0m\"]");
/// ```
#[must_use]
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    let is_kept = |character: char| matches!(character, '\n' | '\t');
    rewritten(json, is_kept, |out, character| {
        // In JSON, a character above U+FFFF takes two escapes.
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    rewritten(text, is_kept, |out, character| out.extend(character.escape_unicode()))
}

fn rewritten(
    text: &str,
    is_kept: impl Fn(char) -> bool,
    write: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    let is_bad = |character: char| is_unseen(character) && !is_kept(character);
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_bad(character) {
            true => write(&mut out, character),
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let kinds = ["\0", "\u{7}", "\u{8}", "\r", "\u{1b}[2J", "\u{7f}", "\u{85}", "\u{9b}0m"];
        let directions =
            ["\u{61c}", "\u{200e}", "\u{200f}", "\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}"];
        let separators = ["\u{2028}", "\u{2029}"];
        let without_width = [
            "\u{ad}",
            "\u{180e}",
            "\u{200b}",
            "\u{2060}",
            "\u{2064}",
            "\u{3164}",
            "\u{feff}",
            "\u{fff9}",
            "\u{e0041}",
        ];
        for text in kinds.into_iter().chain(directions).chain(separators).chain(without_width) {
            for shown in [harmless(text), harmless_lines(text)] {
                assert!(!shown.contains(is_unseen) && shown.starts_with("\\u{"), "{shown:?}");
            }
        }
        assert_eq!(harmless("a\r\nerror: b"), "a\\u{d}\\u{a}error: b");
        assert_eq!(harmless_lines("a\r\nb\tc"), "a\\u{d}\nb\tc");
        assert_eq!(harmless_block("x\n  | {\u{1b}}\n\nend"), "x\n  | {\\u{1b}}\n\n  end");
    }

    #[test]
    fn json_stays_json() {
        let json = "{\n  \"a\": \"\u{7f}\u{202e}\\u001b\"\n}";
        assert_eq!(harmless_json(json), "{\n  \"a\": \"\\u007f\\u202e\\u001b\"\n}");
        assert_eq!(harmless_json("\"\u{e0041}\""), "\"\\udb40\\udc41\"");
    }

    #[test]
    fn visible_characters_stay_unchanged() {
        for text in ["", "/zwölf", "日本語", "שלום", "a b", "👩\u{200d}🔧", "☂\u{fe0f}"]
        {
            assert!(matches!(harmless(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
