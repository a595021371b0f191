//! How bridges know each other's endpoints: by a mark in their announcements, which is there as
//! soon as the endpoint is. Nothing that a bridge made is bridged again, so nothing goes in
//! circles.

use feros_rmw::twin;

/// The mark of an endpoint that a bridge made.
///
/// A subscription and the publishers that pass on what it receives have the same mark, each on its
/// side; so have a client and the server that stands for what it calls. Who sees both knows that
/// this name is taken from the one side to the other already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Mark {
    /// The bridge: a random number.
    pub(crate) bridge: u64,
    /// The side that it takes from, counted by the bridge.
    pub(crate) from: u32,
}

/// Before it stands what says that nothing of transports follows (`feros_shm::Announcement`).
const BEGIN: &str = "-,bridge=";

impl Mark {
    pub(crate) fn encode(self) -> String {
        format!("{BEGIN}{:x}.{:x}", self.bridge, self.from)
    }

    /// The mark in an announcement; `None` for endpoints that no bridge made.
    pub(crate) fn read(announcement: Option<&str>) -> Option<Self> {
        let (bridge, from) = announcement?.strip_prefix(BEGIN)?.split_once('.')?;
        // Later versions may say more.
        let from = from.split(',').next().unwrap_or_default();
        Some(Self {
            bridge: u64::from_str_radix(bridge, 16).ok()?,
            from: u32::from_str_radix(from, 16).ok()?,
        })
    }
}

/// The process of an endpoint of Feros: what its announcement says up to the process's random token
/// (`feros_shm::Announcement`); `None` for endpoints of others.
///
/// A process that is on two sides itself needs no bridge between them.
pub(crate) fn process(announcement: Option<&str>) -> Option<&str> {
    let (_, text) = twin::read(announcement?);
    if text.starts_with('-') {
        return None;
    }
    let (token_ends, _) = text.match_indices(',').nth(4)?;
    Some(&text[..token_ends])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_are_written() {
        let mark = Mark { bridge: u64::MAX - 7, from: 1 };
        assert_eq!(Mark::read(Some(&mark.encode())), Some(mark));
        assert_eq!(Mark::read(Some(&format!("{},more", mark.encode()))), Some(mark));
        for other in ["", "-", "-,bridge=", "-,bridge=1", "-,bridge=x.0", "4,1-2-3-4,0,1,2,3,phn,5"]
        {
            assert_eq!(Mark::read(Some(other)), None, "{other:?}");
        }
        assert_eq!(Mark::read(None), None);
        let [one, two] = ["4,1-2-3-4,0,1,2,3,phn,5", "4,1-2-3-4,0,1,2,9,phn,!x"];
        assert_eq!(process(Some(one)), Some("4,1-2-3-4,0,1,2"));
        assert_eq!(process(Some(one)), process(Some(two)));
        let of_twin = twin::announcement(feros_rmw::Gid([3; 16]), one);
        assert_eq!(process(Some(&of_twin)), process(Some(one)));
        assert_eq!([process(None), process(Some("x")), process(Some(&mark.encode()))], [None; 3]);
        assert_eq!(feros_rmw::announcement::check_announcement(&mark.encode()), Ok(()));
    }
}
