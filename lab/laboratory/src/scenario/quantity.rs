//! Numbers in the form in which people write them in a scenario.

use std::ops::RangeInclusive;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A size in bytes: `256`, `"4K"`, `"1M"` (in powers of 1024).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Size(pub u64);

/// The largest payload that a scenario may use.
const LARGEST: u64 = 1 << 30;

impl Size {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (digits, factor) = match text.trim_end_matches('B').trim_end() {
            rest if rest.ends_with(['K', 'k']) => (&rest[..rest.len() - 1], 1 << 10),
            rest if rest.ends_with('M') => (&rest[..rest.len() - 1], 1 << 20),
            rest if rest.ends_with('G') => (&rest[..rest.len() - 1], 1 << 30),
            rest => (rest, 1),
        };
        let number: u64 = digits.trim().parse().ok()?;
        number.checked_mul(factor).filter(|bytes| *bytes <= LARGEST).map(Self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a size in bytes of at most 1 GiB: 256, \"4K\" or \"1M\"")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Size, E> {
                if value <= LARGEST {
                    Ok(Size(value))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(value), &self))
                }
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Size, E> {
                u64::try_from(value)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
                    .and_then(|value| self.visit_u64(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Size, E> {
                Size::parse(value).ok_or_else(|| E::invalid_value(Unexpected::Str(value), &self))
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

/// The limits of a number. A number outside the limits is refused, with its line.
struct Limits {
    range: RangeInclusive<f64>,
    whole: bool,
    allowed: &'static str,
}

impl Visitor<'_> for Limits {
    type Value = f64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.allowed)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        if self.range.contains(&value) && (!self.whole || value.fract() == 0.0) {
            Ok(value)
        } else {
            Err(E::custom(format!("{value} is not allowed here: {}", self.allowed)))
        }
    }

    // Whole numbers within all of the limits are exact as f64.
    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        self.visit_f64(value as f64)
    }
}

macro_rules! within {
    ($(#[$about:meta])* $name:ident, $kind:ident, $range:expr, $allowed:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub $kind);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let whole = stringify!($kind) != "f64";
                let value = deserializer.deserialize_any(Limits { range: $range, whole, allowed: $allowed })?;
                Ok(Self(value as $kind))
            }
        }
    };
}

within!(
    /// Messages per second; 0 means without pause.
    Rate, f64, 0.0..=1e6, "0 (without pause) to 1000000 messages per second"
);
within!(
    /// A count of at least one.
    HowMany, u32, 1.0..=1e4, "a whole number from 1 to 10000"
);
within!(
    /// The number of messages of a cell.
    Messages, u64, 0.0..=1e8, "a whole number from 0 to 100000000"
);
within!(
    /// A duration in seconds.
    Seconds, f64, 0.0..=86_400.0, "0 to 86400 seconds"
);
within!(
    /// A share in percent.
    Percent, f64, 0.0..=100.0, "0 to 100 percent"
);
within!(
    /// A rate of a link.
    Megabits, f64, 0.01..=100_000.0, "0.01 to 100000 Mbit/s"
);
within!(
    /// A duration in microseconds.
    Micros, u64, 0.0..=1e7, "a whole number from 0 to 10000000 microseconds"
);

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("256", 256),
            ("4K", 4096),
            ("4 KB", 4096),
            ("1M", 1 << 20),
            ("1G", 1 << 30),
            ("100B", 100),
        ] {
            assert_eq!(Size::parse(text), Some(Size(bytes)), "{text}");
        }
        for text in ["", "K", "4Q", "-1", "1.5K", "2G", "99999999999999999999", "9999999999999999K"]
        {
            assert_eq!(Size::parse(text), None, "{text}");
        }
    }
}
