//! Writes dynamic messages as YAML, exactly in the form in which `ros2 topic echo`, and so PyYAML,
//! prints them. The only exceptions are the line separators U+0085, U+2028 and U+2029, which are
//! escaped here.

use std::fmt::Write as _;

use feros_interface::python_float;

use super::path::Selected;
use super::print::{PrintOptions, Shown, show};
use super::value::DynamicMessage;

impl DynamicMessage {
    /// Writes the message as a YAML mapping that ends with a line break.
    #[must_use]
    pub fn to_yaml(&self, options: &PrintOptions) -> String {
        finish(options, |out| write_top(out, Shown::Message(self), options))
    }
}

impl Selected<'_> {
    /// Writes the selected part as YAML that ends with a line break.
    #[must_use]
    pub fn to_yaml(&self, options: &PrintOptions) -> String {
        finish(options, |out| write_top(out, show(*self, options), options))
    }
}

fn finish(options: &PrintOptions, write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    if options.flow_style || !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

fn write_top(out: &mut String, shown: Shown<'_>, options: &PrintOptions) {
    match shown {
        shown if options.flow_style => write_flow(out, shown, 0, options),
        Shown::Message(message) if !message.values().is_empty() => {
            write_fields(out, message, 0, options)
        }
        Shown::Elements(elements) => write_list(out, elements.iter(options), 0, options),
        shown => write_inline(out, shown, 0),
    }
}

/// Writes the fields of a message at an indentation. The first field is written on the current
/// line.
fn write_fields(out: &mut String, message: &DynamicMessage, indent: usize, options: &PrintOptions) {
    for (position, (field, value)) in message.fields().enumerate() {
        if position > 0 {
            push_blanks(out, indent);
        }
        out.push_str(field.name());
        out.push(':');
        match show(Selected { value: value.as_ref(), field }, options) {
            Shown::Message(message) if !message.values().is_empty() => {
                out.push('\n');
                push_blanks(out, indent + 2);
                write_fields(out, message, indent + 2, options);
            }
            Shown::Elements(elements) if elements.iter(options).next().is_some() => {
                out.push('\n');
                push_blanks(out, indent);
                write_list(out, elements.iter(options), indent, options);
            }
            shown => {
                out.push(' ');
                write_inline(out, shown, indent);
                out.push('\n');
            }
        }
    }
}

fn write_list<'a>(
    out: &mut String,
    elements: impl Iterator<Item = Shown<'a>>,
    indent: usize,
    options: &PrintOptions,
) {
    let mut is_empty = true;
    for element in elements {
        if !is_empty {
            push_blanks(out, indent);
        }
        is_empty = false;
        out.push_str("- ");
        match element {
            Shown::Message(message) if !message.values().is_empty() => {
                write_fields(out, message, indent + 2, options);
            }
            element => {
                write_inline(out, element, indent);
                out.push('\n');
            }
        }
    }
    if is_empty {
        out.push_str("[]\n");
    }
}

/// Writes a value that fits on the line of its key or dash: a scalar, or an empty message or list.
fn write_inline(out: &mut String, shown: Shown<'_>, indent: usize) {
    match shown {
        Shown::Message(_) => out.push_str("{}"),
        Shown::Elements(_) => out.push_str("[]"),
        shown => write_scalar(out, shown, indent, false),
    }
}

/// Writes a value in flow style. Strings with line breaks still take several lines, which must be
/// indented.
fn write_flow(out: &mut String, shown: Shown<'_>, indent: usize, options: &PrintOptions) {
    match shown {
        Shown::Message(message) => {
            out.push('{');
            for (position, (field, value)) in message.fields().enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                out.push_str(field.name());
                out.push_str(": ");
                write_flow(
                    out,
                    show(Selected { value: value.as_ref(), field }, options),
                    indent + 2,
                    options,
                );
            }
            out.push('}');
        }
        Shown::Elements(elements) => {
            out.push('[');
            for (position, element) in elements.iter(options).enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                write_flow(out, element, indent + 2, options);
            }
            out.push(']');
        }
        shown => write_scalar(out, shown, indent, true),
    }
}

