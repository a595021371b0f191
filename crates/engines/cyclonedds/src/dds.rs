//! Wrappers that own C handles, so that every entity, listener and QoS is released exactly once.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use feros_cyclonedds_sys as sys;
use feros_engine::{FailureCounter, Gid, QosProfile};

/// A negative return code of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) sys::dds_return_t);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the function accepts any number, and returns a static string.
        let text = unsafe { CStr::from_ptr(sys::dds_strretcode(self.0)) };
        write!(f, "{:?} ({})", text.to_string_lossy(), self.0)
    }
}

/// Returns the code as an error if it is negative.
pub(crate) fn check(code: sys::dds_return_t) -> Result<sys::dds_return_t, Code> {
    if code < 0 { Err(Code(code)) } else { Ok(code) }
}

/// An entity of the engine. Dropping this value deletes the entity, and waits until none of its
/// listeners runs.
#[derive(Debug)]
pub(crate) struct Entity {
    handle: sys::dds_entity_t,
    deleted: AtomicBool,
}

impl Entity {
    /// Takes ownership of the handle that a creating function returned.
    pub(crate) fn new(handle: sys::dds_entity_t) -> Result<Self, Code> {
        check(handle).map(|handle| Self { handle, deleted: AtomicBool::new(false) })
    }

    pub(crate) fn handle(&self) -> sys::dds_entity_t {
        self.handle
    }

    /// Deletes the entity before it is dropped, so that calls that wait on the entity return. Later
    /// calls on it fail.
    pub(crate) fn delete(&self) {
        if self.deleted.swap(true, Ordering::AcqRel) {
            return;
        }
        static FAILED: FailureCounter = FailureCounter::new();
        // SAFETY: the engine checks the handle, and `self` has not deleted it before.
        if let Err(code) = check(unsafe { sys::dds_delete(self.handle) })
            && let Some(so_far) = FAILED.so_far()
        {
            tracing::warn!("deleting an entity of Cyclone DDS failed: {code}{so_far}");
        }
    }

    /// Replaces the USER_DATA that the entity announces. The rest of its QoS does not change.
    pub(crate) fn set_user_data(&self, user_data: &str) -> Result<(), Code> {
        let qos = crate::qos::Qos::user_data_only(user_data);
        // SAFETY: the entity and the QoS are alive; the engine copies the data that it keeps.
        check(unsafe { sys::dds_set_qos(self.handle, qos.as_ptr()) }).map(|_| ())
    }

    pub(crate) fn gid(&self) -> Result<Gid, Code> {
        let mut guid = sys::dds_guid_t::default();
        // SAFETY: the handle is valid while `self` exists, and `guid` is valid for writing.
        check(unsafe { sys::dds_get_guid(self.handle, &raw mut guid) })?;
        Ok(Gid(guid.v))
    }
}

impl Drop for Entity {
    fn drop(&mut self) {
        self.delete();
    }
}

/// The callbacks for an entity that is about to be created. The engine calls them with `arg`, which
/// must outlive the entity.
pub(crate) struct Listener(NonNull<sys::dds_listener_t>);

impl Listener {
    pub(crate) fn new(arg: *const c_void) -> Self {
        // SAFETY: the call has no preconditions, and the engine only passes `arg` to the callbacks.
        let listener = unsafe { sys::dds_create_listener(arg.cast_mut()) };
        Self(NonNull::new(listener).expect("the engine aborts when it has no memory"))
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::dds_listener_t {
        self.0.as_ptr()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // SAFETY: `dds_create_listener` created the listener, which is deleted only once; entities
        // keep copies.
        unsafe { sys::dds_delete_listener(self.0.as_ptr()) }
    }
}

/// The data of a matched endpoint. Dropping this value frees the data through the engine.
pub(crate) struct MatchedEndpoint(NonNull<sys::dds_builtintopic_endpoint_t>);

impl MatchedEndpoint {
    /// Returns the endpoint with this handle if it still matches the entity.
    pub(crate) fn read(
        entity: &Entity,
        handle: sys::dds_instance_handle_t,
        read: ReadMatched,
    ) -> Option<Self> {
        // SAFETY: the entity is alive; the engine checks the instance handle.
        NonNull::new(unsafe { read(entity.handle(), handle) }).map(Self)
    }

    pub(crate) fn gid(&self) -> Gid {
        // SAFETY: the pointer is not null and is owned by `self`.
        Gid(unsafe { self.0.as_ref() }.key.v)
    }

    pub(crate) fn profile(&self) -> QosProfile {
        // SAFETY: the pointer is not null, `self` owns it, and the QoS exists while `self` exists.
        unsafe { crate::qos::profile(self.0.as_ref().qos) }
    }

    pub(crate) fn user_data(&self) -> Vec<u8> {
        // SAFETY: the pointer is not null, `self` owns it, and the QoS exists while `self` exists.
        unsafe { crate::qos::user_data(self.0.as_ref().qos) }
    }
}

impl Drop for MatchedEndpoint {
    fn drop(&mut self) {
        // SAFETY: the engine created the data, and this is the only place that frees them.
        unsafe { sys::dds_builtintopic_free_endpoint(self.0.as_ptr()) }
    }
}

/// A function of the engine that lists the endpoints that match an entity.
pub(crate) type ListMatched = unsafe extern "C" fn(
    sys::dds_entity_t,
    *mut sys::dds_instance_handle_t,
    usize,
) -> sys::dds_return_t;

/// A function of the engine that reads the data of a matching endpoint; null if there is no such
/// endpoint.
pub(crate) type ReadMatched = unsafe extern "C" fn(
    sys::dds_entity_t,
    sys::dds_instance_handle_t,
) -> *mut sys::dds_builtintopic_endpoint_t;

/// Returns the handles of all endpoints that match `entity` now.
pub(crate) fn matched_handles(
    entity: &Entity,
    list: ListMatched,
) -> Vec<sys::dds_instance_handle_t> {
    let mut handles = vec![0; 16];
    loop {
        // SAFETY: `handles` has room for `handles.len()` handles; the entity is alive.
        let count = unsafe { list(entity.handle(), handles.as_mut_ptr(), handles.len()) };
        let count = usize::try_from(count).unwrap_or(0);
        if count <= handles.len() {
            handles.truncate(count);
            return handles;
        }
        // There was no room for all matches, and more may appear before the next call.
        handles.resize(count + 16, 0);
    }
}
