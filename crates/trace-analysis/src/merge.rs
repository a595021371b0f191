//! Putting together what several processes recorded.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::layers::Way;
use feros_trace::{EndpointName, Event, FILE_EXTENSION, Kind, Point, Transport};

use crate::read::{Process, ReadError};

/// Why a trace cannot be made out.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Nothing is there.
    #[error(
        "there is no trace in {folder}: run programs with FEROS_TRACE={folder}, and end them with SIGINT or SIGTERM (a program \
         writes its trace when its context ends)", folder = folder.display()
    )]
    NoFiles {
        /// The folder.
        folder: PathBuf,
    },
    /// The clocks have nothing to do with each other.
    #[error(
        "{first} and {other} are of two hosts, or of one host before and after a restart: their clocks cannot be compared; \
         read them one by one", first = first.display(), other = other.display()
    )]
    TwoClocks {
        /// A file.
        first: PathBuf,
        /// A file of another host or start.
        other: PathBuf,
    },
}

/// What all processes of a folder recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// In the order of their files' names.
    pub processes: Vec<Process>,
}

/// A message in the callback of one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The topic.
    pub topic: String,
    /// The publisher's gid.
    pub publisher: [u8; 16],
    /// The subscription's gid.
    pub subscription: [u8; 16],
    /// The transport by which it was taken.
    pub transport: Transport,
    /// The message's stamp.
    pub stamp: i64,
    /// When it passed which point.
    pub way: Way,
}

/// All that is known of messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deliveries {
    /// Whole ways, in the order of publication.
    pub whole: Vec<Delivery>,
    /// Callbacks by topic of which it is not known when their message was published: its publisher
    /// is not Feros, was not traced, was killed, or its events were overwritten.
    pub without_publisher: BTreeMap<String, u64>,
    /// Publications by topic for which no callback was found: nobody subscribes, the subscription
    /// was not traced, was killed, lost the message, or its events were overwritten.
    pub without_callback: BTreeMap<String, u64>,
    /// Whole calls of `publish` by topic: how long each took.
    pub publish_calls: BTreeMap<String, Vec<u64>>,
}

/// What a message is known by everywhere: its publisher and its stamp.
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
    /// Reads a process's file, or all of a folder.
    ///
    /// # Errors
    /// When there is none, or one cannot be read; see [`TraceError`].
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let io = |source| ReadError::Io { file: path.to_owned(), source };
        let mut files = Vec::new();
        if path.is_dir() {
            for entry in std::fs::read_dir(path).map_err(io)? {
                let entry = entry.map_err(io)?;
                let file = entry.path();
                // An empty one is of a process that was killed in the moment of its start: it has
                // nothing to tell.
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

    /// Processes that were killed, or ended without ending their context: what they recorded is
    /// lost, as far as they had not written it.
    pub fn incomplete(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| !process.is_complete)
    }

    /// Every event with its process and the endpoint that it concerns, if that is known.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&Process, &Event, Option<&EndpointName>)> {
        self.processes.iter().flat_map(|process| {
            let events = process.threads.iter().flat_map(|thread| &thread.events);
            events.map(move |event| (process, event, process.endpoints.get(&event.endpoint)))
        })
    }

    /// The ways of messages, each put together from what all processes recorded of it.
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

/// Puts the ways of messages together.
#[derive(Default)]
pub(crate) struct Joining {
    sent: HashMap<MessageKey, Sent>,
    receptions: HashMap<(MessageKey, [u8; 16]), Reception>,
}

impl Joining {
    /// A message passed a point.
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

    /// What is known of the messages.
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
        let Some(transport) = transport else { continue }; // it did not come to the callback
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
