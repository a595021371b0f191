//! The lock around the state that iceoryx2's ports share with their samples.
//!
//! Each loan makes such a lock, and each step of a message takes one or two of these locks.
//! iceoryx2's own lock, a recursive mutex of the C library, would be a tenth of the cost of a
//! message. This lock must also be recursive, because some functions of iceoryx2 take it again
//! while they hold it.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::arc_sync_policy::{ArcSyncPolicy, ArcSyncPolicyCreationError, LockGuard};
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

pub(crate) struct Reentrant<T>(Arc<ReentrantMutex<T>>);

pub(crate) struct Guard<'a, T>(ReentrantMutexGuard<'a, T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a, T: Send + Abandonable> LockGuard<'a, T> for Guard<'a, T> {}

impl<T> Clone for Reentrant<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Debug> Debug for Reentrant<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&*self.0, f)
    }
}

impl<T: Abandonable> Abandonable for Reentrant<T> {
    unsafe fn abandon_in_place(mut this: NonNull<Self>) {
        // SAFETY: the caller passes a valid value, and does not use it after this call.
        let this = unsafe { this.as_mut() };
        match Arc::get_mut(&mut this.0) {
            // SAFETY: see above. There is no other reference to the value.
            Some(lock) => unsafe { T::abandon_in_place(NonNull::from_mut(lock.get_mut())) },
            // SAFETY: see above. This drops one reference.
            None => unsafe { std::ptr::drop_in_place(&raw mut this.0) },
        }
    }
}

impl<T: Send + Debug + Abandonable> ArcSyncPolicy<T> for Reentrant<T> {
    type LockGuard<'a>
        = Guard<'a, T>
    where
        T: 'a;

    fn new(value: T) -> Result<Self, ArcSyncPolicyCreationError> {
        Ok(Self(Arc::new(ReentrantMutex::new(value))))
    }

    fn lock(&self) -> Guard<'_, T> {
        Guard(self.0.lock())
    }
}
