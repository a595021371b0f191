//! The clients that are connected, and what each wants to be told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros_sync::{AtomicBool, Mutex, Ordering};

use crate::protocol::ServerOp;
use crate::server::outbox::{Counts, Outbox};

/// How grave a status is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Warning = 1,
    Error = 2,
}

/// A client that is connected.
pub(crate) struct Client {
    pub(crate) id: u64,
    /// Whether it is the page, or speaks as the page does: it sees hidden topics as well.
    pub(crate) is_page: bool,
    /// Whether it was told what there is, so that changes can follow.
    pub(crate) is_greeted: AtomicBool,
    pub(crate) outbox: Outbox,
    pub(crate) wants: Mutex<Wants>,
}

/// What a client wants to be told besides topics.
#[derive(Debug, Default)]
pub(crate) struct Wants {
    pub(crate) connection_graph: bool,
    pub(crate) figures: bool,
    /// Topics whose messages are to be measured.
    pub(crate) measured: BTreeSet<String>,
    /// Parameters whose changes are to be told.
    pub(crate) parameters: BTreeSet<String>,
}

impl Client {
    pub(crate) fn tell(&self, op: &ServerOp<'_>) {
        self.outbox.tell(op.to_text());
    }

    pub(crate) fn status(&self, level: Level, message: &str) {
        self.tell(&ServerOp::Status { level: level as u8, message, id: None });
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
    /// What became of the messages of clients that have left.
    former: Counts,
}

impl Clients {
    /// A new client; `None`: there are as many as may be.
    pub(crate) fn join(&self, is_page: bool, limit: usize) -> Option<Arc<Client>> {
        let mut state = self.state.lock();
        if state.connected.len() >= limit {
            return None;
        }
        let id = state.next;
        state.next += 1;
        let client = Arc::new(Client {
            id,
            is_page,
            is_greeted: AtomicBool::new(false),
            outbox: Outbox::new(),
            wants: Mutex::default(),
        });
        state.connected.insert(id, client.clone());
        Some(client)
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

    /// All clients that know what there was.
    pub(crate) fn greeted(&self) -> Vec<Arc<Client>> {
        let mut clients = self.all();
        clients.retain(|client| client.is_greeted.load(Ordering::Relaxed));
        clients
    }

    pub(crate) fn count(&self) -> usize {
        self.state.lock().connected.len()
    }

    /// What became of the messages of all clients since the server began.
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
