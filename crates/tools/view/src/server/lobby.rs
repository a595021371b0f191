//! The TCP connections that are not WebSockets, or not yet WebSockets: browsers that fetch the
//! page.
//!
//! The number of slots is limited. When all are in use, a new connection takes the slot of the
//! oldest connection of the address with the most connections, so an address with many idle
//! connections cannot keep others out.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_sync::Mutex;
use tokio::sync::Notify;

use crate::server::peer::Peer;

/// The number of slots: the limit on simultaneous connections.
const PLACES: usize = 64;

/// The connections that have a slot.
#[derive(Default)]
pub(crate) struct Lobby {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// The connections by number, the oldest first.
    guests: BTreeMap<u64, Guest>,
}

struct Guest {
    peer: Peer,
    leaves: Arc<Notify>,
}

/// A connection's slot, which becomes free when this value is dropped.
pub(crate) struct Place {
    lobby: Arc<Lobby>,
    number: u64,
    leaves: Arc<Notify>,
}

impl Lobby {
    /// Returns a slot for a new connection; if no slot is free, another connection loses its slot.
    pub(crate) fn enter(self: &Arc<Self>, peer: Peer) -> Place {
        let mut state = self.state.lock();
        if state.guests.len() >= PLACES {
            state.make_room();
        }
        let (number, leaves) = (state.next, Arc::new(Notify::new()));
        state.next += 1;
        state.guests.insert(number, Guest { peer, leaves: leaves.clone() });
        drop(state);
        Place { lobby: self.clone(), number, leaves }
    }
}

impl State {
    fn make_room(&mut self) {
        let mut of_peers: BTreeMap<Peer, (usize, u64)> = BTreeMap::new();
        for (number, guest) in &self.guests {
            of_peers.entry(guest.peer).or_insert((0, *number)).0 += 1;
        }
        // Among addresses with the same number of connections, this selects the one with the oldest
        // connection.
        let most = of_peers.into_values().max_by_key(|(count, oldest)| (*count, u64::MAX - oldest));
        if let Some((_, oldest)) = most
            && let Some(guest) = self.guests.remove(&oldest)
        {
            guest.leaves.notify_one();
        }
    }
}

impl Place {
    /// Waits until another connection has taken the slot.
    pub(crate) async fn is_taken(&self) {
        self.leaves.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lobby.state.lock().guests.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer::of(text.parse().unwrap())
    }

    /// Returns the indexes of the slots that other connections have taken.
    fn taken(places: &[Place]) -> Vec<usize> {
        let has_place = |place: &Place| place.lobby.state.lock().guests.contains_key(&place.number);
        (0..places.len()).filter(|at| !has_place(&places[*at])).collect()
    }

    #[test]
    fn the_address_with_most_connections_makes_room() {
        let lobby = Arc::new(Lobby::default());
        let modest = lobby.enter(peer("192.0.2.1"));
        let many: Vec<_> = (1..PLACES).map(|_| lobby.enter(peer("192.0.2.2"))).collect();
        assert_eq!(taken(&many), [] as [usize; 0]);
        let later = lobby.enter(peer("192.0.2.3"));
        assert_eq!(taken(&many), [0], "the oldest of the address with most connections");
        let more: Vec<_> = (0..PLACES).map(|_| lobby.enter(peer("192.0.2.2"))).collect();
        assert_eq!(taken(&many).len(), many.len());
        assert_eq!(taken(&[modest, later]), [] as [usize; 0]);
        assert_eq!(taken(&more), [0, 1], "and then of its own");
        drop(more);
        assert_eq!(lobby.state.lock().guests.len(), 0);
    }
}
