//! Events of endpoints. Events that matter to a user are logged, and the user's closure gets all
//! events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use feros_engine::{EventError, FailureCounter, Notify, PublisherEvent, SubscriptionEvent};
use feros_executor::{Entity, Progress, Ringer};
use feros_transport::{Publisher, Subscription};

use crate::callbacks::node_members::Member;
use crate::create_error::CreateError;
use crate::graph::mismatches::{LOOK_INTERVAL, Mismatches};
use crate::logging;
use crate::node::{Node, WeakNode};
use crate::timer::{NodeTimer, TimerOptions};

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
    let mut events = Events::new(node, topic, ringer, on_event, publisher_event_needs_a_word);
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
        on_event: Option<Box<dyn FnMut(SubscriptionEvent) + Send>>,
        log_lost_messages: bool,
    ) -> Self {
        let needs_a_word = if log_lost_messages {
            subscription_event_needs_a_word
        } else {
            subscription_event_but_loss_needs_a_word
        };
        let events = Events::new(node, topic, ringer, on_event, needs_a_word);
        Self { end: Arc::downgrade(end), events }
    }

    /// Handles the pending events.
    pub(crate) fn handle(&mut self) {
        if let Some(end) = self.end.upgrade() {
            self.events.handle(end.has_events(), || end.take_event());
        }
    }

    /// Whether the names of nodes are due for another check, even if the endpoint has no events.
    pub(crate) fn has_news(&self) -> bool {
        self.events.has_news.load(Ordering::Acquire)
    }
}

/// Takes events from an endpoint, logs the events that matter to a user, and hands all events to
/// the user's closure.
struct Events<E> {
    /// True if the names of nodes whose endpoints do not match are due for another check.
    has_news: Arc<AtomicBool>,
    ringer: Ringer,
    node: WeakNode,
    logger: Arc<str>,
    topic: String,
    on_event: Option<Box<dyn FnMut(E) + Send>>,
    needs_a_word: fn(&E) -> Option<Word>,
    mismatches: Mismatches,
    /// The timer for further checks while the name of such a node is unknown.
    look_again: Option<NodeTimer>,
    untaken: FailureCounter,
}

/// The log entry that an event needs.
enum Word {
    /// Endpoints of the topic may not match; the graph shows which endpoints, and why.
    LookForMismatches,
    /// A warning with this text.
    Warn(String),
}

impl<E: Copy> Events<E> {
    fn new(
        node: &Node,
        topic: &str,
        ringer: &Ringer,
        on_event: Option<Box<dyn FnMut(E) + Send>>,
        needs_a_word: fn(&E) -> Option<Word>,
    ) -> Self {
        Self {
            has_news: Arc::default(),
            ringer: ringer.clone(),
            node: node.downgrade(),
            logger: node.logger().clone(),
            topic: topic.to_owned(),
            on_event,
            needs_a_word,
            mismatches: Mismatches::new(node.reported_mismatches().clone()),
            look_again: None,
            untaken: FailureCounter::new(),
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
        // graph.
        let mut looks_for_mismatches = self.look_again.is_some();
        loop {
            match take() {
                Ok(Some(event)) => {
                    match (self.needs_a_word)(&event) {
                        Some(Word::LookForMismatches) => looks_for_mismatches = true,
                        Some(Word::Warn(text)) => tracing::warn!("{}: {text}", self.topic),
                        None => {}
                    }
                    if let Some(on_event) = &mut self.on_event {
                        on_event(event);
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    if let Some(so_far) = self.untaken.so_far() {
                        tracing::error!("{error}{so_far}");
                    }
                    break;
                }
            }
        }
        if looks_for_mismatches {
            self.report_mismatches();
        }
    }

    fn report_mismatches(&mut self) {
        let Some(node) = self.node.upgrade() else { return };
        let (mut news, awaits_name) = self.mismatches.sort(node.mismatches(&self.topic), true);
        if !awaits_name {
            self.look_again = None;
        } else if self.look_again.is_none() {
            let (has_news, ringer) = (self.has_news.clone(), self.ringer.clone());
            let timer = NodeTimer::start(&node, TimerOptions::wall(LOOK_INTERVAL), move || {
                has_news.store(true, Ordering::Release);
                ringer.ring();
            });
            self.look_again = timer.ok();
            if self.look_again.is_none() {
                // The executor accepts no timer, so the mismatches are logged without waiting for
                // names.
                news.extend(self.mismatches.sort(node.mismatches(&self.topic), false).0);
            }
        }
        for text in news {
            tracing::warn!("{text}");
        }
    }
}

fn publisher_event_needs_a_word(event: &PublisherEvent) -> Option<Word> {
    match event {
        PublisherEvent::Matched(_)
        | PublisherEvent::OfferedQosIncompatible { .. }
        | PublisherEvent::IncompatibleType { .. } => Some(Word::LookForMismatches),
        _ => None,
    }
}

fn subscription_event_but_loss_needs_a_word(event: &SubscriptionEvent) -> Option<Word> {
    subscription_event_needs_a_word(event).filter(|word| matches!(word, Word::LookForMismatches))
}

fn subscription_event_needs_a_word(event: &SubscriptionEvent) -> Option<Word> {
    match event {
        SubscriptionEvent::Matched(_)
        | SubscriptionEvent::RequestedQosIncompatible { .. }
        | SubscriptionEvent::IncompatibleType { .. } => Some(Word::LookForMismatches),
        // The loss is logged the first time and then each time the count doubles, so that a bad
        // link does not fill the disk.
        SubscriptionEvent::MessageLost { total, change }
            if total.checked_ilog2() > total.saturating_sub(*change).checked_ilog2() =>
        {
            Some(Word::Warn(format!("{total} messages have been lost so far")))
        }
        _ => None,
    }
}
