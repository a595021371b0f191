//! Converts the event statuses that endpoints report into the form of rmw.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::qos::QosPolicyKind;
use feros_engine::{EventError, MatchedStatus, PublisherEvent, SubscriptionEvent};
use feros_transport::{Publisher, PublisherEventKind, Subscription, SubscriptionEventKind};

use crate::error::Failure;
use crate::ffi::{
    RMW_EVENT_LIVELINESS_CHANGED, RMW_EVENT_LIVELINESS_LOST, RMW_EVENT_MESSAGE_LOST,
    RMW_EVENT_OFFERED_DEADLINE_MISSED, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
    RMW_EVENT_PUBLICATION_MATCHED, RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE,
    RMW_EVENT_REQUESTED_DEADLINE_MISSED, RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
    RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE, RMW_EVENT_SUBSCRIPTION_MATCHED,
    RMW_QOS_POLICY_DEADLINE, RMW_QOS_POLICY_DURABILITY, RMW_QOS_POLICY_HISTORY,
    RMW_QOS_POLICY_INVALID, RMW_QOS_POLICY_LIFESPAN, RMW_QOS_POLICY_LIVELINESS,
    RMW_QOS_POLICY_RELIABILITY, rmw_counted_status_t, rmw_liveliness_changed_status_t,
    rmw_matched_status_t, rmw_message_lost_status_t, rmw_qos_incompatible_event_status_t,
};

/// The status of one kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Matched(rmw_matched_status_t),
    MessageLost(rmw_message_lost_status_t),
    LivelinessChanged(rmw_liveliness_changed_status_t),
    QosIncompatible(rmw_qos_incompatible_event_status_t),
    Counted(rmw_counted_status_t),
}

impl Status {
    /// The same status, with all changes set to 0.
    pub(crate) fn without_changes(self) -> Self {
        match self {
            Self::Matched(status) => Self::Matched(rmw_matched_status_t {
                total_count_change: 0,
                current_count_change: 0,
                ..status
            }),
            Self::MessageLost(status) => {
                Self::MessageLost(rmw_message_lost_status_t { total_count_change: 0, ..status })
            }
            Self::LivelinessChanged(status) => {
                Self::LivelinessChanged(rmw_liveliness_changed_status_t {
                    alive_count_change: 0,
                    not_alive_count_change: 0,
                    ..status
                })
            }
            Self::QosIncompatible(status) => {
                Self::QosIncompatible(rmw_qos_incompatible_event_status_t {
                    total_count_change: 0,
                    ..status
                })
            }
            Self::Counted(status) => {
                Self::Counted(rmw_counted_status_t { total_count_change: 0, ..status })
            }
        }
    }

    /// Fills the host program's structure.
    ///
    /// # Safety
    /// `to` is memory for the status of this kind of event.
    pub(crate) unsafe fn write(self, to: *mut c_void) {
        // SAFETY: [outputs] there is memory for the status of this kind of event.
        unsafe {
            match self {
                Self::Matched(status) => to.cast::<rmw_matched_status_t>().write(status),
                Self::MessageLost(status) => to.cast::<rmw_message_lost_status_t>().write(status),
                Self::LivelinessChanged(status) => {
                    to.cast::<rmw_liveliness_changed_status_t>().write(status);
                }
                Self::QosIncompatible(status) => {
                    to.cast::<rmw_qos_incompatible_event_status_t>().write(status);
                }
                Self::Counted(status) => to.cast::<rmw_counted_status_t>().write(status),
            }
        }
    }
}

/// An endpoint that has events.
pub(crate) trait Eventful: Send + Sync {
    /// The status before the first event of a kind; `None` if the endpoint does not have events of
    /// this kind.
    fn kind(&self, event_type: u32) -> Option<Status>;

    /// The number of events of a kind so far.
    fn count(&self, event_type: u32) -> Result<u64, Failure>;

    /// The status with the changes since the last call; `None` if there are no changes.
    fn take(&self, event_type: u32) -> Result<Option<Status>, Failure>;
}

/// Limits a count to the 31 bits that rmw provides for it.
fn count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn counted(total: u32, change: u32) -> Status {
    Status::Counted(rmw_counted_status_t {
        total_count: count(total),
        total_count_change: count(change),
    })
}

