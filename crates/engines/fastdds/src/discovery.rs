//! Updates the graph with the participants and endpoints that Fast DDS discovers.

use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, OnceLock};

use feros_dds::graph::{Graph, WireEndpoint};
use feros_dds::library::Taken as _;
use feros_engine::Gid;
use feros_engine::dds::library::{Library, LibraryVersion};
use feros_engine::dds::user_data::{EndpointData, ParticipantData};
use feros_fastdds_sys as sys;
use feros_sync::Mutex;

use crate::qos;
use crate::sample::Taken;

/// The state that the discovery callbacks of a participant use.
pub(crate) struct Discovered {
    pub(crate) graph: Arc<Graph>,
    /// True for an additional participant of a session, which does not update the graph, because
    /// the session's first participant discovers the same participants and endpoints.
    is_quiet: bool,
    /// The gid of this participant. It is set when the participant exists.
    pub(crate) own: OnceLock<Gid>,
    /// The readers of this participant that ignore the participant's own publications.
    ignoring: Mutex<HashSet<Gid>>,
}

impl Discovered {
    pub(crate) fn new(graph: Arc<Graph>, is_quiet: bool) -> Self {
        Self { graph, is_quiet, own: OnceLock::new(), ignoring: Mutex::default() }
    }

    /// Whether this participant does not update the graph.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether this endpoint belongs to this participant.
    pub(crate) fn is_own(&self, gid: Gid) -> bool {
        self.own.get().is_some_and(|own| own.participant_prefix() == gid.participant_prefix())
    }

    /// Whether a reader belongs to this participant and ignores the participant's own publications.
    pub(crate) fn is_ignoring(&self, gid: Gid) -> bool {
        self.ignoring.lock().contains(&gid)
    }

    /// Stores the nodes that another participant announces.
    pub(crate) fn announced(&self, sample: &Taken) {
        self.graph.announcement_came(sample.writer(), sample.bytes());
    }
}

/// # Safety
/// `data` must be null or point to `size` bytes that exist while the result is used.
unsafe fn bytes<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if data.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees this.
    unsafe { std::slice::from_raw_parts(data, size) }
}

/// # Safety
/// `text` must be NUL-terminated.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller guarantees this.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The library that a participant announces, or `None` if Fast DDS does not know the vendor.
fn library(info: &sys::participant_info) -> Option<Library> {
    let version = match info.version_kind {
        sys::VERSION_NAMED => LibraryVersion::Named(info.version.map(u16::from)),
        sys::VERSION_NOT_NAMED => LibraryVersion::NotNamed,
        _ => LibraryVersion::Unknown,
    };
    (info.vendor != [0, 0]).then_some(Library { vendor: info.vendor, version })
}

pub(crate) unsafe extern "C" fn on_participant(
    context: *mut c_void,
    info: *const sys::participant_info,
) {
    // SAFETY: the context is the `Discovered`, which exists longer than the participant, because
    // dropping the participant waits for callbacks. The info exists during the call.
    let (discovered, info) = unsafe { (&*context.cast::<Discovered>(), &*info) };
    if discovered.is_quiet {
        return;
    }
    let gid = Gid(info.guid);
    if info.alive {
        // SAFETY: the shim's header guarantees that the pointer and the size match.
        let data = unsafe { bytes(info.user_data, info.user_data_bytes) };
        let data = ParticipantData::parse(data);
        discovered.graph.participant_appeared(gid, data, library(info));
    } else {
        discovered.graph.participant_left(gid);
    }
}

pub(crate) unsafe extern "C" fn on_endpoint(context: *mut c_void, info: *const sys::endpoint_info) {
    // SAFETY: see `on_participant`.
    let (discovered, info) = unsafe { (&*context.cast::<Discovered>(), &*info) };
    let gid = Gid(info.guid);
    // SAFETY: the shim's header guarantees that the pointer and the size match.
    let data = unsafe { bytes(info.user_data, info.user_data_bytes) };
    let is_ignoring = !info.is_writer && discovered.is_own(gid) && qos::ignores_local(data);
    if is_ignoring && info.alive {
        discovered.ignoring.lock().insert(gid);
    }
    if discovered.is_quiet {
        return;
    }
    if !info.alive {
        discovered.graph.endpoint_left(gid);
        discovered.ignoring.lock().remove(&gid);
        return;
    }
    // SAFETY: the shim's header guarantees that both strings are NUL-terminated.
    let (topic, type_name) = unsafe { (text(info.topic), text(info.type_name)) };
    discovered.graph.endpoint_appeared(WireEndpoint {
        gid,
        is_writer: info.is_writer,
        topic,
        type_name,
        qos: qos::profile(&info.qos, data),
        data: EndpointData::parse(data),
    });
}
