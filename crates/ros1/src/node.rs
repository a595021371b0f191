//! A node under a master: what it publishes, subscribes to and serves, and its registrations.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use feros_sync::{AtomicBool, AtomicUsize, Mutex, Ordering};

use crate::header::ConnectionHeader;
use crate::http::Address;
use crate::master::{Master, MasterError, SystemState, texts};
use crate::names::{check_name, is_allowed_name};
use crate::node_error::NodeError;
use crate::own_host::own_host;
use crate::peer_text::shown_name;
use crate::publication::{Publication, PublicationOptions};
use crate::service::{self, ServiceOptions};
use crate::siblings::Siblings;
use crate::slave_api::{self, Answers};
use crate::strangers::Strangers;
use crate::subscription::{Subscription, SubscriptionOptions};
use crate::xmlrpc::Value;

/// Most connections of a kind at a time.
const MOST_CONNECTIONS: usize = 1024;

/// What hears which parameter may have another value; the name is fully qualified.
pub type HearsParameter = dyn Fn(&str) + Send + Sync;

/// A node of ROS 1. Clones are the same node; when the last one goes, it leaves the master.
#[derive(Clone)]
pub struct Node(Arc<Owner>);

/// What ends with the last clone; threads hold only what is within.
struct Owner(Arc<Inner>);

struct Inner {
    name: String,
    master: Master,
    /// Where calls of the master go.
    api: Address,
    /// Where connections of TCPROS go.
    tcpros: Address,
    publications: Mutex<BTreeMap<String, Arc<Publication>>>,
    subscriptions: Mutex<BTreeMap<String, Arc<Subscription>>>,
    services: Mutex<BTreeMap<String, Arc<ServiceOptions>>>,
    /// Nodes whose messages come by another way than TCPROS; this one is among them.
    siblings: Siblings,
    /// Held while the master is told something, so that it hears of beginning and end in order.
    telling: Mutex<()>,
    /// Whether registrations wait for a master that is not there.
    is_patient: bool,
    /// Whether the master did not answer last time: who is patient asks it in `refresh` alone.
    is_alone: AtomicBool,
    is_closed: AtomicBool,
    strangers: Strangers,
    /// Who hears of parameters that others change.
    hears_parameters: Mutex<Option<Arc<HearsParameter>>>,
    told_to_end: Mutex<Option<String>>,
    connections: AtomicUsize,
}

impl Node {
    /// A node of this name, fully qualified, that registers with the master when it has something
    /// to register. Nobody is called yet.
    ///
    /// # Errors
    /// When the name or the address is none, or no port is free.
    pub fn new(name: &str, master_uri: &str) -> Result<Self, NodeError> {
        Self::make(name, master_uri, &Siblings::default(), false)
    }

