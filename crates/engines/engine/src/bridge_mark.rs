//! The mark that identifies the endpoints of a bridge between engines. The mark is part of an
//! endpoint's announcement, so other processes see it as soon as they discover the endpoint.
//!
//! Bridges do not bridge the endpoints of other bridges, so no message is sent in a circle. A
//! process that has subscriptions on several sides of a bridge may receive the same message on each
//! of them. So that the process recognizes the message, the publisher of the bridge announces the
//! original publisher, and gives the messages their original numbers.

use crate::gid::Gid;

/// The mark of an endpoint that a bridge created.
///
/// A subscription of the bridge has the same mark as the publishers that forward its messages on
/// the other side. A server of the bridge also has the same mark as the client that forwards its
/// requests. If two endpoints on different sides have the same mark, their name is already bridged
/// between these sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BridgeMark {
    /// The bridge, identified by a random number.
    pub bridge: u64,
    /// The side from which the bridge takes messages or requests, as a number within the bridge.
    pub from: u32,
}

/// The leading `-` means that the announcement lists no transports (`feros_shm::Announcement`).
const BEGIN: &str = "-,bridge=";

/// This precedes the gid of the original publisher.
const ORIGIN: &str = "of=";

impl BridgeMark {
    /// The announcement for an endpoint of the bridge.
    ///
    /// ```
    /// use feros_engine::BridgeMark;
    /// let mark = BridgeMark { bridge: 7, from: 1 };
    /// assert_eq!(BridgeMark::read(Some(&mark.announcement())), Some(mark));
    /// ```
    #[must_use]
    pub fn announcement(self) -> String {
        format!("{BEGIN}{:x}.{:x}", self.bridge, self.from)
    }

    /// The announcement for a publisher of the bridge that forwards only the messages of `origin`,
    /// with their original numbers.
    ///
    /// ```
    /// use feros_engine::{BridgeMark, Gid};
    /// let mark = BridgeMark { bridge: 7, from: 1 };
    /// let text = mark.announcement_for(Gid([3; 16]));
    /// assert_eq!(BridgeMark::read(Some(&text)), Some(mark));
    /// assert_eq!(BridgeMark::origin(Some(&text)), Some(Gid([3; 16])));
    /// assert_eq!(BridgeMark::origin(Some(&mark.announcement())), None);
    /// ```
    #[must_use]
    pub fn announcement_for(self, origin: Gid) -> String {
        format!("{},{ORIGIN}{origin}", self.announcement())
    }

    /// Reads the mark from an announcement. Returns `None` for endpoints that no bridge created.
    /// Accepts any string.
    #[must_use]
    pub fn read(announcement: Option<&str>) -> Option<Self> {
        let (bridge, from) = announcement?.strip_prefix(BEGIN)?.split_once('.')?;
        // Later versions may append further fields.
        let from = from.split(',').next().unwrap_or_default();
        Some(Self {
            bridge: u64::from_str_radix(bridge, 16).ok()?,
            from: u32::from_str_radix(from, 16).ok()?,
        })
    }

    /// Reads the announcement of an endpoint of a bridge, and returns the original publisher whose
    /// messages and numbers the endpoint forwards. Returns `None` if the announcement names no
    /// publisher. Accepts any string.
    #[must_use]
    pub fn origin(announcement: Option<&str>) -> Option<Gid> {
        let mut fields = announcement?.strip_prefix(BEGIN)?.split(',').skip(1);
        fields.find_map(|field| field.strip_prefix(ORIGIN))?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announcement::check_announcement;

    #[test]
    fn marks_are_read_as_they_are_written() {
        let mark = BridgeMark { bridge: u64::MAX - 7, from: u32::MAX };
        assert_eq!(BridgeMark::read(Some(&mark.announcement())), Some(mark));
        let origin = Gid([0xfe; 16]);
        let text = mark.announcement_for(origin);
        assert_eq!(check_announcement(&text), Ok(()));
        for text in [format!("{text},more"), text.replace(",of=", ",more=1,of=")] {
            assert_eq!(BridgeMark::read(Some(&text)), Some(mark));
            assert_eq!(BridgeMark::origin(Some(&text)), Some(origin));
        }
        for other in ["", "-", "-,bridge=", "-,bridge=1", "-,bridge=x.0", "4,1-2-3-4,0,1,2,3,phn,5"]
        {
            assert_eq!(BridgeMark::read(Some(other)), None, "{other:?}");
        }
        for other in ["", "-,of=01", "-,bridge=1.0,of=", "-,bridge=1.0,of=01.02", "-,bridge=1.0,x"]
        {
            assert_eq!(BridgeMark::origin(Some(other)), None, "{other:?}");
        }
        assert_eq!((BridgeMark::read(None), BridgeMark::origin(None)), (None, None));
    }
}
