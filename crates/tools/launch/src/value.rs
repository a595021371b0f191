//! Values of parameters, and their conversion from text by the rules of YAML 1.1, as stock launch
//! does with PyYAML (`launch/launch/utilities/type_utils.py`).

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::tree::{Content, Scalar, document};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating point number.
    Double(f64),
    /// A string.
    String(String),
    /// Booleans.
    Bools(Vec<bool>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Floating point numbers.
    Doubles(Vec<f64>),
    /// Strings.
    Strings(Vec<String>),
}

/// The types that `type="..."` of a parameter can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Bool,
    Integer,
    Double,
    String,
    Bools,
    Integers,
    Doubles,
    Strings,
}

impl ValueType {
    pub(crate) const NAMES: [(&'static str, Self); 8] = [
        ("bool", Self::Bool),
        ("int", Self::Integer),
        ("float", Self::Double),
        ("str", Self::String),
        ("list_of_bool", Self::Bools),
        ("list_of_int", Self::Integers),
        ("list_of_float", Self::Doubles),
        ("list_of_str", Self::Strings),
    ];
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl Value {
    /// Reads a value as YAML does: `5` is a number, `'5'` is a string, `[1, 2]` is a list. Any
    /// other text is a string.
    pub(crate) fn from_yaml(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::String(String::new()));
        }
        let nowhere: Arc<Path> = Arc::from(Path::new(""));
        match document(&nowhere, text).map(|node| node.content) {
            Ok(Content::Scalar(scalar)) => Ok(Self::from_scalar(&scalar)),
            Ok(Content::List(items)) => {
                let scalars = items.into_iter().map(|item| match item.content {
                    Content::Scalar(scalar) => Ok(Self::from_scalar(&scalar)),
                    _ => {
                        Err("a list is nested in a list: a parameter holds a list of plain values"
                            .to_owned())
                    }
                });
                Self::list(scalars.collect::<Result<_, _>>()?)
            }
            // Texts such as `{` and `a: b` are read as strings: they are more often meant as
            // strings than as mappings, and no parameter can hold a mapping.
            Ok(Content::Mapping(_)) | Err(_) => Ok(Self::String(text.to_owned())),
        }
    }

    /// The value of a YAML scalar.
    pub(crate) fn from_scalar(scalar: &Scalar) -> Self {
        let text = scalar.text.as_str();
        if scalar.quoted {
            return Self::String(text.to_owned());
        }
        boolean(text)
            .map(Self::Bool)
            .or_else(|| integer(text).map(Self::Integer))
            .or_else(|| double(text).map(Self::Double))
            .unwrap_or_else(|| Self::String(text.to_owned()))
    }

    /// Makes a list of values of one type. Whole numbers among floating point numbers become
    /// floating point numbers.
    pub(crate) fn list(items: Vec<Self>) -> Result<Self, String> {
        let kinds: Vec<ValueType> = items.iter().map(Self::kind).collect();
        let all = |wanted: &[ValueType]| kinds.iter().all(|kind| wanted.contains(kind));
        if all(&[ValueType::Bool]) && !items.is_empty() {
            Ok(Self::Bools(items.iter().filter_map(Self::as_bool).collect()))
        } else if all(&[ValueType::Integer]) && !items.is_empty() {
            Ok(Self::Integers(items.iter().filter_map(Self::as_integer).collect()))
        } else if all(&[ValueType::Integer, ValueType::Double]) && !items.is_empty() {
            Ok(Self::Doubles(items.iter().filter_map(Self::as_double).collect()))
        } else if all(&[ValueType::String]) {
            let texts = items
                .into_iter()
                .filter_map(|item| if let Self::String(text) = item { Some(text) } else { None });
            Ok(Self::Strings(texts.collect()))
        } else {
            let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
            Err(format!("a list of {}: expected items of one type", names.join(", ")))
        }
    }

    /// Formats the value as Python, the language of stock launch, prints it; strings have no
    /// quotes.
    pub(crate) fn as_python(&self) -> String {
        match self {
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Double(value) if value.is_nan() => "nan".to_owned(),
            Self::Double(value) if value.is_infinite() => {
                if *value > 0.0 { "inf" } else { "-inf" }.to_owned()
            }
            Self::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    pub(crate) fn kind(&self) -> ValueType {
        match self {
            Self::Bool(_) => ValueType::Bool,
            Self::Integer(_) => ValueType::Integer,
            Self::Double(_) => ValueType::Double,
            Self::String(_) => ValueType::String,
            Self::Bools(_) => ValueType::Bools,
            Self::Integers(_) => ValueType::Integers,
            Self::Doubles(_) => ValueType::Doubles,
            Self::Strings(_) => ValueType::Strings,
        }
    }

    fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    #[expect(clippy::cast_precision_loss, reason = "a whole number among floating point numbers")]
    fn as_double(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// Converts the value to a requested type. For `str`, a text that looks like another type
    /// becomes a string.
    pub(crate) fn coerced(self, kind: ValueType, source: &str) -> Result<Self, String> {
        let refused =
            |value: &Self| format!("the {} `{value}` does not fit type=\"{kind}\"", value.kind());
        match (kind, &self) {
            (ValueType::String, _) => Ok(Self::String(source.to_owned())),
            (ValueType::Double, Self::Integer(_)) => {
                self.as_double().map(Self::Double).ok_or_else(|| refused(&self))
            }
            (ValueType::Bool, Self::Integer(number @ (0 | 1))) => Ok(Self::Bool(*number == 1)),
            (ValueType::Doubles, Self::Integers(items)) => {
                #[expect(clippy::cast_precision_loss, reason = "the file asks for it")]
                let doubles = items.iter().map(|item| *item as f64).collect();
                Ok(Self::Doubles(doubles))
            }
            (ValueType::Bools | ValueType::Integers | ValueType::Doubles, Self::Strings(items))
                if items.is_empty() =>
            {
                Ok(match kind {
                    ValueType::Bools => Self::Bools(Vec::new()),
                    ValueType::Integers => Self::Integers(Vec::new()),
                    _ => Self::Doubles(Vec::new()),
                })
            }
            _ if self.kind() == kind => Ok(self),
            _ => Err(refused(&self)),
        }
    }
}

/// Writes the value as YAML for a parameter file; strings are quoted.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T>(f: &mut fmt::Formatter<'_>, items: &[T], one: fn(&T) -> String) -> fmt::Result {
            write!(f, "[{}]", items.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&double_text(*value)),
            Self::String(value) => f.write_str(&quoted(value)),
            Self::Bools(items) => list(f, items, bool::to_string),
            Self::Integers(items) => list(f, items, i64::to_string),
            Self::Doubles(items) => list(f, items, |item| double_text(*item)),
            Self::Strings(items) => list(f, items, |item| quoted(item)),
        }
    }
}

