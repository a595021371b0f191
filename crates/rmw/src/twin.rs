//! Endpoints that are on two engines at once: the one on the second engine says in its announcement
//! which one on the first is the same.
//!
//! It is in the announcement because that is in the discovery of the endpoint itself, on every
//! engine: whoever matches the endpoint knows it. Who knows nothing of twins reads a text of which
//! nothing of transports follows, as after the mark of a bridge.

use crate::gid::Gid;

/// Before it stands what says that nothing of transports follows (`feros_shm::Announcement`).
const BEGIN: &str = "-,twin=";

/// Digits of a gid.
const DIGITS: usize = 32;

/// The announcement of an endpoint on the second engine: its twin on the first one, and the text
/// that both announce.
///
/// ```
/// use feros_rmw::{Gid, twin};
/// let text = twin::announcement(Gid([7; 16]), "4,host");
/// assert_eq!(twin::read(&text), (Some(Gid([7; 16])), "4,host"));
/// assert_eq!(twin::read("4,host"), (None, "4,host"));
/// ```
#[must_use]
pub fn announcement(of: Gid, text: &str) -> String {
    let mut marked = String::with_capacity(BEGIN.len() + DIGITS + 1 + text.len());
    marked.push_str(BEGIN);
    for byte in of.0 {
        for digit in [byte >> 4, byte & 0xf] {
            marked.push(char::from_digit(digit.into(), 16).unwrap_or_default());
        }
    }
    marked.push(',');
    marked.push_str(text);
    marked
}

/// The twin that an announcement names, if it does, and the text that both announce. Any text is
/// permitted.
#[must_use]
pub fn read(text: &str) -> (Option<Gid>, &str) {
    let marked = text.strip_prefix(BEGIN).and_then(|rest| rest.split_once(','));
    let twin = marked.and_then(|(digits, text)| Some((parse(digits)?, text)));
    twin.map_or((None, text), |(gid, text)| (Some(gid), text))
}

fn parse(digits: &str) -> Option<Gid> {
    let digits: &[u8; DIGITS] = digits.as_bytes().try_into().ok()?;
    let mut gid = Gid::default();
    for (byte, pair) in gid.0.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(gid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announcement::{AnnouncementError, check_announcement};

    #[test]
    fn texts_that_name_no_twin_are_left_as_they_are() {
        let gid = Gid([0xa5; 16]);
        for text in ["", "x", "-,bridge=7.0", "4,1-2-3-4,0,1,2,3,phn,5"] {
            assert_eq!(read(&announcement(gid, text)), (Some(gid), text));
            assert_eq!(read(text), (None, text));
        }
        let long = format!("-,twin={},", "a".repeat(33));
        for text in ["-,twin=", "-,twin=a5,x", "-,twin=", &long, "-,twin=üüüüüüüüüüüüüüüü,x"]
        {
            assert_eq!(read(text), (None, text));
        }
    }

    #[test]
    fn the_name_of_a_twin_takes_nothing_of_what_may_be_announced() {
        let longest = "x".repeat(512);
        assert_eq!(check_announcement(&announcement(Gid([1; 16]), &longest)), Ok(()));
        let error = check_announcement(&announcement(Gid([1; 16]), &format!("{longest}x")));
        assert_eq!(error, Err(AnnouncementError::TooLong { size_bytes: 513 }));
        assert!(check_announcement(&announcement(Gid([1; 16]), "a;b")).is_err());
    }
}
