//! The identity of an endpoint, in the form that stock ROS 2 shows.

use std::fmt;
use std::str::FromStr;

/// The globally unique identity of an endpoint or participant. It has 16 bytes, as in `rmw_gid_t`
/// since Iron.
///
/// For DDS engines, a gid is the GUID in the form that it has on the wire: the 12-byte prefix and
/// the 4-byte entity id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// Whether both gids belong to the same session. Each gid may be the gid of an endpoint or of
    /// the session itself.
    ///
    /// A DDS gid always contains its session. If the gids of an engine are hashes, the session is
    /// known only for endpoints of this process, which [`SessionMember`] registers.
    pub fn is_of_session_of(&self, other: &Self) -> bool {
        self.participant_prefix() == other.participant_prefix()
            || sessions::of(*self)
                .is_some_and(|session| session == sessions::of(*other).unwrap_or(*other))
            || sessions::of(*other).is_some_and(|session| session == *self)
    }

    /// The part that all endpoints of one participant share (the DDS GUID prefix).
    pub fn participant_prefix(&self) -> [u8; 12] {
        let mut prefix = [0; 12];
        prefix.copy_from_slice(&self.0[..12]);
        prefix
    }
}

/// Registers the session of an endpoint of this process while this value exists, for engines whose
/// gids do not contain the session.
#[derive(Debug)]
pub struct SessionMember(Gid);

impl SessionMember {
    /// Registers the session to which the endpoint belongs.
    pub fn new(endpoint: Gid, session: Gid) -> Self {
        sessions::insert(endpoint, session);
        Self(endpoint)
    }
}

impl Drop for SessionMember {
    fn drop(&mut self) {
        sessions::remove(self.0);
    }
}

/// The sessions of the endpoints of this process whose gids do not contain the session.
mod sessions {
    use std::collections::HashMap;
    use std::sync::LazyLock;

    use feros_sync::{AtomicBool, Ordering, RwLock};

    use super::Gid;

    static ANY: AtomicBool = AtomicBool::new(false);
    static SESSIONS: LazyLock<RwLock<HashMap<Gid, Gid>>> =
        LazyLock::new(|| RwLock::new(HashMap::new()));

    pub(super) fn insert(endpoint: Gid, session: Gid) {
        SESSIONS.write().insert(endpoint, session);
        ANY.store(true, Ordering::Release);
    }

    pub(super) fn remove(endpoint: Gid) {
        SESSIONS.write().remove(&endpoint);
    }

    pub(super) fn of(endpoint: Gid) -> Option<Gid> {
        // Programs that use only DDS never take the lock.
        if !ANY.load(Ordering::Acquire) {
            return None;
        }
        SESSIONS.read().get(&endpoint).copied()
    }
}

/// Formats the gid in the form in which `ros2 topic info -v` prints it: 16 bytes in hexadecimal,
/// joined by dots, such as `01.0f.…`.
impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gid({self})")
    }
}

/// The error for a string that is not a gid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a gid: expected 16 bytes in hexadecimal joined by dots, such as 01.0f.…")]
pub struct ParseGidError {
    text: String,
}

impl FromStr for Gid {
    type Err = ParseGidError;

    fn from_str(text: &str) -> Result<Self, ParseGidError> {
        let error = || ParseGidError { text: text.chars().take(64).collect() };
        let mut bytes = [0; 16];
        let mut parts = text.split('.');
        for byte in &mut bytes {
            let part = parts.next().ok_or_else(error)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| error())?;
        }
        if parts.next().is_some() { Err(error()) } else { Ok(Self(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_known_by_the_prefix_of_a_gid_or_by_registration() {
        let [session, other] = [Gid([1; 16]), Gid([2; 16])];
        let [one, two] = [Gid([10; 16]), Gid([20; 16])];
        let of_prefix = Gid([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9]);
        assert!(of_prefix.is_of_session_of(&session) && !of_prefix.is_of_session_of(&other));
        assert!(!one.is_of_session_of(&session));
        let members = [one, two].map(|gid| SessionMember::new(gid, session));
        assert!(one.is_of_session_of(&session) && session.is_of_session_of(&two));
        assert!(one.is_of_session_of(&two) && !one.is_of_session_of(&other));
        drop(members);
        assert!(!one.is_of_session_of(&session) && one.is_of_session_of(&one));
    }

    #[test]
    fn text_round_trips() {
        let gid = Gid([1, 0x10, 0xff, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0x12, 3]);
        assert_eq!(gid.to_string(), "01.10.ff.03.04.05.06.07.08.09.0a.0b.00.00.12.03");
        assert_eq!(gid.to_string().parse(), Ok(gid));
        assert!("01.02".parse::<Gid>().is_err());
        assert!(format!("{gid}.00").parse::<Gid>().is_err());
        assert!("zz.10.ff.03.04.05.06.07.08.09.0a.0b.00.00.12.03".parse::<Gid>().is_err());
    }
}
