//! The traits that a DDS library implements: a participant, and the writers and readers of bytes
//! that it creates. The sessions, publishers, subscriptions, services and clients of ROS 2 are
//! built on these.

use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_engine::dds::user_data::EndpointData;
use feros_engine::{
    Created, Ending, FillAborted, Gid, Match, PublishError, QosProfile, Sample, Stamp, TakeError,
    Traffic,
};

use crate::graph::{Graph, IncompatibleType};
use crate::listener::{ListenerState, Notifications};
use crate::names::EndpointNames;
use crate::status::{ReaderStatus, Status, WriterStatus};

/// The reader type of a participant.
pub type ReaderOf<P> = <P as Participant>::Reader;
/// The writer type of a participant.
pub type WriterOf<P> = <P as Participant>::Writer;
/// The samples that a participant's readers take.
pub type TakenOf<P> = <ReaderOf<P> as Endpoint>::Taken;
/// The memory of the samples that a participant's writers send.
pub type BufferOf<P> = <WriterOf<P> as Writer>::Buffer;

/// An identity that a sample has in addition to its own identity. It consists of the GUID of an
/// endpoint and a sequence number (`PID_RELATED_SAMPLE_IDENTITY`, DDS-RPC 1.0, 7.6.3).
pub type RelatedIdentity = ([u8; 16], i64);

/// A participant of a DDS library.
pub trait Participant: Send + Sync + Sized + 'static {
    /// The type of its writers.
    type Writer: Writer;
    /// The type of its readers.
    type Reader: Reader;
    /// Updates the graph while this value exists.
    type Discovery: Send + Sync;

    /// The reason why this library cannot restrict a service to requests from its own host, or
    /// `None` if the library can do so.
    const NO_LOCAL_REQUESTS_ONLY: Option<&'static str> = None;

    /// The name of the engine.
    fn engine_name(&self) -> &'static str;

    /// The version of the library.
    fn engine_version(&self) -> String;

    /// The configuration that the library uses, in a form for users.
    fn configuration(&self) -> String;

    /// The datagrams that this process has received in the participant's domain, or `None` if the
    /// library does not count them.
    fn received(&self) -> Option<Traffic> {
        None
    }

    /// The identity.
    fn gid(&self) -> Gid;

    /// The ending of the session, which the library may use when its endpoints are dropped.
    fn ending(&self) -> Ending {
        Ending::default()
    }

    /// Starts to update the graph with the participants and endpoints that the library discovers.
    ///
    /// # Errors
    /// Returns an error if an endpoint for discovery cannot be created.
    fn discover(self: &Arc<Self>, graph: &Arc<Graph>) -> Created<Self::Discovery>;

    /// The number of participants of this host that the library finds without the network. They do
    /// not read the topic `ros_discovery_info`.
    fn neighbours(&self) -> usize {
        0
    }

    /// Tells these participants which nodes this one has. `nodes` is a sample of the topic.
    fn tell_neighbours(&self, _nodes: &[u8]) {}

    /// Creates a writer.
    ///
    /// # Errors
    /// Returns an error if the library refuses the topic or the policies.
    fn create_writer(
        self: &Arc<Self>,
        creation: Creation<'_, TakenOf<Self>>,
    ) -> Created<Self::Writer>;

    /// Creates a reader.
    ///
    /// # Errors
    /// Returns an error if the library refuses the topic or the policies.
    fn create_reader(
        self: &Arc<Self>,
        creation: Creation<'_, TakenOf<Self>>,
    ) -> Created<Self::Reader>;
}

/// The options for creating an endpoint.
pub struct Creation<'a, T> {
    /// The topic and the type.
    pub names: EndpointNames,
    /// The policies, which are resolved and checked.
    pub qos: &'a QosProfile,
    /// The USER_DATA of the endpoint, or `None` if the endpoint has no USER_DATA.
    pub data: Option<&'a EndpointData>,
    /// Whether a reader ignores samples from its own session.
    pub ignores_local: bool,
    /// The notifications that the endpoint calls.
    pub notifications: Notifications<T>,
}

/// The parts of a writer or reader that do not depend on the library.
pub struct EndpointBase<S, T> {
    /// The identity.
    pub gid: Gid,
    /// Topic and type.
    pub names: EndpointNames,
    /// The counts of the listener, and the notifications that the listener calls.
    pub listener: Arc<ListenerState<S, T>>,
}

