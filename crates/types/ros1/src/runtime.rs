//! Serves connections as tasks on a few threads of the process, no matter how many other nodes
//! there are.
//!
//! With one thread for each connection, another node could make this process start one thread for
//! each address that the node names.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use feros_sync::Mutex;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::sync::Semaphore;

/// The number of threads that serve connections.
const WORKERS: usize = 4;
/// The limit on additional threads, which do work that may block: they run the code of users and
/// look up host names.
const MOST_WAITING: usize = 32;
/// The limit on concurrent host name lookups, because a name server may be slow.
const MOST_LOOKUPS: usize = 8;
/// How long an additional thread must be idle before it ends.
const IDLE: std::time::Duration = std::time::Duration::from_secs(10);

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
static LOOKUPS: Semaphore = Semaphore::const_new(MOST_LOOKUPS);

/// Returns a handle to the threads. The first call starts them.
///
/// # Errors
/// Returns an error if the operating system cannot start a thread.
pub(crate) fn handle() -> io::Result<Handle> {
    let mut runtime = RUNTIME.lock();
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    // The runtime panics if the operating system cannot start a thread. So one thread is started
    // first to test this.
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

/// Runs code that may wait, such as a callback that waits for subscriptions, while other
/// connections continue. On a thread that does not serve connections, this function only calls the
/// code.
pub fn waiting<T>(code: impl FnOnce() -> T) -> T {
    let here = Handle::try_current().map(|handle| handle.runtime_flavor());
    match here {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(code),
        _ => code(),
    }
}

/// Runs a task on the threads that serve connections. The task is dropped if the threads cannot be
/// started.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(handle) = handle() {
        handle.spawn(task);
    }
}

/// Returns the addresses of a host.
pub(crate) async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let _turn = LOOKUPS.acquire().await.map_err(io::Error::other)?;
    let host = host.to_owned();
    let found = tokio::task::spawn_blocking(move || (&*host, port).to_socket_addrs());
    Ok(found.await.map_err(io::Error::other)??.collect())
}
