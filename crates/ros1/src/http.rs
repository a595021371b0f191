//! As much of HTTP as XML-RPC needs, both sides, with everything that a peer sends bounded.

use std::io::{self, Read, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use crate::peer_text::is_name;
use crate::xmlrpc::MAX_MESSAGE_BYTES;

/// The longest head of a message.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// The longest name of a host.
const MAX_HOST_BYTES: usize = 255;
/// A peer that is there answers within this.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a node or the master listens: of `http://host:port/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The name or number of the host.
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

    /// A place on a host that a peer names; `None` where that is no name of a host.
    pub(crate) fn new(host: &str, port: u16) -> Option<Self> {
        let is_host = (1..=MAX_HOST_BYTES).contains(&host.len())
            && host.chars().all(|character| !character.is_whitespace())
            && is_name(host);
        is_host.then(|| Self { host: host.to_owned(), port })
    }

    /// Connects, to the first of the host's addresses that answers.
    ///
    /// # Errors
    /// When none does.
    pub fn connect(&self, patience: Duration) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (&*self.host, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
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

/// Sends a text and returns the answer's.
pub(crate) fn post(address: &Address, body: &str) -> io::Result<String> {
    let mut stream = address.connect(PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!(
        "POST /RPC2 HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        address.host,
        address.port,
        body.len()
    );
    stream.write_all(request.as_bytes())?;
    read_response(&mut stream)
}

/// Reads the text of one answer, of which everything is bounded.
///
/// # Errors
/// When the stream ends before or fails, and for what is no answer of XML-RPC by HTTP.
pub fn read_response(stream: &mut impl Read) -> io::Result<String> {
    let mut read = Vec::new();
    let head_bytes = read_head(stream, &mut read)?
        .ok_or_else(|| invalid("the connection was closed before the answer"))?;
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    response.parse(&read[..head_bytes]).map_err(invalid)?;
    let code = response.code.unwrap_or_default();
    let len = content_length(response.headers)?;
    if code != 200 {
        return Err(invalid(format!("HTTP answers with {code}")));
    }
    let body = match len {
        Some(len) => read_body(stream, read, head_bytes, len)?,
        None => {
            let most = MAX_MESSAGE_BYTES.saturating_sub(read.len()) as u64;
            stream.take(most).read_to_end(&mut read)?;
            read.split_off(head_bytes)
        }
    };
    String::from_utf8(body).map_err(invalid)
}

/// Reads the text of one request, of which everything is bounded; `None` at the end of the
/// connection.
///
/// # Errors
/// When the stream fails, and for what is no request of XML-RPC by HTTP.
pub fn read_request(stream: &mut impl Read) -> io::Result<Option<String>> {
    let mut read = Vec::new();
    let Some(head_bytes) = read_head(stream, &mut read)? else { return Ok(None) };
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    request.parse(&read[..head_bytes]).map_err(invalid)?;
    let len = content_length(request.headers)?.ok_or_else(|| invalid("no Content-Length"))?;
    let body = read_body(stream, read, head_bytes, len)?;
    String::from_utf8(body).map(Some).map_err(invalid)
}

/// Answers a request.
pub(crate) fn respond(stream: &mut TcpStream, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes())
}

/// Reads up to the end of the head; how long that is, or `None` where nothing came at all.
fn read_head(stream: &mut impl Read, read: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let mut block = [0; 4096];
    loop {
        let got = stream.read(&mut block)?;
        if got == 0 {
            return if read.is_empty() { Ok(None) } else { Err(invalid("the head is not whole")) };
        }
        read.extend_from_slice(&block[..got]);
        if let Some(at) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            return Ok(Some(at + 4));
        }
        if read.len() > MAX_HEAD_BYTES {
            return Err(invalid("the head is too long"));
        }
    }
}

fn content_length(headers: &[httparse::Header<'_>]) -> io::Result<Option<usize>> {
    let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let Some(header) = found else { return Ok(None) };
    let text = std::str::from_utf8(header.value).map_err(invalid)?;
    let len: usize = text.trim().parse().map_err(invalid)?;
    if len > MAX_MESSAGE_BYTES {
        return Err(invalid(format!("{len} bytes are announced, more than are read")));
    }
    Ok(Some(len))
}

fn read_body(
    stream: &mut impl Read,
    mut read: Vec<u8>,
    head_bytes: usize,
    len: usize,
) -> io::Result<Vec<u8>> {
    let mut body = read.split_off(head_bytes);
    let missing = len.saturating_sub(body.len());
    stream.take(missing as u64).read_to_end(&mut body)?;
    if body.len() != len {
        return Err(invalid("the message is not as long as announced"));
    }
    Ok(body)
}

fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
