//! One connection: it performs the client's operations, and sends the waiting data.
//!
//! All connections share a thread. Long operations are done piece by piece, in alternation with
//! other connections, so a client that asks for much delays only itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;

use crate::protocol::{
    ClientFrame, ClientOp, NamedParameter, ParameterToSet, ServerOp, Service, TopicSubscription,
    asset_found, asset_missing, service_response,
};
use crate::server::asset;
use crate::server::clients::{Client, Level, in_turn};
use crate::server::figures::MAX_MEASURED;
use crate::server::hub::Hub;
use crate::server::outbox::{Next, Outgoing};
use crate::server::publishing::Publishing;

/// The limit on subscriptions of a client.
const MAX_SUBSCRIPTIONS: usize = 1024;
/// The limit on parameters that a client may name in one operation, and on those whose changes it
/// receives.
const MAX_PARAMETERS: usize = 4096;
/// The longest name of a parameter that a client may use.
const LONGEST_NAME: usize = 1024;
/// The limit on requests of a client that are being answered.
const MAX_TASKS: usize = 64;
/// The number of pings to a silent client before it is disconnected.
const PINGS: u32 = 4;

/// Leaves the hub when the connection ends, in any way.
pub(crate) struct Membership {
    pub(crate) hub: Arc<Hub>,
    pub(crate) client: Arc<Client>,
    /// The channel of each subscription.
    channels: HashMap<u32, u32>,
}

impl Membership {
    pub(crate) fn new(hub: Arc<Hub>, client: Arc<Client>) -> Self {
        Self { hub, client, channels: HashMap::new() }
    }

    /// Ends all subscriptions, one after the other.
    async fn leave(mut self) {
        while let Some(subscription) = self.channels.keys().next().copied() {
            self.unsubscribe(subscription);
            yield_now().await;
        }
    }

    fn unsubscribe(&mut self, subscription: u32) {
        if let Some(channel) = self.channels.remove(&subscription) {
            self.hub.unsubscribe(channel, &self.client, subscription);
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        // Some subscriptions are left when the server ends.
        for (subscription, channel) in self.channels.drain() {
            self.hub.unsubscribe(channel, &self.client, subscription);
        }
        self.hub.leave(&self.client);
    }
}

/// Serves a client until it leaves.
pub(crate) async fn run(socket: WebSocket, membership: Membership) {
    let client = membership.client.clone();
    membership.hub.greet(&client);
    let patience = membership.hub.options.patience;
    let (sending, receiving) = socket.split();
    let mut session = Session {
        tasks: JoinSet::new(),
        publishing: Publishing::default(),
        examination: Arc::new(Semaphore::new(1)),
        membership,
    };
    // The connection ends when either sending or receiving ends.
    tokio::select! {
        () = send(sending, &client, patience) => {}
        () = session.receive(receiving) => {}
    }
    session.tasks.shutdown().await;
    session.membership.leave().await;
}

/// Sends the client's waiting data, as long as the client reads each frame in time.
async fn send(mut socket: SplitSink<WebSocket, Message>, client: &Client, patience: Duration) {
    let ping_period = patience / PINGS;
    let mut ping_due = Instant::now() + ping_period;
    loop {
        let now = Instant::now();
        let wake = match client.outbox.next(now) {
            Next::Send(outgoing) => {
                let message = match outgoing {
                    Outgoing::Text(text) => Message::Text((&*text).into()),
                    Outgoing::Binary(frame) => Message::Binary(frame.into()),
                };
                if !matches!(timeout(patience, socket.send(message)).await, Ok(Ok(()))) {
                    return;
                }
                continue;
            }
            Next::Closed => {
                let reason = "the client did not read its data in time".into();
                let frame = CloseFrame { code: close_code::AGAIN, reason };
                // The client may not even read this.
                let _ =
                    timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
                return;
            }
            Next::Until(due) => due.min(ping_due),
            Next::Nothing => ping_due,
        };
        if now >= ping_due {
            ping_due = now + ping_period;
            let ping = Message::Ping(Vec::new().into());
            if !matches!(timeout(patience, socket.send(ping)).await, Ok(Ok(()))) {
                return;
            }
            continue;
        }
        tokio::select! {
            () = client.outbox.changed() => {}
            () = tokio::time::sleep_until(wake.into()) => {}
        }
    }
}

struct Session {
    /// The answers in progress, which are cancelled at the end of the connection, before
    /// `membership` ends.
    tasks: JoinSet<()>,
    publishing: Publishing,
    /// Lets the client wait for one examination of the doctor at a time.
    examination: Arc<Semaphore>,
    membership: Membership,
}

impl Session {
    /// Performs the client's operations, until the client leaves, or is silent for too long and
    /// answers no ping.
    async fn receive(&mut self, mut socket: SplitStream<WebSocket>) {
        let patience = self.hub().options.patience;
        while let Ok(Some(Ok(message))) = timeout(patience, socket.next()).await {
            while self.tasks.try_join_next().is_some() {}
            match message {
                Message::Text(text) => match ClientOp::parse(&text) {
                    Ok(op) => self.perform(op).await,
                    Err(error) => self.refuse(&error.to_string()),
                },
                Message::Binary(frame) => self.take_frame(&frame),
                Message::Close(_) => return,
                // The WebSocket library answers pings.
                Message::Ping(_) | Message::Pong(_) => {}
            }
            yield_now().await;
        }
    }

