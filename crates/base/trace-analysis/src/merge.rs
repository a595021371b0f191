//! Joins the records of several processes.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::layers::Way;
use feros_trace::{EndpointName, Event, FILE_EXTENSION, Kind, Point, Transport};

use crate::read::{Process, ReadError};

/// The reason why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The folder contains no trace.
    #[error(
        "there is no trace in {folder}: run programs with FEROS_TRACE={folder}, and end them with SIGINT or SIGTERM (a program \
         writes its trace when its context ends)", folder = folder.display()
    )]
    NoFiles {
        /// The folder.
        folder: PathBuf,
    },
    /// The files' clocks are unrelated.
    #[error(
        "{first} and {other} come from two hosts, or from one host before and after a restart: their clocks cannot be \
         compared; read them one by one", first = first.display(), other = other.display()
    )]
    TwoClocks {
        /// A file.
        first: PathBuf,
        /// A file from another host, or from another boot of the same host.
        other: PathBuf,
    },
}

/// The records of all processes of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The processes, in the order of their files' names.
    pub processes: Vec<Process>,
}

/// The delivery of a message to the callback of one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The topic.
    pub topic: String,
    /// The publisher's gid.
    pub publisher: [u8; 16],
    /// The subscription's gid.
    pub subscription: [u8; 16],
    /// The transport that the message was taken from.
    pub transport: Transport,
    /// The message's stamp.
    pub stamp: i64,
    /// The times at which the message passed its points.
    pub way: Way,
}

/// The joined records of messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deliveries {
    /// Complete deliveries, in the order of publication.
    pub whole: Vec<Delivery>,
    /// The number of callbacks, by topic, whose publication is unknown: the publisher is not a
    /// Feros program, was not traced, or was killed, or its events were overwritten.
    pub without_publisher: BTreeMap<String, u64>,
    /// The number of publications, by topic, without a known callback: there is no subscription, or
    /// the subscription was not traced, was killed or lost the message, or its events were
    /// overwritten.
    pub without_callback: BTreeMap<String, u64>,
    /// The durations of complete calls of `publish`, by topic.
    pub publish_calls: BTreeMap<String, Vec<u64>>,
}

/// The identity of a message, the same in all processes: its publisher and its stamp.
pub(crate) type MessageKey = ([u8; 16], i64);

#[derive(Default)]
struct Sent {
    topic: String,
    way: Way,
    by_transport: [Way; Transport::ALL.len()],
    is_received: bool,
}

#[derive(Default)]
struct Reception {
    topic: String,
    transport: Option<Transport>,
    by_transport: [Way; Transport::ALL.len()],
}

fn index(transport: Transport) -> usize {
    transport as usize - 1
}

impl Trace {
    /// Reads a process's file, or all files of a folder.
    ///
    /// # Errors
    /// If there is no file, or a file cannot be read; see [`TraceError`].
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let io = |source| ReadError::Io { file: path.to_owned(), source };
        let mut files = Vec::new();
        if path.is_dir() {
            for entry in std::fs::read_dir(path).map_err(io)? {
                let entry = entry.map_err(io)?;
                let file = entry.path();
                // An empty file comes from a process that was killed when it started, so it has no
                // events.
                let is_begun = entry.metadata().map_err(io)?.len() > 0;
                if is_begun && file.extension().is_some_and(|extension| extension == FILE_EXTENSION)
                {
                    files.push(file);
                }
            }
            files.sort();
        } else {
            files.push(path.to_owned());
        }
        if files.is_empty() {
            return Err(TraceError::NoFiles { folder: path.to_owned() });
        }
        let processes =
            files.iter().map(|file| Process::read(file)).collect::<Result<Vec<_>, _>>()?;
        let (first, others) = processes.split_first().expect("there is at least one file");
        if let Some(other) = others.iter().find(|other| other.boot != first.boot) {
            return Err(TraceError::TwoClocks {
                first: first.file.clone(),
                other: other.file.clone(),
            });
        }
        Ok(Self { processes })
    }

    /// The processes that were killed, or ended without ending their context, so that the events
    /// that they had not yet written are lost.
    pub fn incomplete(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| !process.is_complete)
    }

    /// Every event, with its process and, if known, the endpoint that it concerns.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&Process, &Event, Option<&EndpointName>)> {
        self.processes.iter().flat_map(|process| {
            let events = process.threads.iter().flat_map(|thread| &thread.events);
            events.map(move |event| (process, event, process.endpoints.get(&event.endpoint)))
        })
    }

    /// Joins the ways of messages from the records of all processes.
    pub fn deliveries(&self) -> Deliveries {
        let mut joining = Joining::default();
        for (_, event, endpoint) in self.events() {
            if let Some(endpoint) = endpoint {
                let message = (event.message.publisher, event.message.stamp);
                joining.pass(message, event.point, event.transport, event.at_nanos, endpoint);
            }
        }
        joining.finish()
    }
}

/// Joins the ways of messages.
#[derive(Default)]
pub(crate) struct Joining {
    sent: HashMap<MessageKey, Sent>,
    receptions: HashMap<(MessageKey, [u8; 16]), Reception>,
}

impl Joining {
    /// Adds a point that a message passed.
    pub(crate) fn pass(
        &mut self,
        message: MessageKey,
        point: Point,
        transport: Option<Transport>,
        at_nanos: u64,
        endpoint: &EndpointName,
    ) {
        let (topic, way) = match endpoint.kind {
            Kind::Publisher => {
                let Sent { topic, way, by_transport, .. } = self.sent.entry(message).or_default();
                (topic, transport.map_or(way, |transport| &mut by_transport[index(transport)]))
            }
            Kind::Subscription => {
                let Some(transport) = transport else { return };
                let reception = self.receptions.entry((message, endpoint.gid)).or_default();
                if point == Point::Callback {
                    reception.transport = Some(transport);
                }
                (&mut reception.topic, &mut reception.by_transport[index(transport)])
            }
        };
        if topic.is_empty() {
            topic.clone_from(&endpoint.topic);
        }
        way.pass(point, at_nanos);
    }

    /// Returns the joined messages.
    pub(crate) fn finish(self) -> Deliveries {
        join(self.sent, self.receptions)
    }
}

fn join(
    mut sent: HashMap<MessageKey, Sent>,
    receptions: HashMap<(MessageKey, [u8; 16]), Reception>,
) -> Deliveries {
    let mut all = Deliveries::default();
    for ((key, subscription), Reception { topic, transport, by_transport }) in receptions {
        let Some(transport) = transport else { continue }; // no callback got it
        let published = sent.get_mut(&key).filter(|sent| sent.way.at(Point::Publish).is_some());
        let Some(published) = published else {
            *all.without_publisher.entry(topic).or_default() += 1;
            continue;
        };
        published.is_received = true;
        let way = published
            .way
            .with(&published.by_transport[index(transport)])
            .with(&by_transport[index(transport)]);
        let (publisher, stamp) = key;
        all.whole.push(Delivery { topic, publisher, subscription, transport, stamp, way });
    }
    all.whole.sort_by_key(|delivery| (delivery.way.at(Point::Publish), delivery.subscription));
    for Sent { topic, way, is_received, .. } in sent.into_values() {
        let Some(begin) = way.at(Point::Publish) else { continue };
        if let Some(end) = way.at(Point::PublishEnd) {
            all.publish_calls.entry(topic.clone()).or_default().push(end.saturating_sub(begin));
        }
        if !is_received {
            *all.without_callback.entry(topic).or_default() += 1;
        }
    }
    all
}
