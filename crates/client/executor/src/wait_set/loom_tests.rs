//! Tests a wait set under every interleaving that loom explores. A lost wake-up shows up as a
//! deadlock.

#![allow(clippy::unwrap_used)]

use super::*;
use feros_doorbell::Ringer;
use feros_sync::{AtomicUsize, Ordering};
use loom::thread;

/// An entity that is ready as long as there are messages.
struct Inbox {
    ringer: Ringer,
    messages: loom::sync::Arc<AtomicUsize>,
}

impl Waitable for Inbox {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.messages.load(Ordering::Acquire) > 0
    }
}

/// Makes an inbox, and a function that puts a message into it.
fn inbox() -> (Arc<Inbox>, impl FnOnce() + Send + 'static) {
    let (ringer, messages) = (Ringer::new(), loom::sync::Arc::new(AtomicUsize::new(0)));
    let put = {
        let (ringer, messages) = (ringer.clone(), messages.clone());
        move || {
            messages.fetch_add(1, Ordering::Release);
            ringer.ring();
        }
    };
    (Arc::new(Inbox { ringer, messages }), put)
}

fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Two threads put messages into two inboxes. Both inboxes are reported, in one wait or in two
/// waits.
#[test]
fn no_wake_up_is_lost_with_two_entities() {
    explore(2, || {
        let ([first, second], putting) = {
            let ((first, put_first), (second, put_second)) = (inbox(), inbox());
            ([first, second], [thread::spawn(put_first), thread::spawn(put_second)])
        };
        let mut wait_set = WaitSet::new();
        wait_set.add(first.clone());
        wait_set.add(second.clone());
        let mut taken = 0;
        while taken < 2 {
            for index in wait_set.wait(None).to_vec() {
                let inbox = if index == 0 { &first } else { &second };
                taken += inbox.messages.swap(0, Ordering::Acquire);
            }
        }
        putting.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// One entity is in two wait sets, each with its own thread; both threads are woken.
#[test]
fn both_wait_sets_of_an_entity_are_woken() {
    explore(2, || {
        let (inbox, put) = inbox();
        let waiting = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                let mut wait_set = WaitSet::new();
                wait_set.add(inbox);
                assert_eq!(wait_set.wait(None), [0]);
            })
        };
        let putting = thread::spawn(put);
        let mut wait_set = WaitSet::new();
        wait_set.add(inbox);
        assert_eq!(wait_set.wait(None), [0]);
        drop(wait_set);
        waiting.join().unwrap();
        putting.join().unwrap();
    });
}
