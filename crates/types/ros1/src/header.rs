//! The headers at the beginning of TCPROS connections, which consist of fields `key=value`.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::peer_text::is_name;

/// The size limit of a header, in bytes. A header may contain the definitions of many messages.
pub const MAX_HEADER_BYTES: usize = 1 << 20;

/// The limit on the number of fields of a header. Real nodes send fewer fields.
const MOST_FIELDS: usize = 256;
/// The fields that contain names, which are logged and stored.
const NAMES: [&str; 8] = [
    "callerid",
    "md5sum",
    "node_name",
    "request_type",
    "response_type",
    "service",
    "topic",
    "type",
];

/// The fields of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionHeader(BTreeMap<String, String>);

/// The error for bytes that are not a header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header of the connection is wrong at byte {offset}: {problem}")]
pub struct HeaderError {
    /// The offset of the fault.
    pub offset: usize,
    /// The fault.
    pub problem: &'static str,
}

impl ConnectionHeader {
    /// Creates a header with these fields.
    #[must_use]
    pub fn new(fields: &[(&str, &str)]) -> Self {
        Self(fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    /// Returns the value of a field, or an empty string if the field is missing.
    #[must_use]
    pub fn get(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }

    /// Whether the header has a field.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Reads the fields, which follow the four bytes with the total length.
    ///
    /// # Errors
    /// Returns an error if the fields are malformed, or if a name is longer than
    /// [`MAX_NAME_BYTES`](crate::MAX_NAME_BYTES) or contains control characters. Bytes that are not
    /// UTF-8 are replaced.
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let mut fields = BTreeMap::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = bytes.len() - rest.len();
            let fault = |problem| HeaderError { offset, problem };
            let (len, behind) =
                rest.split_first_chunk::<4>().ok_or_else(|| fault("a length is cut off"))?;
            let len = u32::from_le_bytes(*len) as usize;
            let (field, behind) =
                behind.split_at_checked(len).ok_or_else(|| fault("a field is cut off"))?;
            let equals = field.iter().position(|byte| *byte == b'=');
            let equals = equals.ok_or_else(|| fault("a field has no `=`"))?;
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let (key, value) = (text(&field[..equals]), text(&field[equals + 1..]));
            if !is_name(&key) || (NAMES.contains(&&*key) && !is_name(&value)) {
                return Err(fault("a name has more than 1,024 bytes, or control characters"));
            }
            fields.insert(key, value);
            if fields.len() > MOST_FIELDS {
                return Err(fault("more than 256 fields"));
            }
            rest = behind;
        }
        Ok(Self(fields))
    }

    /// Returns the bytes of the header, preceded by their total length.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        for (key, value) in &self.0 {
            let len = (key.len() + 1 + value.len()) as u32;
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(key.as_bytes());
            out.push(b'=');
            out.extend_from_slice(value.as_bytes());
        }
        let len = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&len.to_le_bytes());
        out
    }

    /// Reads a header. Blocks.
    pub(crate) fn receive(stream: &mut impl Read) -> io::Result<Self> {
        let mut len = [0; 4];
        stream.read_exact(&mut len)?;
        let len = checked_len(len, MAX_HEADER_BYTES, "header")?;
        let mut bytes = Vec::new();
        stream.take(len as u64).read_to_end(&mut bytes)?;
        Self::whole(&bytes, len)
    }

    /// Sends the header. Blocks.
    pub(crate) fn send(&self, stream: &mut impl Write) -> io::Result<()> {
        stream.write_all(&self.to_bytes())
    }

    /// The asynchronous form of [`ConnectionHeader::receive`]. The caller must limit the time.
    pub(crate) async fn next(stream: &mut TcpStream) -> io::Result<Self> {
        let mut len = [0; 4];
        stream.read_exact(&mut len).await?;
        let len = checked_len(len, MAX_HEADER_BYTES, "header")?;
        let mut bytes = Vec::new();
        stream.take(len as u64).read_to_end(&mut bytes).await?;
        Self::whole(&bytes, len)
    }

    /// The asynchronous form of [`ConnectionHeader::send`]. The caller must limit the time.
    pub(crate) async fn put(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(&self.to_bytes()).await
    }

    fn whole(bytes: &[u8], len: usize) -> io::Result<Self> {
        if bytes.len() < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Self::parse(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// Returns the length that comes before a header or a message. Fails if it is above the limit.
pub(crate) fn checked_len(len: [u8; 4], limit: usize, what: &str) -> io::Result<usize> {
    let len = u32::from_le_bytes(len) as usize;
    if len > limit {
        let text = format!("the announced {what} length of {len} bytes exceeds the limit");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn headers_come_back_as_they_were() {
        let header = ConnectionHeader::new(&[("topic", "/a"), ("md5sum", "*"), ("text", "a=b\nc")]);
        let bytes = header.to_bytes();
        assert_eq!(ConnectionHeader::parse(&bytes[4..]).unwrap(), header);
        assert_eq!(
            (header.get("text"), header.get("none"), header.has("none")),
            ("a=b\nc", "", false)
        );
    }

    #[test]
    fn hostile_headers_are_refused() {
        for bytes in [&[1][..], &[9, 0, 0, 0, b'a'], &[1, 0, 0, 0, b'a'], &[0xff; 9]] {
            assert!(ConnectionHeader::parse(bytes).is_err(), "{bytes:?}");
        }
        let long = "a".repeat(1025);
        for (key, value) in [
            ("callerid", "/a\u{1b}[2J"),
            ("type", "std_msgs/String\n"),
            ("topic", &*long),
            (&*long, ""),
            ("a\0", ""),
        ] {
            let bytes = ConnectionHeader::new(&[(key, value)]).to_bytes();
            let error = ConnectionHeader::parse(&bytes[4..]).unwrap_err();
            assert!(error.to_string().contains("1,024 bytes"), "{error}");
        }
        let many: Vec<String> = (0..257).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(|key| (&**key, "")).collect();
        let bytes = ConnectionHeader::new(&many).to_bytes();
        assert!(ConnectionHeader::parse(&bytes[4..]).is_err());
        let texts =
            [("message_definition", "int8 a\n"), ("error", "no\n"), ("callerid", &long[1..])];
        assert!(ConnectionHeader::parse(&ConnectionHeader::new(&texts).to_bytes()[4..]).is_ok());
    }
}
