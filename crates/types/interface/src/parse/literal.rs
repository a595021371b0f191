//! Parses values in definitions: constants and defaults, in the Python notations that stock ROS 2
//! accepts.

use std::borrow::Cow;

use super::error::ParseErrorKind;
use crate::tree::{BaseType, FieldType, Literal, Shape};

/// Reads the value of a constant.
pub(super) fn constant_value(ty: &BaseType, text: &str) -> Result<Literal, ParseErrorKind> {
    match ty {
        BaseType::String { .. } | BaseType::WString { .. } => quoted_or_plain(ty, text),
        _ => number(ty, text),
    }
    .map_err(|allowed| fault(&ty.to_string(), text, allowed))
}

/// Reads the default of a field.
pub(super) fn default_value(
    name: &str,
    ty: &FieldType,
    text: &str,
) -> Result<Literal, ParseErrorKind> {
    if let BaseType::Nested(nested) = &ty.base {
        return Err(ParseErrorKind::DefaultOfMessage {
            name: name.to_owned(),
            ty: nested.to_string(),
        });
    }
    if ty.shape == Shape::Single {
        return constant_value(&ty.base, text);
    }
    let wrong = |allowed: String| fault(&ty.to_string(), text, allowed);
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .ok_or_else(|| wrong("write an array as `[1, 2, 3]`".to_owned()))?;
    let is_text = matches!(ty.base, BaseType::String { .. } | BaseType::WString { .. });
    let elements: Vec<Cow<'_, str>> = match (is_text, inner) {
        (_, "") => Vec::new(),
        (true, inner) => split_strings(inner).map_err(wrong)?,
        (false, inner) => inner.split(',').map(|element| element.trim().into()).collect(),
    };
    match ty.shape {
        Shape::Array(size) if elements.len() != size as usize => {
            return Err(wrong(format!(
                "it needs exactly {size} elements, but has {}",
                elements.len()
            )));
        }
        Shape::BoundedSequence(bound) if elements.len() > bound as usize => {
            return Err(wrong(format!(
                "it may have at most {bound} elements, but has {}",
                elements.len()
            )));
        }
        _ => {}
    }
    let value = |(index, element): (usize, &Cow<'_, str>)| {
        let literal = if is_text {
            within_bound(&ty.base, element.trim().to_owned())
        } else {
            number(&ty.base, element)
        };
        literal.map_err(|allowed| wrong(format!("element {index}, `{element}`: {allowed}")))
    };
    elements.iter().enumerate().map(value).collect::<Result<_, _>>().map(Literal::Array)
}

fn fault(ty: &str, value: &str, allowed: String) -> ParseErrorKind {
    ParseErrorKind::Value { value: value.to_owned(), ty: ty.to_owned(), allowed }
}

/// Reads a value of a type that is not a string. The error describes the allowed values.
fn number(ty: &BaseType, text: &str) -> Result<Literal, String> {
    if *ty == BaseType::Bool {
        return match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Literal::Bool(true)),
            "false" | "0" => Ok(Literal::Bool(false)),
            _ => Err("use true, false, 1 or 0".to_owned()),
        };
    }
    if let Some((low, high)) = ty.integer_range() {
        return match integer(text) {
            Some(value) if (low..=high).contains(&value) => Ok(Literal::Integer(value)),
            _ => Err(format!(
                "use a whole number from {low} to {high}, decimal or with 0x, 0o or 0b"
            )),
        };
    }
    without_underscores(text).and_then(|digits| digits.parse().ok()).map(Literal::Float).ok_or_else(
        || "use a number with a decimal point, such as 1.5, -2e3, inf or nan".to_owned(),
    )
}

/// Reads an integer like Python: an optional sign, and then digits, with single underscores allowed
/// between them. The digits are decimal (leading zeros are allowed), or they follow a prefix such
/// as `0x`.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    let digits = if radix == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    let digits = without_underscores(digits)?;
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None; // `from_str_radix` would accept a second sign
    }
    let magnitude = i128::from_str_radix(&digits, radix).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// Removes single underscores between digits. Returns `None` if there are other underscores.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(text.into());
    }
    let bytes = text.as_bytes();
    let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_hexdigit);
    let allowed = bytes
        .iter()
        .enumerate()
        .all(|(index, &byte)| byte != b'_' || (index > 0 && digit(index - 1) && digit(index + 1)));
    allowed.then(|| text.replace('_', "").into())
}

