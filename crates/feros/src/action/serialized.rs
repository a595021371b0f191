//! The form of actions whose type is known only at run time.

/// Goals, feedback and results as the serialized messages that travel, each with its 4-byte header,
/// for types that are known only at run time.
///
/// | | message | who fills in what |
/// |---|---|---|
/// | goal | `A_SendGoal_Request` | the client its goal's id |
/// | feedback | `A_FeedbackMessage` | the server the goal's id |
/// | result | `A_GetResult_Response` | the server the goal's status |
///
/// What is filled in overwrites what stands there.
#[derive(Debug, Clone, Copy)]
pub enum Serialized {}
