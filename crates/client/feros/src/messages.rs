//! Messages as the endpoints of this crate hand them on: the forms that callbacks take, the content
//! that stays within a process, serialization, and the identities of types.

pub(crate) mod content;
pub(crate) mod forms;
pub(crate) mod identity;
pub(crate) mod serialize;
