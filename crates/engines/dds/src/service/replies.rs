//! The writer of a service's responses. It is created together with the service, or when the first
//! client appears.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use feros_engine::dds::user_data::EndpointData;
use feros_engine::{Created, FailureCounter, NodeId, Notify, PublishError, QosProfile};
use feros_sync::{Condvar, Mutex};

use crate::library::{Creation, Endpoint, Participant, WriterOf};
use crate::listener::Notifications;
use crate::names::ServiceNames;
use crate::nodes::{NodeMember, SessionState};

/// The time that stock ROS 2 waits until the client of a request can receive the response.
const CLIENT_WAIT: Duration = Duration::from_millis(100);

/// Signals changes of the matching readers of replies.
#[derive(Default)]
struct MatchChange {
    lock: Mutex<()>,
    changed: Condvar,
}

pub(super) struct Replies<P: Participant> {
    shared: Arc<SessionState<P>>,
    node: NodeId,
    pub(super) service: String,
    type_name: String,
    qos: QosProfile,
    data: EndpointData,
    match_change: Arc<MatchChange>,
    making: Mutex<()>,
    made: OnceLock<MadeReplies<P>>,
}

struct MadeReplies<P: Participant> {
    // This is dropped first, so that the announcement is withdrawn before the endpoint is deleted.
    _member: NodeMember<P>,
    writer: WriterOf<P>,
}

impl<P: Participant> Replies<P> {
    pub(super) fn new(
        shared: &Arc<SessionState<P>>,
        node: NodeId,
        (service, type_name): (&str, &str),
        qos: QosProfile,
        data: EndpointData,
    ) -> Arc<Self> {
        Arc::new(Self {
            shared: shared.clone(),
            node,
            service: service.to_owned(),
            type_name: type_name.to_owned(),
            qos,
            data,
            match_change: Arc::default(),
            making: Mutex::default(),
            made: OnceLock::new(),
        })
    }

    /// Returns the writer of replies. The first call creates it.
    pub(super) fn writer(&self) -> Created<&WriterOf<P>> {
        if let Some(made) = self.made.get() {
            return Ok(&made.writer);
        }
        let _making = self.making.lock();
        if let Some(made) = self.made.get() {
            return Ok(&made.writer);
        }
        let match_change = self.match_change.clone();
        let on_match = move || {
            drop(match_change.lock.lock());
            match_change.changed.notify_all();
        };
        let writer = self.shared.participant.create_writer(Creation {
            names: ServiceNames::new(&self.service, &self.type_name)?.reply,
            qos: &self.qos,
            data: Some(&self.data),
            ignores_local: false,
            notifications: Notifications {
                on_match: Some(Arc::new(on_match)),
                ..Notifications::default()
            },
        })?;
        let writers = vec![writer.gid()];
        let member = self.shared.join_node(self.node, &self.service, Vec::new(), writers)?;
        Ok(&self.made.get_or_init(|| MadeReplies { _member: member, writer }).writer)
    }

    /// Returns the notification for changes of the clients. It makes sure that the writer exists
    /// when the first client matches, because clients that wait for the service to become available
    /// need the writer. (Otherwise, the first response would create it.) A thread creates the
    /// writer, because the library holds its own locks during the notification, and no endpoint can
    /// be created under these locks.
    pub(super) fn on_first_client(self: &Arc<Self>) -> Notify {
        // One counter for all services, because each node has several.
        static UNMADE: FailureCounter = FailureCounter::new();
        static UNSTARTED: FailureCounter = FailureCounter::new();
        let (replies, asked) = (Arc::downgrade(self), AtomicBool::new(false));
        Arc::new(move || {
            if asked.swap(true, Ordering::Relaxed) {
                return;
            }
            let replies = replies.clone();
            let make = move || {
                let Some(replies) = replies.upgrade() else { return };
                if let Err(error) = replies.writer()
                    && let Some(so_far) = UNMADE.so_far()
                {
                    let service = &replies.service;
                    tracing::error!("a client of {service} waits in vain: {error}{so_far}");
                }
            };
            if let Err(error) = std::thread::Builder::new().name("feros-replies".into()).spawn(make)
            {
                asked.store(false, Ordering::Relaxed);
                if let Some(so_far) = UNSTARTED.so_far() {
                    tracing::error!(
                        "a client does not learn that its service is available, because no thread \
                         can be started: {error}{so_far}; raise `ulimit -u`"
                    );
                }
            }
        })
    }

    /// Waits until `is_client` finds the client among the readers of replies. A client's two
    /// endpoints disappear one after the other, in either order. So if the client's writer of
    /// requests no longer matches, the client counts as gone.
    pub(super) fn wait_for_client(
        &self,
        writer: &WriterOf<P>,
        is_client: impl Fn() -> bool,
        has_left: impl Fn() -> bool,
    ) -> Result<(), PublishError> {
        let deadline = Instant::now() + CLIENT_WAIT;
        loop {
            let seen = writer.match_generation();
            let has_left = has_left();
            if !has_left && is_client() {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || has_left {
                return Err(PublishError::ClientGone {
                    service: self.service.clone(),
                    waited: CLIENT_WAIT,
                });
            }
            // The thread of the library takes this lock after it has changed the generation, so
            // this thread misses no change.
            let lock = self.match_change.lock.lock();
            if writer.match_generation() == seen {
                drop(self.match_change.changed.wait_timeout(lock, left));
            }
        }
    }
}
