//! Formats numbers for people: 4 KB, 24.1 us, 3.2 GB/s.

use crate::record::Value;

/// The largest plausible number in a run, whether a time in nanoseconds, a size or a count (30
/// years, an exabyte). A file with a larger number is damaged.
pub(crate) const LARGEST: f64 = 1e18;

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanos,
    Bytes,
    BytesPerSecond,
    Percent,
    PerSecond,
    Hertz,
    Seconds,
    Ratio,
    Count,
}

impl Unit {
    /// The unit at the end of a name: `pss_bytes`, `publish_rate_hz`, `threads`.
    pub(crate) fn of_name(name: &str) -> Self {
        let statistics = ["_p95", "_p99", "_mean", "_median", "_max", "_min"];
        let name =
            statistics.into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
        let endings = [
            ("bytes_per_second", Self::BytesPerSecond),
            ("bytes_per_message", Self::Bytes),
            ("per_second", Self::PerSecond),
            ("_bytes", Self::Bytes),
            ("_hz", Self::Hertz),
            ("percent", Self::Percent),
            ("_nanos", Self::Nanos),
            ("_seconds", Self::Seconds),
            ("ratio", Self::Ratio),
        ];
        endings
            .into_iter()
            .find(|(ending, _)| name.ends_with(ending))
            .map_or(Self::Count, |(_, unit)| unit)
    }

    /// Formats a number with its unit, with three digits.
    pub(crate) fn show(self, value: f64) -> String {
        if !value.is_finite() || value.abs() > LARGEST {
            return "–".to_owned();
        }
        match self {
            Self::Nanos => scaled(value, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]),
            Self::Seconds => scaled(value, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]),
            Self::Bytes => bytes(value),
            Self::BytesPerSecond => format!("{}/s", bytes(value)),
            Self::Percent if value > 0.0 && value < 0.01 => "< 0.01\u{202f}%".to_owned(),
            Self::Percent => format!("{}\u{202f}%", digits(value)),
            Self::PerSecond => format!("{}/s", count(value)),
            Self::Hertz => scaled(value, &[(1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")]),
            Self::Ratio => format!("{}×", digits(value)),
            Self::Count => count(value),
        }
    }

    /// Whether the ticks of an axis are in powers of 1024, as for sizes, instead of powers of 10.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Bytes | Self::BytesPerSecond)
    }
}

/// A value with the unit that its dimension's name implies: `size_bytes`, `rate_hz`.
pub(crate) fn dimension_value(dimension: &str, value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(0.0) if dimension == "rate_hz" => "no pause".to_owned(),
        Value::Number(number) => match Unit::of_name(dimension) {
            Unit::Count if dimension.ends_with("_micros") => Unit::Nanos.show(number * 1e3),
            Unit::Count if dimension.ends_with("_mbit") => format!("{} Mbit/s", digits(*number)),
            unit => unit.show(*number),
        },
    }
}

/// The title of a dimension: `size_bytes` is a payload, `cpu_percent` is processor time.
pub(crate) fn dimension_title(dimension: &str) -> String {
    match dimension {
        "size_bytes" => "payload".to_owned(),
        "rate_hz" => "rate".to_owned(),
        "qos" => "QoS".to_owned(),
        "loss_percent" => "packets lost by the link".to_owned(),
        other => words(other),
    }
}

/// A value with the name of its dimension: `payload 4 KB`, `3 nodes`, `subscription 2`; a word
/// stands alone.
pub(crate) fn dimension_with_value(dimension: &str, value: &Value) -> String {
    let shown = dimension_value(dimension, value);
    match value {
        Value::Text(_) => shown,
        Value::Number(_) if dimension == "rate_hz" => shown,
        Value::Number(number)
            if dimension.ends_with('s')
                && Unit::of_name(dimension) == Unit::Count
                && !dimension.ends_with("_micros") =>
        {
            let title = dimension_title(dimension);
            let title = if *number == 1.0 { title.trim_end_matches('s') } else { &title };
            format!("{shown} {title}")
        }
        Value::Number(_) => format!("{} {shown}", dimension_title(dimension)),
    }
}

