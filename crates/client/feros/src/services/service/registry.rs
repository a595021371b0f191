//! The servers of this process, by identity. A client that is about to wait inside a callback
//! checks here whether its server can run during the wait.

use std::collections::HashMap;
use std::sync::LazyLock;

use feros_engine::Gid;
use feros_executor::Obstacle;
use feros_sync::Mutex;

use crate::callbacks::node_members::{Member, WeakMember};

static SERVERS: LazyLock<Mutex<HashMap<Gid, WeakMember>>> = LazyLock::new(Mutex::default);

/// The registration of a server, which ends when this value is dropped.
pub(crate) struct Entry(Gid);

pub(crate) fn enter(server: Gid, member: &Member) -> Entry {
    SERVERS.lock().insert(server, member.downgrade());
    Entry(server)
}

impl Drop for Entry {
    fn drop(&mut self) {
        let member = SERVERS.lock().remove(&self.0);
        drop(member); // outside the lock
    }
}

/// Returns the resource that keeps all of these servers from running until the present callback of
/// this thread has ended. `None` if one of the servers may run, for example because it belongs to
/// another process.
pub(crate) fn obstacle(servers: &[Gid]) -> Option<Obstacle> {
    let known = SERVERS.lock();
    let members: Option<Vec<WeakMember>> =
        servers.iter().map(|server| known.get(server).cloned()).collect();
    drop(known); // unlocked, because the check below may drop the last reference to a member
    let members = members?;
    let mut obstacles = members.iter().map(WeakMember::obstacle);
    let first = obstacles.next()??;
    obstacles.all(|obstacle| obstacle.is_some()).then_some(first)
}
