//! The format of a log. A log begins with a header of [`HEADER_BYTES`]:
//!
//! | offset | content |
//! |--:|---|
//! | 0 | `FEROSNB1` |
//! | 8 | pulses, a number that its owner increments from time to time |
//! | 16 | manual pulses, incremented when the user asserts that it is alive |
//! | 24 | the number of announcements before the first record of this log |
//! | 32 | the name of the owner's bell |
//!
//! Records follow, each aligned to 8 bytes: the size of the body (4 bytes), the kind, whether it is
//! alive, 2 bytes of zeros, 16 bytes of id, the body, and zeros up to the next multiple of 8.
//! All numbers are little-endian.

use std::fmt;

use crate::{Kind, Record};

/// The size of the header.
pub(crate) const HEADER_BYTES: usize = 40;
/// Where the header contains the pulses and the manual pulses.
pub(crate) const PULSES_AT: [u64; 2] = [8, 16];
/// The size of a record without its body.
const HEAD_BYTES: usize = 24;
/// The largest body of a record.
pub(crate) const MOST_BODY_BYTES: usize = 1 << 20;
/// The largest log.
pub(crate) const MOST_LOG_BYTES: u64 = 64 << 20;

const MAGIC: [u8; 8] = *b"FEROSNB1";

/// The header of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The pulses and the manual pulses.
    pub(crate) pulses: [u64; 2],
    /// The number of announcements before the first record of this log.
    pub(crate) first: u64,
    /// The name of the owner's bell.
    pub(crate) owner: u64,
}

impl Header {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let numbers = [self.pulses[0], self.pulses[1], self.first, self.owner];
        let numbers = numbers.map(u64::to_le_bytes);
        [&MAGIC, numbers.as_flattened()].concat()
    }

    /// `None` if these bytes are no header.
    pub(crate) fn of(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<8>();
        let [magic, pulses, manual_pulses, first, owner] = *words else { return None };
        let [pulses, manual_pulses, first, owner] =
            [pulses, manual_pulses, first, owner].map(u64::from_le_bytes);
        (magic == MAGIC).then_some(Self { pulses: [pulses, manual_pulses], first, owner })
    }
}

/// The bytes of a record, whose body has at most [`MOST_BODY_BYTES`].
pub(crate) fn encode(record: &Record) -> Vec<u8> {
    let body = &record.bytes;
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len().next_multiple_of(8));
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend([record.kind as u8, u8::from(record.is_alive), 0, 0]);
    bytes.extend(record.id);
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// The reason why the further content of a log is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    Header,
    Kind(u8),
    Body(u32),
    TooLong(u64),
    Shrunk { from: u64, to: u64 },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("it does not begin like a log"),
            Self::Kind(kind) => write!(f, "it has an announcement of the unknown kind {kind}"),
            Self::Body(bytes) => write!(
                f,
                "it has an announcement of {bytes} bytes, and at most {MOST_BODY_BYTES} are \
                 possible"
            ),
            Self::TooLong(bytes) => {
                write!(f, "it has {bytes} bytes, and at most {MOST_LOG_BYTES} are possible")
            }
            Self::Shrunk { from, to } => write!(f, "it has shrunk from {from} to {to} bytes"),
        }
    }
}

/// What was taken from the bytes of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) records: Vec<Record>,
    /// The bytes of these records. What follows is part of a record, or malformed.
    pub(crate) bytes: usize,
    pub(crate) malformed: Option<Malformed>,
}

/// Takes all complete records from bytes that begin with a record.
pub(crate) fn take(bytes: &[u8]) -> Taken {
    let mut taken = Taken::default();
    while let Some((head, rest)) = bytes[taken.bytes..].split_first_chunk::<HEAD_BYTES>() {
        let [s0, s1, s2, s3, kind, is_alive, _, _, id @ ..] = *head;
        let size = u32::from_le_bytes([s0, s1, s2, s3]);
        let body_bytes = size as usize;
        let Some(kind) = Kind::of(kind) else {
            taken.malformed = Some(Malformed::Kind(kind));
            break;
        };
        if body_bytes > MOST_BODY_BYTES {
            taken.malformed = Some(Malformed::Body(size));
            break;
        }
        let padded_bytes = body_bytes.next_multiple_of(8);
        if rest.len() < padded_bytes {
            break;
        }
        let bytes = rest[..body_bytes].to_vec();
        taken.records.push(Record { kind, is_alive: is_alive != 0, id, bytes });
        taken.bytes += HEAD_BYTES + padded_bytes;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: Kind, body_bytes: usize) -> Record {
        Record {
            kind,
            is_alive: kind != Kind::Reader,
            id: [kind as u8; 16],
            bytes: vec![7; body_bytes],
        }
    }

    #[test]
    fn a_header_comes_back() {
        let header = Header { pulses: [1, 2], first: 3, owner: u64::MAX - 4 };
        let bytes: [u8; HEADER_BYTES] = header.to_bytes().try_into().unwrap();
        assert_eq!(bytes[PULSES_AT[0] as usize], 1);
        assert_eq!(bytes[PULSES_AT[1] as usize], 2);
        assert_eq!(Header::of(&bytes), Some(header));
        assert_eq!(Header::of(&[0; HEADER_BYTES]), None);
    }

    #[test]
    fn only_complete_records_are_taken() {
        let records: Vec<Record> =
            [(Kind::Participant, 0), (Kind::Writer, 5), (Kind::Reader, 8), (Kind::Nodes, 9)]
                .map(|(kind, size)| record(kind, size))
                .into();
        let all = records.iter().flat_map(encode).collect::<Vec<u8>>();
        let ends: Vec<usize> = records
            .iter()
            .scan(0, |end, record| {
                *end += encode(record).len();
                Some(*end)
            })
            .collect();
        for size in 0..=all.len() {
            let taken = take(&all[..size]);
            let complete = ends.iter().filter(|end| **end <= size).count();
            assert_eq!(taken.records, records[..complete]);
            assert_eq!(taken.bytes, complete.checked_sub(1).map_or(0, |last| ends[last]));
            assert_eq!(taken.malformed, None);
        }
    }

    #[test]
    fn what_is_before_malformed_bytes_is_taken() {
        let good = record(Kind::Writer, 3);
        let mut kind = encode(&good);
        kind[4] = 9;
        let mut size = encode(&good);
        size[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        let cases = [(kind, Malformed::Kind(9)), (size, Malformed::Body(u32::MAX))];
        for (bad, malformed) in cases {
            let before = encode(&good);
            let taken = take(&[before.clone(), bad].concat());
            let malformed = Some(malformed);
            assert_eq!(
                taken,
                Taken { records: vec![good.clone()], bytes: before.len(), malformed }
            );
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        for size in 0..2000 {
            let mut bytes: Vec<u8> = (0..size % 200).map(|_| random()).collect();
            if let Some(kind) = bytes.get_mut(4) {
                *kind = 1 + *kind % 4;
            }
            let taken = take(&bytes);
            assert!(taken.bytes <= bytes.len());
        }
    }
}
