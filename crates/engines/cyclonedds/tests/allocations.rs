//! Tests that, after warm-up, publishing and taking samples of a known size allocates nothing in
//! Rust: within a session, between two sessions of a process, and across the network. The
//! allocations of Cyclone DDS in C are not counted. The memory of payloads is from the shim's pool.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{
    Engine, FillAborted, NodeName, Notify, PublishMode, Publisher, PublisherOptions, Sample,
    Session, SessionOptions, Subscription, SubscriptionOptions,
};

/// Counts the allocations of all threads while `COUNTING` is set.
struct Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: each call is passed to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Ordering::Relaxed) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller guarantees this.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees this.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    COUNTING.store(true, Ordering::SeqCst);
    work();
    COUNTING.store(false, Ordering::SeqCst);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// A doorbell whose wait does not allocate.
#[derive(Default)]
struct Bell {
    count: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    fn notify(self: &Arc<Self>) -> Notify {
        let bell = self.clone();
        Arc::new(move || {
            *bell.count.lock().unwrap() += 1;
            bell.rung.notify_all();
        })
    }

    fn wait_for<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut count = self.count.lock().unwrap();
        loop {
            let seen = *count;
            drop(count);
            if let Some(found) = look() {
                return found;
            }
            count = self.count.lock().unwrap();
            while *count == seen {
                let waited = self.rung.wait_timeout(count, Duration::from_secs(60)).unwrap();
                assert!(!waited.1.timed_out(), "nothing rang");
                count = waited.0;
            }
        }
    }
}

struct Link {
    publisher: Arc<dyn Publisher>,
    subscription: Arc<dyn Subscription>,
    data: Arc<Bell>,
}

impl Link {
    /// Each connection uses its own topic, because endpoints of the previous connection may still
    /// match across the network.
    fn new(from: &dyn Session, to: &dyn Session, topic: &str, mode: PublishMode) -> Self {
        let (data, events) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
        let node = |session: &dyn Session| {
            session.create_node(&NodeName::new("/", "allocations").unwrap()).unwrap()
        };
        let options = PublisherOptions {
            mode,
            on_event: Some(events.notify()),
            ..PublisherOptions::new(node(from), topic, "std_msgs/msg/String")
        };
        let publisher = from.create_publisher(options).unwrap();
        let options = SubscriptionOptions {
            on_data: data.notify(),
            on_event: Some(events.notify()),
            ..SubscriptionOptions::new(node(to), topic, "std_msgs/msg/String")
        };
        let subscription = to.create_subscription(options).unwrap();
        events.wait_for(|| {
            (publisher.matched_subscriptions() == 1 && subscription.matched_publishers() == 1)
                .then_some(())
        });
        Self { publisher, subscription, data }
    }

    fn send_and_take(&self, size_bytes: usize) -> Sample {
        self.publisher
            .publish(size_bytes, &mut |memory| -> Result<(), FillAborted> {
                memory.fill(1);
                Ok(())
            })
            .unwrap();
        self.data.wait_for(|| self.subscription.take().unwrap())
    }
}

fn open(domain_id: u32) -> Arc<dyn Session> {
    // This process has two stacks. On the network, they form one domain.
    let configuration = "<CycloneDDS><Domain id=\"62\"><Discovery><ExternalDomainId>61</ExternalDomainId></Discovery>\
        </Domain></CycloneDDS>";
    let engine = ConfiguredCycloneEngine { configuration: configuration.into() };
    engine.open(&SessionOptions::localhost(domain_id)).unwrap()
}

// This file has only one test, because the allocations of all threads are counted.
#[test]
fn equal_samples_allocate_nothing() {
    let counted = allocations(|| drop(std::hint::black_box(Box::new(1))));
    assert_eq!(counted, 1, "the counter counts");
    let first = open(61);
    let ways = [
        ("within a session", first.clone()),
        ("between sessions", open(61)),
        ("network", open(62)),
    ];
    for (way, to) in ways {
        let modes = [
            ("synchronous", PublishMode::Synchronous),
            ("asynchronous", PublishMode::Asynchronous { queue_depth: 4 }),
        ];
        for (mode_name, mode) in modes {
            let topic = format!("/allocations/{}/{mode_name}", way.replace(' ', "_"));
            let link = Link::new(&*first, &*to, &topic, mode);
            for size_bytes in [256, 300_000] {
                (0..100).for_each(|_| drop(link.send_and_take(size_bytes)));
                // Discovery may still run in the threads of the engine and allocate memory. If
                // messages allocated memory, this would be visible in every round.
                let mut rounds = (0..50).map(|_| {
                    allocations(|| (0..500).for_each(|_| drop(link.send_and_take(size_bytes))))
                });
                let free = rounds.any(|allocations| allocations == 0);
                assert!(
                    free,
                    "{way}, {mode:?}, {size_bytes} bytes: 500 messages never went without"
                );
            }
        }
    }
}
