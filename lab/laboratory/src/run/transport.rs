//! Which transport the messages of a cell took, where its system says it, and whether that is the
//! one that its manifest has for the placement.
//!
//! A system whose shortest transport was disturbed goes on by a longer one: a result of that is
//! none of the system that was to be measured.

use std::collections::BTreeMap;

use crate::peer::SystemRef;
use crate::plan::Cell;

/// Names of values that count messages by transport begin so.
const RECEIVED: &str = "received_";

/// The transport of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// Of most messages.
    pub(super) name: String,
    /// Messages that took another one than they should.
    pub(super) others: u64,
    /// The one that they should take, where the manifest says one, and more took another than the
    /// warm-up has messages: before a match has settled, any is right.
    pub(super) missed: Option<String>,
}

/// What the values of a cell say; nothing where its system says nothing.
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
