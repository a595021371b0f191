//! Services of ROS 1: the connections of a server and the calls of a client.

use std::io::{self, Read, Write as _};
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::Arc;

use feros_sync::{AtomicUsize, Ordering};
use tokio::io::AsyncWriteExt as _;

use crate::address::Address;
use crate::connections::MOST_OF_A_TOPIC;
use crate::header::ConnectionHeader;
use crate::http::PATIENCE;
use crate::lines::Lines;
use crate::master::{Master, MasterError};
use crate::peer_text::{shown, shown_name};
use crate::subscription::{message_len, read_message};
use crate::types::ONE_DEFINITION;
use crate::within::Within;

/// The limit on the length of an error text, in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A future that returns the body of the response, or the reason why there is no response.
pub type Answer = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;
/// A function that responds to a request. It is called on a thread that serves connections and must
/// not block. The returned future may wait.
pub type Handler = Arc<dyn Fn(&[u8]) -> Answer + Send + Sync>;

/// The options of a service.
#[derive(Clone)]
pub struct ServiceOptions {
    /// The fully qualified name of the service.
    pub service: String,
    /// The type, `package/Name`.
    pub type_name: String,
    /// The checksum of the type.
    pub md5sum: String,
    /// Responds to the requests.
    pub handler: Handler,
}

/// A server's description of its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// The type, `package/Name`.
    pub type_name: String,
    /// The checksum of the type.
    pub md5sum: String,
}

/// The reason why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The service or the master is absent.
    #[error(transparent)]
    Master(#[from] MasterError),
    /// The connection failed or broke.
    #[error("the server of {service} cannot be reached, or has ended: {source}")]
    Connection {
        /// The service.
        service: String,
        /// The reason.
        source: io::Error,
    },
    /// The server refuses calls with this type.
    #[error("the server of {service} refuses the call: {reason}")]
    Refused {
        /// The service.
        service: String,
        /// The server's reason.
        reason: String,
    },
    /// The server reports that the call failed.
    #[error("{service} failed: {reason}")]
    Failed {
        /// The service.
        service: String,
        /// The server's reason.
        reason: String,
    },
}

/// A service that a node serves, with the number of its connections.
pub(crate) struct Served {
    pub(crate) options: ServiceOptions,
    clients: AtomicUsize,
}

/// Counts a client of a service while it is connected.
struct Client<'a>(&'a AtomicUsize);

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Served {
    pub(crate) fn new(options: ServiceOptions) -> Self {
        Self { options, clients: AtomicUsize::new(0) }
    }

    /// Serves one connection of a client. The caller must have read the client's header.
    pub(crate) async fn serve(
        &self,
        mut stream: tokio::net::TcpStream,
        caller: &str,
        header: &ConnectionHeader,
        lines: &Lines,
    ) -> io::Result<()> {
        let options = &self.options;
        let clients = self.clients.fetch_add(1, Ordering::Relaxed);
        let _client = Client(&self.clients);
        let refused = if clients < MOST_OF_A_TOPIC {
            self.check(header)
        } else {
            Err(format!("{} already has {MOST_OF_A_TOPIC} clients", options.service))
        };
        if let Err(reason) = refused {
            lines.warn(&reason);
            return ConnectionHeader::new(&[("error", &reason)]).put(&mut stream).await;
        }
        let answer = ConnectionHeader::new(&[
            ("callerid", caller),
            ("md5sum", &options.md5sum),
            ("service", &options.service),
            ("type", &options.type_name),
            ("request_type", &format!("{}Request", options.type_name)),
            ("response_type", &format!("{}Response", options.type_name)),
        ]);
        answer.put(&mut stream).await?;
        if header.get("probe") == "1" {
            return Ok(());
        }
        let is_persistent = matches!(header.get("persistent"), "1" | "true");
        let mut buffer = Vec::new();
        while read_message(&mut stream, &mut buffer).await? {
            let (ok, body) = match (options.handler)(&buffer).await {
                Ok(body) => (1, body),
                Err(reason) => (0, reason.into_bytes()),
            };
            let mut answer = Vec::with_capacity(5 + body.len());
            answer.push(ok);
            answer.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
            answer.extend_from_slice(&body);
            stream.write_all(&answer).await?;
            if !is_persistent {
                break;
            }
        }
        Ok(())
    }

    fn check(&self, header: &ConnectionHeader) -> Result<(), String> {
        let (options, wanted) = (&self.options, header.get("md5sum"));
        if wanted == "*" || wanted == options.md5sum {
            return Ok(());
        }
        Err(format!(
            "{} wants {} as {} with md5sum {wanted}, but it is {} with md5sum {} here; {ONE_DEFINITION}",
            header.get("callerid"),
            options.service,
            // Clients of rospy and roscpp state only the checksum.
            if header.has("type") { header.get("type") } else { "a service" },
            options.type_name,
            options.md5sum
        ))
    }
}

