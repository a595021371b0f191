//! On which processors the programs of a cell run, where that is a condition.
//!
//! A listener that sleeps on the processor of its talker is woken by a switch of tasks; one that
//! sleeps on another by an interrupt, and by the end of a halt. Left to the scheduler, the one cell
//! of a table has this and the next that, for as long as it runs. Where something else runs on the
//! machine the scheduler is the better choice: who may not leave a processor waits for it
//! (measurement 0009).

use rustix::thread::{CpuSet, sched_getaffinity};

use super::network::Host;
use crate::contract::Placement;
use crate::plan::Cell;

/// The processors of a host's programs, as `taskset --cpu-list` takes them: the first half of those
/// that the laboratory may use is the talker's, the rest is the listeners'. Nothing where that is
/// not asked for, where talker and listeners are one process, and where there is one processor.
pub(super) fn half_of(cell: &Cell, host: Host) -> Option<String> {
    let is_one_process = matches!(cell.placement, Placement::Composed | Placement::Intra);
    if !cell.procedure.apart || is_one_process {
        return None;
    }
    let allowed = sched_getaffinity(None).ok()?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    half(&all, host)
}

fn half(all: &[usize], host: Host) -> Option<String> {
    if all.len() < 2 {
        return None;
    }
    let (first, rest) = all.split_at(all.len() / 2);
    let own = match host {
        Host::Talker => first,
        Host::Listener => rest,
    };
    Some(own.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talkers_and_listeners_share_no_processor() {
        let both = |all: &[usize]| (half(all, Host::Talker), half(all, Host::Listener));
        assert_eq!(both(&[0, 1]), (Some("0".into()), Some("1".into())));
        assert_eq!(both(&[2, 3, 7]), (Some("2".into()), Some("3,7".into())));
        assert_eq!(both(&[4]), (None, None));
    }
}
