//! Events of endpoints. Events that matter to a user are logged, and the user's closure gets all
//! events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use feros_engine::{EventError, FailureCounters, Notify, PublisherEvent, SubscriptionEvent};
use feros_executor::{Entity, Progress, Ringer};
use feros_transport::{Publisher, Subscription};

use crate::callbacks::group::CallbackGroup;
use crate::callbacks::node_members::Member;
use crate::create_error::CreateError;
use crate::graph::mismatches::{LOOK_INTERVAL, Mismatches};
use crate::logging;
use crate::node::{Node, WeakNode};
use crate::timer::{NodeTimer, TimerOptions};

/// The number of mismatches that are all logged for one topic and context. Of further mismatches, a
/// few are logged, because hundreds of endpoints may share a topic.
const FIRST_MISMATCHES: u64 = 8;

/// Makes the function that an engine calls when an endpoint may have events. The function rings the
/// endpoint's entity. It also wakes the waits for a match, which then check again, because the
/// graph may have announced the match before the endpoint itself knew of it.
pub(crate) fn notify_of_events(node: &Node, ringer: &Ringer) -> Notify {
    let (ringer, graph_changes) = (ringer.clone(), node.context().changes().clone());
    Arc::new(move || {
        ringer.ring();
        graph_changes.announce();
    })
}

/// Makes the executor of the node handle the events of a publisher.
pub(crate) fn watch_publisher(
    node: &Node,
    topic: &str,
    end: &Arc<Publisher>,
    ringer: &Ringer,
    on_event: Option<Box<dyn FnMut(PublisherEvent) + Send>>,
) -> Result<Member, CreateError> {
    let weak = Arc::downgrade(end);
    let mut events = Events::new(node, topic, ringer, None, on_event, publisher_event_needs_a_word);
    let entity = Entity::new(ringer, move || {
        if let Some(end) = weak.upgrade() {
            events.handle(end.has_events(), || end.take_event());
        }
        Progress::Done
    });
    node.add_member(topic, entity)
}

/// The events of a subscription, which are handled by the subscription's own entity.
pub(crate) struct SubscriptionEvents {
    end: Weak<Subscription>,
    events: Events<SubscriptionEvent>,
}

impl SubscriptionEvents {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        end: &Arc<Subscription>,
        ringer: &Ringer,
        group: Option<CallbackGroup>,
        on_event: Option<Box<dyn FnMut(SubscriptionEvent) + Send>>,
        log_lost_messages: bool,
    ) -> Self {
        let needs_a_word = if log_lost_messages {
            subscription_event_needs_a_word
        } else {
            subscription_event_but_loss_needs_a_word
        };
        let events = Events::new(node, topic, ringer, group, on_event, needs_a_word);
        Self { end: Arc::downgrade(end), events }
    }

    /// Handles the pending events.
    pub(crate) fn handle(&mut self) {
        if let Some(end) = self.end.upgrade() {
            self.events.handle(end.has_events(), || end.take_event());
        }
    }

    /// Whether a check for mismatches is due, even if the endpoint has no events.
    pub(crate) fn has_news(&self) -> bool {
        self.events.has_news.load(Ordering::Acquire)
    }
}

/// Takes events from an endpoint, logs the events that matter to a user, and hands all events to
/// the user's closure.
struct Events<E> {
    /// Whether the next check for mismatches is due.
    has_news: Arc<AtomicBool>,
    ringer: Ringer,
    /// The callback group of the endpoint, which the timer of the checks joins; `None` means the
    /// node's default group.
    group: Option<CallbackGroup>,
    node: WeakNode,
    logger: Arc<str>,
    topic: String,
    on_event: Option<Box<dyn FnMut(E) + Send>>,
    needs_a_word: fn(&E) -> Option<Word>,
    mismatches: Mismatches,
    /// The timer of the next check, if another check is to come.
    next_look: Option<NodeTimer>,
}

/// The log entry that an event needs.
enum Word {
    /// Endpoints of the topic may not match; the graph shows which endpoints, and why.
    LookForMismatches,
    /// Endpoints match, but their types may have different hashes, which the graph shows. The check
    /// may wait.
    LookSoon,
    /// This number of messages were lost.
    Lost(u64),
}

impl<E: Copy> Events<E> {
    fn new(
        node: &Node,
        topic: &str,
        ringer: &Ringer,
        group: Option<CallbackGroup>,
        on_event: Option<Box<dyn FnMut(E) + Send>>,
        needs_a_word: fn(&E) -> Option<Word>,
    ) -> Self {
        Self {
            has_news: Arc::default(),
            ringer: ringer.clone(),
            group,
            node: node.downgrade(),
            logger: node.logger().clone(),
            topic: topic.to_owned(),
            on_event,
            needs_a_word,
            mismatches: Mismatches::new(node.reported_mismatches().clone()),
            next_look: None,
        }
    }