/// Formats a number so that YAML reads it as a floating point number.
pub(crate) fn double_text(value: f64) -> String {
    if value.is_nan() {
        ".nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

/// Formats a string in double quotes, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Parses a boolean of YAML 1.1.
fn boolean(text: &str) -> Option<bool> {
    let spelled = |word: &str| {
        let title = word[..1].to_uppercase() + &word[1..];
        text == word || text == title || text == word.to_uppercase()
    };
    if ["true", "yes", "on"].into_iter().any(spelled) {
        Some(true)
    } else if ["false", "no", "off"].into_iter().any(spelled) {
        Some(false)
    } else {
        None
    }
}

/// Parses a whole number of YAML 1.1: decimal, `0x`, `0b` or octal with a leading zero; `_` is
/// allowed between digits.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = digits.replace('_', "");
    let (digits, radix) = if let Some(hex) = digits.strip_prefix("0x") {
        (hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        (binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (&digits[1..], 8)
    } else {
        (digits.as_str(), 10)
    };
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{}{digits}", if negative { "-" } else { "" }), radix).ok()
}

/// Parses a floating point number of YAML 1.1, or one like `1e5`, which is a number everywhere
/// except in YAML 1.1.
fn double(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    let looks_like_one = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.contains(|c: char| c.is_ascii_digit())
        && unsigned
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-' | '_'))
        && unsigned.contains(['.', 'e', 'E']);
    if looks_like_one { text.replace('_', "").parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{Value, ValueType};

    #[test]
    fn texts_become_values_by_the_rules_of_yaml() {
        let text = |text: &str| Value::String(text.to_owned());
        for (given, expected) in [
            ("5", Value::Integer(5)),
            ("-0x1F", Value::Integer(-31)),
            ("010", Value::Integer(8)),
            ("1_000", Value::Integer(1000)),
            ("5.", Value::Double(5.0)),
            ("1e3", Value::Double(1000.0)),
            ("-.inf", Value::Double(f64::NEG_INFINITY)),
            ("Yes", Value::Bool(true)),
            ("off", Value::Bool(false)),
            ("oFf", text("oFf")),
            ("'5'", text("5")),
            ("\"a\\tb\"", text("a\tb")),
            ("1.2.3", text("1.2.3")),
            ("09", text("09")),
            ("--5", text("--5")),
            ("99999999999999999999", text("99999999999999999999")),
            ("a: b", text("a: b")),
            ("[", text("[")),
            ("", text("")),
            ("[1, 2]", Value::Integers(vec![1, 2])),
            ("[1, 2.5]", Value::Doubles(vec![1.0, 2.5])),
            ("[a, '1']", Value::Strings(vec!["a".into(), "1".into()])),
            ("[]", Value::Strings(vec![])),
            ("[on, off]", Value::Bools(vec![true, false])),
        ] {
            assert_eq!(Value::from_yaml(given), Ok(expected), "{given}");
        }
        assert!(Value::from_yaml("[1, a]").unwrap_err().contains("int, str"));
        assert!(Value::from_yaml("[[1]]").is_err());
    }

    #[test]
    fn values_are_read_again_as_they_were() {
        for value in [
            Value::String("a \"b\" \\ \n é '\u{1}: x".to_owned()),
            Value::String("5".to_owned()),
            Value::Double(5.0),
            Value::Double(1e300),
            Value::Double(f64::INFINITY),
            Value::Strings(vec!["a, b".to_owned(), "]".to_owned()]),
            Value::Doubles(vec![1.0, -2.0]),
            Value::Bool(true),
        ] {
            assert_eq!(Value::from_yaml(&value.to_string()), Ok(value));
        }
    }

    #[test]
    fn a_type_that_is_asked_for_is_kept() {
        let coerce = |text: &str, kind| Value::from_yaml(text).unwrap().coerced(kind, text);
        assert_eq!(coerce("5", ValueType::String), Ok(Value::String("5".to_owned())));
        assert_eq!(coerce("5", ValueType::Double), Ok(Value::Double(5.0)));
        assert_eq!(coerce("1", ValueType::Bool), Ok(Value::Bool(true)));
        assert_eq!(coerce("[]", ValueType::Doubles), Ok(Value::Doubles(vec![])));
        assert_eq!(
            coerce("fast", ValueType::Integer).unwrap_err(),
            "the str `\"fast\"` does not fit type=\"int\""
        );
    }
}
