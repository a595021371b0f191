//! The endpoints of a test, which can wait for events.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;

use feros_conformance::NotificationCounter;
use feros_engine::engine::GraphChangeGuard;
use feros_engine::{
    Client, ClientOptions, GraphSnapshot, NodeId, NodeName, PublishMode, Publisher,
    PublisherOptions, QosProfile, RequestId, Sample, Service, ServiceMapping, ServiceOptions,
    Session, Subscription, SubscriptionEvent, SubscriptionOptions, TypeHash,
};

/// The name of a type with its hash (`interfaces/type_hashes.tsv`).
pub(crate) type Type = (&'static str, &'static str);

pub(crate) const STRING: Type = (
    "std_msgs/msg/String",
    "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
);
pub(crate) const SET_BOOL: Type = (
    "std_srvs/srv/SetBool",
    "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a",
);

/// A session with one node.
pub(crate) struct End {
    pub(crate) session: Arc<dyn Session>,
    node: NodeId,
    changes: Arc<NotificationCounter>,
    _guard: GraphChangeGuard,
}

/// An endpoint, and counters of its notifications.
pub(crate) struct Watched<T: ?Sized> {
    pub(crate) end: Arc<T>,
    pub(crate) data: Arc<NotificationCounter>,
    pub(crate) events: Arc<NotificationCounter>,
}

impl End {
    pub(crate) fn new(session: Arc<dyn Session>, name: &str) -> Self {
        let node = session.create_node(&NodeName::new("/wire", name).unwrap()).unwrap();
        let changes = NotificationCounter::new();
        let guard = session.on_graph_change(changes.notify());
        Self { session, node, changes, _guard: guard }
    }

    pub(crate) fn wait_for_graph<T>(
        &self,
        what: &str,
        mut look: impl FnMut(&GraphSnapshot) -> Option<T>,
    ) -> T {
        self.changes.wait_for(what, || look(&self.session.graph()))
    }

    pub(crate) fn publisher(
        &self,
        topic: &str,
        of: Type,
        qos: QosProfile,
    ) -> Watched<dyn Publisher> {
        let events = NotificationCounter::new();
        let options = PublisherOptions {
            node: self.node,
            topic,
            type_name: of.0,
            type_hash: TypeHash::parse(of.1),
            qos,
            announcement: "",
            mode: PublishMode::Synchronous,
            on_event: Some(events.notify()),
        };
        let end = self.session.create_publisher(options).unwrap();
        Watched { end, data: NotificationCounter::new(), events }
    }

    pub(crate) fn subscription(
        &self,
        topic: &str,
        of: Type,
        qos: QosProfile,
    ) -> Watched<dyn Subscription> {
        let (data, events) = (NotificationCounter::new(), NotificationCounter::new());
        let options = SubscriptionOptions {
            node: self.node,
            topic,
            type_name: of.0,
            type_hash: TypeHash::parse(of.1),
            qos,
            announcement: "",
            ignore_local_publications: false,
            on_data: data.notify(),
            on_event: Some(events.notify()),
        };
        let end = self.session.create_subscription(options).unwrap();
        Watched { end, data, events }
    }

    pub(crate) fn service(&self, service: &str, of: Type) -> Watched<dyn Service> {
        self.service_with(service, of, QosProfile::services_default())
    }

    pub(crate) fn service_with(
        &self,
        service: &str,
        of: Type,
        qos: QosProfile,
    ) -> Watched<dyn Service> {
        let (data, events) = (NotificationCounter::new(), NotificationCounter::new());
        let options = ServiceOptions {
            node: self.node,
            service,
            type_name: of.0,
            type_hash: TypeHash::parse(of.1),
            request_hash: None,
            response_hash: None,
            qos,
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            announcement: "",
            on_request: data.notify(),
            on_match: events.notify(),
        };
        Watched { end: self.session.create_service(options).unwrap(), data, events }
    }

    pub(crate) fn client(&self, service: &str, of: Type) -> Watched<dyn Client> {
        self.client_with(service, of, QosProfile::services_default())
    }