/// A name as words: underscores become spaces, and a unit at the end is not repeated.
pub(crate) fn words(name: &str) -> String {
    let endings = [
        "_bytes_per_second",
        "_per_second",
        "_bytes",
        "_percent",
        "_hz",
        "_nanos",
        "_seconds",
        "_micros",
        "_mbit",
    ];
    let bare = endings.into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    bare.replace('_', " ")
}

/// Formats a number with three digits, without trailing zeros.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    let text = if size >= 99.95 || size == 0.0 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.01 {
        format!("{value:.2}")
    } else {
        format!("{value:.1e}")
    };
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A duration for people: `3 min 12 s`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round().min(1e15) as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A time for people: `2026-11-21 13:05 UTC`.
pub(crate) fn moment(unix_seconds: u64) -> String {
    // Converts days to a date like Howard Hinnant's `civil_from_days`, from the era's first of
    // March.
    let days = (unix_seconds / 86_400).min(1_000_000_000) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (unix_seconds / 3600 % 24, unix_seconds / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let size = value.abs();
    let (factor, name) = units
        .iter()
        .find(|(factor, _)| size >= factor * 0.9995)
        .or(units.last())
        .copied()
        .unwrap_or((1.0, ""));
    if size == 0.0 { "0".to_owned() } else { format!("{} {name}", digits(value / factor)) }
}

fn bytes(value: f64) -> String {
    const KB: f64 = 1024.0;
    scaled(value, &[(KB * KB * KB, "GB"), (KB * KB, "MB"), (KB, "KB"), (1.0, "B")])
}

fn count(value: f64) -> String {
    let size = value.abs();
    if size >= 99_950.0 {
        return scaled(value, &[(1e9, "G"), (1e6, "M"), (1e3, "k")]);
    }
    if value.fract() == 0.0 { format!("{value:.0}") } else { digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        let shown = [
            (Unit::Nanos, 24_123.0, "24.1 µs"),
            (Unit::Nanos, 999.6, "1 µs"),
            (Unit::Nanos, 0.0, "0"),
            (Unit::Nanos, 1.5e9, "1.5 s"),
            (Unit::Nanos, 83.0, "83 ns"),
            (Unit::Bytes, 256.0, "256 B"),
            (Unit::Bytes, 4096.0, "4 KB"),
            (Unit::Bytes, 1_048_576.0, "1 MB"),
            (Unit::Bytes, 512_000.0, "500 KB"),
            (Unit::BytesPerSecond, 3.2 * 1_073_741_824.0, "3.2 GB/s"),
            (Unit::Percent, 12.345, "12.3\u{202f}%"),
            (Unit::Percent, 0.003, "< 0.01\u{202f}%"),
            (Unit::Hertz, 30.0, "30 Hz"),
            (Unit::Ratio, 1.449, "1.45×"),
            (Unit::Count, 1234.0, "1234"),
            (Unit::Count, 2_500_000.0, "2.5 M"),
            (Unit::Count, f64::NAN, "–"),
        ];
        for (unit, value, wanted) in shown {
            assert_eq!(unit.show(value), wanted, "{value}");
        }
        assert_eq!(Unit::of_name("context_switches_per_second"), Unit::PerSecond);
        assert_eq!(Unit::of_name("wire_bytes_per_message"), Unit::Bytes);
        assert_eq!(dimension_value("rate_hz", &Value::Number(0.0)), "no pause");
        let named = |dimension, number| dimension_with_value(dimension, &Value::Number(number));
        assert_eq!([named("nodes", 1.0), named("nodes", 3.0)], ["1 node", "3 nodes"]);
        assert_eq!(
            [named("subscription", 2.0), named("size_bytes", 256.0)],
            ["subscription 2", "payload 256 B"]
        );
        assert_eq!(
            [named("work_micros", 500.0), named("link_mbit", 54.0)],
            ["work 500 µs", "link 54 Mbit/s"]
        );
        assert_eq!(dimension_value("size_bytes", &Value::Number(65536.0)), "64 KB");
    }

    #[test]
    fn moments_and_durations() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(moment(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(moment(1_795_266_300), "2026-11-21 13:05 UTC");
        assert!(!moment(u64::MAX).is_empty());
        assert_eq!(duration(192.4), "3 min 12 s");
        assert_eq!(duration(7260.0), "2 h 1 min");
    }
}