    /// Handles the pending events.
    fn handle(
        &mut self,
        has_events: bool,
        mut take: impl FnMut() -> Result<Option<E>, EventError>,
    ) {
        let has_news = self.has_news.swap(false, Ordering::AcqRel);
        if !has_events && !has_news {
            return;
        }
        let _logger = logging::enter_logger(&self.logger);
        // The mismatches are checked once for all pending events, because a check reads the whole
        // graph. While many processes start, matches come one by one, so their check waits. The
        // check misses no match: the graph has an endpoint before the endpoint's match is an event.
        let mut looks_for_mismatches = has_news && self.next_look.is_some();
        let mut looks_soon = false;
        loop {
            match take() {
                Ok(Some(event)) => {
                    match (self.needs_a_word)(&event) {
                        Some(Word::LookForMismatches) => looks_for_mismatches = true,
                        Some(Word::LookSoon) => looks_soon = true,
                        Some(Word::Lost(lost)) => warn_of_loss(&self.topic, lost),
                        None => {}
                    }
                    if let Some(on_event) = &mut self.on_event {
                        on_event(event);
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    static UNTAKEN: FailureCounters = FailureCounters::new();
                    if let Some(so_far) = UNTAKEN.so_far(&self.topic) {
                        tracing::error!("{error}{so_far}");
                    }
                    break;
                }
            }
        }
        if !looks_for_mismatches && !looks_soon {
            return;
        }
        let Some(node) = self.node.upgrade() else { return };
        if looks_for_mismatches || !self.will_look(&node) {
            self.report_mismatches(&node);
        }
    }

    fn report_mismatches(&mut self, node: &Node) {
        let (mut news, awaits_name) = self.mismatches.sort(node.mismatches(&self.topic), true);
        if !awaits_name {
            self.next_look = None;
        } else if !self.will_look(node) {
            // The mismatches are logged without waiting for names.
            news.extend(self.mismatches.sort(node.mismatches(&self.topic), false).0);
        }
        for text in news {
            match node.context().mismatch_counters().count_after(&self.topic, FIRST_MISMATCHES) {
                Some(count) if count > FIRST_MISMATCHES => tracing::warn!(
                    "{text} ({count} mismatches on {} so far; see `feros doctor`)",
                    self.topic
                ),
                Some(_) => tracing::warn!("{text}"),
                None => {}
            }
        }
    }

    /// Ensures that a check follows; returns false if the executor accepts no timer.
    fn will_look(&mut self, node: &Node) -> bool {
        if self.next_look.is_none() {
            let (has_news, ringer) = (self.has_news.clone(), self.ringer.clone());
            let mut options = TimerOptions::wall(LOOK_INTERVAL);
            options.callback.group.clone_from(&self.group);
            let timer = NodeTimer::start(node, options, move || {
                has_news.store(true, Ordering::Release);
                ringer.ring();
            });
            self.next_look = timer.ok();
        }
        self.next_look.is_some()
    }
}

/// Logs lost messages: the first one, and then each time the count doubles, so that a bad link does
/// not fill the disk. All subscriptions of the process to the topic count together.
#[cold]
fn warn_of_loss(topic: &str, lost: u64) {
    static LOST: FailureCounters = FailureCounters::new();
    if let Some(count) = LOST.count_many(topic, lost) {
        tracing::warn!("{topic}: {count} messages have been lost so far");
    }
}

fn publisher_event_needs_a_word(event: &PublisherEvent) -> Option<Word> {
    match event {
        PublisherEvent::Matched(status) if status.total_change > 0 => Some(Word::LookSoon),
        PublisherEvent::OfferedQosIncompatible { .. } | PublisherEvent::IncompatibleType { .. } => {
            Some(Word::LookForMismatches)
        }
        _ => None,
    }
}

fn subscription_event_but_loss_needs_a_word(event: &SubscriptionEvent) -> Option<Word> {
    subscription_event_needs_a_word(event).filter(|word| !matches!(word, Word::Lost(_)))
}

fn subscription_event_needs_a_word(event: &SubscriptionEvent) -> Option<Word> {
    match event {
        SubscriptionEvent::Matched(status) if status.total_change > 0 => Some(Word::LookSoon),
        SubscriptionEvent::RequestedQosIncompatible { .. }
        | SubscriptionEvent::IncompatibleType { .. } => Some(Word::LookForMismatches),
        SubscriptionEvent::MessageLost { change, .. } => Some(Word::Lost(*change)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
