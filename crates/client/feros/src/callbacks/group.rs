//! Callback groups, and the other options for scheduling a callback.

use std::sync::Arc;
use std::time::Duration;

use feros_executor::{AddError, Attributes, ExclusiveGroup, ExecutorHandle, Kind};

use super::node_members::{NodeMembers, SeparateGroup};
use crate::context::Context;

/// The rule that decides which callbacks of a group may overlap on an executor with several
/// threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackGroupKind {
    /// No callbacks may overlap: one runs at a time.
    MutuallyExclusive,
    /// Callbacks of different entities, such as two subscriptions, may overlap. The same callback
    /// never runs on two threads at once, so it may change its captures.
    Reentrant,
}

/// Callbacks of one node that are scheduled together. Clones refer to the same group.
///
/// A node has a mutually exclusive default group for every entity whose options name no group. So
/// the callbacks of a node that has only this group never overlap, however many threads its
/// executor has. The callback of a subscription with
/// [`Dispatch::PublishingThread`](crate::Dispatch::PublishingThread) belongs to no group while the
/// publishing thread runs it.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::{CallbackGroupKind, SubscriptionOptions, msgs::sensor_msgs::msg::Image, View};
/// let cameras = node.create_callback_group(CallbackGroupKind::Reentrant);
/// let options = || SubscriptionOptions::from(1).callback_group(&cameras);
/// let left = node.create_subscription("left", options(), |image: View<Image>| { /* ... */ })?;
/// let right = node.create_subscription("right", options(), |image: View<Image>| { /* in parallel */ })?;
/// # Ok::<(), feros::Error>(())
/// ```
#[derive(Clone)]
pub struct CallbackGroup(Arc<Inner>);

struct Inner {
    kind: CallbackGroupKind,
    exclusive: ExclusiveGroup,
    members: NodeMembers,
    /// `Some` if the group is added to executors separately from its node.
    separate: Option<Separate>,
}

struct Separate {
    membership: Arc<SeparateGroup>,
    /// The context of the node, with which the group's executor stops.
    context: Context,
}

impl CallbackGroup {
    /// Makes a group of a node, which is added to executors together with the node.
    pub(crate) fn new(kind: CallbackGroupKind, members: &NodeMembers) -> Self {
        Self::with(kind, members, None)
    }

    /// Makes a group of a node, which is added to executors separately from the node.
    pub(crate) fn separate(
        kind: CallbackGroupKind,
        members: &NodeMembers,
        context: &Context,
    ) -> Self {
        let (membership, context) = (Arc::default(), context.clone());
        Self::with(kind, members, Some(Separate { membership, context }))
    }

    fn with(kind: CallbackGroupKind, members: &NodeMembers, separate: Option<Separate>) -> Self {
        let (exclusive, members) = (ExclusiveGroup::new(), members.clone());
        Self(Arc::new(Inner { kind, exclusive, members, separate }))
    }

    /// The kind, which determines which callbacks may overlap.
    pub fn kind(&self) -> CallbackGroupKind {
        self.0.kind
    }

    /// Whether the group is added to executors separately from its node; see
    /// [`Node::create_separate_callback_group`](crate::Node::create_separate_callback_group).
    pub fn is_separate(&self) -> bool {
        self.0.separate.is_some()
    }

    /// The entities of the group's node.
    pub(crate) fn members(&self) -> &NodeMembers {
        &self.0.members
    }

    /// The group's own membership in an executor; `None` if the group is not separate.
    pub(crate) fn as_separate(&self) -> Option<&Arc<SeparateGroup>> {
        self.0.separate.as_ref().map(|separate| &separate.membership)
    }

    /// The context with which the executor of the group stops; `None` if the group is not separate.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.0.separate.as_ref().map(|separate| &separate.context)
    }

    /// Moves the entities of a separate group to an executor. Returns `None` if the group is not
    /// separate, and `Some(false)` if it is already on an executor.
    pub(crate) fn join(&self, executor: &ExecutorHandle) -> Result<Option<bool>, AddError> {
        let separate = self.as_separate();
        separate.map(|separate| self.0.members.join_group(separate, executor)).transpose()
    }

    /// Takes the entities of a separate group off its executor.
    pub(crate) fn leave(&self) {
        if let Some(separate) = self.as_separate() {
            self.0.members.leave_group(separate);
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The scheduling options of callbacks, which are part of the options of subscriptions, services
/// and timers.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CallbackOptions {
    /// The group; `None` means the node's default group.
    pub group: Option<CallbackGroup>,
    /// The priority for executors with the policy [`Priority`](crate::policy::Priority). A higher
    /// number is more urgent.
    pub priority: i32,
    /// The time within which the callback should begin after it becomes ready, for executors with
    /// the policy [`Deadline`](crate::policy::Deadline).
    pub deadline: Option<Duration>,
    /// The position for executors with the policy [`Sequence`](crate::policy::Sequence). The lowest
    /// position runs first.
    pub position: Option<u32>,
}

impl CallbackOptions {
    pub(crate) fn attributes(&self, kind: Kind, default: &ExclusiveGroup) -> Attributes {
        let group = match &self.group {
            None => Some(default.clone()),
            Some(group) => (group.kind() == CallbackGroupKind::MutuallyExclusive)
                .then(|| group.0.exclusive.clone()),
        };
        Attributes {
            kind,
            priority: self.priority,
            deadline: self.deadline,
            position: self.position,
            group,
        }
    }
}

/// Generates the setters of [`CallbackOptions`] for an options struct that has a field `callback`
/// of this type.
macro_rules! callback_setters {
    ($options:ty) => {
        impl $options {
            /// Puts the callback into this group of the node.
            #[must_use]
            pub fn callback_group(mut self, group: &$crate::CallbackGroup) -> Self {
                self.callback.group = Some(group.clone());
                self
            }

            /// Sets the priority for executors that schedule by priority. A higher number is more
            /// urgent.
            #[must_use]
            pub fn priority(mut self, priority: i32) -> Self {
                self.callback.priority = priority;
                self
            }

            /// Sets the time within which the callback should begin after it becomes ready, for
            /// executors that schedule by deadline.
            #[must_use]
            pub fn deadline(mut self, deadline: std::time::Duration) -> Self {
                self.callback.deadline = Some(deadline);
                self
            }

            /// Sets the position of the callback, for executors that run callbacks in a sequence.
            #[must_use]
            pub fn position(mut self, position: u32) -> Self {
                self.callback.position = Some(position);
                self
            }
        }
    };
}
pub(crate) use callback_setters;
