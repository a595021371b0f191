//! Chooses the processors for the programs of a cell, if that is a condition of the cell.
//!
//! A listener that sleeps on its talker's processor is woken by a task switch; a listener on
//! another processor is woken by an interrupt, after that processor has left its halt state. If the
//! scheduler chooses, one cell of a table may get the first case for its whole run, and the next
//! cell the second case. But if other programs run on the machine, the scheduler chooses better,
//! because a program that is bound to a processor has to wait for it (measurement 0009).

use rustix::thread::{CpuSet, sched_getaffinity};

use super::network::Host;
use crate::contract::Placement;
use crate::plan::Cell;

/// The processors of a host's programs, in the form that `taskset --cpu-list` takes. The talker
/// gets the first half of the processors that the laboratory may use, and the listeners get the
/// rest. `None` if this is not a condition of the cell, if the talker and the listeners are one
/// process, or if there is only one processor.
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
