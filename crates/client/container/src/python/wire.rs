//! The protocol between a container and a process with an interpreter; `_component_host.py` of the
//! package `feros` is the other side. A frame has the number of a component before its content.

use std::io::{self, Read, Write};

use crate::frame;

/// The contents of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// To the process: start a component; the content is the serialized load request.
    Start,
    /// To the process: end a component.
    Stop,
    /// From the process: the component is running; the content is the name of its node.
    Started,
    /// From the process: the component could not be created; the content is for the client.
    Refused,
    /// From the process: Python has no such component; the content says where Python searched.
    Unknown,
    /// From the process: the component has failed; the content is the reason.
    Failed,
    /// From the process: the component has ended, because the container asked for it.
    Ended,
    /// From the process: Python has the package, and no class for the component; the content says
    /// which components it has, or what is wrong with their entry point.
    NoClass,
}

/// All kinds, in the order of their numbers.
const KINDS: [Kind; 8] = [
    Kind::Start,
    Kind::Stop,
    Kind::Started,
    Kind::Refused,
    Kind::Unknown,
    Kind::Failed,
    Kind::Ended,
    Kind::NoClass,
];

/// One message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// The number of the component, which is unique within the process.
    pub(super) id: u64,
    pub(super) content: Vec<u8>,
}

impl Frame {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.content).into_owned()
    }

    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        frame::write(to, self.kind as u8, &[&self.id.to_le_bytes(), &self.content])
    }

    /// Reads the next frame; returns `None` when the other side has ended.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some((number, content)) = frame::read(from)? else { return Ok(None) };
        let (id, content) = content.split_first_chunk().ok_or(io::ErrorKind::InvalidData)?;
        let kind = *KINDS.get(usize::from(number)).ok_or_else(|| frame::unknown_kind(number))?;
        Ok(Some(Self { kind, id: u64::from_le_bytes(*id), content: content.to_vec() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_the_wire() {
        for kind in KINDS {
            let frame = Frame { kind, id: u64::MAX - 1, content: "/ns/talker".into() };
            let mut bytes = Vec::new();
            frame.write(&mut bytes).unwrap();
            assert_eq!(Frame::read(&mut &*bytes).unwrap(), Some(frame));
            assert_eq!(Frame::read(&mut &bytes[..bytes.len() - 1]).unwrap(), None);
        }
    }

    #[test]
    fn invalid_frames_are_refused() {
        assert!(Frame::read(&mut &[0, 0, 0, 0, 2][..]).is_err(), "it has no number");
        let unknown = [8, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0];
        assert!(Frame::read(&mut &unknown[..]).is_err(), "its kind is unknown");
    }
}
