//! Services of ROS 1: a server's connections, and calls of a client.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use crate::header::ConnectionHeader;
use crate::http::Address;
use crate::master::{Master, MasterError};
use crate::peer_text::{shown, shown_name};
use crate::subscription::read_message;
use crate::types::ONE_DEFINITION;

/// The longest text of an error that is read.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Answers a request: the body of the response, or why there is none.
pub type Handler = Arc<dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync>;

/// What a service is.
#[derive(Clone)]
pub struct ServiceOptions {
    /// The name, fully qualified.
    pub service: String,
    /// The type, `package/Name`.
    pub type_name: String,
    /// The checksum of the type.
    pub md5sum: String,
    /// Who answers, on a thread of the connection.
    pub handler: Handler,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// The type, `package/Name`.
    pub type_name: String,
    /// Its checksum.
    pub md5sum: String,
}

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The service is not there, or the master is not.
    #[error(transparent)]
    Master(#[from] MasterError),
    /// The connection failed or broke.
    #[error("the server of {service} cannot be reached or went away: {source}")]
    Connection {
        /// The service.
        service: String,
        /// Why.
        source: io::Error,
    },
    /// The server refuses calls of this type.
    #[error("the server of {service} refuses the call: {reason}")]
    Refused {
        /// The service.
        service: String,
        /// What it says.
        reason: String,
    },
    /// The server answered that it failed.
    #[error("{service} failed: {reason}")]
    Failed {
        /// The service.
        service: String,
        /// What it says.
        reason: String,
    },
}

/// Serves one connection of a client, whose header was read already.
pub(crate) fn serve(
    mut stream: TcpStream,
    caller: &str,
    options: &ServiceOptions,
    header: &ConnectionHeader,
) -> io::Result<()> {
    let wanted = header.get("md5sum");
    if wanted != "*" && wanted != options.md5sum {
        let reason = format!(
            "{} wants {} as {} with md5sum {wanted}, it is {} with md5sum {} here; {ONE_DEFINITION}",
            header.get("callerid"),
            options.service,
            // Clients of rospy and roscpp say the checksum alone.
            if header.has("type") { header.get("type") } else { "a service" },
            options.type_name,
            options.md5sum
        );
        tracing::warn!("{reason}");
        return ConnectionHeader::new(&[("error", &reason)]).send(&mut stream);
    }
    ConnectionHeader::new(&[
        ("callerid", caller),
        ("md5sum", &options.md5sum),
        ("service", &options.service),
        ("type", &options.type_name),
        ("request_type", &format!("{}Request", options.type_name)),
        ("response_type", &format!("{}Response", options.type_name)),
    ])
    .send(&mut stream)?;
    if header.get("probe") == "1" {
        return Ok(());
    }
    let is_persistent = matches!(header.get("persistent"), "1" | "true");
    let mut buffer = Vec::new();
    while let Some(len) = read_message(&mut stream, &mut buffer)? {
        let (ok, body) = match (options.handler)(&buffer[..len]) {
            Ok(body) => (1, body),
            Err(reason) => (0, reason.into_bytes()),
        };
        let mut answer = Vec::with_capacity(5 + body.len());
        answer.push(ok);
        answer.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        answer.extend_from_slice(&body);
        stream.write_all(&answer)?;
        if !is_persistent {
            break;
        }
    }
    Ok(())
}

/// Asks a server what it serves.
///
/// # Errors
/// When it is not there.
pub fn probe(master: &Master, caller: &str, service: &str) -> Result<ServiceInfo, CallError> {
    let (_, header) = open(master, caller, service, &[("md5sum", "*"), ("probe", "1")])?;
    Ok(ServiceInfo {
        type_name: header.get("type").to_owned(),
        md5sum: header.get("md5sum").to_owned(),
    })
}

/// Calls a service with the body of a request, and waits for the body of the response.
///
/// # Errors
/// When the service is not there, refuses or fails.
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

/// A connection to the server of a service that stays for several calls, one after the other.
#[derive(Debug)]
pub struct CallConnection {
    stream: TcpStream,
    service: String,
}

impl CallConnection {
    /// Connects to whoever serves it now.
    ///
    /// # Errors
    /// When the service is not there or refuses.
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

    /// Whether the server is still at the other end, as far as the system knows.
    #[must_use]
    pub fn is_there(&self) -> bool {
        // A server says nothing without being asked, so all that can be read is its end.
        let _ = self.stream.set_nonblocking(true);
        let peeked = self.stream.peek(&mut [0; 1]);
        let restored = self.stream.set_nonblocking(false);
        let waits = peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        waits && restored.is_ok()
    }

    /// Calls with the body of a request, and waits for the body of the response as long as it
    /// takes.
    ///
    /// # Errors
    /// When the connection breaks or the service fails; after [`CallError::Failed`] the connection
    /// is as before.
    pub fn call(&mut self, request: &[u8]) -> Result<Vec<u8>, CallError> {
        let (stream, service) = (&mut self.stream, &self.service);
        let fault = |source| CallError::Connection { service: service.clone(), source };
        let mut framed = Vec::with_capacity(4 + request.len());
        framed.extend_from_slice(&u32::try_from(request.len()).unwrap_or(u32::MAX).to_le_bytes());
        framed.extend_from_slice(request);
        stream.write_all(&framed).map_err(fault)?;
        // A service may take as long as it likes; a server that goes ends the connection.
        stream.set_read_timeout(None).map_err(fault)?;
        let mut ok = [0; 1];
        stream.read_exact(&mut ok).map_err(fault)?;
        let mut body = Vec::new();
        let len = read_message(stream, &mut body).map_err(fault)?;
        let len = len.ok_or_else(|| fault(io::ErrorKind::UnexpectedEof.into()))?;
        body.truncate(len);
        if ok[0] == 1 {
            return Ok(body);
        }
        body.truncate(MAX_ERROR_BYTES);
        let reason = shown(&String::from_utf8_lossy(&body)).into_owned();
        Err(CallError::Failed { service: service.clone(), reason })
    }
}

impl CallConnection {
    /// A second handle of the connection, by which it can be shut down.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn stream(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }
}

fn open(
    master: &Master,
    caller: &str,
    service: &str,
    more: &[(&str, &str)],
) -> Result<(TcpStream, ConnectionHeader), CallError> {
    let uri = master.lookup_service(service)?;
    let fault = |source| CallError::Connection { service: service.to_owned(), source };
    let address = Address::parse(&uri)
        .ok_or_else(|| fault(io::Error::other(format!("`{}` is no address", shown_name(&uri)))))?;
    let mut stream = address.connect(Duration::from_secs(5)).map_err(fault)?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(fault)?;
    let mut fields = vec![("callerid", caller), ("service", service)];
    fields.extend_from_slice(more);
    ConnectionHeader::new(&fields).send(&mut stream).map_err(fault)?;
    let header = ConnectionHeader::receive(&mut stream).map_err(fault)?;
    if header.has("error") {
        let reason = shown(header.get("error")).into_owned();
        return Err(CallError::Refused { service: service.to_owned(), reason });
    }
    Ok((stream, header))
}
