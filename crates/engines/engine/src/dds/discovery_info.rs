//! `rmw_dds_common/msg/ParticipantEntitiesInfo`: the nodes of a participant and their endpoints.
//!
//! Since ROS 2 Iron, gids have 16 bytes, the GUID of DDS. In Humble they have 24 bytes, the GUID
//! and eight zeros. The topic and the type have the same names in both forms, so [`parse`]
//! recognizes the form from the message itself. This code is not generated, because the engines do
//! not depend on generated message types.
//!
//! [`parse`]: ParticipantEntities::parse

use feros_cdr::{DecodeError, Encode, EncodeError, Reader, Sizer, Writer};

use crate::discovery_form::DiscoveryForm;
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
    /// The form of the message.
    pub form: DiscoveryForm,
    /// The participant.
    pub participant: Gid,
    /// The nodes.
    pub nodes: Vec<NodeEntities>,
}

/// The reason why bytes are no announcement of nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryInfoError {
    /// The bytes are in neither of the two forms.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
    /// Bytes follow the message. They are not the padding of the transport, which has at most 3
    /// bytes.
    #[error("{bytes} bytes follow the announcement of the nodes")]
    Trailing {
        /// The number of bytes.
        bytes: usize,
    },
}

/// The type of the message limits names to `string<=256`. The limit does not include the NUL.
const LONGEST_NAME: usize = 256;
/// The size of a GUID, with which a gid begins.
const GUID_BYTES: usize = 16;
/// The zeros at the end of a gid of Humble (`RMW_GID_STORAGE_SIZE` is 24 there).
const ZEROS: [u8; 8] = [0; 8];
/// The size of the count of a sequence.
const COUNT_BYTES: usize = 4;
/// The smallest size of a node: two strings and two sequences, each with a count.
const SMALLEST_NODE_BYTES: usize = 4 * COUNT_BYTES;
/// The most padding that a transport adds.
const MOST_PADDING_BYTES: usize = 3;

/// The size of a gid.
fn gid_bytes(form: DiscoveryForm) -> usize {
    match form {
        DiscoveryForm::Humble => GUID_BYTES + ZEROS.len(),
        DiscoveryForm::SinceIron => GUID_BYTES,
    }
}

impl ParticipantEntities {
    /// The message with its 4-byte header.
    ///
    /// # Errors
    /// Returns an error if a name is longer than the message's type allows, or contains a NUL.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        feros_cdr::to_vec(self)
    }

    /// Reads a message from the network, in either form. The memory that this takes is limited by
    /// the size of `bytes`.
    ///
    /// No message can be read in both forms. If the eight bytes after the GUID of the participant
    /// are zeros, the form since Iron has no nodes, and ends four bytes after the GUID; the form of
    /// Humble ends at least twelve bytes after it. If they are not zeros, the form is not Humble.
    ///
    /// # Errors
    /// Returns the malformed part and its position.
    pub fn parse(bytes: &[u8]) -> Result<Self, DiscoveryInfoError> {
        let mut reader = Reader::new(bytes)?;
        let participant = Gid(*reader.read_byte_array()?);
        let mut after_zeros = reader;
        let has_zeros = after_zeros.read_byte_array() == Ok(&ZEROS);
        let form = if has_zeros && after_zeros.remaining_bytes() >= COUNT_BYTES {
            reader = after_zeros;
            DiscoveryForm::Humble
        } else {
            DiscoveryForm::SinceIron
        };
        let count = reader.read_count(SMALLEST_NODE_BYTES)?;
        let nodes = (0..count).map(|_| read_node(&mut reader, form));
        let nodes: Vec<_> = nodes.collect::<Result<_, _>>()?;
        match reader.remaining_bytes() {
            0..=MOST_PADDING_BYTES => Ok(Self { form, participant, nodes }),
            bytes => Err(DiscoveryInfoError::Trailing { bytes }),
        }
    }
}

fn read_node(reader: &mut Reader<'_>, form: DiscoveryForm) -> Result<NodeEntities, DecodeError> {
    let [namespace, name] = [reader.read_str()?, reader.read_str()?];
    reader.check_bound("node_namespace", namespace.len(), LONGEST_NAME)?;
    reader.check_bound("node_name", name.len(), LONGEST_NAME)?;
    let name = NodeName::announced(namespace, name);
    Ok(NodeEntities { name, readers: read_gids(reader, form)?, writers: read_gids(reader, form)? })
}

fn read_gids(reader: &mut Reader<'_>, form: DiscoveryForm) -> Result<Vec<Gid>, DecodeError> {
    let size_bytes = gid_bytes(form);
    let count = reader.read_count(size_bytes)?;
    let gids = reader.read_bytes(count * size_bytes)?.chunks_exact(size_bytes);
    // Each chunk begins with a GUID, so `filter_map` leaves out none.
    Ok(gids.filter_map(|gid| gid.first_chunk().copied().map(Gid)).collect())
}

