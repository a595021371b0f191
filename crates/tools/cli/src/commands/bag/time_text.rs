//! Formats times and sizes for people as `ros2 bag` does
//! (`rosbag2_py/src/rosbag2_py/format_bag_metadata.cpp`), but in UTC: the reader of a bag may be in
//! another time zone than its recorder.

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the year, month, day, hour, minute and second of a time since 1970.
fn civil(nanos: i64) -> (i64, usize, i64, i64, i64, i64) {
    let seconds = nanos.div_euclid(SECOND);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 1 March of the year 0, in eras of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 2 } else { from_march - 10 };
    let year = year_of_era + era * 400 + i64::from(month < 2);
    let month = usize::try_from(month).unwrap_or(0);
    (year, month, day, second / 3600, second / 60 % 60, second % 60)
}

/// A time as `Nov 22 2026 20:15:00.000000000 (1795378500.000000000)`.
pub(super) fn time_text(nanos: i64) -> String {
    let (year, month, day, hour, minute, second) = civil(nanos);
    let fraction = nanos.rem_euclid(SECOND);
    let month = MONTHS[month];
    format!(
        "{month} {day:2} {year} {hour:02}:{minute:02}:{second:02}.{fraction:09} UTC ({}.{fraction:09})",
        nanos.div_euclid(SECOND)
    )
}

/// A time in the form that the name of a bag contains: `2026_11_22-20_15_00`.
pub(super) fn file_name_text(nanos: i64) -> String {
    let (year, month, day, hour, minute, second) = civil(nanos);
    format!("{year}_{:02}_{day:02}-{hour:02}_{minute:02}_{second:02}", month + 1)
}

/// A duration in seconds.
pub(super) fn duration_text(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let second = SECOND.unsigned_abs();
    let (seconds, fraction) = (nanos.unsigned_abs() / second, nanos.unsigned_abs() % second);
    let fraction = format!(".{fraction:09}");
    format!("{sign}{seconds}{}s", fraction.trim_end_matches('0').trim_end_matches('.'))
}

/// A number of bytes as `1.5 MiB`.
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(super) fn size_text(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") };
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        assert_eq!(time_text(0), "Jan  1 1970 00:00:00.000000000 UTC (0.000000000)");
        assert_eq!(file_name_text(1_795_378_500 * SECOND), "2026_11_22-20_15_00");
        assert_eq!(file_name_text(951_782_399 * SECOND), "2000_02_28-23_59_59");
        assert_eq!(file_name_text(951_782_400 * SECOND), "2000_02_29-00_00_00");
        assert_eq!(file_name_text(-SECOND), "1969_12_31-23_59_59");
        for (nanos, text) in [
            (1_969_543_930, "1.96954393s"),
            (2_000_000_000, "2s"),
            (1, "0.000000001s"),
            (0, "0s"),
            (-1_500_000_000, "-1.5s"),
        ] {
            assert_eq!(duration_text(nanos), text);
        }
        assert_eq!(size_text(1023), "1023 B");
        assert_eq!(size_text(3 << 19), "1.5 MiB");
    }
}
