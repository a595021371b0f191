//! What processes started and let go of: it left its process group, so nobody else of this launch
//! ends it. As the launcher is a subreaper, it becomes the launcher's child.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{self, Pid, Signal, WaitOptions};

/// How long strays may take to end after SIGTERM, and how long the system may take after SIGKILL.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Strays {
    /// Children that were there before the launch.
    others: BTreeSet<i32>,
    told: BTreeSet<i32>,
    due: Option<Instant>,
    is_killing: bool,
}

impl Strays {
    pub(super) fn new() -> Self {
        Self { others: children(), told: BTreeSet::new(), due: None, is_killing: false }
    }

    /// Ends those that there are; says how long to wait before the next look, `None` when there are
    /// none or nothing helps.
    pub(super) fn end(&mut self, hurry: bool) -> Option<Duration> {
        let now = Instant::now();
        let mut left = children();
        left.retain(|pid| !self.others.contains(pid) && !is_reaped(*pid));
        if left.is_empty() {
            return None;
        }
        let due = *self.due.get_or_insert(now + PATIENCE);
        if due <= now && self.is_killing {
            return None;
        }
        if (due <= now || hurry) && !self.is_killing {
            self.is_killing = true;
            self.due = Some(now + PATIENCE);
            self.told.clear();
        }
        let signal = if self.is_killing { Signal::KILL } else { Signal::TERM };
        for pid in left {
            if self.told.insert(pid)
                && let Some(pid) = Pid::from_raw(pid)
            {
                // It may have ended by itself meanwhile.
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
        // The name in brackets may hold anything; behind it stand the state and the parent.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1))
            == Some(own.as_str())
    };
    pids.filter(is_child).collect()
}