/// The methods that writers and readers have in common.
pub trait Endpoint: Send + Sync + 'static {
    /// The counters for its events.
    type Status: Status;
    /// The samples of the library.
    type Taken: Taken;

    /// Whether the library can tell which participants have acknowledged the announcement of an
    /// endpoint.
    const KNOWS_WHO_READ_ANNOUNCEMENTS: bool;

    /// The parts that do not depend on the library.
    fn base(&self) -> &EndpointBase<Self::Status, Self::Taken>;

    /// The identity.
    fn gid(&self) -> Gid {
        self.base().gid
    }

    /// Topic and type.
    fn names(&self) -> &EndpointNames {
        &self.base().names
    }

    /// The number of endpoints that match now.
    fn matched_count(&self) -> usize {
        self.base().listener.matched_count()
    }

    /// A number that changes whenever the matches change.
    fn match_generation(&self) -> u64 {
        self.base().listener.match_generation()
    }

    /// Returns the object to notify when endpoints of the same topic have another type.
    fn type_watcher(&self) -> Weak<dyn IncompatibleType> {
        Arc::downgrade(&self.base().listener) as Weak<dyn IncompatibleType>
    }

    /// Takes the next event.
    fn take_event(&self) -> Option<<Self::Status as Status>::Event> {
        self.base().listener.status().take()
    }

    /// Returns the endpoints that match now, each as a [`Match`] for users.
    fn matches(&self) -> Vec<Match>;

    /// Returns the gids of the endpoints that match now.
    fn matched_gids(&self) -> Vec<Gid>;

    /// Whether `is_wanted` returns true for the gid of at least one endpoint that matches now.
    /// Allocates nothing while the matches do not change.
    fn matches_any(&self, is_wanted: impl Fn(Gid) -> bool) -> bool;

    /// Returns the endpoints that match now, with their USER_DATA. The call costs little while the
    /// matches do not change.
    fn matched_data(&self) -> Arc<[(Gid, EndpointData)]>;

    /// Returns the current USER_DATA of an endpoint if it matches now. The USER_DATA is never read
    /// from a cache.
    fn data_of(&self, other: Gid) -> Option<EndpointData>;

    /// Changes the USER_DATA that the endpoint announces.
    ///
    /// # Errors
    /// Returns the library's description of the failure.
    fn set_data(&self, data: &EndpointData) -> Result<(), String>;

    /// Waits until the participant of `other` has acknowledged the announcement of this endpoint.
    /// With a `patience` of zero, checks once. Returns whether the participant has acknowledged the
    /// announcement, or true if the library cannot tell.
    fn is_announced_to(&self, other: Gid, patience: Duration) -> bool;

    /// Makes the library forget the participant of `other`, as if the participant's lease had
    /// expired.
    fn forget_participant_of(&self, other: Gid);
}

/// The reason why the wait for acknowledgements failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAcknowledged {
    /// The time limit was reached.
    TimedOut,
    /// The library's description of the failure.
    Failed(String),
}

/// Writes bytes to a topic.
pub trait Writer: Endpoint<Status = WriterStatus> {
    /// The memory into which a sample is written before it is sent.
    type Buffer: Buffer;

    /// The smallest and the largest size of a sample.
    const SIZES_BYTES: (usize, usize);

    /// Returns memory for a sample of `size_bytes`; `None` if memory is missing.
    fn allocate(&self, size_bytes: usize) -> Option<Self::Buffer>;

