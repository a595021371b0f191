//! Orphans: processes that left the process group of their parent and outlive the parent. The
//! launcher is a child subreaper (prctl(2), PR_SET_CHILD_SUBREAPER), so orphans become children of
//! the launcher.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{self, Pid, Signal, WaitOptions};

/// The time that orphans may take to end after SIGTERM, and again after SIGKILL.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Orphans {
    /// The children that existed before the launch.
    unrelated: BTreeSet<i32>,
    signalled: BTreeSet<i32>,
    due: Option<Instant>,
    is_killing: bool,
}

impl Orphans {
    pub(super) fn new() -> Self {
        Self { unrelated: children(), signalled: BTreeSet::new(), due: None, is_killing: false }
    }

    /// Signals all orphans to end. Returns the time to wait before the next call; `None` if no
    /// orphan is left, or if the remaining ones do not react to SIGKILL.
    pub(super) fn end(&mut self, without_delay: bool) -> Option<Duration> {
        let now = Instant::now();
        let mut left = children();
        left.retain(|pid| !self.unrelated.contains(pid) && !is_reaped(*pid));
        if left.is_empty() {
            return None;
        }
        let due = *self.due.get_or_insert(now + TIMEOUT);
        if due <= now && self.is_killing {
            return None;
        }
        if (due <= now || without_delay) && !self.is_killing {
            self.is_killing = true;
            self.due = Some(now + TIMEOUT);
            self.signalled.clear();
        }
        let signal = if self.is_killing { Signal::KILL } else { Signal::TERM };
        for pid in left {
            if self.signalled.insert(pid)
                && let Some(pid) = Pid::from_raw(pid)
            {
                // This fails if the orphan has ended meanwhile.
                let _ = process::kill_process(pid, signal);
            }
        }
        self.due.map(|due| due.saturating_duration_since(now))
    }
}

fn is_reaped(pid: i32) -> bool {
    let ended = Pid::from_raw(pid).map(|pid| process::waitpid(Some(pid), WaitOptions::NOHANG));
    matches!(ended, Some(Ok(Some(_)) | Err(_)))
}

/// The children of this process.
fn children() -> BTreeSet<i32> {
    let own = process::getpid().as_raw_nonzero().get().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeSet::new() };
    let pids =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The process name in parentheses may contain any characters; the state and the parent come
        // after it.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1))
            == Some(own.as_str())
    };
    pids.filter(is_child).collect()
}
