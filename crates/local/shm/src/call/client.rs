//! The client's side of calls through shared memory: the memory that the client provides, and the
//! channels in it.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use feros_doorbell::Place;
use feros_engine::{FailureCounter, Notify};
use feros_sync::{Mutex, Ordering};
use rustix::io::Errno;

use super::channel::{Channel, MessageHead, Scribbled, SendToChannelError};
use super::layout::{ClaimState, FILE_BYTES, FILE_NAME, MAX_SERVERS, Role};
use super::memory::CallMapping;
use crate::peers::{EndWatch, Peer, ProcessHandle};
use crate::segment::{Unavailable, create_file};

/// The memory of one client's calls. The file has a size, but takes no memory until a server claims
/// a channel in it.
pub struct CallMemory {
    file: OwnedFd,
    client: OnceLock<ClientEnd>,
    mapping: OnceLock<Option<Arc<CallMapping>>>,
    channels: Mutex<Channels>,
}

/// The client's data that a channel needs.
struct ClientEnd {
    /// The endpoint that receives responses through the engine.
    replies: [u8; 16],
    on_server_end: Notify,
}

#[derive(Default)]
struct Channels {
    in_use: [Option<Arc<ClientChannel>>; MAX_SERVERS],
    place: Option<Place>,
}

/// A channel to one server.
#[derive(Debug)]
pub struct ClientChannel {
    channel: Channel,
    server: [u8; 16],
    peer: Arc<Peer>,
    _watch: Option<EndWatch>,
}

impl CallMemory {
    /// Makes the file that contains the memory.
    ///
    /// # Errors
    /// The system refuses to make the file.
    pub fn create() -> Result<Self, Unavailable> {
        let file = create_file(FILE_NAME, FILE_BYTES as u64)?;
        let (client, mapping) = (OnceLock::new(), OnceLock::new());
        Ok(Self { file, client, mapping, channels: Mutex::default() })
    }

    /// Sets the client's endpoint for responses that do not arrive through shared memory, and the
    /// function to call (on another thread) when the process of a server with a channel has ended.
    /// Call this before the first call of [`channel`](Self::channel).
    pub fn begin(&self, replies: [u8; 16], on_server_end: Notify) {
        self.client.get_or_init(|| ClientEnd { replies, on_server_end });
    }

    /// The number by which servers find the memory. It is announced, and it is never zero.
    pub fn endpoint(&self) -> u64 {
        u64::from(self.file.as_raw_fd().unsigned_abs()) + 1
    }

    /// The mapping of the memory. The first call makes it. Returns `None` if the system refuses to
    /// map the memory.
    fn mapping(&self) -> Option<&Arc<CallMapping>> {
        let map = || {
            let mapping = CallMapping::new(self.file.as_fd())
                .and_then(|mapping| mapping.provide(0, 1).map(|()| mapping))
                .map_err(|errno| {
                    // One counter for all clients, because a process may have hundreds.
                    static UNMAPPED: FailureCounter = FailureCounter::new();
                    if let Some(so_far) = UNMAPPED.so_far() {
                        tracing::warn!(
                            target: "feros::shm",
                            "a client's calls take the network transport: its shared memory \
                             cannot be mapped ({errno}); allow the process more memory{so_far}"
                        );
                    }
                })
                .ok()?;
            let replies = self.client.get().map(|client| client.replies);
            mapping.layout().claims.set_replies(replies.unwrap_or_default());
            Some(Arc::new(mapping))
        };
        self.mapping.get_or_init(map).as_ref()
    }

    /// Returns the channel that this server has opened. `peer` is the process of the server.
    pub fn channel(&self, server: [u8; 16], peer: &Arc<Peer>) -> Option<Arc<ClientChannel>> {
        let mapping = self.mapping()?;
        // Channels are freed under this lock. Without it, the channel could be freed and claimed by
        // another server after it was found, and no call would ever take the other's channel.
        let mut channels = self.channels.lock();
        let index = mapping.layout().claims.opened_by(server)?;
        let place = channels.place;
        let known = channels.in_use[index].as_ref().filter(|known| known.server == server);
        if let Some(known) = known {
            return known.is_open().then(|| Arc::clone(known));
        }
        if channels.in_use[index].is_some() {
            return None; // the channel of a former server is still in use
        }
        let channel = Channel::new(Arc::clone(mapping), index, Role::Client);
        channel.set_place(place);
        let end = self.client.get().map(|client| client.on_server_end.clone());
        let (peer, _watch) = (Arc::clone(peer), end.map(|end| EndWatch::new(peer, end)));
        let channel = Arc::new(ClientChannel { channel, server, peer, _watch });
        channels.in_use[index] = Some(Arc::clone(&channel));
        Some(channel)
    }

