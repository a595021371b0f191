//! The policies of discovered endpoints, without policies that the endpoints did not announce.

use feros_engine::{Gid, History, QosProfile};

/// The first bytes of all GUIDs of Fast DDS. Endpoints of Fast DDS do not announce their history,
/// so the engine reports the DDS default, which is to keep the last message.
const VENDOR_FAST_DDS: [u8; 2] = [0x01, 0x0f];

/// Returns the policies of a discovered endpoint as the engine reported them, without the policies
/// that were not announced. A history that was not announced becomes [`History::Unknown`] and has
/// no depth.
pub fn as_announced(gid: &Gid, mut qos: QosProfile) -> QosProfile {
    let is_default = (qos.history, qos.depth) == (History::KeepLast, 1);
    if is_default && gid.0.starts_with(&VENDOR_FAST_DDS) {
        (qos.history, qos.depth) = (History::Unknown, 0);
    }
    qos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_nobody_announced_has_no_depth() {
        let mut fast_dds = Gid([7; 16]);
        fast_dds.0[..2].copy_from_slice(&VENDOR_FAST_DDS);
        let read = QosProfile::keep_last(1).transient_local();
        let announced = as_announced(&fast_dds, read);
        assert_eq!((announced.history, announced.depth), (History::Unknown, 0));
        assert_eq!(announced.durability, read.durability);
        assert_eq!(as_announced(&Gid([7; 16]), read), read);
        let deep = QosProfile::keep_last(5);
        assert_eq!(as_announced(&fast_dds, deep), deep);
    }
}
