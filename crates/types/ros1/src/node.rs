//! A node under a master: its publications, subscriptions, services and registrations.
//!
//! `registrations` makes the calls to the master, `serving` serves the connections of others.

mod registrations;
mod serving;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_sync::{AtomicBool, Mutex, Ordering};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::address::Address;
use crate::lines::Lines;
use crate::master::{Master, MasterError, SystemState};
use crate::names::{check_name, is_allowed_name};
use crate::node_error::NodeError;
use crate::own_host::own_host;
use crate::peer_text::shown_name;
use crate::publication::{Publication, PublicationOptions};
use crate::runtime;
use crate::service::{Served, ServiceOptions};
use crate::siblings::Siblings;
use crate::slave_api::Answers;
use crate::strangers::Strangers;
use crate::subscription::{Subscription, SubscriptionOptions};
use crate::xmlrpc::Value;

/// How long a node may take to unregister from its master when it ends.
const FAREWELL: Duration = Duration::from_secs(5);
/// A callback that gets the fully qualified name of a parameter whose value may have changed.
pub type HearsParameter = dyn Fn(&str) + Send + Sync;

/// A ROS 1 node. All clones refer to the same node. When the last clone is dropped, the node
/// unregisters from the master.
#[derive(Clone)]
pub struct Node(Arc<Owner>);

/// The owner of the node, which is dropped with the last clone. The node's tasks hold only `inner`,
/// so they do not keep the node alive.
struct Owner {
    inner: Arc<Inner>,
    /// The tasks that listen and serve the accepted connections.
    listening: [AbortHandle; 2],
}

struct Inner {
    name: String,
    master: Master,
    /// The address for calls from the master and other nodes.
    api: Address,
    /// The address for TCPROS connections.
    tcpros: Address,
    publications: Mutex<BTreeMap<String, Arc<Publication>>>,
    subscriptions: Mutex<BTreeMap<String, Arc<Subscription>>>,
    services: Mutex<BTreeMap<String, Arc<Served>>>,
    /// The nodes that exchange messages without TCPROS, including this node.
    siblings: Siblings,
    /// This is locked during calls to the master, so that the calls reach the master in order.
    telling: Mutex<()>,
    /// Whether registrations are made later if the master does not answer at present.
    is_patient: bool,
    /// Whether the master failed to answer the last call. While this is true, nothing is
    /// unregistered, and a patient node registers nothing, until `register_missing` gets a new
    /// state of the master.
    is_alone: AtomicBool,
    /// The time at which unregistering must end, if a limit has been set.
    farewell: Mutex<Option<Instant>>,
    tasks: Handle,
    lines: Arc<Lines>,
    strangers: Strangers,
    /// The callback for parameters that other nodes change.
    hears_parameters: Mutex<Option<Arc<HearsParameter>>>,
    told_to_end: Mutex<Option<String>>,
}

impl Node {
    /// Creates a node with this fully qualified name. The node calls the master only when it has
    /// something to register.
    ///
    /// # Errors
    /// Returns an error if the name or the address is invalid, or if no port is free.
    pub fn new(name: &str, master_uri: &str) -> Result<Self, NodeError> {
        Self::make(name, master_uri, &Siblings::default(), false)
    }

    /// Like [`Node::new`], but the node is one of several siblings. Siblings do not receive each
    /// other's messages over TCPROS. If the master is absent, [`Node::register_missing`] registers
    /// the node's topics and services later.
    ///
    /// # Errors
    /// See [`Node::new`].
    pub fn among(siblings: &Siblings, name: &str, master_uri: &str) -> Result<Self, NodeError> {
        Self::make(name, master_uri, siblings, true)
    }