    fn client(&self) -> &Arc<Client> {
        &self.membership.client
    }

    fn hub(&self) -> &Arc<Hub> {
        &self.membership.hub
    }

    fn refuse(&self, reason: &str) {
        self.client().status(Level::Error, reason);
    }

    async fn perform(&mut self, op: ClientOp) {
        match op {
            ClientOp::Subscribe { subscriptions } => {
                for one in subscriptions {
                    self.subscribe(one);
                    yield_now().await;
                }
            }
            ClientOp::Unsubscribe { subscription_ids } => {
                for id in subscription_ids {
                    self.membership.unsubscribe(id);
                    yield_now().await;
                }
            }
            ClientOp::Advertise { channels } => {
                for channel in &channels {
                    if let Err(reason) = self.advertise(channel) {
                        self.refuse(&reason);
                    }
                    yield_now().await;
                }
            }
            ClientOp::Unadvertise { channel_ids } => {
                for id in channel_ids {
                    if let Err(error) = self.publishing.unadvertise(id) {
                        self.client().status(Level::Warning, &error.to_string());
                    }
                    yield_now().await;
                }
            }
            ClientOp::GetParameters { parameter_names, id } => {
                self.get_parameters(parameter_names, id)
            }
            ClientOp::SetParameters { parameters, id } => self.set_parameters(parameters, id),
            ClientOp::SubscribeParameterUpdates { parameter_names } => {
                self.watch_parameters(parameter_names);
            }
            ClientOp::UnsubscribeParameterUpdates { parameter_names } => {
                let mut wants = self.client().wants.lock();
                for name in &parameter_names {
                    wants.parameters.remove(name);
                }
                drop(wants);
                self.hub().listen_as_needed(&self.hub().graph());
            }
            ClientOp::SubscribeConnectionGraph => self.hub().begin_connection_graph(self.client()),
            ClientOp::UnsubscribeConnectionGraph => {
                self.client().wants.lock().connection_graph = false;
            }
            ClientOp::FetchAsset { uri, request_id } => self.fetch_asset(uri, request_id),
            ClientOp::SubscribeFigures => self.client().wants.lock().figures = true,
            ClientOp::UnsubscribeFigures => self.client().wants.lock().figures = false,
            ClientOp::MeasureTopics { topics } => {
                let measured = topics.into_iter().take(MAX_MEASURED).collect();
                self.client().wants.lock().measured = measured;
            }
            ClientOp::Doctor => self.doctor(),
        }
    }

