//! After a warm-up, publishing and taking messages within a host allocates nothing, if a message of
//! the same size has been sent before.
//!
//! The user allocates the message itself, so that allocation does not count: the tests make
//! messages that are passed by value in advance.
#![allow(clippy::unwrap_used)]

use allocation_counter::measure;
use feros_sync::Mutex;
use feros_test_support::WATCHDOG;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::engine::SessionOptions;
use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::{
    Context, ContextOptions, Executor, Publisher, SerializedMessage, SubscriptionCounts,
    SubscriptionOptions, Transport, TransportSet, View,
};

const WARM_UP: usize = 200;
const ROUNDS: usize = 200;
const WINDOWS: usize = 5;
const MOST_ROUNDS: usize = 10 * (WARM_UP + WINDOWS * ROUNDS);
const SIZES: [usize; 2] = [256, 1 << 20];

/// Makes the tests run one at a time, because all publishers of the process check their matches
/// again when a subscription is made or dropped.
static ALONE: Mutex<()> = Mutex::new(());

fn context() -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(feros_test_support::own_domain())))
        .unwrap()
}

fn image(size: usize) -> Image {
    Image { data: vec![1; size], ..Image::default() }
}

/// The numbers of messages that subscriptions have taken: over this transport, and in all.
fn total_taken<const N: usize>(
    counts: [SubscriptionCounts; N],
    transport: Transport,
) -> (u64, u64) {
    let of = |count: &SubscriptionCounts| match transport {
        Transport::IntraProcess => count.intra_process.messages,
        Transport::SharedMemory => count.shared_memory.messages,
        Transport::Network => count.network.messages,
    };
    let all = |count: &SubscriptionCounts| {
        count.intra_process.messages + count.shared_memory.messages + count.network.messages
    };
    (counts.iter().map(of).sum(), counts.iter().map(all).sum())
}

/// Publishes messages, and spins until each message has been taken. Returns the numbers of this
/// thread's allocations by publishing and by taking, not including the warm-up (discovery may
/// allocate on other threads). The warm-up begins again with a message over another transport than
/// the one that `taken` counts: the first messages to a process that has not opened the shared
/// memory yet go over the network.
///
/// Some time after a match, each endpoint looks once for mismatches, which allocates. So if a
/// window of `ROUNDS` messages has allocations, further windows follow, and the least numbers
/// count.
fn allocations<T>(
    executor: &Executor,
    taken: &dyn Fn() -> (u64, u64),
    expected: u64,
    mut make: impl FnMut() -> T,
    mut publish: impl FnMut(T),
) -> (u64, u64) {
    let none_yet = (u64::MAX, u64::MAX);
    let (mut counts, mut least, mut steady) = ((0, 0), none_yet, 0_usize);
    for _ in 0..MOST_ROUNDS {
        let message = make();
        let (by_transport, all) = taken();
        let publishing = measure(|| publish(message));
        let started = Instant::now();
        let taking = measure(|| {
            while taken().1 < all + expected {
                executor.spin_some(Duration::MAX).unwrap();
                assert!(started.elapsed() < WATCHDOG, "the watchdog bit");
            }
        });
        counts = (counts.0 + publishing.count_total, counts.1 + taking.count_total);
        steady = if taken().0 == by_transport + expected { steady + 1 } else { 0 };
        if steady <= WARM_UP {
            (counts, least) = ((0, 0), none_yet);
        } else if (steady - WARM_UP).is_multiple_of(ROUNDS) {
            least = (least.0.min(counts.0), least.1.min(counts.1));
            counts = (0, 0);
            if least == (0, 0) || steady == WARM_UP + WINDOWS * ROUNDS {
                return least;
            }
        }
    }
    panic!("messages take other transports again and again");
}

fn wait_for_transport(
    publisher: &Publisher<Image>,
    executor: &Executor,
    transport: Transport,
    count: usize,
) {
    let started = Instant::now();
    while publisher.transports().iter().filter(|found| found.transport == Some(transport)).count()
        < count
    {
        publisher.publish(Image::default()).unwrap();
        executor.spin_some(Duration::MAX).unwrap();
        assert!(started.elapsed() < WATCHDOG, "the watchdog bit: {:?}", publisher.transports());
    }
    executor.spin_all(Duration::from_secs(10)).unwrap();
}