fn matched(status: MatchedStatus) -> Status {
    Status::Matched(rmw_matched_status_t {
        total_count: size(status.total.into()),
        total_count_change: size(status.total_change.into()),
        current_count: size(status.current.into()),
        current_count_change: status.current_change,
    })
}

fn qos_incompatible(total: u32, change: u32, last_policy: QosPolicyKind) -> Status {
    Status::QosIncompatible(rmw_qos_incompatible_event_status_t {
        total_count: count(total),
        total_count_change: count(change),
        last_policy_kind: match last_policy {
            QosPolicyKind::Durability => RMW_QOS_POLICY_DURABILITY,
            QosPolicyKind::Deadline => RMW_QOS_POLICY_DEADLINE,
            QosPolicyKind::Liveliness => RMW_QOS_POLICY_LIVELINESS,
            QosPolicyKind::Reliability => RMW_QOS_POLICY_RELIABILITY,
            QosPolicyKind::History => RMW_QOS_POLICY_HISTORY,
            QosPolicyKind::Lifespan => RMW_QOS_POLICY_LIFESPAN,
            QosPolicyKind::DataRepresentation | QosPolicyKind::Other(_) => RMW_QOS_POLICY_INVALID,
        },
    })
}

/// The status of incompatible QoS before the first incompatible endpoint.
fn no_incompatible_qos() -> Status {
    Status::QosIncompatible(rmw_qos_incompatible_event_status_t {
        last_policy_kind: RMW_QOS_POLICY_INVALID,
        ..Default::default()
    })
}

fn publisher_kind(event_type: u32) -> Option<PublisherEventKind> {
    Some(match event_type {
        RMW_EVENT_LIVELINESS_LOST => PublisherEventKind::LivelinessLost,
        RMW_EVENT_OFFERED_DEADLINE_MISSED => PublisherEventKind::OfferedDeadlineMissed,
        RMW_EVENT_OFFERED_QOS_INCOMPATIBLE => PublisherEventKind::OfferedQosIncompatible,
        RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE => PublisherEventKind::IncompatibleType,
        RMW_EVENT_PUBLICATION_MATCHED => PublisherEventKind::Matched,
        _ => return None,
    })
}

fn subscription_kind(event_type: u32) -> Option<SubscriptionEventKind> {
    Some(match event_type {
        RMW_EVENT_LIVELINESS_CHANGED => SubscriptionEventKind::LivelinessChanged,
        RMW_EVENT_REQUESTED_DEADLINE_MISSED => SubscriptionEventKind::RequestedDeadlineMissed,
        RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE => SubscriptionEventKind::RequestedQosIncompatible,
        RMW_EVENT_MESSAGE_LOST => SubscriptionEventKind::MessageLost,
        RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE => SubscriptionEventKind::IncompatibleType,
        RMW_EVENT_SUBSCRIPTION_MATCHED => SubscriptionEventKind::Matched,
        _ => return None,
    })
}

fn no_such_kind(event_type: u32) -> Failure {
    Failure::invalid(format!("the endpoint has no events of kind {event_type}"))
}

fn refused(error: EventError) -> Failure {
    Failure::error(error)
}

impl Eventful for Publisher {
    fn kind(&self, event_type: u32) -> Option<Status> {
        publisher_kind(event_type).map(|kind| match kind {
            PublisherEventKind::Matched => matched(MatchedStatus::default()),
            PublisherEventKind::OfferedQosIncompatible => no_incompatible_qos(),
            _ => counted(0, 0),
        })
    }

    fn count(&self, event_type: u32) -> Result<u64, Failure> {
        let kind = publisher_kind(event_type).ok_or_else(|| no_such_kind(event_type))?;
        self.event_count(kind).map_err(refused)
    }

    fn take(&self, event_type: u32) -> Result<Option<Status>, Failure> {
        let kind = publisher_kind(event_type).ok_or_else(|| no_such_kind(event_type))?;
        Ok(self.take_event_of(kind).map_err(refused)?.and_then(|event| {
            Some(match event {
                PublisherEvent::Matched(status) => matched(status),
                PublisherEvent::OfferedQosIncompatible { total, change, last_policy } => {
                    qos_incompatible(total, change, last_policy)
                }
                PublisherEvent::OfferedDeadlineMissed { total, change }
                | PublisherEvent::LivelinessLost { total, change }
                | PublisherEvent::IncompatibleType { total, change } => counted(total, change),
                _ => return None,
            })
        }))
    }
}