fn write_gid(writer: &mut Writer<'_>, form: DiscoveryForm, gid: Gid) -> Result<(), EncodeError> {
    writer.write_slice(&gid.0)?;
    match form {
        DiscoveryForm::Humble => writer.write_slice(&ZEROS),
        DiscoveryForm::SinceIron => Ok(()),
    }
}

impl Encode for ParticipantEntities {
    fn size(&self, sizer: &mut Sizer) {
        let gid_bytes = gid_bytes(self.form);
        sizer.add_slice::<u8>(gid_bytes);
        sizer.add_count();
        for node in &self.nodes {
            sizer.add_string(node.name.namespace().len());
            sizer.add_string(node.name.name().len());
            for gids in [&node.readers, &node.writers] {
                sizer.add_count();
                sizer.add_slice::<u8>(gid_bytes * gids.len());
            }
        }
    }

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        write_gid(writer, self.form, self.participant)?;
        writer.write_count(self.nodes.len())?;
        for node in &self.nodes {
            for name in [node.name.namespace(), node.name.name()] {
                writer.check_bound("name", name.len(), LONGEST_NAME)?;
                writer.write_string(name)?;
            }
            for gids in [&node.readers, &node.writers] {
                writer.write_count(gids.len())?;
                gids.iter().try_for_each(|gid| write_gid(writer, self.form, *gid))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const FORMS: [DiscoveryForm; 2] = [DiscoveryForm::SinceIron, DiscoveryForm::Humble];

    fn gid(byte: u8) -> Gid {
        Gid([byte; 16])
    }

    fn node(namespace: &str, name: &str, readers: Vec<Gid>, writers: Vec<Gid>) -> NodeEntities {
        NodeEntities { name: NodeName::announced(namespace, name), readers, writers }
    }

    fn sample(form: DiscoveryForm) -> ParticipantEntities {
        let nodes = vec![
            node("/", "cyc_node", vec![gid(1)], vec![gid(2), gid(3)]),
            node("/a/b", "n", vec![], vec![]),
        ];
        ParticipantEntities { form, participant: gid(9), nodes }
    }

    /// Numbers that are the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn random(&mut self) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            self.0 >> 24
        }

        fn below(&mut self, limit: usize) -> usize {
            (self.random() % limit as u64) as usize
        }

        /// Gids as participants have them, many of whose bytes are zeros, and others.
        fn gid(&mut self) -> Gid {
            let mask = self.random();
            Gid(std::array::from_fn(
                |at| if (mask >> at) & 1 == 0 { 0 } else { self.random() as u8 },
            ))
        }

        fn gids(&mut self) -> Vec<Gid> {
            (0..self.below(4)).map(|_| self.gid()).collect()
        }

        fn text(&mut self, longest: usize) -> String {
            (0..self.below(longest + 1)).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
        }

        fn announcement(&mut self, form: DiscoveryForm) -> ParticipantEntities {
            let participant = self.gid();
            let nodes = (0..self.below(4))
                .map(|_| {
                    let namespace = format!("/{}", self.text(12));
                    node(&namespace, &self.text(LONGEST_NAME), self.gids(), self.gids())
                })
                .collect();
            ParticipantEntities { form, participant, nodes }
        }
    }

    #[test]
    fn bytes_are_those_of_stock_ros_2() {
        let of_form = |form, zeros: &[u8]| {
            let nodes = vec![node("/a/b", "n", vec![gid(1)], vec![])];
            let info = ParticipantEntities { form, participant: gid(9), nodes };
            let expected = [
                &[0, 1, 0, 0][..],
                &[9; 16],
                zeros,
                &[1, 0, 0, 0],
                b"\x05\0\0\0/a/b\0\0\0\0",
                b"\x02\0\0\0n\0\0\0",
                &[1, 0, 0, 0],
                &[1; 16],
                zeros,
                &[0; 4],
            ];
            assert_eq!(info.encode().unwrap(), expected.concat(), "{form}");
        };
        of_form(DiscoveryForm::SinceIron, &[]);
        of_form(DiscoveryForm::Humble, &[0; 8]);
    }

