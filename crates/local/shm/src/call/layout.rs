//! The layout of the memory that a client provides for its calls.

use feros_sync::{AtomicU32, AtomicU64, Ordering};

/// The limit on servers that one client calls through shared memory at the same time.
pub const MAX_SERVERS: usize = if cfg!(loom) { 1 } else { 4 };
/// The limit on the number of messages in one direction of a channel that have not been taken yet.
pub const MAX_WAITING: usize = if cfg!(loom) { 2 } else { 64 };
/// The limit on the number of bytes of these messages. It only reserves address space. The memory
/// that is really used is the largest number of bytes that have ever waited at the same time.
pub const ARENA_BYTES: usize = if cfg!(loom) { 128 } else { 16 * 1024 * 1024 };

/// The name of the file, as shown by the system.
pub(super) const FILE_NAME: &str = "feros-calls";
/// The size of the file.
pub(super) const FILE_BYTES: usize = size_of::<Layout>() + 2 * MAX_SERVERS * ARENA_BYTES;

/// The control words, which precede the arenas in the file. All words are zero before the first
/// use, and any content is valid.
#[cfg_attr(loom, derive(Default))]
#[repr(C)]
pub(super) struct Layout {
    pub(super) claims: Claims,
    channels: [Control; MAX_SERVERS],
}

/// The assignment of channels to servers. Its alignment, and that of [`Side`], is the smallest size
/// of a page, whatever the size of a page is: the format has only one layout.
#[cfg_attr(not(loom), repr(C, align(4096)))]
#[cfg_attr(loom, derive(Default))] // loom's stacks are too small for the alignment
pub(super) struct Claims {
    /// The client sets this when it ends.
    pub(super) client_left: AtomicU32,
    /// The client's endpoint that receives responses through the engine.
    replies: [AtomicU64; 2],
    pub(super) of_channels: [Claim; MAX_SERVERS],
}

/// The server of one channel.
#[cfg_attr(loom, derive(Default))]
#[repr(C, align(64))]
pub(super) struct Claim {
    /// The process id of the server in the upper half, and the state of the claim in the lower
    /// half. Both are in one word, so that the claim always names the server's process, even if the
    /// server is killed.
    state: AtomicU64,
    server: [AtomicU64; 2],
}

/// The state of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimState {
    /// The channel is unused. Only the client sets this state.
    Free,
    /// A server has claimed the channel and is preparing it.
    Claimed,
    /// The server takes requests.
    Open,
    /// The server has left and does not write to the channel any longer.
    Left,
}

impl ClaimState {
    const fn word(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Claimed => 1,
            Self::Open => 2,
            Self::Left => 3,
        }
    }
}

#[cfg_attr(loom, derive(Default))]
#[repr(C)]
struct Control {
    client: Side,
    server: Side,
}

/// The words that one side of a channel writes.
#[cfg_attr(not(loom), repr(C, align(4096)))]
#[cfg_attr(loom, derive(Default))] // loom's stacks are too small for the alignment
pub(super) struct Side {
    /// The place (doorbell and slot) at which the other side rings this side.
    pub(super) place: AtomicU64,
    /// The number of messages of the other side that this side has taken.
    pub(super) taken: AtomicU64,
    /// The number of messages that this side has sent.
    pub(super) sent: AtomicU64,
    /// Whether this side has more messages to send, and wants to be rung when the other side has
    /// taken one of its messages.
    pub(super) awaits_room: AtomicU32,
    pub(super) slots: [Slot; MAX_WAITING],
}

/// The position of one message in the arena, and the head of the message.
#[cfg_attr(loom, derive(Default))]
#[repr(C)]
pub(super) struct Slot {
    pub(super) number: AtomicU64,
    pub(super) stamp: AtomicU64,
    pub(super) offset_bytes: AtomicU64,
    pub(super) size_bytes: AtomicU64,
}

/// One of the two sides of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

impl Role {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

impl Layout {
    /// Returns the words of one side. `channel` must be below [`MAX_SERVERS`].
    pub(super) fn side(&self, channel: usize, role: Role) -> &Side {
        let control = &self.channels[channel];
        match role {
            Role::Client => &control.client,
            Role::Server => &control.server,
        }
    }