#[test]
fn the_intra_process_transport_allocates_nothing() {
    let _alone = ALONE.lock();
    publish_on_the_intra_process_transport();
}

#[test]
fn the_shared_memory_transport_allocates_nothing_but_what_iceoryx2_does() {
    let _alone = ALONE.lock();
    publish_on_the_shared_memory_transport();
}

#[test]
fn trace_points_allocate_nothing() {
    let _alone = ALONE.lock();
    feros::trace::enable();
    publish_on_the_intra_process_transport();
    publish_on_the_shared_memory_transport();
    feros::trace::disable();
    assert!(
        feros::trace::drain().iter().any(|thread| thread.events.len() > ROUNDS),
        "nothing was traced"
    );
}

fn publish_on_the_intra_process_transport() {
    let node = context().create_node("process").unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    for size in SIZES {
        // One subscription that takes owned messages.
        let publisher = node.create_publisher::<Image>("owned", 4).unwrap();
        let owned = node.create_subscription("owned", 4, |_: Image| {}).unwrap();
        let taken = || total_taken([owned.counts()], Transport::IntraProcess);
        let make = || image(size);
        let count =
            allocations(&executor, &taken, 1, make, |image| publisher.publish(image).unwrap());
        assert_eq!(count, (0, 0), "owned, {size} bytes");

        // Two subscriptions that take shared messages.
        let publisher = node.create_publisher::<Image>("shared", 4).unwrap();
        let shared =
            [(); 2].map(|()| node.create_subscription("shared", 4, |_: Arc<Image>| {}).unwrap());
        let taken =
            || total_taken([shared[0].counts(), shared[1].counts()], Transport::IntraProcess);
        let count =
            allocations(&executor, &taken, 2, make, |image| publisher.publish(image).unwrap());
        assert_eq!(count, (0, 0), "shared, {size} bytes");

        // Subscriptions to views and raw messages.
        let publisher = node.create_publisher::<Image>("bytes", 4).unwrap();
        let view = node.create_subscription("bytes", 4, |_: View<Image>| {}).unwrap();
        let raw =
            node.create_subscription::<Image, _>("bytes", 4, |_: SerializedMessage| {}).unwrap();
        let taken = || total_taken([view.counts(), raw.counts()], Transport::IntraProcess);
        let lent = image(size);
        let count =
            allocations(&executor, &taken, 2, || (), |()| publisher.publish(&lent).unwrap());
        assert_eq!(count, (0, 0), "bytes, {size} bytes");
    }
}

fn publish_on_the_shared_memory_transport() {
    let (here, there) = (context(), context());
    let (talker, listener) =
        (here.create_node("talker").unwrap(), there.create_node("listener").unwrap());
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    executor.add_node(&talker).unwrap();
    for (index, size) in SIZES.into_iter().enumerate() {
        let topic = format!("host{index}");
        let publisher = talker.create_publisher::<Image>(&topic, 4).unwrap();
        let options = || {
            SubscriptionOptions::from(4)
                .transports(TransportSet::ALL.without(Transport::IntraProcess))
        };
        let view = listener.create_subscription(&topic, options(), |_: View<Image>| {}).unwrap();
        let raw = listener
            .create_subscription::<Image, _>(&topic, options(), |_: SerializedMessage| {})
            .unwrap();
        wait_for_transport(&publisher, &executor, Transport::SharedMemory, 2);
        let taken = || total_taken([view.counts(), raw.counts()], Transport::SharedMemory);
        let nothing = || ();
        let lent = image(size);
        let count =
            allocations(&executor, &taken, 2, nothing, |()| publisher.publish(&lent).unwrap());
        assert_eq!(count, (0, 0), "copied, {size} bytes");
        let shape = ImageShape { data: size, ..ImageShape::default() };
        let count = allocations(&executor, &taken, 2, nothing, |()| {
            let mut loan = publisher.loan(&shape).unwrap();
            assert!(loan.is_shared());
            *loan.fields().unwrap().height = 1;
            loan.publish().unwrap();
        });
        assert_eq!(count, (0, 0), "built in place, {size} bytes");
        let bytes = feros::message::to_vec(&lent).unwrap();
        let count = allocations(&executor, &taken, 2, nothing, |()| {
            publisher.publish_serialized(&bytes).unwrap();
        });
        assert_eq!(count, (0, 0), "raw, {size} bytes");
    }
}