/// Reads a string with or without quotes. Escapes are resolved in both cases.
fn quoted_or_plain(ty: &BaseType, text: &str) -> Result<Literal, String> {
    let mut content = Cow::Borrowed(text);
    for quote in ['"', '\''] {
        if !(text.starts_with(quote) && text.ends_with(quote)) {
            continue;
        }
        let inner = text.get(1..text.len() - 1).unwrap_or("");
        let bare = |(index, _): (usize, &str)| !inner[..index].ends_with('\\');
        if inner.match_indices(quote).any(bare) {
            return Err(format!("write an inner {quote} as \\{quote}"));
        }
        content = inner.replace(&format!("\\{quote}"), &quote.to_string()).into();
        break;
    }
    // Stock ROS 2 writes the string into an IDL file and reads it back, and both steps resolve
    // escapes.
    let in_idl = unescape(&content);
    if in_idl.contains('\n') {
        return Err("stock ROS 2 fails at `\\n`: write a line break as `\\\\n`".to_owned());
    }
    within_bound(ty, unescape(&in_idl))
}

fn within_bound(ty: &BaseType, text: String) -> Result<Literal, String> {
    if let BaseType::String { bound: Some(bound) } | BaseType::WString { bound: Some(bound) } = ty {
        let length = text.chars().count();
        if length > *bound as usize {
            return Err(format!("it may have at most {bound} characters, but has {length}"));
        }
    }
    Ok(Literal::String(text))
}

/// Resolves backslash escapes. Other backslashes remain unchanged.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let (character, length) = escape_character(escape).unwrap_or(('\\', 0));
        out.push(character);
        rest = &escape[length..];
    }
    out.push_str(rest);
    out
}

/// The character that an escape (without its backslash) represents, and the length of the escape in
/// bytes.
fn escape_character(escape: &str) -> Option<(char, usize)> {
    let character = match escape.bytes().next()? {
        b'\\' => '\\',
        b'\'' => '\'',
        b'"' => '"',
        b'a' => '\x07',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\x0b',
        b'x' => return coded(escape, 1..3, 16),
        b'u' => return coded(escape, 1..5, 16),
        b'U' => return coded(escape, 1..9, 16),
        b'0'..=b'7' => {
            let length = escape.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
            return coded(escape, 0..length, 8);
        }
        _ => return None,
    };
    Some((character, 1))
}

fn coded(escape: &str, digits: std::ops::Range<usize>, radix: u32) -> Option<(char, usize)> {
    let end = digits.end;
    let digits = escape.get(digits)?;
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    Some((character, end))
}

/// Splits the inside of an array of strings at the commas that are not in quotes, and removes the
/// quotes.
fn split_strings(inner: &str) -> Result<Vec<Cow<'_, str>>, String> {
    let mut elements = Vec::new();
    let mut rest = inner.trim_start();
    while !rest.is_empty() {
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            let (element, after) = rest.split_once(',').unwrap_or((rest, ""));
            if element.trim().is_empty() {
                return Err(format!("element {} is missing before a comma", elements.len()));
            }
            elements.push(element.into());
            rest = after.trim_start();
            continue;
        };
        let body = &rest[1..];
        let end = body
            .match_indices(quote)
            .map(|(index, _)| index)
            .find(|&index| !body[..index].ends_with('\\'))
            .ok_or_else(|| format!("element {} has no closing {quote}", elements.len()))?;
        elements.push(body[..end].replace(&format!("\\{quote}"), &quote.to_string()).into());
        rest = body[end + 1..].trim_start();
        if !rest.is_empty() {
            rest = rest
                .strip_prefix(',')
                .ok_or_else(|| format!("expected a comma after element {}", elements.len() - 1))?
                .trim_start();
        }
    }
    Ok(elements)
}