    #[test]
    fn round_trip_and_big_endian() {
        for form in FORMS {
            let bytes = sample(form).encode().unwrap();
            assert_eq!(ParticipantEntities::parse(&bytes), Ok(sample(form)));
            let mut big = vec![0, 0, 0, 0];
            big.extend([9; 16]);
            big.extend(vec![0; gid_bytes(form) - GUID_BYTES]);
            big.extend([0, 0, 0, 1]);
            big.extend(b"\0\0\0\x02/\0\0\0\0\0\0\x02n\0\0\0\0\0\0\0\0\0\0\0");
            let parsed = ParticipantEntities::parse(&big).unwrap();
            assert_eq!((parsed.form, parsed.nodes.len()), (form, 1));
            assert_eq!(parsed.nodes[0].name, NodeName::new("/", "n").unwrap());
        }
    }

    #[test]
    fn each_message_is_read_in_its_own_form() {
        let mut numbers = Numbers(1);
        for round in 0..20_000 {
            let given = numbers.announcement(FORMS[round % 2]);
            let mut bytes = given.encode().unwrap();
            assert_eq!(ParticipantEntities::parse(&bytes).as_ref(), Ok(&given));
            bytes.resize(bytes.len() + numbers.below(4), numbers.random() as u8);
            assert_eq!(ParticipantEntities::parse(&bytes), Ok(given), "with padding");
        }
    }

    #[test]
    fn a_participant_without_nodes_has_a_form_too() {
        for (form, length) in [(DiscoveryForm::SinceIron, 24), (DiscoveryForm::Humble, 32)] {
            for participant in [gid(9), gid(0)] {
                let none = ParticipantEntities { form, participant, nodes: Vec::new() };
                let bytes = none.encode().unwrap();
                assert_eq!(bytes.len(), length);
                assert_eq!(ParticipantEntities::parse(&bytes), Ok(none));
            }
        }
    }

    #[test]
    fn messages_in_neither_form_are_refused() {
        let encoded = |form, nodes| {
            ParticipantEntities { form, participant: gid(9), nodes }.encode().unwrap()
        };
        // No byte between the GUID and the count of Humble may differ from zero.
        for at in 20..28 {
            let mut bytes = encoded(DiscoveryForm::Humble, sample(DiscoveryForm::Humble).nodes);
            bytes[at] = 1;
            assert!(ParticipantEntities::parse(&bytes).is_err(), "{at}");
        }
        let mut bytes = encoded(DiscoveryForm::SinceIron, Vec::new());
        bytes.extend([1; 4]);
        let error = ParticipantEntities::parse(&bytes).unwrap_err();
        assert_eq!(error, DiscoveryInfoError::Trailing { bytes: 4 });
        let mut bytes = encoded(DiscoveryForm::Humble, Vec::new());
        bytes.extend([0; 4]);
        let error = ParticipantEntities::parse(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "4 bytes follow the announcement of the nodes");
    }

    #[test]
    fn every_truncation_and_lying_count_is_refused() {
        for form in FORMS {
            let bytes = sample(form).encode().unwrap();
            for length in 0..bytes.len() {
                let read = ParticipantEntities::parse(&bytes[..length]);
                // The zeros of a participant's gid are a count, if nothing follows them.
                let is_whole = form == DiscoveryForm::Humble && (24..28).contains(&length);
                assert_eq!(read.is_ok(), is_whole, "{form} {length}");
                assert!(read.is_err() || read.is_ok_and(|read| read.nodes.is_empty()));
            }
            let count = 4 + gid_bytes(form);
            for at in [count, count + 4] {
                let mut lying = bytes.clone();
                lying[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
                assert!(ParticipantEntities::parse(&lying).is_err(), "{form} {at}");
            }
        }
        assert!(ParticipantEntities::parse(&[0, 7, 0, 0]).is_err());
        let too_long = sample(DiscoveryForm::Humble);
        let nodes = vec![node("/", &"x".repeat(LONGEST_NAME + 1), vec![], vec![])];
        assert!(ParticipantEntities { nodes, ..too_long }.encode().is_err());
    }

    #[test]
    fn random_bytes_never_panic() {
        let mut numbers = Numbers(1);
        for form in FORMS {
            let valid = sample(form).encode().unwrap();
            let mut parsed = 0;
            for _ in 0..100_000 {
                let mut bytes = valid.clone();
                for _ in 0..2 {
                    let at = numbers.below(bytes.len());
                    bytes[at] = numbers.random() as u8;
                }
                parsed += usize::from(ParticipantEntities::parse(&bytes).is_ok());
            }
            assert!(parsed > 0 && parsed < 100_000, "both outcomes happen: {parsed}");
        }
        for _ in 0..100_000 {
            let length = numbers.below(64);
            let mut bytes: Vec<u8> = (0..length).map(|_| numbers.random() as u8).collect();
            bytes.iter_mut().take(4).zip([0, 1, 0, 0]).for_each(|(byte, header)| *byte = header);
            let _ = ParticipantEntities::parse(&bytes); // only a panic is a failure
        }
    }
}
