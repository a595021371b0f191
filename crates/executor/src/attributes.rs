//! What an executor knows of an entity besides its work: everything that a policy or a callback
//! group goes by.

use feros_sync::Arc;
use std::fmt;
use std::time::Duration;

/// What an entity is, for policies that care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    /// A callback at a time.
    Timer,
    /// Messages of a topic.
    Subscription,
    /// Requests to a service.
    Service,
    /// Responses to a client.
    Client,
    /// Anything else, such as events and guard conditions.
    #[default]
    Other,
}

/// What an executor is told of an entity when it comes. None of it is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// What it is; [`Ros`](crate::Ros) goes by it.
    pub kind: Kind,
    /// How urgent it is, the higher the more; [`Priority`](crate::Priority) goes by it.
    pub priority: i32,
    /// How long after becoming ready it has to be executed; [`Deadline`](crate::Deadline) goes by
    /// it.
    pub deadline: Option<Duration>,
    /// Its place in a [`Sequence`](crate::Sequence), the lowest first.
    pub position: Option<u32>,
    /// The group of which one entity at a time is executed. Without one, or with several executors,
    /// it may overlap with all others; with itself no entity ever does.
    pub group: Option<ExclusiveGroup>,
}

/// Entities that never overlap, however many threads spin their executor. Clones are the same
/// group.
///
/// It holds among entities of one executor. Belonging to a group costs nothing where one thread
/// spins.
#[derive(Clone, Default)]
pub struct ExclusiveGroup(Arc<Identity>);

/// Not of size zero: the address is what tells groups apart.
#[derive(Default)]
struct Identity(#[allow(dead_code, reason = "takes up room")] u8);

impl ExclusiveGroup {
    /// A group without entities.
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
