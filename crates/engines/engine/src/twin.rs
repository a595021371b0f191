//! Endpoints that are on two engines at the same time. Each such endpoint consists of two twins,
//! one on each engine. The twin on the second engine names the first twin in its announcement, and
//! the first twin announces that it has a twin.
//!
//! The announcement contains this information because it is a part of the endpoint's discovery data
//! on every engine, so all matches of the endpoint learn about the twin. A program that does not
//! know about twins finds no transports in the second twin's announcement, as with the mark of a
//! bridge. In the first twin's announcement, such a program finds the transports and one unknown
//! field (`feros_shm::Announcement`).

use crate::gid::Gid;

/// The leading `-` means that the announcement lists no transports (`feros_shm::Announcement`).
const BEGIN: &str = "-,twin=";

/// The end of the announcement of an endpoint on the first engine that has a twin.
const END: &str = ",~";

/// The whole announcement of an endpoint on the first engine that has a twin and announces nothing
/// else.
const END_ALONE: &str = "-,~";

/// The number of hexadecimal digits of a gid.
const DIGITS: usize = 32;

/// Returns the announcement of an endpoint on the second engine. It consists of the gid of the twin
/// on the first engine and of the text that both twins announce.
///
/// ```
/// use feros_engine::{Gid, twin};
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

/// Returns the announcement of an endpoint on the first engine that has a twin. It contains the
/// text that both twins announce.
///
/// ```
/// use feros_engine::twin;
/// let text = twin::first_announcement("4,host");
/// assert!(twin::is_first(&text) && !twin::is_first("4,host"));
/// assert_eq!(twin::read(&text), (None, "4,host"));
/// ```
#[must_use]
pub fn first_announcement(text: &str) -> String {
    if text.is_empty() { END_ALONE.to_owned() } else { format!("{text}{END}") }
}

/// Whether the announcement of an endpoint says that the endpoint has a twin on another engine,
/// whose announcement names this endpoint.
#[must_use]
pub fn is_first(text: &str) -> bool {
    text.ends_with(END)
}

/// Returns the gid of the twin that an announcement names, if it names a twin, and the text that
/// both twins announce. Accepts any string.
#[must_use]
pub fn read(text: &str) -> (Option<Gid>, &str) {
    let marked = text.strip_prefix(BEGIN).and_then(|rest| rest.split_once(','));
    let twin = marked.and_then(|(digits, text)| Some((parse(digits)?, text)));
    if let Some((gid, text)) = twin {
        return (Some(gid), text);
    }
    let both = if text == END_ALONE { "" } else { text.strip_suffix(END).unwrap_or(text) };
    (None, both)
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
            assert_eq!(read(&first_announcement(text)), (None, text));
            assert!(is_first(&first_announcement(text)) && !is_first(text));
            assert!(!is_first(&announcement(gid, text)));
        }
        let long = format!("-,twin={},", "a".repeat(33));
        for text in ["-,twin=", "-,twin=a5,x", "-,twin=", &long, "-,twin=üüüüüüüüüüüüüüüü,x"]
        {
            assert_eq!(read(text), (None, text));
        }
    }

    #[test]
    fn a_twin_s_announcement_may_be_as_long_as_any() {
        let longest = "x".repeat(512);
        assert_eq!(check_announcement(&first_announcement(&longest)), Ok(()));
        assert_eq!(check_announcement(&announcement(Gid([1; 16]), &longest)), Ok(()));
        let error = check_announcement(&announcement(Gid([1; 16]), &format!("{longest}x")));
        assert_eq!(error, Err(AnnouncementError::TooLong { size_bytes: 513 }));
        assert!(check_announcement(&announcement(Gid([1; 16]), "a;b")).is_err());
    }
}
