//! Actions of actionlib. An action has five topics (`actionlib_msgs`,
//! `actionlib/DetailedDescription`). A message on `goal`, `feedback` or `result` first identifies a
//! goal, and then contains the fields of the action's own type.

use feros_interface::TypeName;

use crate::definition::type_text;
use crate::ros1_type::Ros1Type;

/// The size limit of a string in a goal's identity or status, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// The smallest size of a status, in bytes: two numbers, two empty strings and a byte.
const LEAST_STATUS_BYTES: usize = 17;

/// The topics of an action, relative to the action's name.
pub const ACTION_TOPICS: [&str; 5] = ["goal", "cancel", "status", "feedback", "result"];

/// A part of an action's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionPart {
    Goal,
    Result,
    Feedback,
}

impl ActionPart {
    pub(crate) const ALL: [Self; 3] = [Self::Goal, Self::Result, Self::Feedback];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Goal => "Goal",
            Self::Result => "Result",
            Self::Feedback => "Feedback",
        }
    }

    /// Returns the name of the message that contains the fields of this part.
    pub(crate) fn message(self, action: &TypeName) -> TypeName {
        TypeName::message(&action.package, format!("{}{}", action.name, self.word()))
    }

    /// Returns the message type of the topic.
    pub(crate) fn topic_type(self, action: &TypeName) -> TypeName {
        TypeName::message(&action.package, format!("{}Action{}", action.name, self.word()))
    }

    /// Returns the definition of the topic's message, as `genaction` writes it.
    pub(crate) fn topic_text(self, action: &TypeName) -> String {
        let about = match self {
            Self::Goal => "actionlib_msgs/GoalID goal_id",
            Self::Result | Self::Feedback => "actionlib_msgs/GoalStatus status",
        };
        let (message, field) = (type_text(&self.message(action)), self.word().to_lowercase());
        format!("Header header\n{about}\n{message} {field}\n")
    }
}

/// The type of an actionlib action.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros1Action {
    /// The name of the action, `package/msg/Name`.
    pub name: TypeName,
    /// The type of a goal.
    pub goal: Ros1Type,
    /// The type of a result.
    pub result: Ros1Type,
    /// The type of the feedback.
    pub feedback: Ros1Type,
    /// The message types of the topics `goal`, `result` and `feedback`.
    pub topics: [Ros1Type; 3],
}

/// The identity of a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ros1GoalId {
    /// The time of the request, in seconds and nanoseconds.
    pub stamp: (u32, u32),
    /// The id of the goal.
    pub id: String,
}

/// The status of a goal, and the reason for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ros1GoalStatus {
    /// The goal.
    pub goal_id: Ros1GoalId,
    /// The status, one of the constants of this type.
    pub status: u8,
    /// A text for users, such as the reason.
    pub text: String,
}

impl Ros1GoalStatus {
    /// The server has not considered the goal yet.
    pub const PENDING: u8 = 0;
    /// The server is working on the goal.
    pub const ACTIVE: u8 = 1;
    /// The goal ended early, because a client canceled it or because a newer goal replaced it.
    pub const PREEMPTED: u8 = 2;
    /// The goal was reached.
    pub const SUCCEEDED: u8 = 3;
    /// The server gave up on the goal.
    pub const ABORTED: u8 = 4;
    /// The server did not accept the goal.
    pub const REJECTED: u8 = 5;
    /// A client asked to cancel the goal while the server was working on it.
    pub const PREEMPTING: u8 = 6;
    /// A client asked to cancel the goal before the server started to work on it.
    pub const RECALLING: u8 = 7;
    /// The goal was canceled before the server started to work on it.
    pub const RECALLED: u8 = 8;

    /// Whether the goal has ended.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(
            self.status,
            Self::PREEMPTED | Self::SUCCEEDED | Self::ABORTED | Self::REJECTED | Self::RECALLED..
        )
    }
}

/// The error for a malformed message of one of the topics of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the message of an action ends too early, or a string in it is malformed, at byte {offset}"
)]
pub struct ActionMessageError {
    /// The offset of the malformed part.
    pub offset: usize,
}

/// Reads a message of the topic `goal`. Returns the goal's identity and the bytes of the goal
/// itself.
///
/// # Errors
/// Returns an error if the message is malformed.
pub fn read_goal(body: &[u8]) -> Result<(Ros1GoalId, &[u8]), ActionMessageError> {
    let mut reader = Reader { body, at: 0 };
    reader.header()?;
    Ok((reader.goal_id()?, &body[reader.at..]))
}

/// Reads a message of the topic `cancel`.
///
/// # Errors
/// Returns an error if the message is malformed.
pub fn read_cancel(body: &[u8]) -> Result<Ros1GoalId, ActionMessageError> {
    Reader { body, at: 0 }.goal_id()
}

/// Reads a message of the topic `result` or `feedback`. Returns the status of the goal and the
/// bytes of the result or feedback.
///
/// # Errors
/// Returns an error if the message is malformed.
pub fn read_about(body: &[u8]) -> Result<(Ros1GoalStatus, &[u8]), ActionMessageError> {
    let mut reader = Reader { body, at: 0 };
    reader.header()?;
    Ok((reader.status()?, &body[reader.at..]))
}

