//! Tells whether this process is meant to outlive its terminal.

use signal_hook::consts::SIGHUP;

/// The bit of SIGHUP in the mask `SigIgn` of `/proc/self/status`.
const HANGUP: u64 = 1;

/// SIGHUP, for a process that ends with its terminal; `None` if this process ignores SIGHUP, and so
/// must not handle it.
pub fn hangup_to_handle() -> Option<i32> {
    (!ignores_hangup()).then_some(SIGHUP)
}

/// Whether this process ignores SIGHUP, as `nohup` makes its programs do. Such a process must not
/// install a handler for SIGHUP, since it would then end with its terminal.
pub fn ignores_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored(&status) & HANGUP != 0)
}

/// The mask of the signals that a process with this status ignores.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_that_ignores_sighup_says_so() {
        for (script, ignores) in [("", false), ("trap '' HUP;", true), ("trap '' USR1;", false)] {
            let script = format!("{script} exec cat /proc/self/status");
            let shown = Command::new("sh").args(["-c", &script]).output().unwrap();
            let status = String::from_utf8(shown.stdout).unwrap();
            // The tests themselves may run under `nohup`.
            let expected = ignores || ignores_hangup();
            assert_eq!(ignored(&status) & HANGUP != 0, expected, "{script}: {status}");
        }
        assert_eq!(ignored("Name:\tcat\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored("SigIgn:\tunreadable\n"), 0);
    }
}