    /// Frees the channels of servers that have left or been killed, so that other servers can claim
    /// them. `is_known` returns whether the engine still knows a server. If it does, the last
    /// messages of the server may not have arrived yet.
    pub fn free_channels(&self, is_known: impl Fn([u8; 16]) -> bool) {
        let Some(Some(mapping)) = self.mapping.get() else { return };
        let layout = mapping.layout();
        let mut channels = self.channels.lock();
        for (index, claim) in layout.claims.of_channels.iter().enumerate() {
            let has_left = claim.is(ClaimState::Left);
            let is_free = claim.is(ClaimState::Free);
            if is_free || !has_left && (is_known(claim.server()) || is_running(claim.pid())) {
                continue;
            }
            // The channel is needed if another thread holds it and may be about to send, or if
            // messages that the server sent before it left have not been taken yet.
            let is_needed = |used: &Arc<ClientChannel>| {
                Arc::strong_count(used) > 1 || used.channel.may_have_message()
            };
            if channels.in_use[index].as_ref().is_some_and(is_needed) {
                continue;
            }
            channels.in_use[index] = None;
            layout.free(index);
        }
    }

    /// Whether a server with a channel has left.
    pub fn has_lost_server(&self) -> bool {
        let channels = self.channels.lock();
        channels.in_use.iter().flatten().any(|used| used.has_left())
    }

    /// Whether there may be a response to take.
    pub fn may_have_response(&self) -> bool {
        let channels = self.channels.lock();
        channels.in_use.iter().flatten().any(|used| used.channel.may_have_message())
    }

    /// Takes the oldest response of one of the servers. `take` gets the server, the head of the
    /// response, and a function that copies the response into memory of the response's size. Never
    /// blocks.
    ///
    /// # Errors
    /// A server has written impossible values. The next call returns responses of the other
    /// servers.
    pub fn take_response<T>(
        &self,
        take: impl FnOnce([u8; 16], MessageHead, &dyn Fn(&mut [u8])) -> T,
    ) -> Result<Option<T>, Scribbled> {
        let found = {
            let channels = self.channels.lock();
            let mut in_use = channels.in_use.iter().flatten();
            in_use.find(|used| used.channel.may_have_message()).cloned()
        };
        let Some(found) = found else { return Ok(None) };
        let taken = found.channel.take(|head, read| take(found.server, head, read))?;
        if let Some(place) = found.channel.place_of_who_awaits_room() {
            found.peer.ring_at(place);
        }
        Ok(taken)
    }

    /// Sets the place at which servers ring when they have sent responses. After that, the caller
    /// must check for responses.
    pub fn set_place(&self, place: Option<Place>) {
        let mut channels = self.channels.lock();
        channels.place = place;
        channels.in_use.iter().flatten().for_each(|known| known.channel.set_place(place));
    }
}

/// Whether a process with this id may be running.
fn is_running(pid: u32) -> bool {
    match ProcessHandle::open(pid) {
        Ok(process) => process.is_alive(),
        Err(errno) => errno != Errno::SRCH,
    }
}

impl Drop for CallMemory {
    fn drop(&mut self) {
        if let Some(Some(mapping)) = self.mapping.get() {
            mapping.layout().claims.client_left.store(1, Ordering::Release);
        }
    }
}

impl fmt::Debug for CallMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallMemory").field("file", &self.file).finish_non_exhaustive()
    }
}

impl ClientChannel {
    /// The process of the server.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Whether the server still takes requests, according to the server itself. For a killed
    /// server, see [`Peer::is_alive`].
    pub fn is_open(&self) -> bool {
        let claim = &self.channel.layout().claims.of_channels[self.channel.index()];
        claim.is_opened_by(self.server) && !self.channel.is_scribbled()
    }

    /// Whether the responses that can be taken now are the last responses, because the server has
    /// left, or because its process is known to have ended. Makes no system call.
    pub fn has_left(&self) -> bool {
        self.peer.has_ended() || !self.is_open()
    }

    /// Sends a request that `fill` writes, and wakes the server.
    ///
    /// Never blocks. Makes one system call if the server's executor sleeps, and no system call
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
        if !self.is_open() {
            return Err(SendToChannelError::Gone);
        }
        self.channel.send(number, stamp, size_bytes, fill)?;
        self.peer.ring_at(self.channel.place_of_other());
        Ok(())
    }
}
