//! The services that control a recorder remotely, with the names and types of rosbag2.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use feros::msgs::rosbag2_interfaces::srv::{
    IsDiscoveryRunning, IsDiscoveryRunning_Response, IsPaused, IsPaused_Response, Pause, Record,
    Record_Response, Resume, Snapshot, Snapshot_Response, SplitBagfile, StartDiscovery,
    StartDiscovery_Response, Stop, StopDiscovery, StopDiscovery_Response,
};
use feros::{CreateError, Node};

use super::Shared;
use super::session::Session;
use crate::offered::{Offered, offer};

pub(super) fn start(node: &Node, shared: &Arc<Shared>) -> Result<Vec<Offered>, CreateError> {
    // The recorder owns the services, so a strong reference back to it would be a cycle.
    let shared = &Arc::downgrade(shared);
    Ok(vec![
        offer::<Pause, _>(node, "~/pause", shared, |shared, _| {
            set_paused(shared, true);
            Default::default()
        })?,
        offer::<Resume, _>(node, "~/resume", shared, |shared, _| {
            set_paused(shared, false);
            Default::default()
        })?,
        offer::<IsPaused, _>(node, "~/is_paused", shared, |shared, _| {
            let shared = shared.upgrade();
            let paused = shared.is_some_and(|shared| shared.is_paused.load(Ordering::Relaxed));
            IsPaused_Response { paused }
        })?,
        offer::<SplitBagfile, _>(node, "~/split_bagfile", shared, |shared, _| {
            shared.upgrade().and_then(|shared| shared.with_session(Session::split));
            Default::default()
        })?,
        offer::<Snapshot, _>(node, "~/snapshot", shared, |shared, _| {
            let shared = shared.upgrade();
            let written = shared.and_then(|shared| shared.with_session(Session::snapshot)?);
            Snapshot_Response { success: written.is_some() }
        })?,
        offer::<Stop, _>(node, "~/stop", shared, |shared, _| {
            if let Some(Err(error)) = shared.upgrade().map(|shared| shared.stop()) {
                tracing::error!("{error}");
            }
            Default::default()
        })?,
        offer::<Record, _>(node, "~/record", shared, |shared, request| {
            let Some(shared) = shared.upgrade() else { return Record_Response::default() };
            let begun = folder_of(&request.uri, &shared.options.output).and_then(|output| {
                shared.record(output.as_deref()).map_err(|error| error.to_string())
            });
            match begun {
                Ok(()) => Record_Response::default(),
                Err(error_string) => Record_Response { return_code: 1, error_string },
            }
        })?,
        offer::<StartDiscovery, _>(node, "~/start_discovery", shared, |shared, _| {
            if switch_discovery(shared, true) {
                return StartDiscovery_Response::default();
            }
            let error_string = "discovery is already running".to_owned();
            StartDiscovery_Response { return_code: 1, error_string }
        })?,
        offer::<StopDiscovery, _>(node, "~/stop_discovery", shared, |shared, _| {
            if switch_discovery(shared, false) {
                return StopDiscovery_Response::default();
            }
            let error_string = "discovery is not running".to_owned();
            StopDiscovery_Response { return_code: 1, error_string }
        })?,
        offer::<IsDiscoveryRunning, _>(node, "~/is_discovery_running", shared, |shared, _| {
            let running = shared.upgrade().is_some_and(|shared| {
                let is_recording = shared.with_session(|_| ()).is_some();
                is_recording && shared.discovers.load(Ordering::Relaxed)
            });
            IsDiscoveryRunning_Response { running }
        })?,
    ])
}

fn set_paused(shared: &Weak<Shared>, is_paused: bool) {
    if let Some(shared) = shared.upgrade() {
        shared.is_paused.store(is_paused, Ordering::Relaxed);
    }
}

/// Turns discovery on or off; returns whether that changed anything.
fn switch_discovery(shared: &Weak<Shared>, on: bool) -> bool {
    let shared = shared.upgrade();
    shared.is_some_and(|shared| shared.discovers.swap(on, Ordering::Relaxed) != on)
}

/// Returns the folder that a request names for a bag, as a sibling of the first bag; `None` if the
/// request names no folder. The sender of a request is unknown, so a request must not choose any
/// other location.
fn folder_of(uri: &str, first: &Path) -> Result<Option<PathBuf>, String> {
    if uri.is_empty() {
        return Ok(None);
    }
    // A leading `-` would make the name an option of commands such as `rm *`, and a leading `.`
    // would hide the folder.
    let is_name = !uri.starts_with(['-', '.'])
        && !uri.contains("..")
        && !uri.contains(|character| character == '/' || feros_wording::is_unseen(character));
    if !is_name {
        return Err(format!(
            "`{}` is not a valid folder name for a bag beside the first one: give a name without \
             `/`, `..` and control characters that does not begin with `-` or `.`",
            feros_wording::harmless(uri)
        ));
    }
    Ok(Some(first.parent().unwrap_or(Path::new("")).join(uri)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_name_folders_beside_the_first_bag_and_nothing_else() {
        let first = Path::new("/data/first");
        assert_eq!(folder_of("", first), Ok(None));
        assert_eq!(folder_of("second", first), Ok(Some("/data/second".into())));
        assert_eq!(folder_of("second", Path::new("first")), Ok(Some("second".into())));
        let elsewhere = ["/etc/cron.d/x", "../x", "a/b", "..", ".", "a/../../b", "/"];
        let misleading = ["x\0", "x\n/y", "x\ny", "\u{1b}[2J", "\u{202e}gab", "-rf", ".ssh"];
        for uri in elsewhere.into_iter().chain(misleading) {
            let refusal = folder_of(uri, first).unwrap_err();
            assert!(refusal.contains("beside the first one"), "{uri:?}: {refusal}");
            assert!(!refusal.contains(feros_wording::is_unseen), "{uri:?}: {refusal:?}");
        }
        assert_eq!(folder_of("zwölf-1.5", first), Ok(Some("/data/zwölf-1.5".into())));
    }
}