    /// Returns memory for a sample of `size_bytes`; `fill` writes the bytes from `offset` on.
    ///
    /// # Errors
    /// Returns an error if the size is impossible, if there is not enough memory, or if `fill`
    /// returns false.
    fn fill(
        &self,
        size_bytes: usize,
        offset: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), FillAborted>,
    ) -> Result<Self::Buffer, PublishError> {
        let topic = || self.names().ros.clone();
        let (smallest_bytes, largest_bytes) = Self::SIZES_BYTES;
        let largest_bytes = largest_bytes - offset;
        if !(smallest_bytes..=largest_bytes).contains(&size_bytes) {
            return Err(PublishError::Size { topic: topic(), size_bytes, largest_bytes });
        }
        let mut buffer = self
            .allocate(size_bytes + offset)
            .ok_or_else(|| PublishError::OutOfMemory { topic: topic(), size_bytes })?;
        fill(&mut buffer.bytes_mut()[offset..]).map_err(|FillAborted| PublishError::FillAborted)?;
        Ok(buffer)
    }

    /// Writes a sample with its time of publication and a related identity, and returns its
    /// sequence number. If messages have been skipped, a sample without a related identity gets a
    /// related identity, which consists of the GUID of the writer and the number of the sample
    /// among all publications.
    ///
    /// # Errors
    /// Returns an error if there is no room within the time limit, or if the library fails.
    fn write(
        &self,
        buffer: Self::Buffer,
        stamp: Stamp,
        related: Option<RelatedIdentity>,
    ) -> Result<i64, PublishError>;

    /// Counts messages that were published without the library.
    fn skip(&self, messages: u64);

    /// Waits until reliable readers of this process have room. This is needed only for libraries
    /// whose writes do not wait for such readers.
    ///
    /// # Errors
    /// Returns an error if there is no room within the time limit.
    fn wait_for_local_room(&self) -> Result<(), PublishError> {
        Ok(())
    }

    /// Makes all writes that wait for room fail, and also all later writes.
    fn end_waiting_writes(&self) {}

    /// Waits until all reliable readers have acknowledged all samples.
    ///
    /// # Errors
    /// Returns an error if the time limit is reached or the library fails.
    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<(), NotAcknowledged>;

    /// Waits until one reader has acknowledged all samples, if the reader is reliable and matches.
    /// With a `timeout` of zero, checks once. Returns false if the time limit is reached.
    fn is_acknowledged_by(&self, reader: Gid, timeout: Duration) -> bool;

    /// Asserts that the writer is alive.
    ///
    /// # Errors
    /// Returns the library's description of the failure.
    fn assert_liveliness(&self) -> Result<(), String>;
}

/// The memory of a sample that has not been sent yet.
pub trait Buffer: Send + 'static {
    /// The bytes to write.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Reads bytes of a topic.
pub trait Reader: Endpoint<Status = ReaderStatus> {
    /// Takes the oldest sample.
    ///
    /// # Errors
    /// Returns an error if the library fails.
    fn take(&self) -> Result<Option<Self::Taken>, TakeError>;

    /// Whether the reader ignores a sample because its own session has published it. This is needed
    /// only for libraries that deliver such samples.
    fn is_ignored(&self, _sample: &Self::Taken) -> bool {
        false
    }

    /// Whether a sample is older than the lifespan of its publisher. This is needed only for
    /// libraries that deliver such samples.
    fn is_expired(&self, _sample: &Self::Taken) -> bool {
        false
    }

    /// Adds to the number of messages that the reader reports as lost.
    fn count_lost(&self, messages: u64) {
        self.base().listener.change(|status| status.lost.add(messages));
    }

    /// Makes the library record trace points of received samples for this endpoint, if the library
    /// supports this.
    fn trace_as(&self, _endpoint: feros_trace::Endpoint) {}

    /// The number of samples that were refused as malformed.
    fn refused_samples(&self) -> u64;
}

/// The host from which a sample was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// This host.
    ThisHost,
    /// Another host, or an unknown host because the address proves nothing. The string is for
    /// messages to users.
    Elsewhere(String),
}

/// A sample that a reader took.
pub trait Taken: Send + Sync + 'static {
    /// The writer of the sample.
    fn writer(&self) -> Gid;

    /// The sequence number of the sample.
    fn number(&self) -> i64;

    /// The related identity, if the sample has one.
    fn related(&self) -> Option<RelatedIdentity>;

    /// The sample's number among all publications of its publisher; see [`Writer::write`].
    fn publication_number(&self) -> i64 {
        match self.related() {
            Some((of, number)) if of == self.writer().0 => number,
            _ => self.number(),
        }
    }

    /// The bytes of the sample.
    fn bytes(&self) -> &[u8];

    /// Converts the sample to the [`Sample`] that the client library gets. `reader` is the gid of
    /// the reader that took the sample.
    fn lend(self, reader: Gid) -> Sample;

    /// Like `lend`, but removes the header of [`service_header`](crate::service_header), which must
    /// be present. Returns `None` if there is no memory for the sample.
    fn without_service_header(self, reader: Gid) -> Option<Sample>;

    /// The host from which the sample was sent.
    fn origin(&self) -> Origin;
}
