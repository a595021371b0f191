//! The protocol between a container and its child. A frame consists of length, kind and content.

use std::io::{self, Read, Write};

/// The limit on the bytes of a frame, which suffices because parameters are not larger than a
/// message.
const MAX_FRAME_BYTES: u32 = 64 << 20;

/// One message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Frame {
    /// To the child: the library, which is empty for a shipped component, and the serialized load
    /// request.
    Start { library: Vec<u8>, request: Vec<u8> },
    /// From the child: the component is running; `name` is the name of its node.
    Started { name: String },
    /// From the child: the component could not be created; the text is for the client.
    Refused { text: String },
    /// From the child: the process ends because a callback panicked.
    Panicked { text: String },
}

impl Frame {
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (kind, content) = match self {
            Self::Start { library, request } => {
                let length = u32::try_from(library.len()).map_err(io::Error::other)?;
                (0, [&length.to_le_bytes()[..], library, request].concat())
            }
            Self::Started { name } => (1, name.clone().into_bytes()),
            Self::Refused { text } => (2, text.clone().into_bytes()),
            Self::Panicked { text } => (3, text.clone().into_bytes()),
        };
        let length = u32::try_from(content.len()).ok().filter(|length| *length <= MAX_FRAME_BYTES);
        let length = length.ok_or_else(|| {
            io::Error::other(format!("{} bytes are too many for one frame", content.len()))
        })?;
        to.write_all(&[&length.to_le_bytes()[..], &[kind], &content].concat())
    }

    /// Reads the next frame; returns `None` when the other side has ended.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 5];
        match from.read_exact(&mut head) {
            Ok(()) => {}
            // The socket is reset if the other process dies without reading all data in it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let [a, b, c, d, kind] = head;
        let length = u32::from_le_bytes([a, b, c, d]);
        if length > MAX_FRAME_BYTES {
            return Err(io::Error::other(format!(
                "a frame has {length} bytes, but at most {MAX_FRAME_BYTES} are allowed"
            )));
        }
        let mut content = Vec::new();
        from.take(u64::from(length)).read_to_end(&mut content)?;
        if content.len() != length as usize {
            return Ok(None);
        }
        let text = |content: Vec<u8>| String::from_utf8_lossy(&content).into_owned();
        Ok(Some(match kind {
            0 => {
                let (length, rest) =
                    content.split_first_chunk::<4>().ok_or(io::ErrorKind::InvalidData)?;
                let length = u32::from_le_bytes(*length) as usize;
                let (library, request) =
                    rest.split_at_checked(length).ok_or(io::ErrorKind::InvalidData)?;
                Self::Start { library: library.to_vec(), request: request.to_vec() }
            }
            1 => Self::Started { name: text(content) },
            2 => Self::Refused { text: text(content) },
            3 => Self::Panicked { text: text(content) },
            other => return Err(io::Error::other(format!("a frame has the unknown kind {other}"))),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Option<Frame>> {
        Frame::read(&mut &*bytes)
    }

    #[test]
    fn frames_survive_the_wire() {
        let frames = [
            Frame::Start { library: b"/lib/a.so".to_vec(), request: vec![0, 1, 2] },
            Frame::Start { library: Vec::new(), request: Vec::new() },
            Frame::Started { name: "/ns/talker".into() },
            Frame::Refused { text: String::new() },
            Frame::Panicked { text: "no camera".into() },
        ];
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut bytes).unwrap());
        let mut rest = &bytes[..];
        for frame in frames {
            assert_eq!(Frame::read(&mut rest).unwrap(), Some(frame));
        }
        assert_eq!(Frame::read(&mut rest).unwrap(), None);
    }

    #[test]
    fn invalid_frames_are_refused_and_a_cut_frame_is_the_end() {
        assert!(
            read(&[255, 255, 255, 255, 1]).is_err(),
            "no memory is taken for a length that is too large"
        );
        assert!(read(&[0, 0, 0, 0, 9]).is_err());
        assert!(read(&[2, 0, 0, 0, 0, 1, 1]).is_err());
        assert!(read(&[5, 0, 0, 0, 0, 9, 0, 0, 0, 1]).is_err());
        for cut in [&[][..], &[1], &[9, 0, 0, 0, 1, b'x']] {
            assert_eq!(read(cut).unwrap(), None);
        }
    }
}
