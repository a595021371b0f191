//! The transport that the messages of a cell took, if its system reports it, and whether it is the
//! transport that the manifest gives for the placement.
//!
//! If the shortest transport of a system is disturbed, the system continues with a longer one; such
//! a result does not count as a result of the system under test.

use std::collections::BTreeMap;

use crate::peer::SystemRef;
use crate::plan::Cell;

/// The prefix of values that count messages by transport.
const RECEIVED: &str = "received_";

/// The transport of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// The transport of most messages.
    pub(super) name: String,
    /// The number of messages that took another transport than expected.
    pub(super) others: u64,
    /// The expected transport, if the manifest gives one and too many messages took another: more
    /// messages than the warm-up has, since any transport is acceptable until a match has settled.
    pub(super) missed: Option<String>,
}

/// Derives the transport from the values of a cell; `None` if its system reports no transport.
pub(super) fn taken(
    cell: &Cell,
    system: SystemRef<'_>,
    values: &BTreeMap<String, f64>,
) -> Option<Taken> {
    let counts = || {
        let named = values.iter().filter_map(|(name, count)| {
            let transport = name.strip_prefix(RECEIVED)?;
            Some((transport, *count))
        });
        named.filter(|(_, count)| *count > 0.0)
    };
    let (name, _) = counts().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let expected = system.transport(cell.placement);
    let others: f64 =
        counts().filter(|(name, _)| expected.is_some_and(|it| it != *name)).map(|it| it.1).sum();
    let others = others as u64;
    let unsettled = cell.procedure.warm_up * u64::from(cell.subscriptions);
    let missed = expected.filter(|_| others > unsettled).map(str::to_owned);
    Some(Taken { name: name.to_owned(), others, missed })
}
