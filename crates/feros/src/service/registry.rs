//! The servers of this process by identity: a client that waits inside a callback checks whether
//! its server can run meanwhile.

use std::collections::HashMap;
use std::sync::LazyLock;

use feros_executor::Obstacle;
use feros_rmw::Gid;
use feros_sync::Mutex;

use crate::node_members::{Member, WeakMember};

static SERVERS: LazyLock<Mutex<HashMap<Gid, WeakMember>>> = LazyLock::new(Mutex::default);

/// The registration of a server; dropping it removes the server.
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

/// The resource that keeps all these servers from running during the callback on this thread.
/// `None` if one of them may run, for example one of another process.
pub(crate) fn obstacle(servers: &[Gid]) -> Option<Obstacle> {
    let known = SERVERS.lock();
    let members: Option<Vec<WeakMember>> =
        servers.iter().map(|server| known.get(server).cloned()).collect();
    drop(known); // the check below may drop the last reference to a member
    let members = members?;
    let mut obstacles = members.iter().map(WeakMember::obstacle);
    let first = obstacles.next()??;
    obstacles.all(|obstacle| obstacle.is_some()).then_some(first)
}