/// Asks a server for the type of its service.
///
/// # Errors
/// Returns an error if the service is absent.
pub fn probe(master: &Master, caller: &str, service: &str) -> Result<ServiceInfo, CallError> {
    let (_, header) = open(master, caller, service, &[("md5sum", "*"), ("probe", "1")])?;
    Ok(ServiceInfo {
        type_name: header.get("type").to_owned(),
        md5sum: header.get("md5sum").to_owned(),
    })
}

/// Calls a service with the body of a request and waits for the body of the response.
///
/// # Errors
/// Returns an error if the service is absent, refuses or fails.
pub fn call(
    master: &Master,
    caller: &str,
    service: &str,
    md5sum: &str,
    request: &[u8],
) -> Result<Vec<u8>, CallError> {
    let fields = [("md5sum", md5sum)];
    let (stream, _) = open(master, caller, service, &fields)?;
    CallConnection { stream, service: service.to_owned() }.call(request)
}

/// A connection to the server of a service that stays open for several consecutive calls.
#[derive(Debug)]
pub struct CallConnection {
    stream: TcpStream,
    service: String,
}

impl CallConnection {
    /// Connects to the current server.
    ///
    /// # Errors
    /// Returns an error if the service is absent or refuses.
    pub fn open(
        master: &Master,
        caller: &str,
        service: &str,
        (type_name, md5sum): (&str, &str),
    ) -> Result<Self, CallError> {
        let fields = [("md5sum", md5sum), ("type", type_name), ("persistent", "1")];
        let (stream, _) = open(master, caller, service, &fields)?;
        Ok(Self { stream, service: service.to_owned() })
    }

    /// Whether the server is still connected, according to the operating system.
    #[must_use]
    pub fn is_there(&self) -> bool {
        // A server sends nothing without a request, so the only thing to read is the end of the
        // stream.
        let _ = self.stream.set_nonblocking(true);
        let peeked = self.stream.peek(&mut [0; 1]);
        let restored = self.stream.set_nonblocking(false);
        let waits = peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        waits && restored.is_ok()
    }

    /// Calls the service with the body of a request. Waits without a time limit for the body of the
    /// response.
    ///
    /// # Errors
    /// Returns an error if the connection breaks or the service fails. After [`CallError::Failed`],
    /// the connection can be used again.
    pub fn call(&mut self, request: &[u8]) -> Result<Vec<u8>, CallError> {
        let (stream, service) = (&mut self.stream, &self.service);
        let fault = |source| CallError::Connection { service: service.clone(), source };
        let mut framed = Vec::with_capacity(4 + request.len());
        framed.extend_from_slice(&u32::try_from(request.len()).unwrap_or(u32::MAX).to_le_bytes());
        framed.extend_from_slice(request);
        stream.write_all(&framed).map_err(fault)?;
        // A service may take any length of time. If the server dies, the connection ends.
        let mut ok = [0; 1];
        stream.read_exact(&mut ok).map_err(fault)?;
        let mut body = read_body(stream).map_err(fault)?;
        if ok[0] == 1 {
            return Ok(body);
        }
        body.truncate(MAX_ERROR_BYTES);
        let reason = shown(&String::from_utf8_lossy(&body)).into_owned();
        Err(CallError::Failed { service: service.clone(), reason })
    }
}

impl CallConnection {
    /// Returns a second handle to the connection, which can shut it down.
    ///
    /// # Errors
    /// Returns an error if the process has no free descriptor.
    pub fn stream(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }
}

/// Reads a message. Blocks. The memory grows only as bytes are received.
fn read_body(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let len = message_len(len)?;
    let mut body = Vec::new();
    stream.take(len as u64).read_to_end(&mut body)?;
    if body.len() < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(body) }
}

fn open(
    master: &Master,
    caller: &str,
    service: &str,
    more: &[(&str, &str)],
) -> Result<(TcpStream, ConnectionHeader), CallError> {
    let uri = master.lookup_service(service)?;
    let fault = |source| CallError::Connection { service: service.to_owned(), source };
    let address = Address::parse(&uri).ok_or_else(|| {
        fault(io::Error::other(format!("`{}` is not an address", shown_name(&uri))))
    })?;
    let mut fields = vec![("callerid", caller), ("service", service)];
    fields.extend_from_slice(more);
    let greeted = || {
        let mut stream = Within::connect(&address, PATIENCE)?;
        ConnectionHeader::new(&fields).send(&mut stream)?;
        let header = ConnectionHeader::receive(&mut stream)?;
        Ok((stream.into_stream()?, header))
    };
    let (stream, header) = greeted().map_err(fault)?;
    if header.has("error") {
        let reason = shown(header.get("error")).into_owned();
        return Err(CallError::Refused { service: service.to_owned(), reason });
    }
    Ok((stream, header))
}