    /// As [`Node::new`], among siblings, of which it receives nothing by TCPROS. Where the master
    /// is not there, what the node has is registered by [`Node::register_missing`] once it is.
    ///
    /// # Errors
    /// As [`Node::new`].
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
            TcpListener::bind((bound, 0))
                .map_err(|source| NodeError::Listen { host: bound, source })
        };
        let (api, tcpros) = (listen()?, listen()?);
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
            is_closed: AtomicBool::new(false),
            strangers: Strangers::default(),
            hears_parameters: Mutex::default(),
            told_to_end: Mutex::default(),
            connections: AtomicUsize::new(0),
        });
        siblings.insert(&inner.api);
        inner.accept(api, "feros-ros1-api", |inner, stream| slave_api::serve(&**inner, stream));
        inner.accept(tcpros, "feros-ros1-tcp", |inner, stream| inner.serve_tcpros(stream));
        Ok(Self(Arc::new(Owner(inner))))
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.0.0
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner().name
    }

    /// The master.
    #[must_use]
    pub fn master(&self) -> &Master {
        &self.inner().master
    }

    /// Why the node was told to end, if it was: another node of this name has come.
    #[must_use]
    pub fn told_to_end(&self) -> Option<String> {
        self.inner().told_to_end.lock().clone()
    }

    /// Publishes a topic.
    ///
    /// # Errors
    /// When it does so already, the name is not allowed, or the master refuses.
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

    /// Publishes it no longer.
    pub fn unadvertise(&self, publication: &Publication) {
        let _telling = self.inner().telling.lock();
        self.inner().publications.lock().remove(publication.topic());
        publication.close();
        self.inner().tell("unregisterPublisher", publication.topic());
    }

    /// The topics that it publishes, by name.
    #[must_use]
    pub fn published_topics(&self) -> Vec<String> {
        self.inner().publications.lock().keys().cloned().collect()
    }

    /// Subscribes to a topic.
    ///
    /// # Errors
    /// When it does so already, the name is not allowed, or the master refuses.
    pub fn subscribe(&self, options: SubscriptionOptions) -> Result<Arc<Subscription>, NodeError> {
        check_name(&options.topic)?;
        let subscription = Arc::new(Subscription::new(options, self.name()));
        let _telling = self.inner().telling.lock();
        insert(&self.inner().subscriptions, subscription.topic(), &subscription)?;
        if let Err(error) = self.inner().register_subscription(&subscription) {
            self.inner().subscriptions.lock().remove(subscription.topic());
            return Err(error.into());
        }
        Ok(subscription)
    }

    /// Subscribes no longer.
    pub fn unsubscribe(&self, subscription: &Subscription) {
        let _telling = self.inner().telling.lock();
        self.inner().subscriptions.lock().remove(subscription.topic());
        subscription.close();
        self.inner().tell("unregisterSubscriber", subscription.topic());
    }

    /// Serves a service.
    ///
    /// # Errors
    /// When it does so already, the name is not allowed, or the master refuses.
    pub fn serve(&self, options: ServiceOptions) -> Result<(), NodeError> {
        check_name(&options.service)?;
        let service = Arc::new(options);
        let _telling = self.inner().telling.lock();
        insert(&self.inner().services, &service.service, &service)?;
        if let Err(error) = self.inner().register_service(&service.service) {
            self.inner().services.lock().remove(&service.service);
            return Err(error.into());
        }
        Ok(())
    }

    /// Serves it no longer.
    pub fn stop_serving(&self, service: &str) {
        let _telling = self.inner().telling.lock();
        self.inner().services.lock().remove(service);
        self.inner().tell_of_service(service);
    }

    /// Has the master tell of parameters below the node's name that others change, from now on.
    /// Called again for a master that was started anew.
    ///
    /// `hears` is called by a thread of the node for whatever a peer names; it asks the master for
    /// the value, and does not wait.
    ///
    /// # Errors
    /// When the master cannot be reached or refuses.
    pub fn follow_parameters(&self, hears: Arc<HearsParameter>) -> Result<(), MasterError> {
        let inner = self.inner();
        let former = inner.hears_parameters.lock().replace(hears);
        drop(former);
        let name = Value::from(self.name());
        inner.master.call("subscribeParam", &[inner.api_uri(), name]).map(drop)
    }

    /// Asks the master who is there, and registers again what it does not know: it was started
    /// anew.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn refresh(&self) -> Result<SystemState, MasterError> {
        let state = self.master().system_state()?;
        self.register_missing(&state)?;
        Ok(state)
    }

    /// Registers what the master does not know, by what it says of itself.
    ///
    /// # Errors
    /// When it cannot be reached or refuses.
    pub fn register_missing(&self, state: &SystemState) -> Result<(), MasterError> {
        let _telling = self.inner().telling.lock();
        self.inner().is_alone.store(false, Ordering::Release);
        self.inner().register_missing(state)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let inner = &self.0;
        let _telling = inner.telling.lock();
        inner.is_closed.store(true, Ordering::Release);
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
        if inner.hears_parameters.lock().take().is_some() && !inner.is_alone() {
            let name = Value::from(&*inner.name);
            let _ = inner.master.call("unsubscribeParam", &[inner.api_uri(), name]);
        }
        inner.siblings.remove(&inner.api);
        // What listens is woken to see that it is over.
        for address in [&inner.api, &inner.tcpros] {
            let _ = address.connect(Duration::from_millis(200));
        }
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

impl Inner {
    fn accept(
        self: &Arc<Self>,
        listener: TcpListener,
        name: &str,
        serve: fn(&Arc<Inner>, TcpStream),
    ) {
        let inner = self.clone();
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if inner.is_closed.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else {
                    // No descriptor is free, perhaps: not at once again.
                    std::thread::sleep(Duration::from_millis(50));
                    continue;
                };
                if inner.connections.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
                    tracing::warn!("a connection is refused: there are {MOST_CONNECTIONS} already");
                    continue;
                }
                inner.connections.fetch_add(1, Ordering::Relaxed);
                let served = inner.clone();
                let started = std::thread::Builder::new().name("feros-ros1-peer".to_owned()).spawn(
                    move || {
                        serve(&served, stream);
                        served.connections.fetch_sub(1, Ordering::Relaxed);
                    },
                );
                if started.is_err() {
                    inner.connections.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
        if let Err(error) = started {
            tracing::error!("no thread to listen with: {error}");
        }
    }

    fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Acquire)
    }

    fn api_uri(&self) -> Value {
        Value::Text(self.api.to_string())
    }

    fn service_uri(&self) -> String {
        format!("rosrpc://{}:{}", self.tcpros.host, self.tcpros.port)
    }

    fn register_publication(&self, publication: &Publication) -> Result<(), MasterError> {
        let parameters = [
            publication.topic().into(),
            publication.options.type_name.as_str().into(),
            self.api_uri(),
        ];
        self.register("registerPublisher", &parameters).map(drop)
    }

    fn register_subscription(&self, subscription: &Arc<Subscription>) -> Result<(), MasterError> {
        let parameters = [
            subscription.topic().into(),
            subscription.options.type_name.as_str().into(),
            self.api_uri(),
        ];
        if let Some(publishers) = self.register("registerSubscriber", &parameters)? {
            subscription.update(&texts(&publishers), &self.siblings);
        }
        Ok(())
    }

    fn register_service(&self, service: &str) -> Result<(), MasterError> {
        let parameters = [service.into(), self.service_uri().as_str().into(), self.api_uri()];
        self.register("registerService", &parameters).map(drop)
    }

    /// Tells the master of something new; `None` where that waits for a master.
    fn register(
        &self,
        method: &'static str,
        parameters: &[Value],
    ) -> Result<Option<Value>, MasterError> {
        if self.is_alone() {
            return Ok(None);
        }
        match self.master.call(method, parameters) {
            Err(MasterError::Unreachable { .. }) if self.is_patient => {
                self.is_alone.store(true, Ordering::Release);
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    fn register_missing(&self, state: &SystemState) -> Result<(), MasterError> {
        let knows = |all: &[(String, Vec<String>)], name: &str| {
            all.iter().any(|(known, nodes)| known == name && nodes.contains(&self.name))
        };
        let publications: Vec<_> = self.publications.lock().values().cloned().collect();
        for publication in publications {
            if !knows(&state.publishers, publication.topic()) {
                self.register_publication(&publication)?;
            }
        }
        let subscriptions: Vec<_> = self.subscriptions.lock().values().cloned().collect();
        for subscription in subscriptions {
            if !knows(&state.subscribers, subscription.topic()) {
                self.register_subscription(&subscription)?;
            }
        }
        let services: Vec<String> = self.services.lock().keys().cloned().collect();
        for service in services {
            if !knows(&state.services, &service) {
                self.register_service(&service)?;
            }
        }
        Ok(())
    }

    /// What the master need not hear: it may be gone.
    fn tell(&self, method: &'static str, topic: &str) {
        if self.is_alone() {
            return;
        }
        let _ = self.master.call(method, &[topic.into(), self.api_uri()]);
    }

    fn tell_of_service(&self, service: &str) {
        if self.is_alone() {
            return;
        }
        let uri = self.service_uri();
        let _ = self.master.call("unregisterService", &[service.into(), uri.as_str().into()]);
    }

    fn serve_tcpros(self: &Arc<Self>, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
        let header = match ConnectionHeader::receive(&mut stream) {
            Ok(header) => header,
            Err(error) => {
                return self.strangers.say(&self.name, self.tcpros.port, &stream, &error);
            }
        };
        if !header.has("service") && !header.has("topic") {
            return refuse(
                &mut stream,
                "the header of the connection has neither `topic` nor `service`",
            );
        }
        if header.has("service") {
            let service = self.services.lock().get(header.get("service")).cloned();
            let Some(service) = service else {
                return refuse(
                    &mut stream,
                    &format!("{} is not served here", header.get("service")),
                );
            };
            let _ = stream.set_read_timeout(None);
            if let Err(error) = service::serve(stream, &self.name, &service, &header) {
                tracing::debug!("{}: {error}", service.service);
            }
            return;
        }
        let publication = self.publications.lock().get(header.get("topic")).cloned();
        let Some(publication) = publication else {
            return refuse(&mut stream, &format!("{} is not published here", header.get("topic")));
        };
        if let Err(reason) = publication.check(&header) {
            tracing::warn!("{reason}");
            return refuse(&mut stream, &reason);
        }
        if publication.header(&self.name).send(&mut stream).is_ok() {
            publication.serve(stream, header.get("callerid"));
        }
    }
}

fn refuse(stream: &mut TcpStream, reason: &str) {
    let _ = ConnectionHeader::new(&[("error", reason)]).send(stream);
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