    /// Frees a channel for the next claim. Only the client may call this, and only when neither
    /// side uses the channel any longer.
    pub(super) fn free(&self, channel: usize) {
        [Role::Client, Role::Server].iter().for_each(|role| self.side(channel, *role).reset());
        self.claims.of_channels[channel].free();
    }

    /// The offset and size of a channel's control words in the file.
    pub(super) fn control_extent(channel: usize) -> (usize, usize) {
        let begin = std::mem::offset_of!(Self, channels) + channel * size_of::<Control>();
        (begin, size_of::<Control>())
    }

    /// The offset in the file of the arena into which this side of the channel writes messages.
    pub(super) fn arena_offset(channel: usize, role: Role) -> usize {
        let arena = channel * 2 + usize::from(role == Role::Server);
        size_of::<Self>() + arena * ARENA_BYTES
    }
}

impl Claims {
    pub(super) fn set_replies(&self, gid: [u8; 16]) {
        store_gid(&self.replies, gid);
    }

    pub(super) fn replies(&self) -> [u8; 16] {
        load_gid(&self.replies)
    }

    /// Claims a channel for a server in the process with this id.
    pub(super) fn claim(&self, server: [u8; 16], pid: u32) -> Option<usize> {
        self.of_channels.iter().position(|claim| claim.claim(server, pid))
    }

    /// Returns the channel that the server has opened.
    pub(super) fn opened_by(&self, server: [u8; 16]) -> Option<usize> {
        self.of_channels.iter().position(|claim| claim.is_opened_by(server))
    }
}

/// The bits of [`Claim::state`] that contain the state.
const STATE: u64 = 0xffff_ffff;

impl Claim {
    pub(super) fn is(&self, state: ClaimState) -> bool {
        self.state.load(Ordering::Acquire) & STATE == state.word()
    }

    /// Sets the state. Only the server that has claimed the channel may call this.
    pub(super) fn set(&self, state: ClaimState) {
        let process = self.state.load(Ordering::Relaxed) & !STATE;
        self.state.store(process | state.word(), Ordering::Release);
    }

    pub(super) fn is_opened_by(&self, server: [u8; 16]) -> bool {
        self.is(ClaimState::Open) && load_gid(&self.server) == server
    }

    /// Claims the channel for a server if it is free. Returns whether it was free.
    fn claim(&self, server: [u8; 16], pid: u32) -> bool {
        let claimed = (u64::from(pid) << 32) | ClaimState::Claimed.word();
        let (free, order) = (ClaimState::Free.word(), Ordering::Acquire);
        if self.state.compare_exchange(free, claimed, order, Ordering::Relaxed).is_err() {
            return false;
        }
        store_gid(&self.server, server);
        true
    }

    fn free(&self) {
        store_gid(&self.server, [0; 16]);
        self.state.store(ClaimState::Free.word(), Ordering::Release);
    }

    pub(super) fn server(&self) -> [u8; 16] {
        load_gid(&self.server)
    }

    /// The id of the server's process.
    pub(super) fn pid(&self) -> u32 {
        (self.state.load(Ordering::Relaxed) >> 32) as u32
    }
}

impl Side {
    /// Restores the state that the words have before the first use.
    fn reset(&self) {
        for word in [&self.place, &self.taken, &self.sent] {
            word.store(0, Ordering::Relaxed);
        }
        self.awaits_room.store(0, Ordering::Relaxed);
    }

    /// The slot of the message with this number, counted from 0.
    pub(super) fn slot(&self, count: u64) -> &Slot {
        &self.slots[(count % MAX_WAITING as u64) as usize]
    }
}

fn store_gid(words: &[AtomicU64; 2], gid: [u8; 16]) {
    let (low, high) = gid.split_at(8);
    for (word, half) in words.iter().zip([low, high]) {
        let half = half.try_into().expect("half of 16 bytes");
        word.store(u64::from_le_bytes(half), Ordering::Relaxed);
    }
}

fn load_gid(words: &[AtomicU64; 2]) -> [u8; 16] {
    let mut gid = [0; 16];
    for (word, half) in words.iter().zip(gid.chunks_exact_mut(8)) {
        half.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
    gid
}
