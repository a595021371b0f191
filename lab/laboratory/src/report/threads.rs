//! The thread that calls the callback within a process: systems that use the publishing thread and
//! systems that wake up another thread are never ranked against each other.

use super::sample::Sample;
use crate::record::{CallbackThread, Record, Run, Value};

/// The mark of systems that call the callback on the publishing thread, if other systems do not.
pub(crate) const MARK: &str = "†";

/// The meaning of the mark.
pub(crate) const MARK_MEANS: &str = "†: within a process its callback runs on the publishing thread, so the publisher waits for it; the \
    others wake up another thread.";

/// The kinds of threads in the order in which they are shown; `None` stands for systems whose
/// manifest does not say.
pub(crate) const KINDS: [Option<CallbackThread>; 3] =
    [Some(CallbackThread::PublishingThread), Some(CallbackThread::OtherThread), None];

/// The title of a kind for people.
pub(crate) fn kind_title(kind: Option<CallbackThread>) -> &'static str {
    match kind {
        Some(CallbackThread::PublishingThread) => "callback on the publishing thread",
        Some(CallbackThread::OtherThread) => "callback on another thread",
        None => "callback on an unknown thread",
    }
}

/// Whether a record belongs to a placement within one process.
pub(crate) fn is_within_process(record: &Record) -> bool {
    matches!(record.word("placement"), Some("composed" | "intra"))
}

/// The thread that called the callback in a cell; `None` between processes, or if the manifest does
/// not say.
pub(crate) fn callback(run: &Run, record: &Record) -> Option<CallbackThread> {
    if !is_within_process(record) {
        return None;
    }
    let name = record.word("system");
    let system = run.systems.iter().find(|known| Some(known.name.as_str()) == name)?;
    let is_default = record.word("executor").is_none_or(|executor| executor == "default");
    // Every node of a chain has its own thread, and so does any explicitly chosen executor.
    let has_own_threads = !is_default || record.dimensions.contains_key("nodes");
    match system.callback {
        Some(CallbackThread::PublishingThread) if has_own_threads => {
            Some(CallbackThread::OtherThread)
        }
        kind => kind,
    }
}

/// The systems whose names are marked: those that call the callback on the publishing thread, if
/// other systems among the samples do not.
pub(crate) fn marked(run: &Run, samples: &[Sample<'_>]) -> Vec<Value> {
    let within = samples.iter().filter(|sample| is_within_process(sample.record));
    let kinds: Vec<_> =
        within.map(|sample| (sample.value("system"), callback(run, sample.record))).collect();
    let publishing = Some(CallbackThread::PublishingThread);
    if kinds.iter().all(|(_, kind)| *kind == publishing) {
        return Vec::new();
    }
    let mut marked: Vec<Value> = Vec::new();
    for (system, _) in kinds.into_iter().filter(|(_, kind)| *kind == publishing) {
        marked.extend(system.filter(|system| !marked.contains(system)));
    }
    marked
}
