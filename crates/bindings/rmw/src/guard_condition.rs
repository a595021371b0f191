//! Guard conditions, which a host program triggers to end a wait.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ptr;
use std::sync::Arc;

use feros_executor::{GuardCondition, Waitable};

use crate::distribution::initialized;
use crate::error::{guarded, guarded_pointer};
use crate::ffi::{rmw_context_t, rmw_guard_condition_t, rmw_ret_t};
use crate::handle::{self, handle};
use crate::identity::identifier;

/// The object that the `data` field of an `rmw_guard_condition_t` points to.
pub(crate) struct GuardConditionEnd {
    pub(crate) condition: GuardCondition,
    pub(crate) waitable: Arc<dyn Waitable>,
}

handle!(rmw_guard_condition_t => GuardConditionEnd);

/// A guard condition as an rmw object.
pub(crate) struct Object {
    raw: Box<rmw_guard_condition_t>,
    _end: Box<GuardConditionEnd>,
}

// SAFETY: the object owns the values that the pointers point to and does not move them, and they
// are `Sync`.
unsafe impl Send for Object {}
// SAFETY: as for `Send`, and the object itself is never changed.
unsafe impl Sync for Object {}

impl Object {
    pub(crate) fn new(condition: GuardCondition) -> Self {
        let waitable: Arc<dyn Waitable> = Arc::new(condition.clone());
        let end = Box::new(GuardConditionEnd { condition, waitable });
        let raw = Box::new(rmw_guard_condition_t {
            implementation_identifier: identifier(),
            data: (&raw const *end).cast_mut().cast(),
            context: ptr::null_mut(),
        });
        Self { raw, _end: end }
    }

    /// The pointer for the host program, valid as long as this object is alive.
    pub(crate) fn raw(&self) -> *const rmw_guard_condition_t {
        &raw const *self.raw
    }
}

/// Creates a guard condition.
///
/// # Safety
/// The context is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_guard_condition(
    context: *mut rmw_context_t,
) -> *mut rmw_guard_condition_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the context is null, zero-initialized or valid. A wait may still follow
        // the shutdown of a context.
        unsafe { initialized(context) }?;
        let object = Object::new(GuardCondition::without_callback());
        let Object { mut raw, _end: end } = object;
        raw.context = context;
        raw.data = Box::into_raw(end).cast();
        Ok(Box::into_raw(raw))
    })
}

/// Destroys a guard condition.
///
/// # Safety
/// The guard condition is null or was made by [`rmw_create_guard_condition`], and is not used
/// afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_guard_condition(
    guard_condition: *mut rmw_guard_condition_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the guard condition is alive. [destruction] This is its last use.
        unsafe { handle::free(guard_condition) }.map(drop)
    })
}

/// Triggers a guard condition. This ends the current wait for the guard condition or, if there is
/// none, the next wait.
///
/// # Safety
/// The guard condition is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_trigger_guard_condition(
    guard_condition: *const rmw_guard_condition_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the guard condition is null or alive.
        unsafe { handle::end(guard_condition) }?.condition.trigger();
        Ok(())
    })
}