/// Reads a message of the topic `status`.
///
/// # Errors
/// Returns an error if the message is malformed.
pub fn read_statuses(body: &[u8]) -> Result<Vec<Ros1GoalStatus>, ActionMessageError> {
    let mut reader = Reader { body, at: 0 };
    reader.header()?;
    let count = reader.number()? as usize;
    if count > (body.len() - reader.at) / LEAST_STATUS_BYTES {
        return Err(ActionMessageError { offset: reader.at });
    }
    (0..count).map(|_| reader.status()).collect()
}

/// Writes the beginning of a message of the topic `goal`. The caller appends the goal itself.
pub fn write_goal(out: &mut Vec<u8>, stamp: (u32, u32), goal_id: &Ros1GoalId) {
    write_header(out, stamp);
    write_goal_id(out, goal_id);
}

/// Writes a message of the topic `cancel`.
pub fn write_cancel(out: &mut Vec<u8>, goal_id: &Ros1GoalId) {
    write_goal_id(out, goal_id);
}

/// Writes the beginning of a message of the topic `result` or `feedback`. The caller appends the
/// result or feedback.
pub fn write_about(out: &mut Vec<u8>, stamp: (u32, u32), status: &Ros1GoalStatus) {
    write_header(out, stamp);
    write_status(out, status);
}

/// Writes a message of the topic `status`.
pub fn write_statuses(out: &mut Vec<u8>, stamp: (u32, u32), statuses: &[Ros1GoalStatus]) {
    write_header(out, stamp);
    write_number(out, statuses.len());
    statuses.iter().for_each(|status| write_status(out, status));
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], ActionMessageError> {
        let fault = ActionMessageError { offset: self.at };
        let end = self.at.checked_add(len).ok_or(fault)?;
        let taken = self.body.get(self.at..end).ok_or(fault)?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, ActionMessageError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn text(&mut self) -> Result<String, ActionMessageError> {
        let fault = ActionMessageError { offset: self.at };
        let len = self.number()? as usize;
        if len > MAX_TEXT_BYTES {
            return Err(fault);
        }
        String::from_utf8(self.take(len)?.to_vec()).map_err(|_| fault)
    }

    fn header(&mut self) -> Result<(), ActionMessageError> {
        self.take(12)?;
        let len = self.number()? as usize;
        self.take(len).map(drop)
    }

    fn goal_id(&mut self) -> Result<Ros1GoalId, ActionMessageError> {
        Ok(Ros1GoalId { stamp: (self.number()?, self.number()?), id: self.text()? })
    }

    fn status(&mut self) -> Result<Ros1GoalStatus, ActionMessageError> {
        Ok(Ros1GoalStatus {
            goal_id: self.goal_id()?,
            status: self.take(1)?[0],
            text: self.text()?,
        })
    }
}

fn write_number(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn write_header(out: &mut Vec<u8>, (sec, nanosec): (u32, u32)) {
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&sec.to_le_bytes());
    out.extend_from_slice(&nanosec.to_le_bytes());
    write_text(out, "");
}

fn write_goal_id(out: &mut Vec<u8>, goal_id: &Ros1GoalId) {
    out.extend_from_slice(&goal_id.stamp.0.to_le_bytes());
    out.extend_from_slice(&goal_id.stamp.1.to_le_bytes());
    write_text(out, &goal_id.id);
}

fn write_status(out: &mut Vec<u8>, status: &Ros1GoalStatus) {
    write_goal_id(out, &status.goal_id);
    out.push(status.status);
    write_text(out, &status.text);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn status(id: &str, status: u8) -> Ros1GoalStatus {
        let goal_id = Ros1GoalId { stamp: (7, 8), id: id.to_owned() };
        Ros1GoalStatus { goal_id, status, text: "why".to_owned() }
    }

    #[test]
    fn written_messages_are_read_back() {
        let both = [status("a", Ros1GoalStatus::ACTIVE), status("", Ros1GoalStatus::ABORTED)];
        let mut out = Vec::new();
        write_statuses(&mut out, (1, 2), &both);
        assert_eq!(read_statuses(&out).unwrap(), both);
        let mut out = Vec::new();
        write_about(&mut out, (1, 2), &both[0]);
        out.extend_from_slice(b"rest");
        assert_eq!(read_about(&out).unwrap(), (both[0].clone(), &b"rest"[..]));
        let mut out = Vec::new();
        write_goal(&mut out, (1, 2), &both[0].goal_id);
        assert_eq!(read_goal(&out).unwrap(), (both[0].goal_id.clone(), &b""[..]));
    }

    #[test]
    fn hostile_messages_are_refused() {
        let mut out = Vec::new();
        write_statuses(&mut out, (1, 2), &[status("a", 1)]);
        for len in 0..out.len() {
            assert!(read_statuses(&out[..len]).is_err(), "{len}");
        }
        out[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read_statuses(&out), Err(ActionMessageError { offset: 20 }));
        assert!(read_cancel(&[0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]).is_err());
        assert!(read_cancel(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xff]).is_err());
    }

    #[test]
    fn ends_are_ends() {
        let ends: Vec<u8> = (0..=10).filter(|number| status("", *number).is_terminal()).collect();
        assert_eq!(ends, [2, 3, 4, 5, 8, 9, 10]);
    }
}
