//! Helpers that make sessions and endpoints of one topic. The sessions see only each other.

use std::sync::Arc;

use feros_doorbell::Ringer;
use feros_engine::{
    Engine, NodeId, NodeName, Payload, PublishMode, QosProfile, Session, SessionOptions,
};
use feros_shm::TransportSet;
use feros_test_support::eventually;
use feros_transport::{
    Object, Publisher, PublisherOptions, Received, Receiver, SharedMemoryOptions, Subscription,
    SubscriptionOptions,
};

/// A serialized `std_msgs/msg/Int32`.
pub(crate) fn number(number: i32) -> Vec<u8> {
    [&[0, 1, 0, 0], &number.to_le_bytes()[..]].concat()
}

/// Calls `look` again and again until it returns a value.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    eventually(|| look().ok_or(what))
}

/// A session, with a node and a topic.
pub(crate) struct Place {
    pub(crate) session: Arc<dyn Session>,
    node: NodeId,
    topic: String,
}

impl Place {
    /// A session in a domain that only this test process uses, with the topic of this test.
    pub(crate) fn new() -> Self {
        let test = std::thread::current().name().unwrap().replace("::", "/");
        Self::on(feros_test_support::own_domain(), format!("/{test}"))
    }

    pub(crate) fn on(domain: u32, topic: String) -> Self {
        let session =
            feros_cyclonedds::CycloneEngine.open(&SessionOptions::localhost(domain)).unwrap();
        let node = session.create_node(&NodeName::new("/", "ends").unwrap()).unwrap();
        Self { session, node, topic }
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    pub(crate) fn publisher(&self, transports: TransportSet, qos: QosProfile) -> Publisher {
        let options = PublisherOptions {
            node: self.node,
            topic: &self.topic,
            type_name: "std_msgs/msg/Int32",
            type_hash: None,
            qos,
            mode: PublishMode::Synchronous,
            transports,
            shared_memory: &SharedMemoryOptions::default(),
            on_event: Arc::new(|| {}),
        };
        Publisher::new(&*self.session, options).unwrap()
    }

    pub(crate) fn subscription<O: Object<Wish = ()>>(
        &self,
        transports: TransportSet,
        qos: QosProfile,
    ) -> (Subscription, Receiver<O>) {
        let options = SubscriptionOptions {
            node: self.node,
            topic: &self.topic,
            type_name: "std_msgs/msg/Int32",
            type_hash: None,
            qos,
            wish: (),
            ignore_local_publications: false,
            transports,
            ringer: &Ringer::new(),
            on_event: Arc::new(|| {}),
        };
        Subscription::new(&*self.session, options).unwrap()
    }
}

/// Takes the next message, which must arrive.
pub(crate) fn next(receiver: &mut Receiver<Payload>) -> Received<Payload> {
    until("the next message", || receiver.take().unwrap())
}
