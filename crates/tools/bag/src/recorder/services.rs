//! The services that control a recorder remotely, with the names and types of rosbag2.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use feros::msgs::rosbag2_interfaces::srv::{
    IsDiscoveryRunning, IsDiscoveryRunning_Request, IsDiscoveryRunning_Response, IsPaused,
    IsPaused_Request, IsPaused_Response, Pause, Pause_Request, Pause_Response, Record,
    Record_Request, Record_Response, Resume, Resume_Request, Resume_Response, Snapshot,
    Snapshot_Request, Snapshot_Response, SplitBagfile, SplitBagfile_Request, SplitBagfile_Response,
    StartDiscovery, StartDiscovery_Request, StartDiscovery_Response, Stop, Stop_Request,
    Stop_Response, StopDiscovery, StopDiscovery_Request, StopDiscovery_Response,
};
use feros::{CreateError, Node, Service};

use super::Shared;
use super::session::Session;

type Pausing = (Service<Pause>, Service<Resume>, Service<IsPaused>);
type Writing = (Service<SplitBagfile>, Service<Snapshot>, Service<Stop>, Service<Record>);
type Discovering = (Service<StartDiscovery>, Service<StopDiscovery>, Service<IsDiscoveryRunning>);

/// Keeps the services alive.
pub(super) struct Services {
    _pausing: Pausing,
    _writing: Writing,
    _discovery: Discovering,
}

impl Services {
    pub(super) fn start(node: &Node, shared: &Arc<Shared>) -> Result<Self, CreateError> {
        // The recorder owns the services, so a strong reference back to it would be a cycle.
        let shared = Arc::downgrade(shared);
        Ok(Self {
            _pausing: pausing(node, &shared)?,
            _writing: writing(node, &shared)?,
            _discovery: discovery(node, &shared)?,
        })
    }
}

fn pausing(node: &Node, shared: &Weak<Shared>) -> Result<Pausing, CreateError> {
    let set = |is_paused: bool| {
        let shared = shared.clone();
        move || {
            if let Some(shared) = shared.upgrade() {
                shared.is_paused.store(is_paused, Ordering::Relaxed);
            }
        }
    };
    let (pause, resume, shared) = (set(true), set(false), shared.clone());
    Ok((
        node.create_service::<Pause, _>("~/pause", move |_: Pause_Request| {
            pause();
            Pause_Response::default()
        })?,
        node.create_service::<Resume, _>("~/resume", move |_: Resume_Request| {
            resume();
            Resume_Response::default()
        })?,
        node.create_service::<IsPaused, _>("~/is_paused", move |_: IsPaused_Request| {
            let shared = shared.upgrade();
            let paused = shared.is_some_and(|shared| shared.is_paused.load(Ordering::Relaxed));
            IsPaused_Response { paused }
        })?,
    ))
}

fn writing(node: &Node, shared: &Weak<Shared>) -> Result<Writing, CreateError> {
    let [for_split, for_snapshot, for_stop, for_record] = [(); 4].map(|()| shared.clone());
    Ok((
        node.create_service::<SplitBagfile, _>(
            "~/split_bagfile",
            move |_: SplitBagfile_Request| {
                for_split.upgrade().and_then(|shared| shared.with_session(Session::split));
                SplitBagfile_Response::default()
            },
        )?,
        node.create_service::<Snapshot, _>("~/snapshot", move |_: Snapshot_Request| {
            let shared = for_snapshot.upgrade();
            let written = shared.and_then(|shared| shared.with_session(Session::snapshot)?);
            Snapshot_Response { success: written.is_some() }
        })?,
        node.create_service::<Stop, _>("~/stop", move |_: Stop_Request| {
            if let Some(Err(error)) = for_stop.upgrade().map(|shared| shared.stop()) {
                tracing::error!("{error}");
            }
            Stop_Response::default()
        })?,
        node.create_service::<Record, _>("~/record", move |request: Record_Request| {
            let Some(shared) = for_record.upgrade() else { return Record_Response::default() };
            let begun = folder_of(&request.uri, &shared.options.output).and_then(|output| {
                shared.record(output.as_deref()).map_err(|error| error.to_string())
            });
            match begun {
                Ok(()) => Record_Response::default(),
                Err(error_string) => Record_Response { return_code: 1, error_string },
            }
        })?,
    ))
}

/// Returns the folder that a request names for a bag, as a sibling of the first bag; `None` if the
/// request names no folder. The sender of a request is unknown, so a request must not choose any
/// other location.
fn folder_of(uri: &str, first: &Path) -> Result<Option<PathBuf>, String> {
    if uri.is_empty() {
        return Ok(None);
    }
    let is_name = !uri.contains(['/', '\0']) && !uri.contains("..") && uri != ".";
    if !is_name {
        return Err(format!(
            "`{}` is not a valid folder name for a bag beside the first one: give a name without \
             `/` and `..`",
            uri.escape_debug()
        ));
    }
    Ok(Some(first.parent().unwrap_or(Path::new("")).join(uri)))
}

fn discovery(node: &Node, shared: &Weak<Shared>) -> Result<Discovering, CreateError> {
    let [for_start, for_stop, for_question] = [(); 3].map(|()| shared.clone());
    /// Turns discovery on or off; returns whether that changed anything.
    fn switch(shared: &Weak<Shared>, on: bool) -> bool {
        let shared = shared.upgrade();
        shared.is_some_and(|shared| shared.discovers.swap(on, Ordering::Relaxed) != on)
    }
    Ok((
        node.create_service::<StartDiscovery, _>(
            "~/start_discovery",
            move |_: StartDiscovery_Request| {
                if switch(&for_start, true) {
                    return StartDiscovery_Response::default();
                }
                let error_string = "discovery is already running".to_owned();
                StartDiscovery_Response { return_code: 1, error_string }
            },
        )?,
        node.create_service::<StopDiscovery, _>(
            "~/stop_discovery",
            move |_: StopDiscovery_Request| {
                if switch(&for_stop, false) {
                    return StopDiscovery_Response::default();
                }
                let error_string = "discovery is not running".to_owned();
                StopDiscovery_Response { return_code: 1, error_string }
            },
        )?,
        node.create_service::<IsDiscoveryRunning, _>(
            "~/is_discovery_running",
            move |_: IsDiscoveryRunning_Request| {
                let shared = for_question.upgrade();
                let running = shared.is_some_and(|shared| {
                    let is_recording = shared.with_session(|_| ()).is_some();
                    is_recording && shared.discovers.load(Ordering::Relaxed)
                });
                IsDiscoveryRunning_Response { running }
            },
        )?,
    ))
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
        for uri in ["/etc/cron.d/x", "../x", "a/b", "..", ".", "a/../../b", "x\0", "/"] {
            let refusal = folder_of(uri, first).unwrap_err();
            assert!(refusal.contains("beside the first one"), "{uri}: {refusal}");
        }
    }
}