    fn make(
        name: &str,
        master_uri: &str,
        siblings: &Siblings,
        is_patient: bool,
    ) -> Result<Self, NodeError> {
        if !name.starts_with('/') || !is_allowed_name(name) {
            return Err(NodeError::Name { name: name.to_owned() });
        }
        let master = Address::parse(master_uri)
            .ok_or_else(|| NodeError::MasterUri { uri: master_uri.to_owned() })?;
        let (host, bound) = own_host(&master);
        let listen = || {
            let bind = TcpListener::bind((bound, 0));
            // The runtime needs a nonblocking listener.
            let bind = bind.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
            bind.map_err(|source| NodeError::Listen { host: bound, source })
        };
        let (api, tcpros) = (listen()?, listen()?);
        let tasks = runtime::handle().map_err(NodeError::Threads)?;
        let place = |listener: &TcpListener| {
            let port = listener.local_addr().map(|address| address.port());
            let port = port.map_err(|source| NodeError::Listen { host: bound, source })?;
            Ok::<_, NodeError>(Address { host: host.clone(), port })
        };
        let inner = Arc::new(Inner {
            name: name.to_owned(),
            master: Master::new(master, name),
            api: place(&api)?,
            tcpros: place(&tcpros)?,
            publications: Mutex::default(),
            subscriptions: Mutex::default(),
            services: Mutex::default(),
            siblings: siblings.clone(),
            telling: Mutex::default(),
            is_patient,
            is_alone: AtomicBool::new(false),
            farewell: Mutex::default(),
            tasks,
            lines: Arc::default(),
            strangers: Strangers::default(),
            hears_parameters: Mutex::default(),
            told_to_end: Mutex::default(),
        });
        let listening =
            [inner.listen(api, Inner::serve_api), inner.listen(tcpros, Inner::serve_tcpros)];
        siblings.insert(&inner.api);
        Ok(Self(Arc::new(Owner { inner, listening })))
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.0.inner
    }

    /// Limits the time that the node may take to unregister. The master may be slow, and each topic
    /// needs a call.
    pub fn leave_within(&self, longest: Duration) {
        self.inner().leave_within(longest);
    }

