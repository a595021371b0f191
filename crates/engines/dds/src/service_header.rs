//! The header that stock ROS 2 puts between the encapsulation and the message in the payload-header
//! mapping: the client's number and the number of the request (`cdds_request_header_t` of
//! rmw_cyclonedds_cpp).

/// The size of the header.
pub const SERVICE_HEADER_BYTES: usize = 16;
/// The size of the encapsulation before the header.
pub const ENCAPSULATION_BYTES: usize = 4;

const END: usize = ENCAPSULATION_BYTES + SERVICE_HEADER_BYTES;

/// Writes the header into a sample, into the space that was reserved for it.
pub(crate) fn write(bytes: &mut [u8], client: &[u8; 8], number: i64) {
    bytes.copy_within(SERVICE_HEADER_BYTES..END, 0);
    bytes[4..12].copy_from_slice(client);
    bytes[12..END].copy_from_slice(&number.to_le_bytes());
}

/// Returns the client's number and the number of the request, if the sample is long enough.
pub(crate) fn read(bytes: &[u8]) -> Option<([u8; 8], i64)> {
    let header = bytes.get(ENCAPSULATION_BYTES..END)?;
    let (client, number) = header.split_first_chunk::<8>()?;
    Some((*client, i64::from_le_bytes(number.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_header_is_read_back() {
        let mut sample = [[0; SERVICE_HEADER_BYTES].as_slice(), &[0, 1, 0, 0, 42]].concat();
        write(&mut sample, &[7; 8], -3);
        assert_eq!(sample[..4], [0, 1, 0, 0]);
        assert_eq!(sample[20..], [42]);
        assert_eq!(read(&sample), Some(([7; 8], -3)));
        assert_eq!(read(&sample[..19]), None);
    }
}
