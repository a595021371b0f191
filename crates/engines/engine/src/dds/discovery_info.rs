//! `rmw_dds_common/msg/ParticipantEntitiesInfo`: the nodes of a participant and their endpoints.
//!
//! Gids have 16 bytes, as in ROS 2 since Iron. The messages of Humble have gids of 24 bytes and
//! cannot be parsed. This code is not generated, because the engines do not depend on generated
//! message types.

use feros_cdr::{Decode, DecodeError, Encode, EncodeError, Reader, Sizer, Writer};

use crate::gid::Gid;
use crate::name::NodeName;

/// One node and the gids of its endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEntities {
    /// The namespace and the name, in the form that was announced.
    pub name: NodeName,
    /// The gids of the node's readers.
    pub readers: Vec<Gid>,
    /// The gids of the node's writers.
    pub writers: Vec<Gid>,
}

/// All nodes of one participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantEntities {
    /// The participant.
    pub participant: Gid,
    /// The nodes.
    pub nodes: Vec<NodeEntities>,
}

/// The type of the message limits names to `string<=256`. The limit does not include the NUL.
const LONGEST_NAME: usize = 256;

impl ParticipantEntities {
    /// The message with its 4-byte header.
    ///
    /// # Errors
    /// Returns an error if a name is longer than the message's type allows, or contains a NUL.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        feros_cdr::to_vec(self)
    }

    /// Reads a message from the network. The memory that this takes is limited by the size of
    /// `bytes`.
    ///
    /// # Errors
    /// Returns the malformed part and its position.
    pub fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        feros_cdr::from_bytes(bytes)
    }
}

impl Encode for Gid {
    fn size(&self, sizer: &mut Sizer) {
        sizer.add_slice::<u8>(self.0.len());
    }

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_slice(&self.0)
    }
}

impl Decode for Gid {
    const MIN_SIZE: usize = 16;

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(*reader.read_byte_array()?))
    }
}

impl Encode for NodeEntities {
    fn size(&self, sizer: &mut Sizer) {
        sizer.add_string(self.name.namespace().len());
        sizer.add_string(self.name.name().len());
        self.readers.size(sizer);
        self.writers.size(sizer);
    }

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        for name in [self.name.namespace(), self.name.name()] {
            writer.check_bound("name", name.len(), LONGEST_NAME)?;
            writer.write_string(name)?;
        }
        self.readers.encode(writer)?;
        self.writers.encode(writer)
    }
}

impl Decode for NodeEntities {
    /// The smallest size of a node: two strings and two sequences, each with a 4-byte count.
    const MIN_SIZE: usize = 16;

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [namespace, name] = [reader.read_str()?, reader.read_str()?];
        reader.check_bound("node_namespace", namespace.len(), LONGEST_NAME)?;
        reader.check_bound("node_name", name.len(), LONGEST_NAME)?;
        let (readers, writers) = (Vec::decode(reader)?, Vec::decode(reader)?);
        Ok(Self { name: NodeName::announced(namespace, name), readers, writers })
    }
}

impl Encode for ParticipantEntities {
    fn size(&self, sizer: &mut Sizer) {
        self.participant.size(sizer);
        self.nodes.size(sizer);
    }

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.participant.encode(writer)?;
        self.nodes.encode(writer)
    }
}

impl Decode for ParticipantEntities {
    const MIN_SIZE: usize = 20;

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { participant: Gid::decode(reader)?, nodes: Vec::decode(reader)? })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sample() -> ParticipantEntities {
        let gid = |n: u8| Gid([n; 16]);
        let node = |namespace, name, readers, writers| NodeEntities {
            name: NodeName::new(namespace, name).unwrap(),
            readers,
            writers,
        };
        ParticipantEntities {
            participant: gid(9),
            nodes: vec![
                node("/", "cyc_node", vec![gid(1)], vec![gid(2), gid(3)]),
                node("/a/b", "n", vec![], vec![]),
            ],
        }
    }

    #[test]
    fn bytes_are_those_of_stock_ros_2() {
        let info = ParticipantEntities { nodes: sample().nodes[1..].to_vec(), ..sample() };
        let mut expected = vec![0, 1, 0, 0];
        expected.extend([9; 16]);
        expected.extend([1, 0, 0, 0]);
        expected.extend(b"\x05\0\0\0/a/b\0\0\0\0");
        expected.extend(b"\x02\0\0\0n\0\0\0");
        expected.extend([0; 8]);
        assert_eq!(info.encode().unwrap(), expected);
    }

    #[test]
    fn round_trip_and_big_endian() {
        let bytes = sample().encode().unwrap();
        assert_eq!(ParticipantEntities::parse(&bytes), Ok(sample()));
        let mut big = vec![0, 0, 0, 0];
        big.extend([9; 16]);
        big.extend([0, 0, 0, 1]);
        big.extend(b"\0\0\0\x02/\0\0\0\0\0\0\x02n\0\0\0\0\0\0\0\0\0\0\0");
        let parsed = ParticipantEntities::parse(&big).unwrap();
        assert_eq!(parsed.nodes[0].name, NodeName::new("/", "n").unwrap());
    }

    #[test]
    fn every_truncation_and_lying_count_is_refused() {
        let bytes = sample().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(ParticipantEntities::parse(&bytes[..length]).is_err(), "{length}");
        }
        for at in [20, 24] {
            let mut lying = bytes.clone();
            lying[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert!(ParticipantEntities::parse(&lying).is_err(), "{at}");
        }
        assert!(ParticipantEntities::parse(&[0, 7, 0, 0]).is_err());
    }

    #[test]
    fn random_bytes_never_panic() {
        let valid = sample().encode().unwrap();
        let mut state = 1_u64;
        let mut parsed = 0;
        for _ in 0..100_000 {
            let mut bytes = valid.clone();
            for _ in 0..2 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % bytes.len();
                bytes[at] = (state >> 24) as u8;
            }
            parsed += usize::from(ParticipantEntities::parse(&bytes).is_ok());
        }
        assert!(parsed > 0 && parsed < 100_000, "both outcomes happen: {parsed}");
    }
}
