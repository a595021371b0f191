//! `rmw_dds_common/msg/ParticipantEntitiesInfo`: the nodes of a participant and what belongs to them, in CDR.
//!
//! Gids have 16 bytes, as since Iron. The 24-byte gids of Humble are not read: its messages fail to parse and are counted.
//! Written by hand because an engine knows no message type but this one.

use feros_rmw::{Gid, NodeName};

/// One node and the gids of its endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeEntities {
    pub(crate) name: NodeName,
    pub(crate) readers: Vec<Gid>,
    pub(crate) writers: Vec<Gid>,
}

/// All nodes of one participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParticipantEntities {
    pub(crate) participant: Gid,
    pub(crate) nodes: Vec<NodeEntities>,
}

/// `string<=256` without its NUL.
const LONGEST_NAME: usize = 256;

impl ParticipantEntities {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![0, 1, 0, 0];
        out.extend(self.participant.0);
        put_count(&mut out, self.nodes.len());
        for node in &self.nodes {
            put_string(&mut out, node.name.namespace());
            put_string(&mut out, node.name.name());
            put_gids(&mut out, &node.readers);
            put_gids(&mut out, &node.writers);
        }
        out
    }

    /// Reads what a peer sent; `None` for anything malformed. Memory used is bounded by the size of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (header, body) = bytes.split_first_chunk::<4>()?;
        let little_endian = match header[..2] {
            [0, 1] => true,
            [0, 0] => false,
            _ => return None,
        };
        let mut reader = Reader { body, at: 0, little_endian };
        let participant = reader.gid()?;
        let count = reader.count(SMALLEST_NODE)?;
        let mut nodes = Vec::with_capacity(count);
        for _ in 0..count {
            let (namespace, name) = (reader.string()?, reader.string()?);
            nodes.push(NodeEntities {
                name: NodeName::announced(namespace, name),
                readers: reader.gids()?,
                writers: reader.gids()?,
            });
        }
        Some(Self { participant, nodes })
    }
}

/// A node takes at least its four counts.
const SMALLEST_NODE: usize = 16;

fn align(out: &mut Vec<u8>) {
    out.resize((out.len() - 4).next_multiple_of(4) + 4, 0);
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    align(out);
    out.extend(u32::try_from(count).expect("a process has fewer than 4 G endpoints").to_le_bytes());
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    put_count(out, text.len() + 1);
    out.extend(text.as_bytes());
    out.push(0);
}

fn put_gids(out: &mut Vec<u8>, gids: &[Gid]) {
    put_count(out, gids.len());
    gids.iter().for_each(|gid| out.extend(gid.0));
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    little_endian: bool,
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.body.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(bytes)
    }

    fn gid(&mut self) -> Option<Gid> {
        self.bytes(16)?.try_into().ok().map(Gid)
    }

    /// A count of elements that take at least `smallest` bytes each, so that it can be believed.
    fn count(&mut self, smallest: usize) -> Option<usize> {
        self.at = self.at.checked_next_multiple_of(4)?;
        let bytes: [u8; 4] = self.bytes(4)?.try_into().ok()?;
        let count = if self.little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        let count = usize::try_from(count).ok()?;
        (count.checked_mul(smallest)? <= self.body.len() - self.at).then_some(count)
    }

    fn string(&mut self) -> Option<&'a str> {
        let length = self.count(1)?;
        let text = self.bytes(length)?;
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        if text.len() > LONGEST_NAME || text.contains(&0) {
            return None;
        }
        std::str::from_utf8(text).ok()
    }

    fn gids(&mut self) -> Option<Vec<Gid>> {
        let count = self.count(16)?;
        (0..count).map(|_| self.gid()).collect()
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
        assert_eq!(info.encode(), expected);
    }

    #[test]
    fn round_trip_and_big_endian() {
        let bytes = sample().encode();
        assert_eq!(ParticipantEntities::parse(&bytes), Some(sample()));
        let mut big = vec![0, 0, 0, 0];
        big.extend([9; 16]);
        big.extend([0, 0, 0, 1]);
        big.extend(b"\0\0\0\x02/\0\0\0\0\0\0\x02n\0\0\0\0\0\0\0\0\0\0\0");
        let parsed = ParticipantEntities::parse(&big).unwrap();
        assert_eq!(parsed.nodes[0].name, NodeName::new("/", "n").unwrap());
    }

    #[test]
    fn every_truncation_and_lying_count_is_refused() {
        let bytes = sample().encode();
        for length in 0..bytes.len() {
            assert_eq!(ParticipantEntities::parse(&bytes[..length]), None, "{length}");
        }
        for at in [20, 24] {
            let mut lying = bytes.clone();
            lying[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert_eq!(ParticipantEntities::parse(&lying), None, "{at}");
        }
        assert_eq!(ParticipantEntities::parse(&[0, 7, 0, 0]), None);
    }

    #[test]
    fn random_bytes_never_panic() {
        let valid = sample().encode();
        let mut state = 1_u64;
        let mut parsed = 0;
        for _ in 0..100_000 {
            let mut bytes = valid.clone();
            for _ in 0..2 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % bytes.len();
                bytes[at] = (state >> 24) as u8;
            }
            parsed += usize::from(ParticipantEntities::parse(&bytes).is_some());
        }
        assert!(parsed > 0 && parsed < 100_000, "both outcomes happen: {parsed}");
    }
}
