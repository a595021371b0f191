//! Binary frames of clients: messages to publish, and service requests.

/// A binary frame of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientFrame<'a> {
    /// A message to publish.
    Message {
        /// The channel that the client advertised.
        channel: u32,
        /// The serialized message.
        data: &'a [u8],
    },
    /// A request to a service.
    ServiceRequest {
        /// The service that the server advertised.
        service: u32,
        /// The number of the call, which the response repeats.
        call: u32,
        /// The encoding of the request.
        encoding: &'a str,
        /// The serialized request.
        data: &'a [u8],
    },
}

/// The reason why a binary frame cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame has fewer bytes than the operation needs.
    #[error("a frame of operation {op:#04x} has at least {needed} bytes, but this one has {size}")]
    Short {
        /// The operation; 0 for an empty frame.
        op: u8,
        /// The number of bytes that the operation needs.
        needed: usize,
        /// The number of bytes in the frame.
        size: usize,
    },
    /// The operation does not exist.
    #[error("there is no binary operation {op:#04x}: 0x01 is a message, 0x02 a service request")]
    Unknown {
        /// The operation.
        op: u8,
    },
    /// The name of the encoding is longer than the frame, or not UTF-8.
    #[error(
        "the service request announces an encoding of {length} bytes of UTF-8, but {left} bytes are \
         left in the frame: use `cdr`"
    )]
    Encoding {
        /// The length of the name in bytes, according to the frame.
        length: u32,
        /// The number of bytes left in the frame.
        left: usize,
    },
}

const MESSAGE: u8 = 0x01;
const SERVICE_REQUEST: u8 = 0x02;

impl<'a> ClientFrame<'a> {
    /// Reads a frame without copying data.
    ///
    /// # Errors
    /// See [`FrameError`].
    ///
    /// ```
    /// use feros_view::protocol::ClientFrame;
    /// let frame = ClientFrame::parse(&[1, 7, 0, 0, 0, 0xaa])?;
    /// assert_eq!(frame, ClientFrame::Message { channel: 7, data: &[0xaa] });
    /// # Ok::<(), feros_view::protocol::FrameError>(())
    /// ```
    pub fn parse(frame: &'a [u8]) -> Result<Self, FrameError> {
        let Some((&op, rest)) = frame.split_first() else {
            return Err(FrameError::Short { op: 0, needed: 1, size: 0 });
        };
        let short = |needed: usize| FrameError::Short { op, needed, size: frame.len() };
        match op {
            MESSAGE => {
                let (channel, data) = number(rest).ok_or_else(|| short(5))?;
                Ok(Self::Message { channel, data })
            }
            SERVICE_REQUEST => {
                let (service, rest) = number(rest).ok_or_else(|| short(13))?;
                let (call, rest) = number(rest).ok_or_else(|| short(13))?;
                let (length, rest) = number(rest).ok_or_else(|| short(13))?;
                let refused = || FrameError::Encoding { length, left: rest.len() };
                let at = usize::try_from(length).map_err(|_| refused())?;
                let (encoding, data) = rest.split_at_checked(at).ok_or_else(refused)?;
                let encoding = std::str::from_utf8(encoding).map_err(|_| refused())?;
                Ok(Self::ServiceRequest { service, call, encoding, data })
            }
            op => Err(FrameError::Unknown { op }),
        }
    }
}

/// Splits off a number of 32 bits; returns it and the bytes after it.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn request(length: u32, rest: &[u8]) -> Vec<u8> {
        let numbers = [3_u32, 9, length];
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        std::iter::once(SERVICE_REQUEST).chain(numbers).chain(rest.iter().copied()).collect()
    }

    #[test]
    fn requests_have_their_encoding_before_their_data() {
        let frame = request(3, b"cdrdata");
        let expected =
            ClientFrame::ServiceRequest { service: 3, call: 9, encoding: "cdr", data: b"data" };
        assert_eq!(ClientFrame::parse(&frame), Ok(expected));
        assert_eq!(
            ClientFrame::parse(&request(8, b"cdrdata")),
            Err(FrameError::Encoding { length: 8, left: 7 })
        );
        assert!(ClientFrame::parse(&request(2, &[0xff, 0xfe])).is_err());
        assert!(ClientFrame::parse(&request(u32::MAX, b"")).is_err());
    }

    #[test]
    fn short_and_unknown_frames_are_refused() {
        for op in [MESSAGE, SERVICE_REQUEST] {
            assert!(matches!(ClientFrame::parse(&[op, 1, 0]), Err(FrameError::Short { .. })));
        }
        assert_eq!(ClientFrame::parse(&[9]), Err(FrameError::Unknown { op: 9 }));
        assert!(ClientFrame::parse(&[]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(frame in prop::collection::vec(any::<u8>(), 0..64)) {
            match ClientFrame::parse(&frame) {
                Ok(ClientFrame::Message { data, .. }) => prop_assert_eq!(data, &frame[5..]),
                Ok(ClientFrame::ServiceRequest { encoding, data, .. }) => {
                    prop_assert_eq!(13 + encoding.len() + data.len(), frame.len());
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
