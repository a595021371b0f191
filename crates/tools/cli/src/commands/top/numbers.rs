//! Formats the numbers of the screen with three digits and a unit, so that columns stay narrow.

use std::time::Duration;

use feros_monitor::MatchesByTransport;

/// Formats a number of bytes.
pub(in crate::commands) fn bytes(bytes: f64) -> String {
    match bytes {
        ..1e3 => format!("{bytes:.0} B"),
        1e3..1e6 => format!("{:.1} KB", bytes / 1e3),
        1e6..1e9 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} GB", bytes / 1e9),
    }
}

/// Formats a duration.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds @ ..1e-3 => format!("{:.0} us", seconds * 1e6),
        seconds @ 1e-3..1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}

/// The numbers of matches by transport: `2 intra-process, 1 network`.
pub(super) fn matches(matches: MatchesByTransport) -> String {
    let MatchesByTransport { intra_process, shared_memory, network, none } = matches;
    let counted = [
        (intra_process, "intra-process"),
        (shared_memory, "shared memory"),
        (network, "network"),
        (none, "none possible"),
    ];
    let words = counted.iter().filter(|(count, _)| *count > 0);
    words.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_their_numbers() {
        let sizes = [0.0, 999.0, 1234.0, 5_000_000.0, 2e9].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.2 KB", "5.0 MB", "2.0 GB"]);
        let times = [87, 1500, 2_000_000].map(|micros| time(Duration::from_micros(micros)));
        assert_eq!(times, ["87 us", "1.5 ms", "2.0 s"]);
        let some = MatchesByTransport { intra_process: 2, network: 1, ..Default::default() };
        assert_eq!(matches(some), "2 intra-process, 1 network");
    }
}
