//! Writes values as YAML. Under the rules of `rcl` and of YAML 1.1, the YAML reads back as the same
//! value.

use std::fmt::{self, Write as _};

use crate::value::ParameterValue;

/// Writes the value on one line, in the form that `-p` takes: `5`, `1.0`, `[a, b]`. A missing value
/// is `null`, and bytes are written as integers, since YAML has no notation for bytes.
impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.elements() {
            None => f.write_str(&self.scalar()),
            Some(elements) => write!(f, "[{}]", elements.join(", ")),
        }
    }
}

impl ParameterValue {
    /// Returns the elements of a list, each as YAML; `None` for other values.
    pub fn elements(&self) -> Option<Vec<String>> {
        match self {
            Self::ByteArray(values) => Some(values.iter().map(ToString::to_string).collect()),
            Self::BoolArray(values) => Some(values.iter().map(ToString::to_string).collect()),
            Self::IntegerArray(values) => Some(values.iter().map(ToString::to_string).collect()),
            Self::DoubleArray(values) => Some(values.iter().map(|value| double(*value)).collect()),
            Self::StringArray(values) => Some(values.iter().map(|value| text(value)).collect()),
            _ => None,
        }
    }

    fn scalar(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Double(value) => double(*value),
            Self::String(value) => text(value),
            _ => "null".to_owned(),
        }
    }
}

fn double(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-.inf" } else { ".inf" }.to_owned();
    }
    // `strtod`, and so rcl, would refuse the decimal form of this number as out of range.
    if value.is_subnormal() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}0x0.{:013x}p-1022", value.abs().to_bits());
    }
    let text = format!("{value:?}");
    // YAML 1.1 requires a decimal point, and a sign in the exponent.
    match text.split_once('e') {
        None => text,
        Some((mantissa, exponent)) => {
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
    }
}

/// Writes a string, with quotes if it could otherwise be read as another value.
fn text(text: &str) -> String {
    let is_word =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-' | ' ' | '+');
    let starts_as_word =
        text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/'));
    let is_plain = starts_as_word
        && text.chars().all(is_word)
        && !text.ends_with(' ')
        && !text.eq_ignore_ascii_case("null")
        && ParameterValue::from_yaml(text) == Ok(text.into())
        // More characters have a meaning within a list.
        && ParameterValue::from_yaml(&format!("[{text}]")) == Ok(vec![text].into());
    if is_plain {
        text.to_owned()
    } else if text.chars().all(|c| matches!(c, ' '..='~')) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        quoted(text)
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if character.is_control()
                || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}') =>
            {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn printed_values_read_back_unchanged() {
        let texts = [
            "",
            " ",
            "plain words",
            "/a/b",
            "5",
            "08",
            "0x1F",
            "1e3",
            "nan",
            "inf",
            "true",
            "Off",
            "y",
            "null",
            "~",
            "a: b",
            "a #b",
            "it's",
            "\"",
            "two\nlines",
            "tab\t",
            "grüße",
            "\u{1}",
            "[1]",
            "{a}",
            "- a",
            "*a",
            "&a",
            "!a",
            "a, b",
            "ends ",
            "1.2.3",
            "-",
            "...",
            "---",
            "=",
            "\u{2028}",
            "100%",
            "a\\b",
            ".5",
            "+1",
            "e--- -",
        ];
        for text in texts {
            let value = ParameterValue::from(text);
            assert_eq!(ParameterValue::from_yaml(&value.to_string()), Ok(value.clone()), "{value}");
        }
        let values = [
            ParameterValue::from(texts.to_vec()),
            true.into(),
            i64::MIN.into(),
            1.0.into(),
            (-0.0).into(),
            1e300.into(),
            1.5e-300.into(),
            f64::MAX.into(),
            f64::MIN_POSITIVE.into(),
            f64::NEG_INFINITY.into(),
            vec![true, false].into(),
            vec![1_i64, -1].into(),
            vec![1.0, 1e100].into(),
        ];
        for value in values {
            assert_eq!(ParameterValue::from_yaml(&value.to_string()), Ok(value.clone()), "{value}");
        }
    }

    #[test]
    fn values_look_as_people_write_them() {
        for (value, expected) in [
            (ParameterValue::from("base_link"), "base_link"),
            ("08".into(), "'08'"),
            (1e20.into(), "1.0e+20"),
            (0.1.into(), "0.1"),
            (vec!["a", "b c"].into(), "[a, b c]"),
            (vec![1_u8, 255].into(), "[1, 255]"),
            (ParameterValue::NotSet, "null"),
        ] {
            assert_eq!(value.to_string(), expected);
        }
    }
}
