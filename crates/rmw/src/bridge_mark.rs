//! How endpoints that a bridge between engines made are known: by a mark in their announcements,
//! which is there as soon as the endpoint is.
//!
//! Other bridges do not bridge them again, so nothing goes in circles. Who is on several sides of
//! the bridge knows what it has heard already: a publisher of the bridge says whose messages it
//! passes on, and gives them the numbers that they have there.

use crate::gid::Gid;

/// The mark of an endpoint that a bridge made.
///
/// A subscription and the publishers that pass on what it receives have the same mark, each on its
/// side; so have a client and the server that stands for what it calls. Who sees both knows that
/// this name is taken from the one side to the other already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BridgeMark {
    /// The bridge: a random number.
    pub bridge: u64,
    /// The side that it takes from, counted by the bridge.
    pub from: u32,
}

/// Before it stands what says that nothing of transports follows (`feros_shm::Announcement`).
const BEGIN: &str = "-,bridge=";

/// Before the publisher whose messages are passed on.
const ORIGIN: &str = "of=";

impl BridgeMark {
    /// What an endpoint of the bridge announces.
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

    /// What a publisher of the bridge announces that passes on the messages of `origin` alone, each
    /// with the number that it has there.
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
        // Later versions may say more.
        let from = from.split(',').next().unwrap_or_default();
        Some(Self {
            bridge: u64::from_str_radix(bridge, 16).ok()?,
            from: u32::from_str_radix(from, 16).ok()?,
        })
    }

    /// Whose messages an endpoint of a bridge passes on, with their numbers, if it says so. Any
    /// text is permitted.
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
