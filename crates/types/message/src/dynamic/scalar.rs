//! Converts text that a user wrote into one element of a message.

use feros_cdr::WString;
use feros_interface::BaseType;

use super::value::Value;

/// Reads a scalar as an element of a built-in type. The error describes the allowed values.
pub(super) fn read_scalar(base: &BaseType, text: &str, plain: bool) -> Result<Value, String> {
    match base {
        BaseType::Bool => truth(text).map(Value::Bool),
        BaseType::Byte => byte(text, plain).map(Value::U8),
        BaseType::Char | BaseType::Uint8 => integer(base, text).map(Value::U8),
        BaseType::Int8 => integer(base, text).map(Value::I8),
        BaseType::Uint16 => integer(base, text).map(Value::U16),
        BaseType::Int16 => integer(base, text).map(Value::I16),
        BaseType::Uint32 => integer(base, text).map(Value::U32),
        BaseType::Int32 => integer(base, text).map(Value::I32),
        BaseType::Uint64 => integer(base, text).map(Value::U64),
        BaseType::Int64 => integer(base, text).map(Value::I64),
        BaseType::Float32 => float32(text).map(Value::F32),
        BaseType::Float64 => float(text).map(Value::F64),
        BaseType::String { bound } => {
            within(*bound, text.len(), "bytes")?;
            Ok(Value::String(text.to_owned()))
        }
        BaseType::WString { bound } => {
            let text = WString::from(text);
            within(*bound, text.len(), "UTF-16 units")?;
            Ok(Value::WString(text))
        }
        BaseType::Nested(name) => Err(format!("a mapping with the fields of {name}")),
    }
}

fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("bool (true or false)".to_owned()),
    }
}

/// A byte is written as a number, or as the single character that `echo` shows for it.
fn byte(text: &str, plain: bool) -> Result<u8, String> {
    let mut characters = text.chars();
    let single = characters.next().filter(|_| characters.next().is_none());
    match single.map(u32::from).map(u8::try_from) {
        Some(Ok(code)) if !plain || !text.bytes().all(|b| b.is_ascii_digit()) => Ok(code),
        _ => integer(&BaseType::Byte, text),
    }
}

fn integer<T: TryFrom<i128>>(base: &BaseType, text: &str) -> Result<T, String> {
    let allowed = || {
        let (low, high) = base.integer_range().unwrap_or_default();
        format!("{base} (a whole number from {low} to {high})")
    };
    if has_leading_zero(text) {
        return Err(format!(
            "{base} without a leading zero (in YAML 1.1 it means octal: write 0o17 for that)"
        ));
    }
    parse_integer(text).and_then(|value| T::try_from(value).ok()).ok_or_else(allowed)
}

fn has_leading_zero(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

fn parse_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    let magnitude = match i128::from_str_radix(&digits.replace('_', ""), radix) {
        Ok(magnitude) => magnitude,
        Err(_) if radix == 10 => whole(digits.parse().ok()?)?,
        Err(_) => return None,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Accepts a whole number that is written as a float, such as `3.0` or `1e3`, if the float
/// represents it exactly.
fn whole(value: f64) -> Option<i128> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i128)
}

fn float(text: &str) -> Result<f64, String> {
    let sign = if text.starts_with(['+', '-']) { 1 } else { 0 };
    // YAML writes a dot before infinity and NaN; JSON and Python do not.
    let (sign, rest) = text.split_at(sign);
    let rest = match rest.strip_prefix('.') {
        Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name,
        _ => rest,
    };
    let number = format!("{sign}{}", rest.replace('_', ""));
    match number.parse::<f64>() {
        Ok(value) => Ok(value),
        Err(_) => match parse_integer(text) {
            Some(value) => Ok(value as f64),
            None => Err("a number (such as 1.5, -2e3, .inf or .nan)".to_owned()),
        },
    }
}

fn float32(text: &str) -> Result<f32, String> {
    let value = float(text)?;
    let narrow = value as f32;
    if narrow.is_infinite() && value.is_finite() {
        return Err(format!("float32 (at most {:e} in magnitude)", f32::MAX));
    }
    Ok(narrow)
}

fn within(bound: Option<u32>, len: usize, unit: &str) -> Result<(), String> {
    match bound {
        Some(bound) if len > bound as usize => {
            Err(format!("at most {bound} {unit}, but this has {len}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let read = |base: &BaseType, text: &str| read_scalar(base, text, true);
        for (text, value) in [
            ("5", 5),
            ("-7", -7),
            ("0x1F", 31),
            ("1_000", 1000),
            ("3.0", 3),
            ("1e3", 1000),
            ("0", 0),
        ] {
            assert_eq!(read(&BaseType::Int32, text), Ok(Value::I32(value)), "{text}");
        }
        for text in [
            "",
            "a",
            "1.5",
            "010",
            "2147483648",
            "1e30",
            "0x",
            "--1",
            ".inf",
            "nan",
            "99999999999999999999999999999999999999999",
        ] {
            assert!(read(&BaseType::Int32, text).is_err(), "{text}");
        }
        assert_eq!(read(&BaseType::Uint64, "18446744073709551615"), Ok(Value::U64(u64::MAX)));
        for (text, value) in [
            (".inf", f64::INFINITY),
            ("-.inf", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
            (".5", 0.5),
            ("1e-3", 0.001),
            ("0x10", 16.0),
        ] {
            assert_eq!(read(&BaseType::Float64, text), Ok(Value::F64(value)), "{text}");
        }
        for text in [".nan", "NaN", "nan"] {
            assert!(
                matches!(read(&BaseType::Float32, text), Ok(Value::F32(value)) if value.is_nan()),
                "{text}"
            );
        }
        assert!(read(&BaseType::Float32, "1e39").is_err());
        assert!(read(&BaseType::Float64, "abc").is_err());
        assert!(read(&BaseType::Float64, "..inf").is_err());
    }

    #[test]
    fn bytes_are_numbers_or_characters() {
        for (text, plain, value) in [
            ("5", true, 5),
            ("5", false, b'5'),
            ("a", true, b'a'),
            ("ÿ", false, 255),
            ("255", true, 255),
        ] {
            assert_eq!(read_scalar(&BaseType::Byte, text, plain), Ok(Value::U8(value)), "{text}");
        }
        assert!(read_scalar(&BaseType::Byte, "256", true).is_err());
        assert!(read_scalar(&BaseType::Byte, "ab", true).is_err());
    }
}
