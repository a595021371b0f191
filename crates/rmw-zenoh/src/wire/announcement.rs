//! Announcements of Feros endpoints beyond `rmw_zenoh`: a separate liveliness token beside each
//! standard one, in a key space that stock peers ignore.
//!
//! It is not part of the standard token: the gid of an endpoint is a hash of that token, and an
//! announcement may change while the endpoint remains.

use feros_rmw::announcement::check_announcement;

use super::percent;

/// The first chunk of all keys that only Feros uses. Wildcards do not match a chunk that begins
/// with `@`.
pub const SPACE: &str = "@feros";

/// The first number of Feros endpoints. Tokens arrive in any order over a new link: a reader of
/// such a number waits for the announcement, so that a match never lacks it.
pub const FIRST_ENTITY: u64 = 1 << 40;

/// The announcement of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncementToken {
    /// Domain of the session.
    pub domain_id: u32,
    /// Identity of the session.
    pub zid: String,
    /// Number of the endpoint in its session.
    pub entity: u64,
    /// Counts up with each change: the highest version is valid.
    pub version: u64,
    /// The announcement; empty if nothing is announced.
    pub text: String,
}

impl AnnouncementToken {
    /// The key expression of the token.
    pub fn encode(&self) -> String {
        let Self { domain_id, zid, entity, version, text } = self;
        let text = percent::encode(text);
        format!("{SPACE}/{domain_id}/{zid}/says/{entity}/{version}/={text}")
    }

    /// Reads a token; `None` for anything else.
    pub fn decode(key: &str) -> Option<Self> {
        let chunks: [&str; 7] = key.split('/').collect::<Vec<_>>().try_into().ok()?;
        let [SPACE, domain_id, zid, "says", entity, version, text] = chunks else { return None };
        let text = percent::decode(text.strip_prefix('=')?)?;
        check_announcement(&text).ok()?;
        Some(Self {
            domain_id: domain_id.parse().ok()?,
            zid: zid.to_owned(),
            entity: entity.parse().ok()?,
            version: version.parse().ok()?,
            text,
        })
    }
}

/// All announcements of a domain.
pub fn all(domain_id: u32) -> String {
    format!("{SPACE}/{domain_id}/*/says/**")
}

/// The key at which a session answers that it has handled everything before the question.
pub fn fence(domain_id: u32, zid: &str) -> String {
    format!("{SPACE}/{domain_id}/{zid}/fence")
}

/// The key at which a client receives responses to requests that it sent without the engine.
pub fn responses(domain_id: u32, client: feros_rmw::Gid) -> String {
    use std::fmt::Write as _;
    let mut key = format!("{SPACE}/{domain_id}/responses/");
    for byte in client.0 {
        let _ = write!(key, "{byte:02x}"); // a String takes all
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_announcement_is_a_chunk() {
        for text in ["", "x", "a=1,b=/*$?#%", "ü", &"/".repeat(512)] {
            let token = AnnouncementToken {
                domain_id: 7,
                zid: "ab".into(),
                entity: 3,
                version: 9,
                text: text.into(),
            };
            let key = token.encode();
            let (_, chunk) = key.rsplit_once('/').expect("several chunks");
            assert!(!chunk.contains(['/', '*', '$', '?', '#']), "{key}");
            assert_eq!(AnnouncementToken::decode(&key), Some(token));
        }
    }

    #[test]
    fn others_are_refused() {
        let longer = format!("@feros/7/ab/says/3/9/={}", "x".repeat(513));
        for bad in [
            "",
            "@feros/7/ab/says/3/9",
            "@feros/7/ab/says/3/9/",
            "@feros/7/ab/says/3/9/=x/y",
            "@feros/7/ab/says/3/9/x",
            "@feros/7/ab/says/3/-1/=x",
            "@feros/7/ab/says/3/9/=%zz",
            "@feros/7/ab/says/3/9/=%",
            "@feros/7/ab/says/3/9/=a;b",
            "@other/7/ab/says/3/9/=x",
            longer.as_str(),
        ] {
            assert_eq!(AnnouncementToken::decode(bad), None, "{bad}");
        }
    }
}
