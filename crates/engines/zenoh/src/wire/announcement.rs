//! Announcements of Feros endpoints, which `rmw_zenoh` does not have. Each announcement is a
//! liveliness token in addition to the endpoint's standard token, in a key space that stock nodes
//! ignore.
//!
//! The announcement is not a part of the standard token, because the gid of an endpoint is a hash
//! of that token, while the announcement may change during the lifetime of the endpoint.

use std::fmt::Display;

use feros_engine::NamePrefix;
use feros_engine::announcement::check_announcement;

use super::chunk::{chunk_below, demangle, mangle};
use super::percent;

/// The first chunk of all keys that only Feros uses. It begins with `@`, which wildcards do not
/// match.
pub const SPACE: &str = "@feros";

/// The smallest number of a Feros endpoint. A session recognizes such an endpoint by the number in
/// its token, and waits for its announcement, so that a match always has an announcement. This is
/// necessary because tokens arrive in any order over a new link.
pub const FIRST_ENTITY: u64 = 1 << 40;

/// The announcement of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncementToken {
    /// The domain of the session.
    pub domain_id: u32,
    /// The identity of the session.
    pub zid: String,
    /// The topic or service of the endpoint. Sessions that know only a part of the graph ask for
    /// announcements by this name.
    pub name: String,
    /// The number of the endpoint in its session.
    pub entity: u64,
    /// This is incremented with each change. The highest version is valid.
    pub version: u64,
    /// The announcement. It is empty if nothing is announced.
    pub text: String,
}

impl AnnouncementToken {
    /// Returns the key expression of the token.
    pub fn encode(&self) -> String {
        let Self { domain_id, zid, name, entity, version, text } = self;
        let (name, text) = (mangle(name), percent::encode(text));
        format!("{SPACE}/{domain_id}/{zid}/says/{name}/{entity}/{version}/={text}")
    }

    /// Reads a token. Returns `None` if the key is not an announcement.
    pub fn decode(key: &str) -> Option<Self> {
        let chunks: [&str; 8] = key.split('/').collect::<Vec<_>>().try_into().ok()?;
        let [SPACE, domain_id, zid, "says", name, entity, version, text] = chunks else {
            return None;
        };
        let text = percent::decode(text.strip_prefix('=')?)?;
        check_announcement(&text).ok()?;
        Some(Self {
            domain_id: domain_id.parse().ok()?,
            zid: zid.to_owned(),
            name: demangle(Some(name).filter(|name| !name.is_empty())?),
            entity: entity.parse().ok()?,
            version: version.parse().ok()?,
            text,
        })
    }
}

/// The key expression of all announcements of a domain, which may be `*`, or only of those for
/// names below a namespace.
pub fn all(domain: impl Display, below: Option<&NamePrefix>) -> String {
    match below {
        None => format!("{SPACE}/{domain}/*/says/**"),
        Some(below) => format!("{SPACE}/{domain}/*/says/{}/**", chunk_below(below)),
    }
}

/// The key at which a session confirms that it has handled everything that was sent before the
/// question.
pub fn fence(domain_id: u32, zid: &str) -> String {
    format!("{SPACE}/{domain_id}/{zid}/fence")
}

/// The key expression of all keys at which sessions confirm that they have handled something.
pub fn fence_of_all() -> String {
    format!("{SPACE}/*/*/fence")
}

/// The key at which a client receives responses to requests that it sent over another transport.
pub fn responses(domain_id: u32, client: feros_engine::Gid) -> String {
    use std::fmt::Write as _;
    let mut key = format!("{SPACE}/{domain_id}/responses/");
    for byte in client.0 {
        let _ = write!(key, "{byte:02x}"); // writing to a String cannot fail
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
                name: "/arm/state".into(),
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
        let longer = format!("@feros/7/ab/says/%a/3/9/={}", "x".repeat(513));
        for bad in [
            "",
            "@feros/7/ab/says/%a/3/9",
            "@feros/7/ab/says/%a/3/9/",
            "@feros/7/ab/says/%a/3/9/=x/y",
            "@feros/7/ab/says/%a/3/9/x",
            "@feros/7/ab/says/%a/3/-1/=x",
            "@feros/7/ab/says/%a/3/9/=%zz",
            "@feros/7/ab/says/%a/3/9/=%",
            "@feros/7/ab/says/%a/3/9/=a;b",
            "@feros/7/ab/says/3/9/=x",
            "@feros/7/ab/says//3/9/=x",
            "@other/7/ab/says/%a/3/9/=x",
            longer.as_str(),
        ] {
            assert_eq!(AnnouncementToken::decode(bad), None, "{bad}");
        }
    }
}
