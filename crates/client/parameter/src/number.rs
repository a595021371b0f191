//! Reads numbers as the C library does, since rcl reads the scalars of parameter files with
//! `strtol` and `strtod` (`rcl_yaml_param_parser/src/parse.c`).

/// Reads an integer as `strtoll` with base 0 does: decimal, `0x` hexadecimal, `0` octal. Returns
/// `None` where `strtoll` would leave characters unread or overflow.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    // Rust would accept a second sign here, but C does not.
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Reads a number as `strtod` does, or a YAML word for infinity or NaN. Returns `None` where
/// `strtod` would leave characters unread, overflow or underflow.
pub(crate) fn double(text: &str) -> Option<f64> {
    let (negative, unsigned) = split_sign(text);
    let magnitude = match unsigned {
        ".inf" | ".Inf" | ".INF" => f64::INFINITY,
        ".nan" | ".NaN" | ".NAN" if unsigned == text => f64::NAN,
        _ if unsigned.starts_with(['+', '-']) => return None,
        _ => match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
            Some(hexadecimal) => hexadecimal_double(hexadecimal)?,
            None => decimal_double(unsigned)?,
        },
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn decimal_double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let starts_as_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.bytes().any(|b| matches!(b, b'1'..=b'9'));
    let out_of_range = value.is_infinite() || (value.abs() < f64::MIN_POSITIVE && !is_zero);
    (!(starts_as_number && out_of_range)).then_some(value)
}

/// Reads the part after `0x`: hexadecimal digits with an optional point, then an optional binary
/// exponent.
fn hexadecimal_double(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Digits after the 28th significant digit are far below the precision of the result.
    let (mut value, mut exponent) = (0_u128, i64::from(exponent));
    for (position, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = digit.to_digit(16)?;
        if value >> 112 == 0 {
            value = value << 4 | u128::from(digit);
        } else {
            exponent += 4;
        }
        if position >= whole.len() {
            exponent -= 4;
        }
    }
    if value == 0 {
        return Some(0.0);
    }
    // The power is applied in two steps, since it may be out of range where the product is not.
    let half = i32::try_from(exponent.clamp(-4000, 4000) / 2).ok()?;
    let rest = i32::try_from(exponent.clamp(-4000, 4000)).ok()? - half;
    let result = value as f64 * 2_f64.powi(half) * 2_f64.powi(rest);
    // Numbers below the normal range are accepted if they are exact, as in the GNU C library.
    let is_exact =
        || result > 0.0 && result * 2_f64.powi(-rest) * 2_f64.powi(-half) == value as f64;
    (result.is_finite() && (result >= f64::MIN_POSITIVE || is_exact())).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_strtoll() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-7", Some(-7)),
            ("+7", Some(7)),
            ("0x1F", Some(31)),
            ("-0X1f", Some(-31)),
            ("010", Some(8)),
            ("08", None),
            ("0x", None),
            ("--1", None),
            ("0x+1", None),
            ("1_000", None),
            ("", None),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }

    #[test]
    fn doubles_are_those_of_strtod() {
        for (text, expected) in [
            ("1.5", Some(1.5)),
            ("1.", Some(1.0)),
            (".5", Some(0.5)),
            ("-1e3", Some(-1000.0)),
            ("08", Some(8.0)),
            ("99999999999999999999", Some(1e20)),
            ("0x1.8p3", Some(12.0)),
            ("0x.8", Some(0.5)),
            ("-0x10p-4", Some(-1.0)),
            ("0xFFFFFFFFFFFFFFFF", Some(18_446_744_073_709_551_615.0)),
            ("0x1p1023", Some(2_f64.powi(1023))),
            ("0x1p-1022", Some(f64::MIN_POSITIVE)),
            ("0x1p5000", None),
            ("0x0.8p-1022", Some(f64::MIN_POSITIVE / 2.0)),
            ("-0x0.0000000000001p-1022", Some(-5e-324)),
            ("0x0.00000000000001p-1022", None),
            ("5e-324", None),
            ("inf", Some(f64::INFINITY)),
            ("-.inf", Some(f64::NEG_INFINITY)),
            ("+.INF", Some(f64::INFINITY)),
            ("-.nan", None),
            ("1e400", None),
            ("1e-400", None),
            ("0e-400", Some(0.0)),
            ("1e", None),
            ("--1", None),
            ("0x", None),
            ("0x1p", None),
            ("1.2.3", None),
            ("", None),
        ] {
            assert_eq!(double(text), expected, "{text}");
        }
        assert!(double(".nan").is_some_and(f64::is_nan) && double("nan").is_some_and(f64::is_nan));
        let long = format!("0x{}", "f".repeat(100));
        assert_eq!(double(&long), Some(16_f64.powi(100)));
    }
}
