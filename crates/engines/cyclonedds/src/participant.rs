//! A participant of the engine and its reference to the domain.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use feros_cyclonedds_sys as sys;
use feros_engine::{Created, Ending, Gid, OpenError, SessionOptions, Traffic};

use crate::dds::{Code, Entity, check};
use crate::domain::{Domain, ENGINE_NAME};
use crate::qos::Qos;
use crate::topic::Topic;
use feros_dds::names::EndpointNames;
use feros_sync::Mutex;

#[derive(Debug)]
pub(crate) struct Participant {
    /// The publisher and the subscriber to which all writers and readers belong. Without them, the
    /// engine would create a publisher or subscriber for each writer or reader, which costs memory.
    // These are dropped before the participant, and the participant is dropped before the domain.
    pub(crate) publisher: Entity,
    pub(crate) subscriber: Entity,
    pub(crate) entity: Entity,
    /// The existing topics of writers, by name and type. Writers with the same name and type share
    /// a topic; for example, all nodes share the topic of `/rosout`.
    topics: Mutex<HashMap<(String, String), Weak<Topic>>>,
    pub(crate) gid: Gid,
    pub(crate) ending: Ending,
    /// The number of endpoints, not counting those of discovery.
    endpoints: AtomicUsize,
    pub(crate) domain: Domain,
}

impl Participant {
    pub(crate) fn open(
        options: &SessionOptions,
        user_configuration: Option<&str>,
    ) -> Result<Self, OpenError> {
        let domain = Domain::open(options, user_configuration)?;
        let failed = |operation| {
            move |code: Code| OpenError::Engine {
                engine: ENGINE_NAME,
                domain_id: options.domain_id,
                operation,
                code: code.to_string(),
            }
        };
        let qos = Qos::participant(&options.enclave);
        // SAFETY: the QoS is alive, and there is no listener.
        let entity = Entity::new(unsafe {
            sys::dds_create_participant(domain.engine_id, qos.as_ptr(), std::ptr::null())
        })
        .map_err(failed("creating the participant"))?;
        let gid = entity.gid().map_err(failed("reading the participant's GUID"))?;
        // SAFETY: the participant is alive, and there is neither a QoS nor a listener.
        let publisher = unsafe {
            sys::dds_create_publisher(entity.handle(), std::ptr::null(), std::ptr::null())
        };
        let publisher = Entity::new(publisher).map_err(failed("creating the publisher"))?;
        // SAFETY: the participant is alive, and there is neither a QoS nor a listener.
        let subscriber = unsafe {
            sys::dds_create_subscriber(entity.handle(), std::ptr::null(), std::ptr::null())
        };
        let subscriber = Entity::new(subscriber).map_err(failed("creating the subscriber"))?;
        Ok(Self {
            publisher,
            subscriber,
            entity,
            topics: Mutex::default(),
            gid,
            ending: Ending::default(),
            endpoints: AtomicUsize::new(0),
            domain,
        })
    }

    /// The datagrams that the domain has received.
    pub(crate) fn traffic(&self) -> Option<Traffic> {
        let mut received = Traffic::default();
        // SAFETY: the participant is alive, and both out parameters are valid for writing.
        let code = unsafe {
            let (datagrams, bytes) = (&raw mut received.datagrams, &raw mut received.bytes);
            sys::feros_received(self.entity.handle(), datagrams, bytes)
        };
        check(code).ok().map(|_| received)
    }

    /// Counts an endpoint that has been created.
    pub(crate) fn endpoint_created(&self) {
        self.endpoints.fetch_add(1, Ordering::Relaxed);
    }

    /// Deletes an endpoint. If the session is about to end, the deletion is not announced. When
    /// only the writer of `ros_discovery_info` is left, the whole participant leaves.
    pub(crate) fn delete_endpoint(&self, endpoint: &Entity) {
        let is_ending = self.ending.has_begun();
        if is_ending {
            self.leave(false);
        }
        endpoint.delete();
        if self.endpoints.fetch_sub(1, Ordering::AcqRel) == 2 && is_ending {
            self.leave(true);
        }
    }

    /// Makes the ends of endpoints silent, and with `now` tells others that the participant has
    /// left.
    fn leave(&self, now: bool) {
        // SAFETY: the participant is alive; the engine checks the handle.
        let code = unsafe { sys::feros_leave(self.entity.handle(), now) };
        if let Err(code) = check(code) {
            tracing::debug!(%code, "others learn of the end of each endpoint");
        }
    }

    /// Creates a topic that is not shared.
    pub(crate) fn create_topic(&self, names: &EndpointNames) -> Created<Topic> {
        Topic::new(&self.entity, &self.domain.pool, names)
    }

    /// Returns the topic of a writer. All writers with the same name and type share this topic.
    /// Each reader has a topic of its own, which counts the samples that the reader refuses.
    pub(crate) fn topic_of_writer(&self, names: &EndpointNames) -> Created<Arc<Topic>> {
        let key = (names.topic.clone(), names.type_name.clone());
        let mut topics = self.topics.lock();
        if let Some(topic) = topics.get(&key).and_then(Weak::upgrade) {
            return Ok(topic);
        }
        let topic = Arc::new(self.create_topic(names)?);
        topics.retain(|_, topic| topic.strong_count() > 0);
        topics.insert(key, Arc::downgrade(&topic));
        Ok(topic)
    }
}
