//! The attributes of an entity: everything that policies and callback groups need to know about the
//! entity.

use feros_sync::Arc;
use std::fmt;
use std::time::Duration;

/// The kind of an entity, for policies that order by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    /// A timer, whose unit of work is one call of its callback.
    Timer,
    /// A subscription to a topic.
    Subscription,
    /// A service server, which handles requests.
    Service,
    /// A service client, which handles responses.
    Client,
    /// Any other entity, such as an event handler or a guard condition.
    #[default]
    Other,
}

/// The properties of an entity that its executor uses. All of them are optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The entity's kind, used by [`Ros`](crate::Ros).
    pub kind: Kind,
    /// The urgency, used by [`Priority`](crate::Priority). A higher number is more urgent.
    pub priority: i32,
    /// The time within which the entity should be executed after it becomes ready, used by
    /// [`Deadline`](crate::Deadline).
    pub deadline: Option<Duration>,
    /// The position in a [`Sequence`](crate::Sequence). The lowest position is executed first.
    pub position: Option<u32>,
    /// The group, in which only one entity executes at a time. Without a group, the entity may
    /// overlap with all other entities. Entities of different executors may always overlap. No
    /// entity ever overlaps with itself.
    pub group: Option<ExclusiveGroup>,
}

/// A group of entities that never overlap, however many threads spin their executor. Clones refer
/// to the same group.
///
/// Entities of the group that are on different executors may still overlap. Belonging to a group
/// costs nothing if a single thread spins the executor.
#[derive(Clone, Default)]
pub struct ExclusiveGroup(Arc<Identity>);

/// The address of this value identifies the group, so the size must not be zero.
#[derive(Default)]
struct Identity(#[allow(dead_code, reason = "takes up room")] u8);

impl ExclusiveGroup {
    /// Makes a group without entities.
    pub fn new() -> Self {
        Self::default()
    }
}

impl PartialEq for ExclusiveGroup {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ExclusiveGroup {}

impl fmt::Debug for ExclusiveGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExclusiveGroup").field(&Arc::as_ptr(&self.0)).finish()
    }
}
