//! Selects the mismatches of an endpoint that are to be logged, with the names of both nodes. A
//! node logs each mismatch once, even if several of its endpoints have it.
//!
//! A participant announces its nodes after their endpoints, so the name of the other node may
//! become known a little later than the mismatch. The node waits for the name, but not forever,
//! because plain DDS endpoints have no node name.

use std::sync::Arc;
use std::time::Duration;

use feros_sync::Mutex;

/// The time from a match to the check for mismatches, and between two checks for the name of the
/// other node.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The limit on the number of these checks.
const MOST_LOOKS: u32 = 20;
/// The limit on the different mismatches that a node remembers. Further mismatches are not logged,
/// because without being remembered they would be logged again and again.
const MAX_REPORTED: usize = 256;

/// A mismatch in the current snapshot of the graph.
#[derive(Debug, Clone)]
pub(crate) struct FoundMismatch {
    pub(crate) text: String,
    /// Whether one of the two endpoints is known to belong to this node.
    pub(crate) is_mine: bool,
    /// Whether the nodes of both endpoints are known.
    pub(crate) is_named: bool,
}

/// The mismatches that a node has logged, for all of its endpoints.
#[derive(Default)]
pub(crate) struct ReportedMismatches(Mutex<Vec<String>>);

impl ReportedMismatches {
    fn contains(&self, text: &String) -> bool {
        self.0.lock().contains(text)
    }

    /// Returns whether the mismatch is to be logged now; if so, it counts as logged from now on.
    fn report(&self, text: &String) -> bool {
        let mut reported = self.0.lock();
        let is_new = reported.len() < MAX_REPORTED && !reported.contains(text);
        if is_new {
            reported.push(text.clone());
        }
        is_new
    }
}

/// Selects the mismatches of one endpoint that are to be logged.
#[derive(Default)]
pub(crate) struct Mismatches {
    reported: Arc<ReportedMismatches>,
    looks: u32,
}

impl Mismatches {
    /// Starts the selection for an endpoint of the node whose logged mismatches are `told`.
    pub(crate) fn new(reported: Arc<ReportedMismatches>) -> Self {
        Self { reported, looks: 0 }
    }

    /// Returns the texts to log for the mismatches that were found now, and whether to check again
    /// after [`LOOK_INTERVAL`].
    pub(crate) fn sort(
        &mut self,
        found: Vec<FoundMismatch>,
        may_wait: bool,
    ) -> (Vec<String>, bool) {
        let is_awaited = |one: &FoundMismatch| !one.is_named && !self.reported.contains(&one.text);
        let awaits_name = may_wait && self.looks < MOST_LOOKS && found.iter().any(is_awaited);
        self.looks = if awaits_name { self.looks + 1 } else { 0 };
        let mut news = Vec::new();
        for FoundMismatch { text, is_mine, is_named } in found {
            let is_due = is_mine && (is_named || !awaits_name);
            if is_due && self.reported.report(&text) {
                news.push(text);
            }
        }
        (news, awaits_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, is_named: bool) -> FoundMismatch {
        FoundMismatch { text: text.into(), is_mine: true, is_named }
    }

    #[test]
    fn a_name_that_is_not_known_yet_is_waited_for() {
        let mut mismatches = Mismatches::default();
        let unnamed = || vec![found("known", true), found("somebody", false)];
        assert_eq!(mismatches.sort(unnamed(), true), (vec!["known".into()], true));
        assert_eq!(mismatches.sort(unnamed(), true), (vec![], true));
        let named = || vec![found("known", true), found("camera", true)];
        assert_eq!(mismatches.sort(named(), true), (vec!["camera".into()], false));
        assert_eq!(mismatches.sort(named(), true), (vec![], false), "each is logged once");
        // The node to which an endpoint belongs may also become known later than the endpoint.
        let nobodys = FoundMismatch { is_mine: false, ..found("mine?", false) };
        assert_eq!(mismatches.sort(vec![nobodys], true), (vec![], true));
        assert_eq!(mismatches.sort(vec![found("mine", true)], true), (vec!["mine".into()], false));
    }

    #[test]
    fn endpoints_of_one_node_tell_it_once() {
        let reported = Arc::<ReportedMismatches>::default();
        let [mut one, mut other] = [(); 2].map(|()| Mismatches::new(reported.clone()));
        let both = || vec![found("camera", true)];
        assert_eq!(one.sort(both(), true), (vec!["camera".into()], false));
        assert_eq!(other.sort(both(), true), (vec![], false));
    }

    #[test]
    fn a_mismatch_with_an_unnamed_side_is_reported_after_some_looks() {
        let mut mismatches = Mismatches::default();
        let unnamed = || vec![found("somebody", false)];
        for _ in 0..MOST_LOOKS {
            assert_eq!(mismatches.sort(unnamed(), true), (vec![], true));
        }
        assert_eq!(mismatches.sort(unnamed(), true), (vec!["somebody".into()], false));
        assert_eq!(
            mismatches.sort(unnamed(), true),
            (vec![], false),
            "no name is awaited any longer"
        );
        let mut at_once = Mismatches::default();
        assert_eq!(at_once.sort(unnamed(), false), (vec!["somebody".into()], false));
    }
}
