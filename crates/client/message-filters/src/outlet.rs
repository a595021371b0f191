//! The output of a filter: a bounded queue and a closure, which one thread at a time calls without
//! holding a lock.

use std::collections::VecDeque;

use feros_sync::Mutex;

/// The queue and the closure.
pub(crate) struct Outlet<T> {
    state: Mutex<State<T>>,
    capacity: usize,
}

type Callback<T> = Box<dyn FnMut(T) + Send>;

struct State<T> {
    queue: VecDeque<T>,
    /// The closure, which is removed while a thread calls it; that thread continues until the queue
    /// is empty.
    callback: Option<Callback<T>>,
}

impl<T> Outlet<T> {
    /// Creates an outlet that holds at most `capacity` items while the closure is busy.
    pub(crate) fn new(capacity: usize, callback: impl FnMut(T) + Send + 'static) -> Self {
        let state = State { queue: VecDeque::new(), callback: Some(Box::new(callback)) };
        Self { state: Mutex::new(state), capacity: capacity.max(1) }
    }

    /// Puts an item into the queue. If the queue is full, removes and returns the oldest item.
    #[must_use = "displaced items are counted"]
    pub(crate) fn put(&self, item: T) -> Option<T> {
        let mut state = self.state.lock();
        let oldest =
            if state.queue.len() >= self.capacity { state.queue.pop_front() } else { None };
        state.queue.push_back(item);
        oldest
    }

    /// Calls the closure with all items of the queue, unless another thread is doing that already;
    /// that thread then delivers the caller's item.
    pub(crate) fn deliver(&self) {
        loop {
            let (item, callback) = {
                let mut state = self.state.lock();
                if state.queue.is_empty() {
                    return;
                }
                let Some(callback) = state.callback.take() else { return };
                (state.queue.pop_front(), callback)
            };
            let mut turn = Turn { outlet: self, callback: Some(callback) };
            if let (Some(callback), Some(item)) = (&mut turn.callback, item) {
                callback(item);
            }
        }
    }
}

/// The right to call the closure, which is given back even after a panic.
struct Turn<'a, T> {
    outlet: &'a Outlet<T>,
    callback: Option<Callback<T>>,
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.outlet.state.lock().callback = self.callback.take();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Weak};

    use super::*;

    #[test]
    fn items_of_a_closure_come_after_it_and_a_panic_costs_one_item() {
        let heard: Arc<Mutex<Vec<u32>>> = Arc::default();
        let outlet = Arc::new_cyclic(|outlet: &Weak<Outlet<u32>>| {
            let (outlet, heard) = (outlet.clone(), heard.clone());
            Outlet::new(10, move |item| {
                heard.lock().push(item);
                if item == 1 {
                    let outlet = outlet.upgrade().expect("it delivers");
                    assert_eq!(outlet.put(3), None);
                    outlet.deliver();
                    assert_eq!(heard.lock().last(), Some(&1), "called within its own call");
                }
                assert_ne!(item, 2, "as the test wants it");
            })
        });
        assert_eq!(outlet.put(1), None);
        outlet.deliver();
        assert_eq!(*heard.lock(), [1, 3]);
        assert_eq!(outlet.put(2), None);
        assert_eq!(outlet.put(4), None);
        let calling = outlet.clone();
        let panics = feros_test_support::spawn("panics", move || calling.deliver());
        assert!(panics.join().is_err());
        outlet.deliver();
        assert_eq!(*heard.lock(), [1, 3, 2, 4]);
    }

    #[test]
    fn a_full_queue_gives_its_oldest_back() {
        let outlet = Outlet::new(2, drop::<u32>);
        assert_eq!([1, 2, 3, 4].map(|item| outlet.put(item)), [None, None, Some(1), Some(2)]);
    }
}
