//! The process of an endpoint. A process that has endpoints on two sides needs no bridge between
//! these sides.

use feros_engine::twin;

/// Returns a string that identifies the process of a Feros endpoint: its announcement up to and
/// including the process's random token (`feros_shm::Announcement`). Returns `None` for endpoints
/// of other systems.
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
    use feros_engine::{BridgeMark, Gid};

    #[test]
    fn processes_are_known_by_their_token() {
        let [one, two] = ["4,1-2-3-4,0,1,2,3,phn,5", "4,1-2-3-4,0,1,2,9,phn,!x"];
        assert_eq!(process(Some(one)), Some("4,1-2-3-4,0,1,2"));
        assert_eq!(process(Some(one)), process(Some(two)));
        let of_twins = [twin::first_announcement(one), twin::announcement(Gid([3; 16]), one)];
        assert!(of_twins.iter().all(|text| process(Some(text)) == process(Some(one))));
        let of_a_bridge = BridgeMark { bridge: 1, from: 0 }.announcement();
        assert_eq!([process(None), process(Some("x")), process(Some(&of_a_bridge))], [None; 3]);
    }
}
