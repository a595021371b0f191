//! Wakes a thread that waits for descriptors: an eventfd of Linux (see eventfd(2)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

/// A descriptor that another thread makes readable. A thread or an event loop waits for it together
/// with other descriptors. If a thread waits for nothing else, use a [`Condvar`](crate::Condvar).
#[derive(Debug)]
pub struct WakeDescriptor(OwnedFd);

impl WakeDescriptor {
    /// Makes a descriptor that is not readable.
    ///
    /// # Errors
    /// The process or the system has no free descriptor.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes the descriptor readable until it is reset.
    pub fn wake(&self) {
        // The write fails only if the counter is full. The descriptor is then readable.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Makes the descriptor unreadable until it is woken again. Never waits.
    pub fn reset(&self) {
        // The read fails only if the descriptor is not readable.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for WakeDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_readable(descriptor: &WakeDescriptor) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&now)).unwrap() == 1
    }

    #[test]
    fn the_descriptor_is_readable_from_wake_to_reset() {
        let descriptor = WakeDescriptor::new().unwrap();
        descriptor.reset();
        assert!(!is_readable(&descriptor));
        descriptor.wake();
        descriptor.wake();
        assert!(is_readable(&descriptor));
        descriptor.reset();
        assert!(!is_readable(&descriptor), "one reset is enough for all wake-ups");
    }
}
