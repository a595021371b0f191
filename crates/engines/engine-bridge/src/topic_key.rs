//! The identity of a bridged topic.

use crate::class::Class;

/// A bridged topic, with its class and its sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopicKey {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) class: Class,
}
