//! The protocol between a container and the process of a component.

use std::io::{self, Read, Write};

use crate::frame;

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
        match self {
            Self::Start { library, request } => {
                let length = u32::try_from(library.len()).map_err(io::Error::other)?;
                frame::write(to, 0, &[&length.to_le_bytes(), library, request])
            }
            Self::Started { name } => frame::write(to, 1, &[name.as_bytes()]),
            Self::Refused { text } => frame::write(to, 2, &[text.as_bytes()]),
            Self::Panicked { text } => frame::write(to, 3, &[text.as_bytes()]),
        }
    }

    /// Reads the next frame; returns `None` when the other side has ended.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some((kind, content)) = frame::read(from)? else { return Ok(None) };
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
            other => return Err(frame::unknown_kind(other)),
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
