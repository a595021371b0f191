//! The only part of an Ethernet frame that the link reads: its destination.

/// The bytes of an Ethernet header: destination, source, type.
pub(crate) const HEADER_BYTES: usize = 14;

/// A hardware address.
pub(crate) type Mac = [u8; 6];

/// The address of the `n`-th host of a link, counted from 0. It is locally administered, so that no
/// other device has it.
pub(crate) fn mac(host: usize) -> Mac {
    let [high, low] = u16::try_from(host).unwrap_or(u16::MAX).to_be_bytes();
    [0x02, 0xfe, 0x05, 0x00, high, low]
}

/// The destination of a frame that the host `from` sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To one host.
    Host(usize),
    /// To all hosts except the sender: broadcast, multicast, or an address that no host has.
    Others,
    /// To no host: the frame is too short to have a destination, or is addressed to its sender.
    Nowhere,
}

/// The destination of a frame that host `from` of `hosts` hosts sent.
pub(crate) fn destination(frame: &[u8], from: usize, hosts: usize) -> Destination {
    if frame.len() < HEADER_BYTES {
        return Destination::Nowhere;
    }
    match (0..hosts).find(|&host| frame.starts_with(&mac(host))) {
        Some(host) if host == from => Destination::Nowhere,
        Some(host) => Destination::Host(host),
        None => Destination::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(mac: Mac) -> Vec<u8> {
        [&mac[..], &[0; 8]].concat()
    }

    #[test]
    fn frames_go_where_they_are_addressed() {
        assert_eq!(destination(&to(mac(2)), 0, 3), Destination::Host(2));
        assert_eq!(destination(&to(mac(0)), 0, 3), Destination::Nowhere);
        assert_eq!(destination(&to(mac(7)), 0, 3), Destination::Others);
        assert_eq!(destination(&to([0xff; 6]), 1, 3), Destination::Others);
        assert_eq!(destination(&to([0x01, 0x00, 0x5e, 0x7f, 0, 1]), 1, 3), Destination::Others);
    }

    #[test]
    fn frames_without_a_header_go_nowhere() {
        for length in 0..HEADER_BYTES {
            assert_eq!(destination(&vec![0xff; length], 0, 2), Destination::Nowhere);
        }
    }
}
