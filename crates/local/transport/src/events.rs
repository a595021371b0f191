//! Events of publishers and subscriptions. They are fetched from the engine and stored by kind
//! until they are taken. Each kind has a counter. The losses on all transports together form one
//! event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use feros_engine::{EventError, MatchedStatus, Notify, PublisherEvent, SubscriptionEvent};
use feros_sync::Mutex;

/// The kinds of [`PublisherEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PublisherEventKind {
    /// The kind of [`PublisherEvent::Matched`].
    Matched,
    /// The kind of [`PublisherEvent::OfferedQosIncompatible`].
    OfferedQosIncompatible,
    /// The kind of [`PublisherEvent::OfferedDeadlineMissed`].
    OfferedDeadlineMissed,
    /// The kind of [`PublisherEvent::LivelinessLost`].
    LivelinessLost,
    /// The kind of [`PublisherEvent::IncompatibleType`].
    IncompatibleType,
}

/// The kinds of [`SubscriptionEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubscriptionEventKind {
    /// The kind of [`SubscriptionEvent::Matched`].
    Matched,
    /// The kind of [`SubscriptionEvent::RequestedQosIncompatible`].
    RequestedQosIncompatible,
    /// The kind of [`SubscriptionEvent::RequestedDeadlineMissed`].
    RequestedDeadlineMissed,
    /// The kind of [`SubscriptionEvent::LivelinessChanged`].
    LivelinessChanged,
    /// The kind of [`SubscriptionEvent::MessageLost`].
    MessageLost,
    /// The kind of [`SubscriptionEvent::IncompatibleType`].
    IncompatibleType,
}

/// An event that can be stored until it is taken, and that can be merged with later events of its
/// kind.
pub(crate) trait Event: Copy + Send {
    type Kind: Copy + PartialEq + Send + 'static;

    /// The kinds, in the order in which stored events are taken.
    const KINDS: &'static [Self::Kind];

    /// The kind of the event, or `None` if this version does not know the kind. Such an event is
    /// dropped.
    fn kind(&self) -> Option<Self::Kind>;

    /// Merges this event with a later event of the same kind.
    #[must_use]
    fn join(self, later: Self) -> Self;
}

fn join_matched(former: MatchedStatus, later: MatchedStatus) -> MatchedStatus {
    MatchedStatus {
        total_change: former.total_change.saturating_add(later.total_change),
        current_change: former.current_change.saturating_add(later.current_change),
        ..later
    }
}

impl Event for PublisherEvent {
    type Kind = PublisherEventKind;

    const KINDS: &'static [PublisherEventKind] = &[
        PublisherEventKind::Matched,
        PublisherEventKind::OfferedQosIncompatible,
        PublisherEventKind::OfferedDeadlineMissed,
        PublisherEventKind::LivelinessLost,
        PublisherEventKind::IncompatibleType,
    ];

    fn kind(&self) -> Option<PublisherEventKind> {
        Some(match self {
            Self::Matched(_) => PublisherEventKind::Matched,
            Self::OfferedQosIncompatible { .. } => PublisherEventKind::OfferedQosIncompatible,
            Self::OfferedDeadlineMissed { .. } => PublisherEventKind::OfferedDeadlineMissed,
            Self::LivelinessLost { .. } => PublisherEventKind::LivelinessLost,
            Self::IncompatibleType { .. } => PublisherEventKind::IncompatibleType,
            _ => return None,
        })
    }

    fn join(self, later: Self) -> Self {
        use PublisherEvent as E;
        match (self, later) {
            (E::Matched(former), E::Matched(later)) => E::Matched(join_matched(former, later)),
            (
                E::OfferedQosIncompatible { change: former, .. },
                E::OfferedQosIncompatible { total, change, last_policy },
            ) => {
                let change = former.saturating_add(change);
                E::OfferedQosIncompatible { total, change, last_policy }
            }
            (
                E::OfferedDeadlineMissed { change: former, .. },
                E::OfferedDeadlineMissed { total, change },
            ) => E::OfferedDeadlineMissed { total, change: former.saturating_add(change) },
            (E::LivelinessLost { change: former, .. }, E::LivelinessLost { total, change }) => {
                E::LivelinessLost { total, change: former.saturating_add(change) }
            }
            (E::IncompatibleType { change: former, .. }, E::IncompatibleType { total, change }) => {
                E::IncompatibleType { total, change: former.saturating_add(change) }
            }
            (_, later) => later,
        }
    }
}

