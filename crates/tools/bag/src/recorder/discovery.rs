//! Finds the topics to record, including those that appear later, and subscribes to them with the
//! QoS that their publishers offer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use feros::engine::{EndpointKind, GraphSnapshot, TypeHash};
use feros::{Node, QosProfile, SubscriptionEvent, SubscriptionOptions, TypeIdentity};

use super::RecorderOptions;
use super::definitions::{Definitions, Question};
use super::reception::{Job, Receiver, Recorded, Subscriptions};
use crate::adapted_qos::{for_subscription, is_received};
use crate::message::BagTopic;
use crate::metadata::TopicMetadata;

/// The longest time until the thread notices a change of the graph or the end of the recording.
const PERIOD: Duration = Duration::from_millis(50);
/// The time after which the topics that existed at the start have been discovered.
const SETTLING: Duration = Duration::from_secs(1);

pub(super) struct Discovery {
    pub(super) node: Node,
    pub(super) options: RecorderOptions,
    pub(super) receiver: Receiver,
    pub(super) subscriptions: Subscriptions,
    pub(super) discovers: Arc<AtomicBool>,
    pub(super) is_stopping: Arc<AtomicBool>,
    /// Asks other nodes for definitions.
    pub(super) definitions: Option<Definitions>,
    /// The number of topics that the writing thread has been told to add.
    pub(super) count: usize,
    /// The warnings about topics so far, each of which is logged once.
    pub(super) told: BTreeSet<String>,
}

/// A topic that is published.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    name: String,
    type_name: String,
    hash: Option<TypeHash>,
    offered: Vec<QosProfile>,
}

impl Discovery {
    pub(super) fn run(mut self) {
        let (mut seen, began) = (None, Instant::now());
        while !self.is_stopping.load(Ordering::Relaxed) && self.node.context().is_ok() {
            let graph = self.node.context().graph();
            // Topics of the start are recorded even if discovery is off.
            let is_looking = self.discovers.load(Ordering::Relaxed) || began.elapsed() < SETTLING;
            if is_looking && seen != Some(graph.generation) {
                seen = Some(graph.generation);
                self.look(&graph);
            }
            let generation = graph.generation;
            let changed = || self.node.context().graph().generation != generation;
            // On a timeout, the loop checks for the end.
            let _ = self.node.context().wait_for_graph(PERIOD, || "topics", changed);
        }
        if let Some(definitions) = &self.definitions {
            definitions.end();
        }
    }

    fn look(&mut self, graph: &GraphSnapshot) {
        for (name, types) in self.candidates(graph) {
            if let [type_name] = &types.iter().collect::<Vec<_>>()[..] {
                let found = found(graph, &name, type_name);
                self.take(found);
            } else {
                let all = types.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
                self.tell_once(format!(
                    "{name} is not recorded: it is published with several types, {all}. `feros \
                     topic info -v {name}` shows the publishers"
                ));
            }
        }
    }

    /// Returns the selected topics, with the types of their publishers.
    fn candidates(&self, graph: &GraphSnapshot) -> BTreeMap<String, BTreeSet<String>> {
        let options = &self.options;
        let mut candidates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for endpoint in &graph.endpoints {
            let is_meant = match endpoint.kind {
                EndpointKind::Publisher => true,
                EndpointKind::Subscription => options.include_unpublished_topics,
                EndpointKind::Service | EndpointKind::Client => false,
            };
            let is_wanted = || options.selection.has(&endpoint.name, &endpoint.type_name);
            if is_meant && endpoint.is_ros && is_wanted() {
                let types = candidates.entry(endpoint.name.clone()).or_default();
                types.insert(endpoint.type_name.clone());
            }
        }
        if options.ignore_leaf_topics {
            let own = self.node.context().session().gid();
            candidates.retain(|name, _| {
                let mut readers = graph.endpoints_of(EndpointKind::Subscription, name);
                readers.any(|reader| !reader.gid.is_of_session_of(&own))
            });
        }
        candidates
    }