    fn subscribe(&mut self, wanted: TopicSubscription) {
        let TopicSubscription { id, channel_id, max_rate_hz } = wanted;
        if max_rate_hz.is_some_and(|rate| !rate.is_finite() || rate <= 0.0) {
            return self.refuse(&format!(
                "subscription {id} has a maxRateHz that is not a number above 0"
            ));
        }
        self.membership.unsubscribe(id);
        let channels = &self.membership.channels;
        if channels.len() >= MAX_SUBSCRIPTIONS {
            return self
                .refuse(&format!("a client can have at most {MAX_SUBSCRIPTIONS} subscriptions"));
        }
        if channels.values().any(|known| *known == channel_id) {
            return self.refuse(&format!(
                "subscription {id} to channel {channel_id} is refused: this client already has a \
                 subscription to that channel"
            ));
        }
        match self.hub().subscribe(channel_id, self.client(), id, max_rate_hz, channels.len()) {
            Ok(()) => drop(self.membership.channels.insert(id, channel_id)),
            Err(reason) => self.refuse(&reason),
        }
    }

    /// Checks that the server runs with `--allow-changes`.
    fn check_changes(&self) -> Result<(), String> {
        if self.hub().options.allow_changes {
            Ok(())
        } else {
            Err("this server is read-only: `feros view --allow-changes` lets clients publish, call \
                 services and set parameters"
                .to_owned())
        }
    }

    fn advertise(&mut self, channel: &crate::protocol::ClientChannel) -> Result<(), String> {
        self.check_changes()?;
        let hub = &self.membership.hub;
        let (interfaces, graph) = (&hub.options.interfaces, hub.graph());
        let advertised = self.publishing.advertise(&hub.node, interfaces, &graph, channel);
        advertised.map_err(|error| error.to_string())
    }

