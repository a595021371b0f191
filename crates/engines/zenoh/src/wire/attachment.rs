//! The attachment of every message, request and response: its number, source timestamp and gid
//! (`ros2/rmw_zenoh:docs/design.md`, "Publishers").

use feros_engine::Gid;

/// The size of an attachment, in bytes. It consists of two numbers, the length of the gid, and the
/// gid.
pub const SIZE_BYTES: usize = 8 + 8 + 1 + 16;

/// The data that accompanies a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachment {
    /// The publisher's number of the message, or the client's number of the request.
    pub number: i64,
    /// The source timestamp, in nanoseconds since the Unix epoch.
    pub stamp_nanos: i64,
    /// The gid of the publisher. For requests and responses, it is the gid of the client.
    pub gid: Gid,
}

impl Attachment {
    /// Encodes the attachment for the wire.
    pub fn encode(&self) -> [u8; SIZE_BYTES] {
        let mut bytes = [0; SIZE_BYTES];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stamp_nanos.to_le_bytes());
        bytes[16] = 16;
        bytes[17..].copy_from_slice(&self.gid.0);
        bytes
    }

    /// Reads an attachment. Returns `None` if its size or the length of the gid is wrong.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SIZE_BYTES] = bytes.try_into().ok()?;
        let number = |at: usize| bytes[at..at + 8].try_into().map(i64::from_le_bytes).ok();
        let (number, stamp_nanos) = (number(0)?, number(8)?);
        let gid = Gid(bytes[17..].try_into().ok()?);
        (bytes[16] == 16).then_some(Self { number, stamp_nanos, gid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_lie_as_the_serializer_of_zenoh_puts_them() {
        let gid = Gid([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
        let attachment = Attachment { number: 0x0102, stamp_nanos: -1, gid };
        let bytes = attachment.encode();
        let expected = [
            &[2, 1, 0, 0, 0, 0, 0, 0][..],
            &[0xff; 8],
            &[16],
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        ];
        assert_eq!(bytes[..], expected.concat());
        assert_eq!(Attachment::decode(&bytes), Some(attachment));
    }

    #[test]
    fn others_are_refused() {
        let good = Attachment { number: 1, stamp_nanos: 2, gid: Gid::default() }.encode();
        let mut longer_gid = good;
        longer_gid[16] = 17;
        for bad in [&[][..], &good[..32], &[&good[..], &[0]].concat(), &longer_gid] {
            assert_eq!(Attachment::decode(bad), None, "{bad:?}");
        }
    }
}
