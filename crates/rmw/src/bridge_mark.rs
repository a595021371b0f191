//! The mark by which the endpoints of a bridge between engines are recognized. It is in their
//! announcements, so it is visible as soon as the endpoint is.
//!
//! Other bridges do not bridge these endpoints again, so nothing goes in circles. A subscription on
//! several sides of the bridge can tell which messages it already has: a publisher of the bridge
//! names the publisher whose messages it passes on, and gives them the numbers that this publisher
//! gave them.

use crate::gid::Gid;

/// The mark of an endpoint that a bridge made.
///
/// A subscription and the publishers that pass on what it receives have the same mark, each on its
/// side; so have a client and the server that stands for the server it calls. Two endpoints with
/// one mark show that this name is already bridged from the one side to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BridgeMark {
    /// The bridge: a random number.
    pub bridge: u64,
    /// The number, within the bridge, of the side whose messages or requests it takes.
    pub from: u32,
}

/// The `-` in front says that the text describes no transports (`feros_shm::Announcement`).
const BEGIN: &str = "-,bridge=";

/// The prefix of the gid of the publisher whose messages are passed on.
const ORIGIN: &str = "of=";

impl BridgeMark {
    /// The announcement of an endpoint of the bridge.
    ///
    /// ```
    /// use feros_rmw::BridgeMark;
    /// let mark = BridgeMark { bridge: 7, from: 1 };
    /// assert_eq!(BridgeMark::read(Some(&mark.announcement())), Some(mark));
    /// ```
    #[must_use]
    pub fn announcement(self) -> String {
        format!("{BEGIN}{:x}.{:x}", self.bridge, self.from)
    }

    /// The announcement of a publisher of the bridge that passes on the messages of `origin` alone,
    /// each with the number that `origin` gave it.
    ///
    /// ```
    /// use feros_rmw::{BridgeMark, Gid};
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

    /// The mark in an announcement; `None` for endpoints that no bridge made. Any text is
    /// permitted.
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

    /// The publisher whose messages an endpoint of a bridge passes on, with their numbers, if the
    /// announcement names one. Any text is permitted.
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
