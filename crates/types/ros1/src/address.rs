//! The addresses of nodes, masters and services, and connections to them.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use crate::peer_text::is_name;
use crate::runtime;

/// The length limit of a host name.
const MAX_HOST_BYTES: usize = 255;

/// The address on which a node or the master listens, such as `http://host:port/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The name or IP address of the host.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Address {
    /// Reads `http://host:port/` or `rosrpc://host:port`.
    #[must_use]
    pub fn parse(uri: &str) -> Option<Self> {
        let (_, rest) = uri.trim().split_once("://")?;
        let place = rest.split('/').next()?;
        let (host, port) = place.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Self::new(host, port.parse().ok()?)
    }

    /// Creates an address that another node has sent; `None` if the host name is invalid.
    pub(crate) fn new(host: &str, port: u16) -> Option<Self> {
        let is_host = (1..=MAX_HOST_BYTES).contains(&host.len())
            && host.chars().all(|character| !character.is_whitespace())
            && is_name(host);
        is_host.then(|| Self { host: host.to_owned(), port })
    }

    /// Connects to the first address of the host that answers. The call takes at most `patience`,
    /// even if the name server or the host is slow.
    ///
    /// # Errors
    /// Returns an error if no address answers.
    pub fn connect(&self, patience: Duration) -> io::Result<TcpStream> {
        let deadline = Instant::now() + patience;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
        for address in self.resolve(patience)? {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn resolve(&self, patience: Duration) -> io::Result<Vec<std::net::SocketAddr>> {
        if self.host.parse::<std::net::IpAddr>().is_ok() {
            return Ok((&*self.host, self.port).to_socket_addrs()?.collect());
        }
        let (sender, found) = sync_channel(1);
        let (host, port) = (self.host.clone(), self.port);
        runtime::handle()?.spawn(async move {
            let _ = sender.send(runtime::resolve(&host, port).await); // the receiver may be gone
        });
        found.recv_timeout(patience).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// The asynchronous form of [`Address::connect`]. The caller must limit the time.
    pub(crate) async fn reach(&self) -> io::Result<tokio::net::TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
        for address in runtime::resolve(&self.host, self.port).await? {
            match tokio::net::TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}:{}/", self.host, self.port)
    }
}