fn write_scalar(out: &mut String, shown: Shown<'_>, indent: usize, in_flow: bool) {
    // Writing to a `String` cannot fail.
    let _ = match shown {
        Shown::Bool(value) => write!(out, "{value}"),
        Shown::Signed(value) => write!(out, "{value}"),
        Shown::Unsigned(value) => write!(out, "{value}"),
        Shown::Float(value) => {
            write_float(out, value);
            Ok(())
        }
        Shown::Byte(value) => {
            write_text(out, char::from(value).encode_utf8(&mut [0; 4]), indent, in_flow);
            Ok(())
        }
        Shown::Text(text) => {
            write_text(out, &text, indent, in_flow);
            Ok(())
        }
        Shown::Message(_) | Shown::Elements(_) => Ok(()),
    };
}

fn write_float(out: &mut String, value: f64) {
    if value.is_nan() {
        out.push_str(".nan");
    } else if value.is_infinite() {
        out.push_str(if value < 0.0 { "-.inf" } else { ".inf" });
    } else {
        let text = python_float(value);
        // YAML 1.1 reads `1e+17` as a string.
        match text.split_once('e') {
            Some((mantissa, exponent)) if !mantissa.contains('.') => {
                out.push_str(&format!("{mantissa}.0e{exponent}"));
            }
            _ => out.push_str(&text),
        }
    }
}

fn push_blanks(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

fn write_text(out: &mut String, text: &str, indent: usize, in_flow: bool) {
    let look = Look::of(text);
    if look.may_be_plain(text, in_flow) {
        out.push_str(text);
    } else if look.may_be_single_quoted() {
        write_single_quoted(out, text, indent);
    } else {
        write_double_quoted(out, text);
    }
}

/// The properties of a string that decide how it may be written.
#[derive(Default)]
struct Look {
    has_break: bool,
    has_special: bool,
    has_outer_blank: bool,
    has_break_beside_blank: bool,
    has_flow_indicator: bool,
    has_block_indicator: bool,
}

impl Look {
    fn of(text: &str) -> Self {
        let mut look = Self::default();
        let is_blank =
            |c: Option<char>| c.is_none_or(|c| matches!(c, ' ' | '\n' | '\t' | '\r' | '\0'));
        if text.starts_with("---") || text.starts_with("...") {
            look.has_block_indicator = true;
            look.has_flow_indicator = true;
        }
        let mut before: Option<char> = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let after = characters.peek().copied();
            let is_first = before.is_none();
            let (flow, block) = match character {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
                | '%' | '@' | '`'
                    if is_first =>
                {
                    (true, true)
                }
                '?' if is_first => (true, is_blank(after)),
                '-' if is_first => (is_blank(after), is_blank(after)),
                ',' | '?' | '[' | ']' | '{' | '}' => (true, false),
                ':' => (true, is_blank(after)),
                '#' => (is_blank(before), is_blank(before)),
                _ => (false, false),
            };
            look.has_flow_indicator |= flow;
            look.has_block_indicator |= block;
            look.has_break |= character == '\n';
            look.has_special |= !is_printable(character);
            let is_outer = is_first || after.is_none();
            look.has_outer_blank |= is_outer && matches!(character, ' ' | '\n');
            look.has_break_beside_blank |=
                matches!((before, character), (Some(' '), '\n') | (Some('\n'), ' '));
            before = Some(character);
        }
        look
    }

    fn may_be_plain(&self, text: &str, in_flow: bool) -> bool {
        let has_indicator =
            if in_flow { self.has_flow_indicator } else { self.has_block_indicator };
        !(has_indicator
            || self.has_break
            || self.has_special
            || self.has_outer_blank
            || means_something_else(text))
    }

    fn may_be_single_quoted(&self) -> bool {
        !(self.has_special || self.has_break_beside_blank)
    }
}

fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether YAML 1.1 reads the unquoted text as something other than a string.
fn means_something_else(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_word_of_one_case = text == lower || text == text.to_ascii_uppercase() || {
        let mut characters = text.chars();
        characters.next().is_some_and(|c| c.is_ascii_uppercase())
            && characters.all(|c| !c.is_ascii_uppercase())
    };
    match lower.as_str() {
        "" | "~" | "=" | "<<" => return true,
        "yes" | "no" | "true" | "false" | "on" | "off" | "null" => return is_word_of_one_case,
        _ => {}
    }
    looks_like_integer(text) || looks_like_float(text) || looks_like_date(text)
}

fn looks_like_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all = |digits: &str, allowed: fn(u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|b| b == b'_' || allowed(b))
    };
    if let Some(rest) = digits.strip_prefix("0b") {
        return all(rest, |b| matches!(b, b'0' | b'1'));
    }
    if let Some(rest) = digits.strip_prefix("0x") {
        return all(rest, |b| b.is_ascii_hexdigit());
    }
    if let Some(rest) = digits.strip_prefix('0') {
        return rest.is_empty() || all(rest, |b| (b'0'..=b'7').contains(&b));
    }
    digits.starts_with(|c: char| c.is_ascii_digit())
        && (all(digits, |b| b.is_ascii_digit()) || is_sexagesimal(digits))
}

fn looks_like_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = unsigned.split_once('.') else { return false };
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let (fraction, exponent) = match rest.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (rest, None),
    };
    let is_exponent = |text: &str| {
        text.strip_prefix(['+', '-'])
            .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    if !is_digits(fraction) || !exponent.is_none_or(is_exponent) {
        return false;
    }
    if whole.is_empty() {
        return unsigned.len() == text.len() && fraction.starts_with(|c: char| c.is_ascii_digit());
    }
    whole.starts_with(|c: char| c.is_ascii_digit())
        && (is_digits(whole) || (exponent.is_none() && is_sexagesimal(whole)))
}

/// Whether the text looks like `1:30:59`, which YAML 1.1 reads as a number to the base 60.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    let is_part = |part: &str| match part.as_bytes() {
        [b] => b.is_ascii_digit(),
        [tens, ones] => (b'0'..=b'5').contains(tens) && ones.is_ascii_digit(),
        _ => false,
    };
    text.contains(':')
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && parts.all(is_part)
}

/// Whether the text looks like `2024-01-31`, either alone or followed by a time.
fn looks_like_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range.clone()).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
            && !range.is_empty()
    };
    if text.len() == 10 {
        return digits(0..4)
            && bytes[4] == b'-'
            && digits(5..7)
            && bytes[7] == b'-'
            && digits(8..10);
    }
    // A date with a time has colons. In case of doubt, the text counts as a date and is quoted.
    digits(0..4)
        && bytes.get(4) == Some(&b'-')
        && text.matches('-').count() >= 2
        && text.matches(':').count() >= 2
}

fn write_single_quoted(out: &mut String, text: &str, indent: usize) {
    out.push('\'');
    let mut in_break = false;
    for character in text.chars() {
        if character == '\n' {
            // Writes an additional line break, because YAML readers convert a single line break
            // into a space.
            out.push_str(if in_break { "\n" } else { "\n\n" });
            in_break = true;
            continue;
        }
        if std::mem::take(&mut in_break) {
            push_blanks(out, indent + 2);
        }
        if character == '\'' {
            out.push('\'');
        }
        out.push(character);
    }
    if in_break {
        push_blanks(out, indent + 2);
    }
    out.push('\'');
}

fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        let short = match character {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
                if character != '\u{feff}' =>
            {
                out.push(character);
                continue;
            }
            other => {
                let code = u32::from(other);
                // Writing to a `String` cannot fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02X}"),
                    0x100..=0xffff => write!(out, "\\u{code:04X}"),
                    _ => write!(out, "\\U{code:08X}"),
                };
                continue;
            }
        };
        out.push('\\');
        out.push(short);
    }
    out.push('"');
}
