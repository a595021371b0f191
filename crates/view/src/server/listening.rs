//! The sockets that are listened to, and the end of it all.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts as _, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use feros::Node;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};

use crate::protocol::{OWN_SUBPROTOCOL, SUBPROTOCOLS};
use crate::server::access::{Access, names_of_machine};
use crate::server::error::StartError;
use crate::server::hub::Hub;
use crate::server::options::ViewOptions;
use crate::server::page;
use crate::server::session::{self, Membership};
use crate::server::watcher::Watcher;

/// Bytes of a frame of a client at most.
const MAX_FRAME_BYTES: usize = 16 << 20;
/// Bytes of the head of a request at most.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// TCP connections besides those of WebSockets: browsers fetching the page.
const MORE_SOCKETS: usize = 64;
/// Threads for files and checks.
const BLOCKING_THREADS: usize = 4;

/// A server; it ends when it is dropped.
///
/// Whoever spins its node receives the messages.
pub struct Server {
    address: SocketAddr,
    link: String,
    hub: Arc<Hub>,
    ending: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
    watcher: Option<Watcher>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the address is not free, or needs a token; see [`StartError`].
    pub fn start(node: &Node, options: ViewOptions) -> Result<Self, StartError> {
        let wanted = options.address;
        if !wanted.ip().is_loopback() && options.token.is_none() {
            return Err(StartError::NoToken { address: wanted.ip() });
        }
        let unbound =
            |error: std::io::Error| StartError::Bind { address: wanted, reason: error.to_string() };
        let listener = TcpListener::bind(wanted).map_err(unbound)?;
        listener.set_nonblocking(true).map_err(unbound)?;
        let address = listener.local_addr().map_err(unbound)?;
        let access = Access {
            token: options.token.clone(),
            address: address.ip(),
            names: names_of_machine(),
            allowed_origins: options.allowed_origins.clone(),
        };
        let link = link(address, &access);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let hub = Arc::new(Hub::new(node, options, since.as_nanos().to_string()));
        let no_thread = |error: std::io::Error| StartError::Thread { reason: error.to_string() };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("feros-view-file")
            .build()
            .map_err(no_thread)?;
        let ending = Arc::new(Notify::new());
        let (shared, until) =
            (Shared { hub: hub.clone(), access: Arc::new(access) }, ending.clone());
        let serving = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    () = until.notified() => {}
                }
            });
            // Connections end here; what reads a file or looks at the machine is not waited for.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("feros-view".into()).spawn(serving);
        let thread = Some(thread.map_err(no_thread)?);
        let mut server = Self { address, link, hub, ending, thread, watcher: None };
        server.watcher = Some(Watcher::start(&server.hub).map_err(no_thread)?);
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page, with the token if one is needed.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// How many WebSockets there are.
    pub fn connection_count(&self) -> usize {
        self.hub.clients.count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.notify_one();
        if let Some(thread) = self.thread.take() {
            // It ended by a panic at worst, which has been told.
            let _ = thread.join();
        }
        self.watcher = None;
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

fn link(address: SocketAddr, access: &Access) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() => {
            access.names.last().cloned().unwrap_or_else(|| "localhost".to_owned())
        }
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    let query = access.token.as_ref().map(|token| format!("?token={}", token.as_str()));
    format!("http://{host}:{}/{}", address.port(), query.unwrap_or_default())
}

/// What each socket needs.
#[derive(Clone)]
struct Shared {
    hub: Arc<Hub>,
    access: Arc<Access>,
}

/// Takes connections, so many at a time: further ones wait in the system's queue.
async fn accept(listener: TcpListener, shared: Shared) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let sockets = Arc::new(Semaphore::new(shared.hub.options.max_connections + MORE_SOCKETS));
    loop {
        let Ok(permit) = sockets.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((socket, _)) => {
                let shared = shared.clone();
                tokio::spawn(async move {
                    serve(socket, shared).await;
                    drop(permit);
                });
            }
            // No descriptors are left, or the peer has gone again.
            Err(error) => {
                tracing::debug!("a connection was not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves one TCP connection.
async fn serve(socket: TcpStream, shared: Shared) {
    // Small messages are not to wait for the acknowledgement of those before.
    let _ = socket.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let shared = shared.clone();
        async move {
            let request = request.map(axum::body::Body::new);
            Ok::<_, Infallible>(respond(request, &shared).await)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    // Whatever a peer sends that is no HTTP ends here.
    if let Err(error) = connection.await {
        tracing::debug!("a connection ended: {error}");
    }
}

async fn respond(request: Request, shared: &Shared) -> Response {
    let (mut parts, _) = request.into_parts();
    if let Err(refusal) = shared.access.check(&parts.headers) {
        return page::text(refusal.status(), &refusal.to_string());
    }
    if parts.method != Method::GET {
        return page::text(StatusCode::METHOD_NOT_ALLOWED, "only GET is answered here");
    }
    let is_upgrade = parts.headers.contains_key(axum::http::header::UPGRADE);
    if (is_upgrade || page::is_entry(parts.uri.path()))
        && let Err(refusal) = shared.access.check_token(&parts.uri)
    {
        return page::text(refusal.status(), &refusal.to_string());
    }
    if !is_upgrade {
        return page::file(parts.uri.path());
    }
    match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => connect(upgrade, shared),
        Err(rejection) => page::text(StatusCode::BAD_REQUEST, &rejection.body_text()),
    }
}

/// Makes a WebSocket of a connection, if there is room for one more.
fn connect(upgrade: WebSocketUpgrade, shared: &Shared) -> Response {
    let upgrade = upgrade.protocols(SUBPROTOCOLS);
    let Some(protocol) = upgrade.selected_protocol() else {
        let known = SUBPROTOCOLS.join(", ");
        let sentence = format!("the WebSocket has to ask for one of the subprotocols {known}");
        return page::text(StatusCode::BAD_REQUEST, &sentence);
    };
    let is_page = protocol.as_bytes() == OWN_SUBPROTOCOL.as_bytes();
    let limit = shared.hub.options.max_connections;
    let Some(client) = shared.hub.clients.join(is_page, limit) else {
        let sentence = format!(
            "there are {limit} connections already: close other pages, or allow more \
             (--max-connections)"
        );
        return page::text(StatusCode::SERVICE_UNAVAILABLE, &sentence);
    };
    let membership = Membership::new(shared.hub.clone(), client);
    upgrade
        .max_frame_size(MAX_FRAME_BYTES)
        .max_message_size(MAX_FRAME_BYTES)
        .on_upgrade(move |socket| session::run(socket, membership))
}
