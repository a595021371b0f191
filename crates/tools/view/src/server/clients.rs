//! The connected clients, and the data that each has asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros_sync::{AtomicBool, Mutex, Ordering};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::protocol::ServerOp;
use crate::server::outbox::{Counts, Outbox};
use crate::server::peer::Peer;

/// The limit on simultaneous service calls of one client: each call needs a service client, with
/// endpoints and memory, which are scarce.
const MOST_CALLS: usize = 16;

/// The severity of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Warning = 1,
    Error = 2,
}

/// A connected client.
pub(crate) struct Client {
    pub(crate) id: u64,
    /// Whether the client is the page, or speaks the page's protocol; it then sees hidden topics,
    /// too.
    pub(crate) is_page: bool,
    /// Whether the client has received the initial lists, so that changes can follow.
    pub(crate) is_greeted: AtomicBool,
    pub(crate) outbox: Outbox,
    pub(crate) wants: Mutex<Wants>,
    /// Limits the client's simultaneous service calls; see [`in_turn`].
    pub(crate) call_turns: Semaphore,
    /// Lets one file of the client be read at a time.
    pub(crate) file_turns: Semaphore,
    peer: Peer,
}

/// Waits for a permit of a semaphore that limits simultaneous work.
pub(crate) async fn in_turn(turns: &Semaphore) -> Option<SemaphorePermit<'_>> {
    // The semaphore is never closed.
    turns.acquire().await.ok()
}

/// The limits on the number of clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) all: usize,
    pub(crate) of_peer: usize,
}

impl Limits {
    /// Returns the limits for `all` clients. On a server that other machines can reach, one machine
    /// gets at most three quarters of them, so that others can still connect.
    pub(crate) fn new(all: usize, is_local: bool) -> Self {
        Self { all, of_peer: if is_local { all } else { all - all / 4 } }
    }
}

/// The reason why another client cannot connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error(
        "there are already {0} connections: close other pages, or allow more (--max-connections)"
    )]
    All(usize),
    #[error(
        "there are already {0} connections from this address, and the rest is reserved for other \
         addresses: close other pages, or allow more (--max-connections)"
    )]
    OfPeer(usize),
}

/// The data, other than messages of topics, that a client has asked for.
#[derive(Debug, Default)]
pub(crate) struct Wants {
    pub(crate) connection_graph: bool,
    pub(crate) figures: bool,
    /// The topics to measure.
    pub(crate) measured: BTreeSet<String>,
    /// The parameters whose changes the client wants.
    pub(crate) parameters: BTreeSet<String>,
}

impl Client {
    pub(crate) fn tell(&self, op: &ServerOp<'_>) {
        self.outbox.tell(op.to_text());
    }

    pub(crate) fn status(&self, level: Level, message: &str) {
        self.tell(&ServerOp::Status { level: level as u8, message, id: None });
    }

    /// Shows a warning, in the place of the former one with this id.
    pub(crate) fn warn(&self, id: &str, message: &str) {
        let level = Level::Warning as u8;
        self.tell(&ServerOp::Status { level, message, id: Some(id) });
    }
}

/// All clients.
#[derive(Default)]
pub(crate) struct Clients {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connected: BTreeMap<u64, Arc<Client>>,
    next: u64,
    /// The sum of the message counts of clients that have left.
    former: Counts,
}

impl Clients {
    /// Adds a client.
    ///
    /// # Errors
    /// When a limit is reached.
    pub(crate) fn join(
        &self,
        is_page: bool,
        peer: Peer,
        limits: Limits,
    ) -> Result<Arc<Client>, Full> {
        let mut state = self.state.lock();
        if state.connected.len() >= limits.all {
            return Err(Full::All(limits.all));
        }
        let of_peer = state.connected.values().filter(|client| client.peer == peer).count();
        if of_peer >= limits.of_peer {
            return Err(Full::OfPeer(limits.of_peer));
        }
        let id = state.next;
        state.next += 1;
        let client = Arc::new(Client {
            id,
            is_page,
            is_greeted: AtomicBool::new(false),
            outbox: Outbox::default(),
            wants: Mutex::default(),
            call_turns: Semaphore::new(MOST_CALLS),
            file_turns: Semaphore::new(1),
            peer,
        });
        state.connected.insert(id, client.clone());
        Ok(client)
    }

    pub(crate) fn leave(&self, client: &Client) {
        let mut state = self.state.lock();
        if state.connected.remove(&client.id).is_some() {
            state.former = sum(state.former, client.outbox.counts());
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        self.state.lock().connected.values().cloned().collect()
    }

    /// Returns all clients that have received the initial lists.
    pub(crate) fn greeted(&self) -> Vec<Arc<Client>> {
        let mut clients = self.all();
        clients.retain(|client| client.is_greeted.load(Ordering::Relaxed));
        clients
    }

    pub(crate) fn count(&self) -> usize {
        self.state.lock().connected.len()
    }

    /// Returns the sum of the message counts of all clients since the start of the server.
    pub(crate) fn counts(&self) -> Counts {
        let former = self.state.lock().former;
        self.all().iter().map(|client| client.outbox.counts()).fold(former, sum)
    }
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        sent_bytes: a.sent_bytes + b.sent_bytes,
        dropped: a.dropped + b.dropped,
        left_out: a.left_out + b.left_out,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn one_machine_leaves_room_for_others() {
        let peer = |text: &str| Peer::of(text.parse().unwrap());
        let (clients, limits) = (Clients::default(), Limits::new(8, false));
        let join = |from: &str| clients.join(true, peer(from), limits).err();
        for _ in 0..6 {
            assert_eq!(join("192.0.2.1"), None);
        }
        assert_eq!(join("192.0.2.1"), Some(Full::OfPeer(6)));
        assert_eq!((join("192.0.2.2"), join("192.0.2.2")), (None, None));
        assert_eq!(join("192.0.2.3"), Some(Full::All(8)));
        clients.leave(&clients.all()[0].clone());
        assert_eq!(join("192.0.2.1"), None);
        // On a server that only this machine can reach, nothing is reserved for other machines.
        let alone = Clients::default();
        let join = |limits| alone.join(true, peer("127.0.0.1"), limits).err();
        for _ in 0..8 {
            assert_eq!(join(Limits::new(8, true)), None);
        }
        assert_eq!(join(Limits::new(8, true)), Some(Full::All(8)));
        assert_eq!(Limits::new(1, false).of_peer, 1);
    }
}
