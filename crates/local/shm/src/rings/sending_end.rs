//! A publisher's end of one connection. Messages leave through it, and their memory is returned
//! through it.

use std::sync::Arc;

use feros_engine::FailureCounter;

use super::chunks::{Chunks, Held};
use super::connection::{Connected, Rings};
use super::ring::Nonsense;

/// The positions of a pool's chunks in its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stride {
    /// The offset of the first chunk from the beginning of the file.
    pub(crate) first: usize,
    /// The distance from one chunk to the next.
    pub(crate) bytes: usize,
}

impl Stride {
    /// The offset of this chunk from the beginning of the file.
    pub(crate) fn place_of(self, chunk: usize) -> usize {
        self.first + chunk * self.bytes
    }

    /// The chunk at this offset, if a chunk begins there.
    fn chunk_at(self, place: u64) -> Option<usize> {
        let distance = usize::try_from(place).ok()?.checked_sub(self.first)?;
        distance.is_multiple_of(self.bytes).then(|| distance / self.bytes)
    }
}

#[derive(Debug)]
pub(crate) struct SendingEnd {
    rings: Rings,
    written: u64,
    reclaimed: u64,
    held: Held,
    /// Whether the subscription has returned impossible values. If so, this end does not send any
    /// further messages. The first impossible value ends the connection, because the source of that
    /// value might produce an endless number of them.
    is_broken: bool,
}

impl SendingEnd {
    pub(crate) fn new(connected: Arc<Connected>) -> Self {
        let rings = Rings::new(connected);
        Self { rings, written: 0, reclaimed: 0, held: Held::default(), is_broken: false }
    }

    /// Whether iceoryx2 knows that the subscription has left.
    pub(crate) fn has_ended(&self) -> bool {
        self.rings.have_ended()
    }

    /// Whether the subscription has recorded that it left. iceoryx2 notices this only when it
    /// updates its connections.
    pub(crate) fn is_left(&self) -> bool {
        self.rings.get().is_left()
    }

    /// Tells the subscription that later messages are sent from another pool.
    pub(crate) fn replace(&self) {
        self.rings.get().replace();
    }

    /// Takes back the chunks that the subscription has returned.
    pub(crate) fn reclaim(&mut self, stride: Stride, chunks: &mut Chunks) {
        while !self.is_broken {
            match self.rings.get().reclaim(&mut self.reclaimed) {
                Ok(None) => return,
                Ok(Some(place)) => self.release(place, stride, chunks),
                Err(Nonsense) => self.break_off(),
            }
        }
    }

    /// Sends a chunk. If the queue is full, the chunk replaces the oldest chunk. Returns whether
    /// the chunk was sent.
    pub(crate) fn send(&mut self, chunk: usize, stride: Stride, chunks: &mut Chunks) -> bool {
        self.reclaim(stride, chunks);
        if self.is_broken {
            return false;
        }
        let place = stride.place_of(chunk) as u64;
        match self.rings.get().push(&mut self.written, place) {
            Ok(pushed_out) => {
                self.held.add(chunk);
                if let Some(oldest) = pushed_out {
                    self.release(oldest, stride, chunks);
                }
                true
            }
            Err(Nonsense) => {
                self.break_off();
                false
            }
        }
    }

    fn release(&mut self, place: u64, stride: Stride, chunks: &mut Chunks) {
        match stride.chunk_at(place) {
            Some(chunk) if self.held.remove(chunk) => chunks.release(chunk),
            _ => self.break_off(),
        }
    }

    /// Ends the connection to a subscription that has left, and takes back all its chunks.
    pub(crate) fn end(mut self, chunks: &mut Chunks) {
        self.held.drain().for_each(|chunk| chunks.release(chunk));
    }

    #[cold]
    fn break_off(&mut self) {
        static BROKEN: FailureCounter = FailureCounter::new();
        self.is_broken = true;
        if let Some(so_far) = BROKEN.so_far() {
            tracing::error!(
                target: "feros::shm",
                "a subscription gets no more messages through shared memory, because the values \
                 that it returns are impossible; find the process that writes into the shared \
                 memory of this user, and restart both sides{so_far}"
            );
        }
    }
}
