//! The states of a goal, and what may follow what, as `rcl_action` has them.

use std::fmt;

use feros_message::GoalId;
use feros_msgs::action_msgs::msg::GoalStatus as Message;

use super::hex;

/// What has become of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(i8)]
pub enum GoalStatus {
    /// Nobody knows the goal, or its server has not told yet.
    #[default]
    Unknown = Message::STATUS_UNKNOWN,
    /// Accepted, and waiting to be executed.
    Accepted = Message::STATUS_ACCEPTED,
    /// Being executed.
    Executing = Message::STATUS_EXECUTING,
    /// Accepted to be canceled, which may take a while.
    Canceling = Message::STATUS_CANCELING,
    /// Reached.
    Succeeded = Message::STATUS_SUCCEEDED,
    /// Ended as a client wished.
    Canceled = Message::STATUS_CANCELED,
    /// Ended by the server before it was reached.
    Aborted = Message::STATUS_ABORTED,
}

/// What changes the status of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoalEvent {
    /// Its execution begins.
    Execute,
    /// A wish to cancel it was accepted.
    CancelGoal,
    /// It was reached.
    Succeed,
    /// The server gave it up.
    Abort,
    /// It was canceled.
    Canceled,
}

/// A goal cannot go on as it was told to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "goal {} of {action} cannot {event}: it is {status}, and only {} can; look at its status before", hex(.goal_id), Sources(*.event)
)]
pub struct GoalTransitionError {
    /// The action.
    pub action: String,
    /// The goal.
    pub goal_id: GoalId,
    /// What it was told.
    pub event: GoalEvent,
    /// What it is.
    pub status: GoalStatus,
}

impl GoalStatus {
    /// All of them, by number.
    const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Accepted,
        Self::Executing,
        Self::Canceling,
        Self::Succeeded,
        Self::Canceled,
        Self::Aborted,
    ];

    /// The number that messages have for it, a constant of `action_msgs/GoalStatus`.
    pub fn number(self) -> i8 {
        self as i8
    }

    /// The status of a number; `Unknown` where there is none.
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

    /// Whether a wish to cancel the goal may be accepted.
    pub fn is_cancelable(self) -> bool {
        self.after(GoalEvent::CancelGoal).is_some()
    }

    /// The status that follows an event; `None` where the event is not allowed.
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

/// The statuses from which an event is allowed.
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
    fn what_follows_what_is_as_in_rcl_action() {
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
             CANCELING can; look at its status before"
        );
    }
}
