//! The encapsulation header: four bytes at the start of every serialized message, which name the
//! encoding and the byte order.

use crate::DecodeError;

/// The length of the encapsulation header in bytes. Alignment is counted from the first byte after
/// it.
pub const HEADER_LEN: usize = 4;

/// The byte order of the numbers in a serialized message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The most significant byte is first (`CDR_BE`).
    Big,
    /// The least significant byte is first (`CDR_LE`). Feros writes this order, and so does stock
    /// ROS 2 on common hosts.
    Little,
}

impl ByteOrder {
    /// The byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// Returns the header of a message in this byte order.
    #[must_use]
    pub const fn header(self) -> [u8; HEADER_LEN] {
        match self {
            Self::Big => [0, 0, 0, 0],
            Self::Little => [0, 1, 0, 0],
        }
    }
}

/// Splits a serialized message into its byte order and its body. The two option bytes of the header
/// are ignored, because they only give the amount of padding at the end.
pub(crate) fn split(bytes: &[u8]) -> Result<(ByteOrder, &[u8]), DecodeError> {
    let Some((header, body)) = bytes.split_at_checked(HEADER_LEN) else {
        return Err(DecodeError::NoHeader { len: bytes.len() });
    };
    let identifier = [header[0], header[1]];
    match identifier {
        [0, 0] => Ok((ByteOrder::Big, body)),
        [0, 1] => Ok((ByteOrder::Little, body)),
        _ => Err(DecodeError::UnsupportedEncoding { identifier, name: encoding_name(identifier) }),
    }
}

/// Returns the name of an encapsulation identifier, from table 60 of DDS-XTypes 1.3.
fn encoding_name(identifier: [u8; 2]) -> &'static str {
    match identifier {
        [0, 2] => "PL_CDR_BE (parameter list, XCDR1)",
        [0, 3] => "PL_CDR_LE (parameter list, XCDR1)",
        [0, 4] => "XML",
        [0, 6] => "CDR2_BE (XCDR2)",
        [0, 7] => "CDR2_LE (XCDR2)",
        [0, 8] => "D_CDR2_BE (delimited XCDR2)",
        [0, 9] => "D_CDR2_LE (delimited XCDR2)",
        [0, 10] => "PL_CDR2_BE (parameter list, XCDR2)",
        [0, 11] => "PL_CDR2_LE (parameter list, XCDR2)",
        _ => "unknown",
    }
}