impl Event for SubscriptionEvent {
    type Kind = SubscriptionEventKind;

    const KINDS: &'static [SubscriptionEventKind] = &[
        SubscriptionEventKind::Matched,
        SubscriptionEventKind::RequestedQosIncompatible,
        SubscriptionEventKind::RequestedDeadlineMissed,
        SubscriptionEventKind::LivelinessChanged,
        SubscriptionEventKind::MessageLost,
        SubscriptionEventKind::IncompatibleType,
    ];

    fn kind(&self) -> Option<SubscriptionEventKind> {
        Some(match self {
            Self::Matched(_) => SubscriptionEventKind::Matched,
            Self::RequestedQosIncompatible { .. } => {
                SubscriptionEventKind::RequestedQosIncompatible
            }
            Self::RequestedDeadlineMissed { .. } => SubscriptionEventKind::RequestedDeadlineMissed,
            Self::LivelinessChanged { .. } => SubscriptionEventKind::LivelinessChanged,
            Self::MessageLost { .. } => SubscriptionEventKind::MessageLost,
            Self::IncompatibleType { .. } => SubscriptionEventKind::IncompatibleType,
            _ => return None,
        })
    }

    fn join(self, later: Self) -> Self {
        use SubscriptionEvent as E;
        match (self, later) {
            (E::Matched(former), E::Matched(later)) => E::Matched(join_matched(former, later)),
            (
                E::RequestedQosIncompatible { change: former, .. },
                E::RequestedQosIncompatible { total, change, last_policy },
            ) => {
                let change = former.saturating_add(change);
                E::RequestedQosIncompatible { total, change, last_policy }
            }
            (
                E::RequestedDeadlineMissed { change: former, .. },
                E::RequestedDeadlineMissed { total, change },
            ) => E::RequestedDeadlineMissed { total, change: former.saturating_add(change) },
            (
                E::LivelinessChanged {
                    alive_change: former_alive,
                    not_alive_change: former_not_alive,
                    ..
                },
                E::LivelinessChanged { alive, not_alive, alive_change, not_alive_change },
            ) => E::LivelinessChanged {
                alive,
                not_alive,
                alive_change: former_alive.saturating_add(alive_change),
                not_alive_change: former_not_alive.saturating_add(not_alive_change),
            },
            (E::MessageLost { change: former, .. }, E::MessageLost { total, change }) => {
                E::MessageLost { total, change: former.saturating_add(change) }
            }
            (E::IncompatibleType { change: former, .. }, E::IncompatibleType { total, change }) => {
                E::IncompatibleType { total, change: former.saturating_add(change) }
            }
            (_, later) => later,
        }
    }
}

/// The events of one endpoint that have not been taken yet, by kind.
pub(crate) struct Waiting<E: Event>(Mutex<Vec<Slot<E>>>);

struct Slot<E> {
    event: Option<E>,
    /// The number of events of this kind so far.
    count: u64,
}

