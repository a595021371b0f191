//! Where connections are served: tasks on a few threads of the process, whatever peers there are.
//!
//! A thread for each connection would let a peer make as many threads as it names addresses.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use feros_sync::Mutex;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::sync::Semaphore;

/// Threads that serve connections.
const WORKERS: usize = 4;
/// Most threads beside them, for what waits: code of users, and names of hosts.
const MOST_WAITING: usize = 32;
/// Most names of hosts that are looked up at a time: a server of names may take its time.
const MOST_LOOKUPS: usize = 8;
/// A thread that has nothing to do ends after this.
const IDLE: std::time::Duration = std::time::Duration::from_secs(10);

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
static LOOKUPS: Semaphore = Semaphore::const_new(MOST_LOOKUPS);

/// The threads, which begin with the first node.
///
/// # Errors
/// When the system has none to give.
pub(crate) fn handle() -> io::Result<Handle> {
    let mut runtime = RUNTIME.lock();
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    // The runtime panics where the system has no thread at all.
    let tried = std::thread::Builder::new().name("feros-ros1-io".to_owned()).spawn(|| ())?;
    let _ = tried.join();
    let begun = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(MOST_WAITING)
        .thread_keep_alive(IDLE)
        .thread_name("feros-ros1-io")
        .enable_io()
        .enable_time()
        .build()?;
    Ok(runtime.insert(begun).handle().clone())
}

/// Runs what may wait, such as a publisher for its subscriptions: other connections go on
/// meanwhile. Elsewhere than on a thread of connections it is merely called.
pub fn waiting<T>(code: impl FnOnce() -> T) -> T {
    let here = Handle::try_current().map(|handle| handle.runtime_flavor());
    match here {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(code),
        _ => code(),
    }
}

/// Runs a task beside the connections, on their threads; without a node of ROS 1 it is dropped.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(handle) = handle() {
        handle.spawn(task);
    }
}

/// The addresses of a host.
pub(crate) async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let _turn = LOOKUPS.acquire().await.map_err(io::Error::other)?;
    let host = host.to_owned();
    let found = tokio::task::spawn_blocking(move || (&*host, port).to_socket_addrs());
    Ok(found.await.map_err(io::Error::other)??.collect())
}