    fn take(&mut self, found: Found) {
        let key = (found.name.clone(), found.type_name.clone());
        let overridden = self.options.qos_overrides.get(&found.name).copied();
        let qos = overridden.unwrap_or_else(|| for_subscription(&found.offered));
        if self.subscriptions.lock().contains_key(&key) {
            return self.tell_of_mismatch(&found, overridden);
        }
        let number = self.count;
        let schema = (self.options.schemas)(&found.name, &found.type_name, found.hash);
        let definitions = self.definitions.clone().filter(|_| schema.encoding.is_empty());
        let mut metadata = TopicMetadata::new(&found.name, &found.type_name);
        metadata.offered_qos_profiles = found.offered.clone();
        metadata.type_description_hash =
            found.hash.map(|hash| hash.to_string()).unwrap_or_default();
        let topic = Box::new(BagTopic { metadata, schema });
        let job = Job::Topic { topic, is_asked_for: definitions.is_some() };
        if self.receiver.queue.push(job, 0).is_err() {
            return;
        }
        if let Some(definitions) = definitions {
            let (topic, type_name) = (found.name.clone(), found.type_name.clone());
            definitions.ask(Question { number, topic, type_name, hash: found.hash });
        }
        self.count += 1;
        match self.subscribe(number, &found, qos) {
            Ok(recorded) => {
                self.subscriptions.lock().insert(key, recorded);
            }
            Err(error) => self.tell_once(format!("{} is not recorded: {error}", found.name)),
        }
    }

    fn subscribe(
        &self,
        number: usize,
        found: &Found,
        qos: QosProfile,
    ) -> Result<Recorded, feros::CreateError> {
        let lost = Arc::<AtomicU64>::default();
        let (counter, receiver) = (lost.clone(), self.receiver.clone());
        let held = Arc::<AtomicUsize>::default();
        let options =
            SubscriptionOptions::from(qos).log_lost_messages(false).on_event(move |event| {
                if let SubscriptionEvent::MessageLost { change, .. } = event {
                    counter.fetch_add(change, Ordering::Relaxed);
                }
            });
        let identity = TypeIdentity { name: found.type_name.clone(), hash: found.hash };
        let subscription = self.node.create_generic_subscription(
            &found.name,
            &identity,
            options,
            move |message, info| receiver.receive(number, &held, message, &info),
        )?;
        Ok(Recorded { lost, _subscription: subscription })
    }

    /// Warns about a later publisher whose messages the recorder does not receive.
    fn tell_of_mismatch(&mut self, found: &Found, overridden: Option<QosProfile>) {
        let has = |offered: &QosProfile| {
            // The subscription was created to match the publisher that was found first.
            let first = overridden
                .unwrap_or_else(|| for_subscription(&found.offered[..found.offered.len().min(1)]));
            is_received(&first, offered)
        };
        if !found.offered.iter().all(has) {
            self.tell_once(format!(
                "{} has publishers of different QoS: publishers that offer less than the first may \
                 not be recorded. Request less with `--qos-profile-overrides-path`",
                found.name
            ));
        }
    }

    fn tell_once(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            tracing::warn!("{text}");
        }
    }
}

fn found(graph: &GraphSnapshot, name: &str, type_name: &str) -> Found {
    let publishers = graph.endpoints_of(EndpointKind::Publisher, name);
    let publishers: Vec<_> =
        publishers.filter(|endpoint| endpoint.type_name == type_name).collect();
    let endpoints = graph.endpoints.iter().filter(|endpoint| endpoint.name == name);
    let mut hashes: Vec<_> = if publishers.is_empty() {
        endpoints.filter_map(|endpoint| endpoint.type_hash).collect()
    } else {
        publishers.iter().filter_map(|endpoint| endpoint.type_hash).collect()
    };
    hashes.dedup();
    Found {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        // If publishers announce different hashes, the type is matched by name.
        hash: if hashes.len() == 1 { hashes.pop() } else { None },
        offered: publishers.iter().map(|endpoint| endpoint.qos).collect(),
    }
}