    fn take_frame(&mut self, frame: &[u8]) {
        let done = match ClientFrame::parse(frame) {
            Ok(ClientFrame::Message { channel, data }) => self.check_changes().and_then(|()| {
                self.publishing.publish(channel, data).map_err(|error| error.to_string())
            }),
            Ok(ClientFrame::ServiceRequest { service, call, encoding, data }) => {
                self.call(service, call, encoding, data);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = done {
            self.refuse(&reason);
        }
    }

    /// Returns the service if the client may call it with a request of this encoding.
    fn callable(&self, service_id: u32, encoding: &str) -> Result<Arc<Service>, String> {
        let unknown = || format!("there is no service {service_id}: it may have disappeared");
        let service = self.hub().service(service_id).ok_or_else(unknown)?;
        if !self.hub().offers(&service) {
            self.check_changes()?;
        }
        if encoding != "cdr" {
            return Err("requests must be encoded as `cdr`".to_owned());
        }
        Ok(service)
    }

    fn call(&mut self, service_id: u32, call_id: u32, encoding: &str, request: &[u8]) {
        let known = self.callable(service_id, encoding);
        let service = match known {
            Ok(service) if self.tasks.len() < MAX_TASKS => service,
            other => {
                let many = || {
                    format!(
                        "a client can make at most {MAX_TASKS} calls at a time: wait for some of \
                         them"
                    )
                };
                let message = other.err().unwrap_or_else(many);
                let failure =
                    ServerOp::ServiceCallFailure { service_id, call_id, message: &message };
                return self.client().tell(&failure);
            }
        };
        let (hub, client, request) = (self.hub().clone(), self.client().clone(), request.to_vec());
        self.tasks.spawn(async move {
            let _turn = in_turn(&client.call_turns).await;
            match hub.calls.call(&service, &request).await {
                Ok(response) => {
                    client.outbox.answer(service_response(service_id, call_id, "cdr", &response));
                }
                Err(message) => {
                    let message = message.as_str();
                    client.tell(&ServerOp::ServiceCallFailure { service_id, call_id, message });
                }
            }
        });
    }

    /// Whether another request can be answered; if not, reports that to the client.
    fn has_room(&self) -> bool {
        let has_room = self.tasks.len() < MAX_TASKS;
        if !has_room {
            self.refuse(&format!(
                "a client can make at most {MAX_TASKS} requests at a time: wait for answers"
            ));
        }
        has_room
    }

    /// Whether an operation names few enough parameters; if not, reports that to the client.
    fn is_short(&self, names: usize) -> bool {
        let is_short = names <= MAX_PARAMETERS;
        if !is_short {
            self.refuse(&format!("request at most {MAX_PARAMETERS} parameters at a time"));
        }
        is_short
    }

    fn get_parameters(&mut self, names: Vec<String>, id: Option<String>) {
        if !self.is_short(names.len()) || !self.has_room() {
            return;
        }
        let (hub, client) = (self.hub().clone(), self.client().clone());
        self.tasks
            .spawn(async move { tell_parameters(&hub, &client, &names, id.as_deref()).await });
    }

    fn set_parameters(&mut self, parameters: Vec<ParameterToSet>, id: Option<String>) {
        if let Err(reason) = self.check_changes() {
            return self.refuse(&reason);
        }
        if !self.is_short(parameters.len()) || !self.has_room() {
            return;
        }
        let (hub, client) = (self.hub().clone(), self.client().clone());
        self.tasks.spawn(async move {
            let names: Vec<String> = parameters.iter().map(|one| one.name.clone()).collect();
            let graph = hub.graph();
            for problem in hub.parameters.set(parameters, &graph, &client.call_turns).await {
                client.status(Level::Error, &problem);
            }
            if id.is_some() && !names.is_empty() {
                tell_parameters(&hub, &client, &names, id.as_deref()).await;
            }
        });
    }

    fn watch_parameters(&mut self, names: Vec<String>) {
        let mut wants = self.client().wants.lock();
        let names = names.into_iter().filter(|name| name.len() <= LONGEST_NAME);
        wants.parameters.extend(names.take(MAX_PARAMETERS));
        while wants.parameters.len() > MAX_PARAMETERS {
            wants.parameters.pop_last();
        }
        drop(wants);
        self.hub().listen_as_needed(&self.hub().graph());
    }

    fn fetch_asset(&mut self, uri: String, request: u32) {
        if !self.has_room() {
            return;
        }
        let (hub, client) = (self.hub().clone(), self.client().clone());
        self.tasks.spawn(async move {
            let _turn = in_turn(&client.file_turns).await;
            // The permit moves to the thread, which reads to the end even if the client leaves.
            let turn = hub.file_turns.clone().acquire_owned().await;
            let reading = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                asset::read(&hub.options.packages, &uri)
            });
            let frame = match reading.await {
                Ok(Ok(bytes)) => asset_found(request, &bytes),
                Ok(Err(error)) => asset_missing(request, &error.to_string()),
                Err(_) => asset_missing(request, "the server is ending"),
            };
            client.outbox.answer(frame);
        });
    }

    fn doctor(&mut self) {
        let Some(doctor) = self.hub().options.doctor.clone() else {
            return self
                .refuse("this server cannot run the doctor: run `feros doctor` on its machine");
        };
        if !self.has_room() {
            return;
        }
        let Ok(examination) = self.examination.clone().try_acquire_owned() else {
            return self.refuse(
                "an examination by the doctor already runs for this client: wait for its report",
            );
        };
        let (turns, client) = (self.hub().doctor_turns.clone(), self.client().clone());
        self.tasks.spawn(async move {
            let _examination = examination;
            // The permit moves to the thread, which finishes the examination even if the client
            // leaves.
            let turn = turns.acquire_owned().await;
            let looking = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                doctor()
            });
            if let Ok(findings) = looking.await {
                client.tell(&ServerOp::DoctorReport { findings: &findings });
            }
        });
    }
}

/// Answers with the values of parameters.
async fn tell_parameters(hub: &Hub, client: &Client, names: &[String], id: Option<&str>) {
    // A node that does not answer must not delay the parameters of other nodes in the page.
    let hear = |parameters: &[NamedParameter]| {
        if client.is_page && names.is_empty() {
            client.tell(&ServerOp::ParameterValues { parameters, id: None });
        }
    };
    let answer = hub.parameters.get(names, &hub.graph(), &client.call_turns, hear).await;
    for problem in &answer.problems {
        client.status(Level::Warning, problem);
    }
    client.tell(&ServerOp::ParameterValues { parameters: &answer.values, id });
}
