//! The form of actions whose type is known only at run time.

/// Goals, feedback and results as serialized messages, each with its 4-byte header, for types that
/// are known only at run time.
///
/// | | message | filled in by Feros |
/// |---|---|---|
/// | goal | `A_SendGoal_Request` | the goal's id, by the client |
/// | feedback | `A_FeedbackMessage` | the goal's id, by the server |
/// | result | `A_GetResult_Response` | the goal's status, by the server |
///
/// The fields that Feros fills in overwrite the bytes of the message.
#[derive(Debug, Clone, Copy)]
pub enum Serialized {}