    /// The name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner().name
    }

    /// The master of the node.
    #[must_use]
    pub fn master(&self) -> &Master {
        &self.inner().master
    }

    /// The reason why the node must end, or `None` if nobody has asked it to end. Usually another
    /// node with the same name has started.
    #[must_use]
    pub fn told_to_end(&self) -> Option<String> {
        self.inner().told_to_end.lock().clone()
    }

    /// Starts publishing a topic.
    ///
    /// # Errors
    /// Returns an error if the node already publishes the topic, the name is not allowed, or the
    /// master refuses.
    pub fn advertise(&self, options: PublicationOptions) -> Result<Arc<Publication>, NodeError> {
        check_name(&options.topic)?;
        let publication = Arc::new(Publication::new(options));
        let _telling = self.inner().telling.lock();
        insert(&self.inner().publications, publication.topic(), &publication)?;
        if let Err(error) = self.inner().register_publication(&publication) {
            self.inner().publications.lock().remove(publication.topic());
            return Err(error.into());
        }
        Ok(publication)
    }

    /// Stops publishing a topic.
    pub fn unadvertise(&self, publication: &Publication) {
        let _telling = self.inner().telling.lock();
        self.inner().publications.lock().remove(publication.topic());
        publication.close();
        self.inner().tell("unregisterPublisher", publication.topic());
    }

    /// Returns the names of the topics that the node publishes.
    #[must_use]
    pub fn published_topics(&self) -> Vec<String> {
        self.inner().publications.lock().keys().cloned().collect()
    }

    /// Subscribes to a topic.
    ///
    /// # Errors
    /// Returns an error if the node has already subscribed to the topic, the name is not allowed,
    /// or the master refuses.
    pub fn subscribe(&self, options: SubscriptionOptions) -> Result<Arc<Subscription>, NodeError> {
        check_name(&options.topic)?;
        let inner = self.inner();
        let subscription = Subscription::new(options, self.name(), &inner.tasks, &inner.lines);
        let subscription = Arc::new(subscription);
        let _telling = self.inner().telling.lock();
        insert(&self.inner().subscriptions, subscription.topic(), &subscription)?;
        if let Err(error) = self.inner().register_subscription(&subscription) {
            self.inner().subscriptions.lock().remove(subscription.topic());
            return Err(error.into());
        }
        Ok(subscription)
    }

    /// Unsubscribes from a topic.
    pub fn unsubscribe(&self, subscription: &Subscription) {
        let _telling = self.inner().telling.lock();
        self.inner().subscriptions.lock().remove(subscription.topic());
        subscription.close();
        self.inner().tell("unregisterSubscriber", subscription.topic());
    }

    /// Starts serving a service.
    ///
    /// # Errors
    /// Returns an error if the node already serves the service, the name is not allowed, or the
    /// master refuses.
    pub fn serve(&self, options: ServiceOptions) -> Result<(), NodeError> {
        check_name(&options.service)?;
        let service = Arc::new(Served::new(options));
        let name = &service.options.service;
        let _telling = self.inner().telling.lock();
        insert(&self.inner().services, name, &service)?;
        if let Err(error) = self.inner().register_service(name) {
            self.inner().services.lock().remove(name);
            return Err(error.into());
        }
        Ok(())
    }

    /// Stops serving a service.
    pub fn stop_serving(&self, service: &str) {
        let _telling = self.inner().telling.lock();
        self.inner().services.lock().remove(service);
        self.inner().tell_of_service(service);
    }

    /// Makes the master report changes that other nodes make to parameters below this node's name.
    /// Must be called again after a restart of the master.
    ///
    /// `hears` runs on a thread of the node and must not block. Any program can cause such a call
    /// with any name, so treat the name as a hint, and get the value from the master later, on
    /// another thread.
    ///
    /// # Errors
    /// Returns an error if the master cannot be reached or refuses.
    pub fn follow_parameters(&self, hears: Arc<HearsParameter>) -> Result<(), MasterError> {
        let inner = self.inner();
        let former = inner.hears_parameters.lock().replace(hears);
        drop(former);
        let name = Value::from(self.name());
        inner.master.call("subscribeParam", &[inner.api_uri(), name]).map(drop)
    }

    /// Gets all registrations from the master, and repeats the registrations of this node that the
    /// master has lost in a restart. Ends early if `is_over` returns true, because a master may be
    /// slow.
    ///
    /// # Errors
    /// Returns an error if the master cannot be reached or refuses.
    pub fn refresh(&self, is_over: &dyn Fn() -> bool) -> Result<SystemState, MasterError> {
        let state = self.master().system_state().inspect_err(|_| {
            self.inner().is_alone.store(true, Ordering::Release);
        })?;
        self.register_missing(&state, is_over)?;
        Ok(state)
    }

    /// Registers everything that is missing from the state of the master. Stops early if `is_over`
    /// returns true.
    ///
    /// # Errors
    /// Returns an error if the master cannot be reached or refuses.
    pub fn register_missing(
        &self,
        state: &SystemState,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), MasterError> {
        let _telling = self.inner().telling.lock();
        self.inner().is_alone.store(false, Ordering::Release);
        self.inner().register_missing(state, is_over)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let inner = &self.inner;
        inner.leave_within(FAREWELL);
        let _telling = inner.telling.lock();
        for publication in std::mem::take(&mut *inner.publications.lock()).values() {
            publication.close();
            inner.tell("unregisterPublisher", publication.topic());
        }
        for subscription in std::mem::take(&mut *inner.subscriptions.lock()).values() {
            subscription.close();
            inner.tell("unregisterSubscriber", subscription.topic());
        }
        for service in std::mem::take(&mut *inner.services.lock()).keys() {
            inner.tell_of_service(service);
        }
        if inner.hears_parameters.lock().take().is_some() {
            let name = Value::from(&*inner.name);
            inner.say("unsubscribeParam", &[inner.api_uri(), name]);
        }
        inner.siblings.remove(&inner.api);
        self.listening.iter().for_each(AbortHandle::abort);
    }
}

impl Answers for Inner {
    fn publications(&self) -> Vec<Arc<Publication>> {
        self.publications.lock().values().cloned().collect()
    }

    fn subscriptions(&self) -> Vec<Arc<Subscription>> {
        self.subscriptions.lock().values().cloned().collect()
    }

    fn siblings(&self) -> &Siblings {
        &self.siblings
    }

    fn tcpros(&self) -> &Address {
        &self.tcpros
    }

    fn master(&self) -> &Address {
        self.master.address()
    }

    fn parameter_changed(&self, name: &str) {
        let hears = self.hears_parameters.lock().clone();
        if let Some(hears) = hears.filter(|_| name.is_empty() || check_name(name).is_ok()) {
            hears(name);
        }
    }

    fn end(&self, reason: &str) {
        *self.told_to_end.lock() = Some(shown_name(reason).into_owned());
    }
}

fn insert<T>(
    all: &Mutex<BTreeMap<String, Arc<T>>>,
    name: &str,
    new: &Arc<T>,
) -> Result<(), NodeError> {
    match all.lock().entry(name.to_owned()) {
        std::collections::btree_map::Entry::Occupied(_) => {
            Err(NodeError::Taken { name: name.to_owned() })
        }
        std::collections::btree_map::Entry::Vacant(place) => {
            place.insert(new.clone());
            Ok(())
        }
    }
}