    pub(crate) fn client_with(
        &self,
        service: &str,
        of: Type,
        qos: QosProfile,
    ) -> Watched<dyn Client> {
        let (data, events) = (NotificationCounter::new(), NotificationCounter::new());
        let options = ClientOptions {
            node: self.node,
            service,
            type_name: of.0,
            type_hash: TypeHash::parse(of.1),
            request_hash: None,
            response_hash: None,
            qos,
            force_mapping: None,
            announcement: "",
            on_response: data.notify(),
            on_match: events.notify(),
        };
        Watched { end: self.session.create_client(options).unwrap(), data, events }
    }
}

impl Watched<dyn Publisher> {
    pub(crate) fn wait_for_match(&self) {
        self.wait_for_matches(1);
    }

    pub(crate) fn wait_for_matches(&self, count: usize) {
        let found = || (self.end.matched_subscriptions() == count).then_some(());
        self.events.wait_for("matching subscriptions", found);
    }

    pub(crate) fn publish(&self, bytes: &[u8]) {
        let mut fill = |memory: &mut [u8]| {
            memory.copy_from_slice(bytes);
            Ok(())
        };
        self.end.publish(bytes.len(), &mut fill).unwrap();
    }
}

impl Watched<dyn Subscription> {
    pub(crate) fn wait_for_match(&self) {
        self.wait_for_matches(1);
    }

    pub(crate) fn wait_for_matches(&self, count: usize) {
        let found = || (self.end.matched_publishers() == count).then_some(());
        self.events.wait_for("matching publishers", found);
    }

    pub(crate) fn next(&self) -> Sample {
        self.data.wait_for("a message", || self.end.take().unwrap())
    }

    /// Waits for a message with this text and returns the number of messages lost before it.
    pub(crate) fn lost_before(&self, text: &str) -> u64 {
        assert_eq!(text_in(&self.next().payload), text);
        self.lost()
    }

    /// Returns the number of messages that have been lost since the last call.
    pub(crate) fn lost(&self) -> u64 {
        let mut lost = 0;
        while let Some(event) = self.end.take_event().unwrap() {
            if let SubscriptionEvent::MessageLost { change, .. } = event {
                lost += change;
            }
        }
        lost
    }
}

impl Watched<dyn Service> {
    pub(crate) fn next(&self) -> (RequestId, Sample) {
        self.data.wait_for("a request", || self.end.take_request().unwrap())
    }

    pub(crate) fn respond(&self, request: &RequestId, bytes: &[u8]) {
        let mut fill = |memory: &mut [u8]| {
            memory.copy_from_slice(bytes);
            Ok(())
        };
        self.end.send_response(request, bytes.len(), &mut fill).unwrap();
    }
}

impl Watched<dyn Client> {
    pub(crate) fn wait_for_server(&self) {
        let found = || self.end.service_is_available().then_some(());
        self.events.wait_for("a server", found);
    }

    pub(crate) fn ask(&self, bytes: &[u8]) -> i64 {
        let mut fill = |memory: &mut [u8]| {
            memory.copy_from_slice(bytes);
            Ok(())
        };
        self.end.send_request(bytes.len(), &mut fill).unwrap()
    }

    pub(crate) fn next(&self) -> (i64, Sample) {
        self.data.wait_for("a response", || self.end.take_response().unwrap())
    }
}

/// Serializes a `std_msgs/msg/String`.
pub(crate) fn text_message(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
    [&[0, 1, 0, 0], &length[..], text.as_bytes(), &[0]].concat()
}

/// Serializes a `std_srvs/srv/SetBool_Response`.
pub(crate) fn response(success: bool, text: &str) -> Vec<u8> {
    let message = text_message(text);
    [&message[..4], &[u8::from(success), 0, 0, 0], &message[4..]].concat()
}

/// Returns the string that follows the first four bytes.
pub(crate) fn text_in(bytes: &[u8]) -> &str {
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    std::str::from_utf8(&bytes[8..8 + length - 1]).unwrap()
}

/// Runs a function on a thread that ends when the function returns, or with the process.
pub(crate) fn on_thread(name: &str, run: impl FnOnce() + Send + 'static) {
    drop(std::thread::Builder::new().name(name.into()).spawn(run).unwrap());
}
