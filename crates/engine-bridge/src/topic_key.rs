//! Which topic is carried, from where to where.

use crate::class::Class;

/// What is carried, from where to where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopicKey {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) class: Class,
}
