//! The states of a goal and the transitions between them, as in `rcl_action`.

use std::fmt;

use feros_message::GoalId;
use feros_msgs::action_msgs::msg::GoalStatus as Message;

use super::hex;

/// The status of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(i8)]
pub enum GoalStatus {
    /// No server knows the goal, or its server has not reported the status yet.
    #[default]
    Unknown = Message::STATUS_UNKNOWN,
    /// The goal has been accepted and waits to be executed.
    Accepted = Message::STATUS_ACCEPTED,
    /// The goal is executing.
    Executing = Message::STATUS_EXECUTING,
    /// The cancellation of the goal has been accepted, and may take a while.
    Canceling = Message::STATUS_CANCELING,
    /// The goal was reached.
    Succeeded = Message::STATUS_SUCCEEDED,
    /// The goal was canceled, as a client requested.
    Canceled = Message::STATUS_CANCELED,
    /// The server ended the goal before it was reached.
    Aborted = Message::STATUS_ABORTED,
}

/// An event that changes the status of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoalEvent {
    /// The execution of the goal begins.
    Execute,
    /// A request to cancel the goal was accepted.
    CancelGoal,
    /// The goal was reached.
    Succeed,
    /// The server gave the goal up.
    Abort,
    /// The goal was canceled.
    Canceled,
}

/// The error for an event that is not allowed in the present status of a goal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "goal {} of {action} cannot {event}: it is {status}, and only {} can; check its status first", hex(.goal_id), Sources(*.event)
)]
pub struct GoalTransitionError {
    /// The action.
    pub action: String,
    /// The goal.
    pub goal_id: GoalId,
    /// The event that is not allowed.
    pub event: GoalEvent,
    /// The status of the goal.
    pub status: GoalStatus,
}

impl GoalStatus {
    /// All statuses, in the order of their numbers.
    const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Accepted,
        Self::Executing,
        Self::Canceling,
        Self::Succeeded,
        Self::Canceled,
        Self::Aborted,
    ];

    /// The number of the status in messages, as in `action_msgs/GoalStatus`.
    pub fn number(self) -> i8 {
        self as i8
    }

    /// Returns the status that has this number; `Unknown` if there is no such status.
    pub fn from_number(number: i8) -> Self {
        let known = usize::try_from(number).ok().and_then(|index| Self::ALL.get(index));
        known.copied().unwrap_or_default()
    }

    /// Whether the goal was accepted and has not ended.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Accepted | Self::Executing | Self::Canceling)
    }

    /// Whether the goal has ended.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }

    /// Whether a request to cancel the goal may be accepted.
    pub fn is_cancelable(self) -> bool {
        self.after(GoalEvent::CancelGoal).is_some()
    }

    /// Returns the status after an event; `None` if the event is not allowed.
    pub fn after(self, event: GoalEvent) -> Option<Self> {
        use GoalEvent as E;
        match (self, event) {
            (Self::Accepted, E::Execute) => Some(Self::Executing),
            (Self::Accepted | Self::Executing, E::CancelGoal) => Some(Self::Canceling),
            (Self::Executing | Self::Canceling, E::Succeed) => Some(Self::Succeeded),
            (Self::Executing | Self::Canceling, E::Abort) => Some(Self::Aborted),
            (Self::Canceling, E::Canceled) => Some(Self::Canceled),
            _ => None,
        }
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "UNKNOWN",
            Self::Accepted => "ACCEPTED",
            Self::Executing => "EXECUTING",
            Self::Canceling => "CANCELING",
            Self::Succeeded => "SUCCEEDED",
            Self::Canceled => "CANCELED",
            Self::Aborted => "ABORTED",
        })
    }
}

impl fmt::Display for GoalEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Execute => "begin to execute",
            Self::CancelGoal => "begin to cancel",
            Self::Succeed => "succeed",
            Self::Abort => "abort",
            Self::Canceled => "end as canceled",
        })
    }
}

/// Displays the statuses in which an event is allowed.
struct Sources(GoalEvent);

impl fmt::Display for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut allowed = GoalStatus::ALL.into_iter().filter(|from| from.after(self.0).is_some());
        if let Some(first) = allowed.next() {
            write!(f, "{first}")?;
        }
        allowed.try_for_each(|other| write!(f, " or {other}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GoalEvent::{Abort, CancelGoal, Canceled, Execute, Succeed};

    #[test]
    fn goal_states_change_as_in_rcl_action() {
        let allowed = [
            (GoalStatus::Accepted, Execute, GoalStatus::Executing),
            (GoalStatus::Accepted, CancelGoal, GoalStatus::Canceling),
            (GoalStatus::Executing, CancelGoal, GoalStatus::Canceling),
            (GoalStatus::Executing, Succeed, GoalStatus::Succeeded),
            (GoalStatus::Executing, Abort, GoalStatus::Aborted),
            (GoalStatus::Canceling, Succeed, GoalStatus::Succeeded),
            (GoalStatus::Canceling, Abort, GoalStatus::Aborted),
            (GoalStatus::Canceling, Canceled, GoalStatus::Canceled),
        ];
        for from in GoalStatus::ALL {
            for event in [Execute, CancelGoal, Succeed, Abort, Canceled] {
                let expected = allowed.iter().find(|(f, e, _)| (*f, *e) == (from, event));
                assert_eq!(from.after(event), expected.map(|(_, _, to)| *to), "{from} {event}");
            }
            assert_eq!(GoalStatus::from_number(from.number()), from);
        }
        for strange in [i8::MIN, -1, 7, i8::MAX] {
            assert_eq!(GoalStatus::from_number(strange), GoalStatus::Unknown);
        }
    }

    #[test]
    fn an_error_says_goal_event_status_and_what_would_do() {
        let error = GoalTransitionError {
            action: "/fib".to_owned(),
            goal_id: [1; 16],
            event: Succeed,
            status: GoalStatus::Canceled,
        };
        assert_eq!(
            error.to_string(),
            "goal 01010101010101010101010101010101 of /fib cannot succeed: it is CANCELED, and only EXECUTING or \
             CANCELING can; check its status first"
        );
    }
}