/// The events of a subscription. Messages that were pushed out of its inbox also count as lost.
pub(crate) struct SubscriptionEvents {
    subscription: Arc<Subscription>,
    /// Returns the number of messages that the inbox has pushed out.
    pushed_out: Box<dyn Fn() -> u64 + Send + Sync>,
    /// The number of pushed-out messages when it was last reported.
    told_pushed_out: AtomicU64,
    /// The total number of lost messages that the transports reported last.
    lost: AtomicU64,
}

impl SubscriptionEvents {
    pub(crate) fn new(
        subscription: &Arc<Subscription>,
        pushed_out: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            subscription: Arc::clone(subscription),
            pushed_out: Box::new(pushed_out),
            told_pushed_out: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// The status with the sum of the messages that the transports have lost and the messages that
    /// the inbox has pushed out; `None` if there are no new losses. `news` has the total of the
    /// transports and its change, if the total has changed.
    fn message_lost(&self, news: Option<(u64, u64)>) -> Option<Status> {
        if let Some((total, _)) = news {
            self.lost.store(total, Ordering::Relaxed);
        }
        let pushed_out = (self.pushed_out)();
        let told = self.told_pushed_out.swap(pushed_out, Ordering::Relaxed);
        let change = news.map_or(0, |(_, change)| change) + pushed_out.saturating_sub(told);
        (change > 0).then(|| {
            Status::MessageLost(rmw_message_lost_status_t {
                total_count: size(self.lost.load(Ordering::Relaxed).saturating_add(pushed_out)),
                total_count_change: size(change),
            })
        })
    }
}

impl Eventful for SubscriptionEvents {
    fn kind(&self, event_type: u32) -> Option<Status> {
        subscription_kind(event_type).map(|kind| match kind {
            SubscriptionEventKind::Matched => matched(MatchedStatus::default()),
            SubscriptionEventKind::RequestedQosIncompatible => no_incompatible_qos(),
            SubscriptionEventKind::LivelinessChanged => {
                Status::LivelinessChanged(rmw_liveliness_changed_status_t::default())
            }
            SubscriptionEventKind::MessageLost => {
                Status::MessageLost(rmw_message_lost_status_t::default())
            }
            _ => counted(0, 0),
        })
    }

    fn count(&self, event_type: u32) -> Result<u64, Failure> {
        let kind = subscription_kind(event_type).ok_or_else(|| no_such_kind(event_type))?;
        let count = self.subscription.event_count(kind).map_err(refused)?;
        Ok(match kind {
            SubscriptionEventKind::MessageLost => count + (self.pushed_out)(),
            _ => count,
        })
    }

    fn take(&self, event_type: u32) -> Result<Option<Status>, Failure> {
        let kind = subscription_kind(event_type).ok_or_else(|| no_such_kind(event_type))?;
        let event = self.subscription.take_event_of(kind).map_err(refused)?;
        if kind == SubscriptionEventKind::MessageLost {
            return Ok(self.message_lost(event.and_then(|event| match event {
                SubscriptionEvent::MessageLost { total, change } => Some((total, change)),
                _ => None,
            })));
        }
        Ok(event.and_then(|event| {
            Some(match event {
                SubscriptionEvent::Matched(status) => matched(status),
                SubscriptionEvent::RequestedQosIncompatible { total, change, last_policy } => {
                    qos_incompatible(total, change, last_policy)
                }
                SubscriptionEvent::LivelinessChanged {
                    alive,
                    not_alive,
                    alive_change,
                    not_alive_change,
                } => Status::LivelinessChanged(rmw_liveliness_changed_status_t {
                    alive_count: count(alive),
                    not_alive_count: count(not_alive),
                    alive_count_change: alive_change,
                    not_alive_count_change: not_alive_change,
                }),
                SubscriptionEvent::RequestedDeadlineMissed { total, change }
                | SubscriptionEvent::IncompatibleType { total, change } => counted(total, change),
                _ => return None,
            })
        }))
    }
}
