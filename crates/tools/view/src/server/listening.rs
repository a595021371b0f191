//! The sockets of the server, and its start and end.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts as _, Request};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use feros::Node;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::protocol::{OWN_SUBPROTOCOL, SUBPROTOCOLS};
use crate::server::access::{Access, names_of_machine};
use crate::server::clients::Limits;
use crate::server::error::StartError;
use crate::server::hub::{BLOCKING_THREADS, Hub};
use crate::server::lobby::{Lobby, Place};
use crate::server::options::ViewOptions;
use crate::server::page;
use crate::server::peer::Peer;
use crate::server::session::{self, Membership};
use crate::server::watcher::Watcher;

/// The limit on bytes of a client's frame.
const MAX_FRAME_BYTES: usize = 16 << 20;
/// The limit on bytes of a request's head.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// The time that the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// A server; it ends when it is dropped.
///
/// The node's executor receives the messages.
pub struct Server {
    address: SocketAddr,
    page: String,
    link: String,
    hub: Arc<Hub>,
    ending: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
    watcher: Option<Watcher>,
}

impl Server {
    /// Starts a server.
    ///
    /// # Errors
    /// When the address is in use, or needs a token; see [`StartError`].
    pub fn start(node: &Node, options: ViewOptions) -> Result<Self, StartError> {
        let wanted = options.address;
        if !wanted.ip().is_loopback() && options.token.is_none() {
            return Err(StartError::NoToken { address: wanted.ip() });
        }
        if options.allowed_origins.iter().any(|origin| origin.eq_ignore_ascii_case("null")) {
            return Err(StartError::NullOrigin);
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
        let page = page(address, &access);
        let query = access.token.as_ref().map(|token| format!("?token={}", token.as_str()));
        let link = format!("{page}{}", query.unwrap_or_default());
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
            // Connections end here, without waiting for a thread that reads a file or examines the
            // machine.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("feros-view".into()).spawn(serving);
        let thread = Some(thread.map_err(no_thread)?);
        let mut server = Self { address, page, link, hub, ending, thread, watcher: None };
        server.watcher = Some(Watcher::start(&server.hub).map_err(no_thread)?);
        Ok(server)
    }

    /// The address that the server listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page without its token. Logs may contain this address.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// The address of the page, with the token if the server needs one. An address with a token is
    /// a secret that must not be logged: a node's log goes to `/rosout`, which everybody on the
    /// network can read.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The number of WebSocket connections.
    pub fn connection_count(&self) -> usize {
        self.hub.clients.count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.notify_one();
        if let Some(thread) = self.thread.take() {
            // If the thread ended with a panic, the panic was logged.
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

fn page(address: SocketAddr, access: &Access) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() => {
            access.names.last().cloned().unwrap_or_else(|| "localhost".to_owned())
        }
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    format!("http://{host}:{}/", address.port())
}

/// The state that each socket needs.
#[derive(Clone)]
struct Shared {
    hub: Arc<Hub>,
    access: Arc<Access>,
}

/// Accepts connections: a connection beyond the limit replaces another one.
async fn accept(listener: TcpListener, shared: Shared) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let lobby = Arc::new(Lobby::default());
    loop {
        match listener.accept().await {
            Ok((socket, address)) => {
                let peer = Peer::of(address.ip());
                tokio::spawn(serve(socket, peer, lobby.enter(peer), shared.clone()));
                // Lets the former owner of the slot end before the next connection is accepted.
                tokio::task::yield_now().await;
            }
            // No file descriptors are left, or the other side has closed the connection already.
            Err(error) => {
                tracing::debug!("a connection was not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves one TCP connection until it loses its slot.
async fn serve(socket: TcpStream, peer: Peer, place: Place, shared: Shared) {
    // Small messages must not wait for the acknowledgement of earlier ones.
    let _ = socket.set_nodelay(true);
    let patience = shared.hub.options.patience;
    let answering = answer(socket, patience, |request| respond(request, peer, &shared));
    tokio::select! {
        answered = answering => {
            if let Err(reason) = answered {
                tracing::debug!("a connection ended: {reason}");
            }
        }
        () = place.is_taken() => tracing::debug!("a connection was closed to make room for another"),
    }
}

/// Answers one request. The client must send it in time, and read the answer in time.
async fn answer<F: Future<Output = Response>>(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    patience: Duration,
    respond: impl Fn(Request) -> F,
) -> Result<(), String> {
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let responding = respond(request.map(axum::body::Body::new));
        async {
            let mut response = responding.await;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME.min(patience))
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    match timeout(patience, connection).await {
        // Input that is not HTTP ends here with an error.
        Ok(answered) => answered.map_err(|error| error.to_string()),
        Err(_) => Err(format!("the client did not read its answer within {patience:?}")),
    }
}

async fn respond(request: Request, peer: Peer, shared: &Shared) -> Response {
    let (mut parts, _) = request.into_parts();
    if let Err(refusal) = shared.access.check(&parts.headers) {
        return page::text(refusal.status(), &refusal.to_string());
    }
    if parts.method != Method::GET {
        return page::text(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed here");
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
        Ok(upgrade) => connect(upgrade, peer, shared),
        Err(rejection) => page::text(StatusCode::BAD_REQUEST, &rejection.body_text()),
    }
}

/// Upgrades a connection to a WebSocket, if the limits allow another client.
fn connect(upgrade: WebSocketUpgrade, peer: Peer, shared: &Shared) -> Response {
    let upgrade = upgrade.protocols(SUBPROTOCOLS);
    let Some(protocol) = upgrade.selected_protocol() else {
        let known = SUBPROTOCOLS.join(", ");
        let sentence = format!("the WebSocket must request one of the subprotocols {known}");
        return page::text(StatusCode::BAD_REQUEST, &sentence);
    };
    let is_page = protocol.as_bytes() == OWN_SUBPROTOCOL.as_bytes();
    let options = &shared.hub.options;
    let limits = Limits::new(options.max_connections, options.address.ip().is_loopback());
    let client = match shared.hub.clients.join(is_page, peer, limits) {
        Ok(client) => client,
        Err(full) => return page::text(StatusCode::SERVICE_UNAVAILABLE, &full.to_string()),
    };
    let membership = Membership::new(shared.hub.clone(), client);
    upgrade
        .max_frame_size(MAX_FRAME_BYTES)
        .max_message_size(MAX_FRAME_BYTES)
        .on_upgrade(move |socket| session::run(socket, membership))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Returns the result of an answer of `size` bytes to a client that reads `read` bytes, and the
    /// number of bytes that the client got.
    async fn answered(size: usize, read: usize, patience: Duration) -> (Result<(), String>, usize) {
        let (mut client, server) = tokio::io::duplex(1024);
        client.write_all(b"GET / HTTP/1.1\r\nHost: robot\r\n\r\n").await.unwrap();
        let respond = |_| async move { Response::new(vec![b'x'; size].into()) };
        let serving = answer(server, patience, respond);
        let reading = async {
            let mut bytes = vec![0; read];
            let mut count = 0;
            while count < read
                && let more @ 1.. = client.read(&mut bytes[count..]).await.unwrap()
            {
                count += more;
            }
            count
        };
        tokio::join!(serving, reading)
    }

    #[test]
    fn an_answer_that_the_client_does_not_read_is_abandoned() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (ended, count) = answered(100_000, 5000, Duration::from_millis(100)).await;
            let reason = "the client did not read its answer within 100ms".to_owned();
            assert_eq!((ended, count), (Err(reason), 5000));
            let (ended, count) = answered(1000, 1 << 20, Duration::from_secs(60)).await;
            assert!(ended.is_ok() && count > 1000, "{ended:?}, {count} bytes");
        });
    }
}
