//! Nodes of one process that exchange messages without TCPROS.

use std::collections::BTreeSet;
use std::sync::Arc;

use feros_sync::Mutex;

use crate::address::Address;

/// The addresses of nodes that do not receive each other's messages over TCPROS. All clones share
/// the same set.
#[derive(Clone, Debug, Default)]
pub struct Siblings(Arc<Mutex<BTreeSet<Address>>>);

impl Siblings {
    pub(crate) fn insert(&self, address: &Address) {
        self.0.lock().insert(address.clone());
    }

    pub(crate) fn remove(&self, address: &Address) {
        self.0.lock().remove(address);
    }

    pub(crate) fn contains(&self, address: &Address) -> bool {
        self.0.lock().contains(address)
    }
}
