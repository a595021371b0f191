//! The form of actions whose type is known only at run time.

/// The form of an action whose type is known only at run time: goals, feedback and results are
/// serialized messages, each with its 4-byte header.
///
/// | | message | filled in by Feros |
/// |---|---|---|
/// | goal | `A_SendGoal_Request` | the goal's id, by the client |
/// | feedback | `A_FeedbackMessage` | the goal's id, by the server |
/// | result | `A_GetResult_Response` | the goal's status, by the server |
///
/// Feros overwrites the bytes of the fields in the last column.
#[derive(Debug, Clone, Copy)]
pub enum Serialized {}
