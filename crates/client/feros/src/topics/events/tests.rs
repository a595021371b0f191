#![allow(clippy::unwrap_used)]
use super::*;
use std::sync::atomic::AtomicUsize;

use feros_cyclonedds::CycloneEngine;
use feros_engine::name::NodeName;
use feros_engine::qos::QosPolicyKind;
use feros_engine::{
    Client, ClientOptions, Created, Ending, Engine, Gid, GraphChangeGuard, GraphSnapshot, Kept,
    MatchedStatus, NodeId, OpenError, ParameterServer, PublisherOptions, Service, ServiceOptions,
    Session, SessionOptions, SubscriptionOptions,
};
use feros_test_support::own_domain;

use crate::context::{Context, ContextOptions};

/// An engine on Cyclone DDS that counts how many times its graph has been read.
struct Counted(Arc<AtomicUsize>);

impl Engine for Counted {
    fn name(&self) -> &'static str {
        CycloneEngine.name()
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let (session, reads) = (CycloneEngine.open(options)?, self.0.clone());
        Ok(Arc::new(CountedSession { session, reads }))
    }
}

struct CountedSession {
    session: Arc<dyn Session>,
    reads: Arc<AtomicUsize>,
}

impl Session for CountedSession {
    fn engine_name(&self) -> &'static str {
        self.session.engine_name()
    }

    fn engine_version(&self) -> String {
        self.session.engine_version()
    }

    fn domain_id(&self) -> u32 {
        self.session.domain_id()
    }

    fn gid(&self) -> Gid {
        self.session.gid()
    }

    fn kept(&self) -> Kept {
        self.session.kept()
    }

    fn configuration(&self) -> String {
        self.session.configuration()
    }

    fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        self.session.create_node(name)
    }

    fn parameter_server(&self) -> Option<&dyn ParameterServer> {
        self.session.parameter_server()
    }

    fn ending(&self) -> Ending {
        self.session.ending()
    }

    fn remove_node(&self, node: NodeId) {
        self.session.remove_node(node);
    }

    fn create_publisher(
        &self,
        options: PublisherOptions<'_>,
    ) -> Created<Arc<dyn feros_engine::Publisher>> {
        self.session.create_publisher(options)
    }

    fn create_subscription(
        &self,
        options: SubscriptionOptions<'_>,
    ) -> Created<Arc<dyn feros_engine::Subscription>> {
        self.session.create_subscription(options)
    }

    fn create_service(&self, options: ServiceOptions<'_>) -> Created<Arc<dyn Service>> {
        self.session.create_service(options)
    }

    fn create_client(&self, options: ClientOptions<'_>) -> Created<Arc<dyn Client>> {
        self.session.create_client(options)
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.session.graph()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.session.on_graph_change(notify)
    }
}

/// The events of a subscription whose node no executor spins, so that the timer of the next check
/// never fires by itself.
struct Watched {
    events: Events<SubscriptionEvent>,
    reads: Arc<AtomicUsize>,
    _node: Node,
}

impl Watched {
    fn new() -> Self {
        let reads = Arc::<AtomicUsize>::default();
        let context = Context::new(ContextOptions {
            engine: Some(Arc::new(Counted(reads.clone()))),
            ..ContextOptions::new(SessionOptions::localhost(own_domain()))
        });
        let node = context.unwrap().create_node("watching").unwrap();
        let needs_a_word = subscription_event_needs_a_word;
        let events = Events::<SubscriptionEvent>::new(
            &node,
            "/scan",
            &Ringer::new(),
            None,
            None,
            needs_a_word,
        );
        reads.store(0, Ordering::Relaxed);
        Self { events, reads, _node: node }
    }

    fn comes(&mut self, event: SubscriptionEvent) {
        let mut event = Some(event);
        self.events.handle(true, || Ok(event.take()));
    }

    /// Makes the check due, as the timer does.
    fn timer_fires(&mut self) {
        self.events.has_news.store(true, Ordering::Release);
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

fn matched(total: u32) -> SubscriptionEvent {
    let status = MatchedStatus { total, total_change: 1, current: total, current_change: 1 };
    SubscriptionEvent::Matched(status)
}

#[test]
fn the_graph_is_read_once_for_fifty_matches() {
    let mut watched = Watched::new();
    for total in 1..=50 {
        watched.comes(matched(total));
    }
    assert_eq!(watched.reads(), 0, "the check waits for further matches");
    watched.timer_fires();
    watched.events.handle(false, || Ok(None));
    assert_eq!(watched.reads(), 1);
    assert!(watched.events.next_look.is_none(), "the timer has ended");
    // A last ring of the timer that has ended is harmless.
    watched.timer_fires();
    watched.events.handle(false, || Ok(None));
    assert_eq!(watched.reads(), 1);

    // A match at the moment of the check belongs to this check.
    watched.comes(matched(51));
    watched.timer_fires();
    watched.comes(matched(52));
    assert_eq!(watched.reads(), 2);
    // A later match starts the timer again.
    watched.comes(matched(53));
    assert!(watched.events.next_look.is_some());
}

#[test]
fn a_match_that_ends_needs_no_check_and_an_incompatible_endpoint_needs_one_at_once() {
    let mut watched = Watched::new();
    let status = MatchedStatus { total: 1, total_change: 0, current: 0, current_change: -1 };
    watched.comes(SubscriptionEvent::Matched(status));
    assert!(watched.events.next_look.is_none() && watched.reads() == 0);
    let last_policy = QosPolicyKind::Reliability;
    watched.comes(SubscriptionEvent::RequestedQosIncompatible { total: 1, change: 1, last_policy });
    assert_eq!(watched.reads(), 1);
    watched.comes(SubscriptionEvent::IncompatibleType { total: 1, change: 1 });
    assert_eq!(watched.reads(), 2);
}
