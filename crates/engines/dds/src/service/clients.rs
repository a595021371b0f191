//! The clients of one service, stored by their writers of requests. Clients that use the
//! payload-header mapping also have handles.

use std::collections::HashMap;

use feros_engine::Gid;
use feros_engine::dds::user_data::PairId;

/// If there are more clients than this, clients that have left are forgotten.
const REMEMBERED: usize = 256;

/// A client of the payload-header mapping. The id of a request consists of the client's number and
/// eight more bytes. These bytes contain the client's handle, by which the server finds the client
/// again when it responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeaderClient {
    pub(super) handle: u64,
    pub(super) requests: Gid,
    pub(super) id: PairId,
}

#[derive(Debug, Default)]
pub(super) struct Clients {
    last_handle: u64,
    /// The clients, stored by their writers of requests. The value is `None` for a client that uses
    /// the other mapping.
    by_requests: HashMap<Gid, Option<HeaderClient>>,
}

impl Clients {
    /// Returns the client with this writer of requests. Returns `Some(None)` for a client that uses
    /// the other mapping, and `None` for an unknown client.
    pub(super) fn known(&self, requests: Gid) -> Option<Option<HeaderClient>> {
        self.by_requests.get(&requests).copied()
    }

    /// Remembers a client under the id that it announces. `matched` returns the writers of requests
    /// that match now.
    pub(super) fn remember(
        &mut self,
        requests: Gid,
        id: Option<PairId>,
        matched: impl FnOnce() -> Vec<Gid>,
    ) -> Option<HeaderClient> {
        if let Some(known) = self.known(requests) {
            return known;
        }
        if self.by_requests.len() >= REMEMBERED {
            let matched = matched();
            self.by_requests.retain(|gid, _| matched.contains(gid));
        }
        self.last_handle += 1;
        let client = id.map(|id| HeaderClient { handle: self.last_handle, requests, id });
        self.by_requests.insert(requests, client);
        client
    }

    /// Returns the client with this handle.
    pub(super) fn of_handle(&self, handle: u64) -> Option<HeaderClient> {
        self.by_requests.values().flatten().find(|client| client.handle == handle).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(number: u16) -> Gid {
        let mut gid = Gid([1; 16]);
        gid.0[..2].copy_from_slice(&number.to_le_bytes());
        gid
    }

    #[test]
    fn a_client_keeps_its_handle() {
        let mut clients = Clients::default();
        assert_eq!(clients.known(gid(1)), None);
        let first = clients.remember(gid(1), Some([7; 16]), Vec::new);
        assert_eq!(clients.remember(gid(1), None, Vec::new), first);
        assert_eq!(clients.remember(gid(2), None, Vec::new), None);
        assert_eq!(clients.known(gid(2)), Some(None));
        let second = clients.remember(gid(3), Some([8; 16]), Vec::new);
        assert_ne!(first.map(|client| client.handle), second.map(|client| client.handle));
        let first = first.map(|client| client.handle).unwrap_or_default();
        assert_eq!(clients.of_handle(first).map(|client| client.requests), Some(gid(1)));
        assert_eq!(clients.of_handle(0), None);
    }

    #[test]
    fn clients_that_left_are_forgotten_when_there_are_many() {
        let mut clients = Clients::default();
        for number in 0..REMEMBERED as u16 {
            clients.remember(gid(number), Some([number as u8; 16]), Vec::new);
        }
        clients.remember(gid(1000), Some([9; 16]), || vec![gid(5)]);
        assert_eq!(clients.by_requests.len(), 2);
        assert!(clients.known(gid(5)).is_some() && clients.known(gid(6)).is_none());
    }
}