impl<E: Event> Waiting<E> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(E::KINDS.iter().map(|_| Slot { event: None, count: 0 }).collect()))
    }

    /// Fetches all events from `source`, and then takes one stored event: if a kind is given, the
    /// event of this kind; otherwise, the first event in the order of [`Event::KINDS`].
    pub(crate) fn take(
        &self,
        wanted: Option<E::Kind>,
        mut source: impl FnMut() -> Result<Option<E>, EventError>,
    ) -> Result<Option<E>, EventError> {
        let mut slots = self.0.lock();
        Self::fetch(&mut slots, &mut source)?;
        let mut found = E::KINDS.iter().zip(slots.iter_mut());
        let is_it = |kind: &E::Kind, slot: &Slot<E>| {
            slot.event.is_some() && wanted.is_none_or(|wanted| wanted == *kind)
        };
        Ok(found.find(|(kind, slot)| is_it(kind, slot)).and_then(|(_, slot)| slot.event.take()))
    }

    /// The number of events of a kind, including the events that have been taken.
    pub(crate) fn count(
        &self,
        kind: E::Kind,
        mut source: impl FnMut() -> Result<Option<E>, EventError>,
    ) -> Result<u64, EventError> {
        let mut slots = self.0.lock();
        Self::fetch(&mut slots, &mut source)?;
        let position = E::KINDS.iter().position(|known| *known == kind);
        Ok(position.map_or(0, |position| slots[position].count))
    }

    fn fetch(
        slots: &mut [Slot<E>],
        source: &mut impl FnMut() -> Result<Option<E>, EventError>,
    ) -> Result<(), EventError> {
        while let Some(event) = source()? {
            let kind = event.kind();
            let position = E::KINDS.iter().position(|known| Some(*known) == kind);
            if let Some(slot) = position.map(|position| &mut slots[position]) {
                slot.event = Some(slot.event.map_or(event, |former| former.join(event)));
                slot.count += 1;
            }
        }
        Ok(())
    }
}

/// A flag that shows whether an endpoint has events to take. Reading the flag costs only one atomic
/// load.
pub(crate) struct PendingEvents {
    is_pending: AtomicBool,
    /// The number of losses on the intra-process and shared-memory transports that events have
    /// reported.
    reported_losses: AtomicU64,
    notify: Notify,
}

impl PendingEvents {
    /// Makes the flag. `notify` is called whenever there may be an event.
    pub(crate) fn new(notify: Notify) -> Arc<Self> {
        Arc::new(Self {
            is_pending: AtomicBool::new(false),
            reported_losses: AtomicU64::new(0),
            notify,
        })
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.is_pending.load(Ordering::Acquire)
    }

    /// Clears the flag, because the take that follows may leave no event.
    pub(crate) fn begin_taking(&self) {
        // This also reads the flag, so that the loss that was counted before it was set is visible.
        self.is_pending.swap(false, Ordering::AcqRel);
    }

    /// Sets the flag because of an event of the engine, and notifies.
    pub(crate) fn announce(&self) {
        self.is_pending.store(true, Ordering::Release);
        (self.notify)();
    }

    /// Sets the flag because of a loss of messages that the engine does not know about, and
    /// notifies.
    pub(crate) fn announce_loss(&self) {
        self.announce();
    }

    /// The number of losses on the local transports that have not been reported in an event yet.
    /// From now on, they count as reported.
    pub(crate) fn new_losses(&self, total: u64) -> u64 {
        total.saturating_sub(self.reported_losses.swap(total, Ordering::AcqRel))
    }

    /// The number of losses on the local transports that events have reported.
    pub(crate) fn reported_losses(&self) -> u64 {
        self.reported_losses.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn events_wait_by_kind_and_are_joined() {
        let lost = |total, change| SubscriptionEvent::MessageLost { total, change };
        let missed = |total, change| SubscriptionEvent::RequestedDeadlineMissed { total, change };
        let mut told = vec![lost(5, 5), missed(1, 1), lost(7, 2)].into_iter();
        let waiting = Waiting::new();
        let mut source = || Ok(told.next());
        let taken = waiting.take(Some(SubscriptionEventKind::MessageLost), &mut source).unwrap();
        assert_eq!(taken, Some(lost(7, 7)));
        assert_eq!(waiting.take(None, &mut source).unwrap(), Some(missed(1, 1)));
        assert_eq!(waiting.take(None, &mut source).unwrap(), None);
        assert_eq!(waiting.count(SubscriptionEventKind::MessageLost, &mut source).unwrap(), 2);
        assert_eq!(waiting.count(SubscriptionEventKind::Matched, &mut source).unwrap(), 0);
    }
}
