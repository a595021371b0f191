//! Reuses the memory of a message that several subscriptions of the process share, once all of
//! these subscriptions have dropped the message.

use std::sync::Arc;

/// The number of messages in the pool: one to write, and a few that subscriptions may still be
/// reading.
const KEPT: usize = 4;

/// The messages of one publisher that several subscriptions share.
///
/// The latest messages stay in memory until they are replaced. This is the price of sharing without
/// allocations.
pub(crate) struct SharedPool<M>(Vec<Arc<M>>);

impl<M> Default for SharedPool<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M> SharedPool<M> {
    /// Puts a message into an `Arc` of the pool. Allocates only if all messages of the pool are
    /// still in use.
    pub(crate) fn share(&mut self, message: M) -> Arc<M> {
        for known in &mut self.0 {
            if let Some(place) = Arc::get_mut(known) {
                *place = message;
                return Arc::clone(known);
            }
        }
        let shared = Arc::new(message);
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(&shared));
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_messages_are_replaced_when_nobody_reads_them() {
        let mut pool = SharedPool::default();
        let first = pool.share("a".to_owned());
        let second = pool.share("b".to_owned());
        assert_eq!((&*first, &*second), (&"a".to_owned(), &"b".to_owned()));
        let place = Arc::as_ptr(&first);
        drop(first);
        assert_eq!(Arc::as_ptr(&pool.share("c".to_owned())), place);
    }
}
