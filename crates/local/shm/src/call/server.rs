//! The server's side of calls through shared memory: the channel that the server claims in a
//! client's memory.

use std::os::fd::AsFd;
use std::sync::Arc;

use feros_doorbell::Place;
use feros_sync::Ordering;
use rustix::io::Errno;

use super::channel::{Channel, MessageHead, Scribbled, SendToChannelError};
use super::layout::{ClaimState, FILE_BYTES, FILE_NAME, Layout, MAX_SERVERS, Role};
use super::memory::CallMapping;
use crate::peers::{Peer, PeerError, open_file};
use crate::reason::{Obstacle, Reason, Side};

/// The reason why a server cannot take a client's requests from shared memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The client's memory cannot be opened.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// Other servers use all of the client's channels.
    #[error(
        "the client already calls {MAX_SERVERS} servers through shared memory; run fewer servers \
         with one name"
    )]
    AllTaken,
    /// The system refuses to give memory.
    #[error(
        "a client's memory for calls cannot be used ({step}: {errno}); allow this process more memory"
    )]
    NoMemory {
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        errno: Errno,
    },
}

impl ChannelError {
    /// The reason that is shown for the match.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Peer(error) => error.reason(Side::Publisher),
            Self::AllTaken => Reason::TooManySubscriptions { limit: MAX_SERVERS },
            Self::NoMemory { .. } => {
                Reason::SharedMemoryUnavailable { by: Side::Subscription, why: Obstacle::NoMemory }
            }
        }
    }
}

/// A channel to one client.
#[derive(Debug)]
pub struct ServerChannel {
    channel: Channel,
    peer: Arc<Peer>,
}

impl ServerChannel {
    /// Claims a channel in the memory that a client of the process `peer` has announced as
    /// `endpoint`. From then on, requests may arrive, and the server must check for requests once
    /// without having been rung.
    ///
    /// # Errors
    /// See [`ChannelError`]. After an error, no channel is claimed.
    pub fn open(peer: Arc<Peer>, endpoint: u64, server: [u8; 16]) -> Result<Self, ChannelError> {
        let pid = peer.pid();
        let fd = endpoint.checked_sub(1).and_then(|fd| u32::try_from(fd).ok());
        let fd = fd.unwrap_or(u32::MAX);
        let file = open_file(pid, fd, FILE_NAME, FILE_BYTES)?;
        let failed = |step| move |errno| ChannelError::NoMemory { step, errno };
        let mapping = CallMapping::new(file.as_fd()).map_err(failed("mmap"))?;
        // The process may have ended, and its id may already belong to another process.
        if !peer.is_alive() {
            return Err(PeerError::NoSuchProcess { pid }.into());
        }
        mapping.provide(0, 1).map_err(failed("madvise"))?;
        let claims = &mapping.layout().claims;
        let index = claims.claim(server, std::process::id()).ok_or(ChannelError::AllTaken)?;
        let claim = &claims.of_channels[index];
        let (begin, size) = Layout::control_extent(index);
        if let Err(errno) = mapping.provide(begin, size) {
            claim.set(ClaimState::Left);
            return Err(failed("madvise")(errno));
        }
        claim.set(ClaimState::Open);
        Ok(Self { channel: Channel::new(Arc::new(mapping), index, Role::Server), peer })
    }

    /// The process of the client.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Sets the place at which the client rings when it has sent requests. After that, the caller
    /// must check for requests.
    pub fn set_place(&self, place: Option<Place>) {
        self.channel.set_place(place);
    }

    /// The client's endpoint that receives responses through the engine. The client has written it,
    /// so it may be wrong.
    pub fn replies(&self) -> [u8; 16] {
        self.channel.layout().claims.replies()
    }

    /// Whether the client has written impossible values. If it has, the channel does not return any
    /// further requests.
    pub fn is_scribbled(&self) -> bool {
        self.channel.is_scribbled()
    }

    /// Sets whether the client rings the server after it has taken a response. After that, the
    /// caller must try to send.
    pub fn await_room(&self, is_awaited: bool) {
        self.channel.await_room(is_awaited);
    }

    /// Whether there may be a request to take. This costs two atomic loads.
    pub fn may_have_request(&self) -> bool {
        self.channel.may_have_message()
    }

    /// Takes the oldest request. `take` gets the head of the request and a function that copies the
    /// request into memory of the request's size. Never blocks.
    ///
    /// # Errors
    /// The client has written impossible values.
    pub fn take<T>(
        &self,
        take: impl FnOnce(MessageHead, &dyn Fn(&mut [u8])) -> T,
    ) -> Result<Option<T>, Scribbled> {
        self.channel.take(take)
    }

    /// Sends the response to the request with this number, and wakes the client. `fill` writes the
    /// response.
    ///
    /// Never blocks. Makes one system call if a thread of the client sleeps, and no system call
    /// otherwise.
    ///
    /// # Errors
    /// See [`SendToChannelError`]. After an error, nothing has been sent.
    pub fn send(
        &self,
        number: i64,
        stamp: i64,
        size_bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<(), SendToChannelError> {
        let has_left = self.channel.layout().claims.client_left.load(Ordering::Acquire) != 0;
        if has_left || !self.peer.is_alive() {
            return Err(SendToChannelError::Gone);
        }
        self.channel.send(number, stamp, size_bytes, fill)?;
        self.peer.ring_at(self.channel.place_of_other());
        Ok(())
    }
}

impl Drop for ServerChannel {
    fn drop(&mut self) {
        self.channel.layout().claims.of_channels[self.channel.index()].set(ClaimState::Left);
        // This ring ends those calls of the client that wait for a response.
        self.peer.ring_at(self.channel.place_of_other());
    }
}
