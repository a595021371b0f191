//! Panics in callbacks. Without a hook, a panic propagates out of the spin function; with a hook,
//! it ends only its node.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use feros::msgs::std_msgs::msg::Int32;
use feros::{Dispatch, Executor, Node, QosProfile, SubscriptionOptions};

use crate::support::{WATCHDOG, context, spin_until};

fn counted() -> (Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    (count.clone(), count)
}

fn texts_of(node: &Node) -> Arc<Mutex<Vec<String>>> {
    let texts: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = texts.clone();
    node.on_panic(move |text| seen.lock().unwrap().push(text.to_owned()));
    texts
}

#[test]
fn a_panic_ends_its_node_and_no_other() {
    let context = context();
    let (bad, good) = (context.create_node("bad").unwrap(), context.create_node("good").unwrap());
    let texts = texts_of(&bad);
    let (held, alive) = counted();
    let guard = bad
        .create_guard_condition(move || panic!("out of {}", held.load(Ordering::SeqCst)))
        .unwrap();
    let (count, ticks_of_bad) = counted();
    let _silenced = bad
        .create_wall_timer(Duration::from_millis(1), move || {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
    let (count, ticks) = counted();
    let _timer = good
        .create_wall_timer(Duration::from_millis(1), move || {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
    let executor = Executor::new();
    executor.add_node(&bad).unwrap();
    executor.add_node(&good).unwrap();
    spin_until(&executor, || ticks_of_bad.load(Ordering::SeqCst) >= 1);
    guard.trigger();
    spin_until(&executor, || !texts.lock().unwrap().is_empty());
    assert_eq!(*texts.lock().unwrap(), ["out of 0"]);
    assert_eq!(Arc::strong_count(&alive), 1, "the captures of its callbacks are dropped");
    let (before, last) = (ticks.load(Ordering::SeqCst), ticks_of_bad.load(Ordering::SeqCst));
    guard.trigger();
    spin_until(&executor, || ticks.load(Ordering::SeqCst) >= before + 20);
    assert_eq!(ticks_of_bad.load(Ordering::SeqCst), last, "no further callback of the node runs");
    executor.remove_node(&bad);
    assert_eq!(texts.lock().unwrap().len(), 1);
}

#[test]
fn without_a_hook_a_panic_leaves_the_spin_function() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let guard = node.create_guard_condition(|| panic!("as wanted by the test")).unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    guard.trigger();
    assert!(catch_unwind(AssertUnwindSafe(|| executor.spin_once(Some(WATCHDOG)))).is_err());
}

#[test]
fn a_panic_on_the_publishing_thread_is_caught_too() {
    let context = context();
    let (listener, talker) =
        (context.create_node("listener").unwrap(), context.create_node("talker").unwrap());
    let texts = texts_of(&listener);
    let (count, calls) = counted();
    let options =
        SubscriptionOptions::from(QosProfile::keep_last(10)).dispatch(Dispatch::PublishingThread);
    let subscription = listener
        .create_subscription("numbers", options, move |number: Int32| {
            count.fetch_add(1, Ordering::SeqCst);
            assert!(number.data < 2, "too much");
        })
        .unwrap();
    let publisher = talker.create_publisher::<Int32>("numbers", 10).unwrap();
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    for data in 1..=4 {
        publisher.publish(Int32 { data }).unwrap();
    }
    assert_eq!(*texts.lock().unwrap(), ["too much"]);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}
