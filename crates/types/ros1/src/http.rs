//! The part of HTTP that XML-RPC needs, for clients and servers. Messages from other programs have
//! a limited size, and must be complete within a limited time.

use std::io::{self, Read};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address::Address;
use crate::within::Within;
use crate::xmlrpc::MAX_MESSAGE_BYTES;

/// The size limit of a message's head, in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// The time limit for a complete answer, counted from the start of the connection attempt.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// The number of bytes that are read with one call.
const BLOCK_BYTES: usize = 4096;

/// Sends `body` as a request and returns the body of the answer. Blocks.
pub(crate) fn post(address: &Address, body: &str) -> io::Result<String> {
    let mut stream = Within::connect(address, PATIENCE)?;
    io::Write::write_all(&mut stream, request(address, body).as_bytes())?;
    read_response(&mut stream)
}

/// The asynchronous form of [`post`].
pub(crate) async fn ask(address: &Address, body: &str) -> io::Result<String> {
    let asked = async {
        let mut stream = address.reach().await?;
        stream.write_all(request(address, body).as_bytes()).await?;
        answered(read(&mut stream, Kind::Response).await?)
    };
    timeout(PATIENCE, asked).await?
}

fn request(address: &Address, body: &str) -> String {
    format!(
        "POST /RPC2 HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        address.host,
        address.port,
        body.len()
    )
}

fn answered(text: Option<String>) -> io::Result<String> {
    text.ok_or_else(|| invalid("the connection was closed before the answer"))
}

/// Reads the body of one answer, whose size is limited.
///
/// # Errors
/// Returns an error if the stream ends early or fails, or if the answer is not XML-RPC over HTTP.
pub fn read_response(stream: &mut impl Read) -> io::Result<String> {
    answered(read_in_place(stream, Kind::Response)?)
}

/// Reads the body of one request, whose size is limited. Returns `None` at the end of the
/// connection.
///
/// # Errors
/// Returns an error if the stream fails or the request is not XML-RPC over HTTP.
pub fn read_request(stream: &mut impl Read) -> io::Result<Option<String>> {
    read_in_place(stream, Kind::Request)
}

/// The asynchronous form of [`read_request`]. Waits up to `idle` for the first byte. The other
/// bytes have the same time limit as an answer.
pub(crate) async fn next_request(
    stream: &mut TcpStream,
    idle: Duration,
) -> io::Result<Option<String>> {
    timeout(idle, stream.readable()).await??;
    timeout(PATIENCE, read(stream, Kind::Request)).await?
}

/// Sends the answer to a request.
pub(crate) async fn respond(stream: &mut TcpStream, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    timeout(PATIENCE, stream.write_all((head + body).as_bytes())).await?
}

fn read_in_place(stream: &mut impl Read, kind: Kind) -> io::Result<Option<String>> {
    let (mut message, mut block) = (Incoming::new(kind), [0; BLOCK_BYTES]);
    loop {
        let got = stream.read(&mut block)?;
        if got == 0 || message.add(&block[..got])? {
            return message.end();
        }
    }
}

async fn read(stream: &mut TcpStream, kind: Kind) -> io::Result<Option<String>> {
    let (mut message, mut block) = (Incoming::new(kind), [0; BLOCK_BYTES]);
    loop {
        let got = stream.read(&mut block).await?;
        if got == 0 || message.add(&block[..got])? {
            return message.end();
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Response,
}

/// The part of one message that has been received so far.
struct Incoming {
    kind: Kind,
    read: Vec<u8>,
    /// The offset of the body, and its length if the head announces it. This is set when the head
    /// is complete.
    body: Option<(usize, Option<usize>)>,
}

impl Incoming {
    fn new(kind: Kind) -> Self {
        Self { kind, read: Vec::new(), body: None }
    }

    /// Adds received bytes. Returns whether the message is complete.
    fn add(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let looked_at = self.read.len().saturating_sub(3);
        self.read.extend_from_slice(bytes);
        if self.body.is_none() {
            let end = self.read[looked_at..].windows(4).position(|bytes| bytes == b"\r\n\r\n");
            match end {
                Some(end) => self.body = Some(self.head(looked_at + end + 4)?),
                None if self.read.len() > MAX_HEAD_BYTES => {
                    return Err(invalid("the head is too long"));
                }
                None => {}
            }
        }
        match self.body {
            Some((begin, Some(len))) => Ok(self.read.len() - begin >= len),
            _ if self.read.len() > MAX_MESSAGE_BYTES => Err(invalid("the message is too long")),
            _ => Ok(false),
        }
    }

    /// Reads the head, which ends at `end`. Returns the offset of the body and its length if the
    /// head announces it.
    fn head(&self, end: usize) -> io::Result<(usize, Option<usize>)> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let head = &self.read[..end];
        if self.kind == Kind::Request {
            let mut request = httparse::Request::new(&mut headers);
            request.parse(head).map_err(invalid)?;
            let len = content_length(request.headers)?;
            return Ok((end, Some(len.ok_or_else(|| invalid("Content-Length is missing"))?)));
        }
        let mut response = httparse::Response::new(&mut headers);
        response.parse(head).map_err(invalid)?;
        match response.code.unwrap_or_default() {
            200 => Ok((end, content_length(response.headers)?)),
            code => Err(invalid(format!("the HTTP status is {code}"))),
        }
    }

    /// Returns the body of a complete message, or of a message that ends with the connection.
    /// Returns `None` if nothing was received.
    fn end(mut self) -> io::Result<Option<String>> {
        if self.read.is_empty() {
            return Ok(None);
        }
        let (begin, len) = self.body.ok_or_else(|| invalid("the head is incomplete"))?;
        let body = self.read.split_off(begin);
        if len.is_some_and(|len| body.len() != len) {
            return Err(invalid("the message does not have the announced length"));
        }
        String::from_utf8(body).map(Some).map_err(invalid)
    }
}

fn content_length(headers: &[httparse::Header<'_>]) -> io::Result<Option<usize>> {
    let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let Some(header) = found else { return Ok(None) };
    let text = std::str::from_utf8(header.value).map_err(invalid)?;
    let len: usize = text.trim().parse().map_err(invalid)?;
    if len > MAX_MESSAGE_BYTES {
        return Err(invalid(format!("the announced length of {len} bytes exceeds the limit")));
    }
    Ok(Some(len))
}

fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_is_whole_however_it_is_cut() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        for cut in 0..text.len() {
            let mut message = Incoming::new(Kind::Response);
            assert!(!message.add(&text.as_bytes()[..cut]).unwrap());
            assert!(message.add(&text.as_bytes()[cut..]).unwrap(), "{cut}");
            assert_eq!(message.end().unwrap().unwrap(), "hello");
        }
        let until_the_end = "HTTP/1.1 200 OK\r\n\r\nhello".as_bytes();
        assert_eq!(read_response(&mut &*until_the_end).unwrap(), "hello");
        assert_eq!(read_request(&mut &b""[..]).unwrap(), None);
    }

    #[test]
    fn invalid_messages_are_refused() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "a".repeat(MAX_HEAD_BYTES));
        let many = format!("HTTP/1.1 200 OK\r\n\r\n{}", "a".repeat(MAX_MESSAGE_BYTES));
        for text in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 404 No\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            &long,
            &many,
        ] {
            assert!(read_response(&mut text.as_bytes()).is_err(), "{text:.60}");
        }
        assert!(read_request(&mut &b"POST / HTTP/1.1\r\n\r\n"[..]).is_err());
    }
}
