//! Messages between endpoints of one process. They are passed as pointers, and all QoS guarantees
//! hold.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use feros::engine::{Session, Subscription as EngineSubscription};
use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros::{
    Dispatch, Executor, Node, PublishError, QosProfile, SerializedMessage, SubscriptionEvent,
    SubscriptionOptions, TypeIdentity, View,
};

use crate::support::{WATCHDOG, context, listening, publish_patiently, spin_until};
use feros_test_support::SetAtEnd;

/// The address of an image's data.
type Place = usize;

fn place(data: &[u8]) -> Place {
    data.as_ptr() as usize
}

fn image() -> (Image, Place) {
    let image = Image { data: vec![7; 1000], ..Image::default() };
    let place = place(&image.data);
    (image, place)
}

fn channel<T>() -> (SyncSender<T>, Receiver<T>) {
    sync_channel(10_000)
}

/// Spins until the next item arrives.
fn receive<T>(executor: &Executor, receiver: &Receiver<T>) -> T {
    let mut received = None;
    spin_until(executor, || {
        received = receiver.try_recv().ok();
        received.is_some()
    });
    received.unwrap()
}

fn spinning(node: &Node) -> Executor {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    executor
}

#[test]
fn a_message_that_is_given_away_is_moved() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Image>("image", 10).unwrap();
    let (_subscription, receiver) =
        listening(&node, "image", 10, |image: Image| place(&image.data));
    let executor = spinning(&node);
    let (image, there) = image();
    publisher.publish(image).unwrap();
    assert_eq!(receive(&executor, &receiver), there);
    let counts = publisher.counts();
    assert_eq!(
        (counts.intra_process.messages, counts.intra_process.bytes),
        (1, 0),
        "it was not serialized"
    );
    assert_eq!((counts.network.messages, counts.skipped_engine_writes), (0, 1));
}

#[test]
fn several_share_one_message() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Image>("image", 10).unwrap();
    let (sender, receiver) = channel();
    let _subscriptions: Vec<_> = (0..3)
        .map(|_| {
            let sender = sender.clone();
            let hear = move |image: Arc<Image>| sender.send(place(&image.data)).unwrap();
            node.create_subscription("image", 10, hear).unwrap()
        })
        .collect();
    let executor = spinning(&node);
    let (image, there) = image();
    publisher.publish(image).unwrap();
    assert_eq!([(); 3].map(|()| receive(&executor, &receiver)), [there; 3]);
}

#[test]
fn only_a_second_owner_costs_a_clone() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Image>("image", 10).unwrap();
    let (sender, receiver) = channel();
    let owner =
        |sender: SyncSender<Place>| move |image: Image| sender.send(place(&image.data)).unwrap();
    let _first = node.create_subscription("image", 10, owner(sender.clone())).unwrap();
    let _second = node.create_subscription("image", 10, owner(sender)).unwrap();
    let executor = spinning(&node);
    let (image, there) = image();
    publisher.publish(image).unwrap();
    let places = [(); 2].map(|()| receive(&executor, &receiver));
    assert_eq!(places.iter().filter(|place| **place == there).count(), 1, "{places:?} of {there}");
}

#[test]
fn borrowed_messages_are_cloned_and_shared_ones_are_not() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Image>("image", 10).unwrap();
    let (sender, receiver) = channel();
    let hear = move |image: Arc<Image>| sender.send(place(&image.data)).unwrap();
    let _subscription = node.create_subscription("image", 10, hear).unwrap();
    let executor = spinning(&node);
    let (image, there) = image();
    publisher.publish(&image).unwrap();
    assert_ne!(receive(&executor, &receiver), there);
    publisher.publish(Arc::new(image)).unwrap();
    assert_eq!(receive(&executor, &receiver), there);
}

#[test]
fn views_and_raw_messages_are_lent_one_serialized_message() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Image>("image", 10).unwrap();
    let (sender, receiver) = channel();
    let (view, raw, owned) = (sender.clone(), sender.clone(), sender);
    let _subscriptions = (
        node.create_subscription("image", 10, move |image: View<Image>| {
            assert_eq!(image.get().data, [7; 1000]);
            view.send(place(image.serialized())).unwrap();
        })
        .unwrap(),
        node.create_subscription::<Image, _>("image", 10, move |bytes: SerializedMessage| {
            raw.send(place(&bytes)).unwrap();
        })
        .unwrap(),
        node.create_subscription("image", 10, move |image: Image| {
            owned.send(place(&image.data)).unwrap()
        })
        .unwrap(),
    );
    let executor = spinning(&node);
    let (image, there) = image();
    publisher.publish(image).unwrap();
    let places = [(); 3].map(|()| receive(&executor, &receiver));
    assert_eq!(
        places.iter().filter(|place| **place == there).count(),
        1,
        "the owner gets the message itself"
    );
    let bytes: Vec<_> = places.iter().filter(|place| **place != there).collect();
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn serialized_messages_reach_every_form() {
    let node = context().create_node("node").unwrap();
    let identity = TypeIdentity::of::<Text>();
    let publisher = node.create_generic_publisher("text", &identity, 10).unwrap();
    let (sender, receiver) = channel();
    let (owned, generic) = (sender.clone(), sender);
    let _owned = node
        .create_subscription("text", 10, move |text: Text| owned.send(text.data).unwrap())
        .unwrap();
    let _generic = node
        .create_generic_subscription("text", &identity, 10, move |bytes, _| {
            generic.send(bytes.decode::<Text>().unwrap().data).unwrap();
        })
        .unwrap();
    let executor = spinning(&node);
    let bytes = feros::message::to_vec(&Text { data: "hello".into() }).unwrap();
    publisher.publish_serialized(&bytes).unwrap();
    assert_eq!([(); 2].map(|()| receive(&executor, &receiver)), ["hello", "hello"]);
    assert_eq!(publisher.counts().network.messages, 0);
}

#[test]
fn a_malformed_message_is_refused_and_counted() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_generic_publisher("text", &TypeIdentity::of::<Text>(), 10).unwrap();
    let (subscription, receiver) = listening(&node, "text", 10, |text: Text| text.data);
    let executor = spinning(&node);
    publisher.publish_serialized(&[0, 1, 0, 0, 255, 255, 255, 255, b'x']).unwrap();
    publisher
        .publish_serialized(&feros::message::to_vec(&Text { data: "good".into() }).unwrap())
        .unwrap();
    assert_eq!(receive(&executor, &receiver), "good");
    assert_eq!(subscription.refused_messages(), 1);
}

#[test]
fn replaced_messages_are_reported_as_lost() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", 10).unwrap();
    let (sender, receiver) = channel();
    let (events, lost) = channel();
    let options = SubscriptionOptions::from(2).on_event(move |event| {
        if let SubscriptionEvent::MessageLost { total, change } = event {
            events.send((total, change)).unwrap();
        }
    });
    let subscription = node
        .create_subscription("number", options, move |number: Int32| {
            sender.send(number.data).unwrap()
        })
        .unwrap();
    for data in 1..=5 {
        publisher.publish(Int32 { data }).unwrap();
    }
    let executor = spinning(&node);
    assert_eq!([(); 2].map(|()| receive(&executor, &receiver)), [4, 5]);
    assert_eq!(receive(&executor, &lost), (3, 3));
    assert_eq!(subscription.counts().lost_on_local_transports, 3);
}

#[test]
fn publishing_waits_for_subscriptions_that_keep_all() {
    const COUNT: i32 = 3000;
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", QosProfile::keep_all()).unwrap();
    let (_subscription, receiver) =
        listening(&node, "number", QosProfile::keep_all(), |number: Int32| number.data);
    let executor = spinning(&node);
    std::thread::scope(|scope| {
        scope.spawn(|| (0..COUNT).for_each(|data| publish_patiently(&publisher, &Int32 { data })));
        for expected in 0..COUNT {
            assert_eq!(receive(&executor, &receiver), expected);
        }
    });
}

#[test]
fn a_subscription_that_keeps_all_and_takes_nothing_is_an_error_of_publishing() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", QosProfile::keep_all()).unwrap();
    let _subscription =
        node.create_subscription("number", QosProfile::keep_all(), |_: Int32| {}).unwrap();
    let error = (0..100_000).find_map(|data| publisher.publish(Int32 { data }).err()).unwrap();
    assert!(
        matches!(error, PublishError::Engine(feros::engine::PublishError::Timeout { .. })),
        "{error}"
    );
}

#[test]
fn a_late_joiner_gets_history_and_then_each_message_once() {
    let node = context().create_node("node").unwrap();
    let qos = QosProfile::keep_last(3).transient_local();
    let publisher = node.create_publisher::<Int32>("number", qos).unwrap();
    (1..=5).for_each(|data| publisher.publish(Int32 { data }).unwrap());
    let (sender, receiver) = channel();
    let deeper = QosProfile { depth: 10, ..qos };
    let subscription = node
        .create_subscription("number", deeper, move |number: Int32| {
            sender.send(number.data).unwrap()
        })
        .unwrap();
    (6..=8).for_each(|data| publisher.publish(Int32 { data }).unwrap());
    let executor = spinning(&node);
    let mut heard = Vec::new();
    spin_until(&executor, || {
        heard.extend(receiver.try_iter());
        heard.last() == Some(&8)
    });
    executor.spin_all(Duration::from_secs(1)).unwrap();
    heard.extend(receiver.try_iter());
    assert_eq!(heard, [3, 4, 5, 6, 7, 8]);
    assert!(subscription.counts().intra_process.messages >= 3);
}

#[test]
fn expired_messages_are_not_delivered() {
    let lifespan = Duration::from_millis(50);
    let node = context().create_node("node").unwrap();
    let publisher = node
        .create_publisher::<Int32>("number", QosProfile::keep_last(10).lifespan(lifespan))
        .unwrap();
    let (_subscription, receiver) = listening(&node, "number", 10, |number: Int32| number.data);
    publisher.publish(Int32 { data: 1 }).unwrap();
    // Wait until the lifespan of the message has passed.
    std::thread::sleep(lifespan * 2);
    let executor = spinning(&node);
    let mut data = 2;
    let first = loop {
        publisher.publish(Int32 { data }).unwrap();
        executor.spin_some(Duration::from_secs(1)).unwrap();
        match receiver.try_recv() {
            Ok(first) => break first,
            Err(_) => data += 1,
        }
    };
    assert_eq!(first, data);
}

#[test]
fn local_publications_are_ignored_on_wish() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", 10).unwrap();
    let (sender, receiver) = channel();
    let ignored = sender.clone();
    let options = SubscriptionOptions::from(10).ignore_local_publications();
    let _ignoring = node
        .create_subscription("number", options, move |_: Int32| ignored.send("ignored").unwrap())
        .unwrap();
    let _other = node
        .create_subscription("number", 10, move |_: Int32| sender.send("heard").unwrap())
        .unwrap();
    let executor = spinning(&node);
    publisher.publish(Int32::default()).unwrap();
    publisher.publish(Int32::default()).unwrap();
    assert_eq!([(); 2].map(|()| receive(&executor, &receiver)), ["heard", "heard"]);
    assert!(receiver.try_recv().is_err());
}

/// Makes a subscription that only the engine knows, like a subscription of another program.
fn stranger(session: &Arc<dyn Session>, node: &Node, topic: &str) -> Arc<dyn EngineSubscription> {
    let identity = TypeIdentity::of::<Int32>();
    let topic = node.resolve_topic_name(topic, false).unwrap();
    let id = session.create_node(node.name()).unwrap();
    let options = feros::engine::SubscriptionOptions {
        type_hash: identity.hash,
        qos: QosProfile::keep_all(),
        ..feros::engine::SubscriptionOptions::new(id, &topic, &identity.name)
    };
    session.create_subscription(options).unwrap()
}

#[test]
fn strangers_come_and_go_and_nothing_is_lost_or_doubled() {
    let (here, there) = (context(), context());
    let node = here.create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", 1000).unwrap();
    let (subscription, receiver) = listening(&node, "number", 1000, |number: Int32| number.data);
    let executor = spinning(&node);
    let mut heard_here = Vec::new();
    let mut spin = || {
        executor.spin_some(Duration::from_secs(1)).unwrap();
        heard_here.extend(receiver.try_iter());
    };
    // The first message ensures that the subscription's transport is set up before any message can
    // overflow the queue.
    publisher.publish(Int32 { data: 0 }).unwrap();
    spin();
    let [done, is_heard] = [(); 2].map(|()| AtomicBool::new(false));
    let published = std::thread::scope(|scope| {
        let end = SetAtEnd(&done);
        let publishing = scope.spawn(|| {
            let mut data = 1;
            while !done.load(Ordering::Relaxed) {
                publisher.publish(Int32 { data }).unwrap();
                data += 1;
                // The engine keeps the last thousand messages for a stranger. A stranger that is
                // held up must not lose any of them.
                match is_heard.load(Ordering::Relaxed) {
                    true => std::thread::sleep(Duration::from_millis(1)),
                    false => std::thread::yield_now(),
                }
            }
            data
        });
        for _ in 0..10 {
            is_heard.store(true, Ordering::Relaxed);
            let stranger = stranger(there.session(), &node, "number");
            let mut heard = Vec::new();
            while heard.len() < 50 {
                spin();
                while let Some(sample) = stranger.take().unwrap() {
                    heard.push(feros::message::from_bytes::<Int32>(&sample.payload).unwrap().data);
                }
            }
            let gaps = heard.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
            assert_eq!(gaps, 0, "the stranger heard {heard:?}");
            drop(stranger);
            is_heard.store(false, Ordering::Relaxed);
            let skipped = publisher.counts().skipped_engine_writes;
            while publisher.counts().skipped_engine_writes == skipped {
                spin();
            }
        }
        drop(end);
        publishing.join().unwrap()
    });
    // Take the messages that still wait in the intra-process queue and in the engine's history.
    assert!(executor.spin_all(WATCHDOG).unwrap() < 10_000);
    heard_here.extend(receiver.try_iter());
    let heard = heard_here;
    let lost = subscription.counts().lost_on_local_transports;
    assert_eq!(heard.len() as u64 + lost, u64::try_from(published).unwrap());
    assert!(heard.windows(2).all(|pair| pair[0] < pair[1]), "in order, each once");
    let counts = publisher.counts();
    assert!(counts.network.messages >= 500, "{counts:?}");
}

#[test]
fn direct_dispatch_runs_on_the_publishing_thread() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Text>("text", 10).unwrap();
    let seen: Arc<Mutex<Vec<(String, ThreadId)>>> = Arc::default();
    let direct = SubscriptionOptions::from(10).dispatch(Dispatch::PublishingThread);
    let see = seen.clone();
    let subscription = node
        .create_subscription("text", direct, move |text: Text| {
            see.lock().unwrap().push((text.data, std::thread::current().id()));
        })
        .unwrap();
    // No executor spins the node.
    publisher.publish(Text { data: "direct".into() }).unwrap();
    assert_eq!(*seen.lock().unwrap(), [("direct".to_owned(), std::thread::current().id())]);
    drop(subscription);
    publisher.publish(Text { data: "nobody".into() }).unwrap();
    assert_eq!(seen.lock().unwrap().len(), 1);
    assert_eq!(Arc::strong_count(&seen), 1, "the closure is dropped with its subscription");
}

#[test]
fn a_callback_may_publish_to_itself_and_never_runs_twice_at_once() {
    let node = context().create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", 1000).unwrap();
    let (inside, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let direct = SubscriptionOptions::from(1000).dispatch(Dispatch::PublishingThread);
    let (again, within, counted) = (publisher.clone(), inside.clone(), calls.clone());
    let _subscription = node
        .create_subscription("number", direct, move |number: Int32| {
            assert_eq!(within.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
            if number.data > 0 {
                again.publish(Int32 { data: number.data - 1 }).unwrap();
            }
            within.fetch_sub(1, Ordering::SeqCst);
            counted.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| publisher.publish(Int32 { data: 9 }).unwrap()));
        }
    });
    assert_eq!(calls.load(Ordering::SeqCst), 4 * 20 * 10);
}

#[test]
fn subscriptions_that_come_and_go_while_others_publish_never_take_the_network() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let publisher = node.create_publisher::<Int32>("number", 10).unwrap();
    let executor = spinning(&node);
    let done = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let _end = SetAtEnd(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                publisher.publish(Int32 { data: 1 }).unwrap();
                std::thread::yield_now();
            }
        });
        let come_and_go = |_| {
            let heard = Arc::new(AtomicUsize::new(0));
            let hear = heard.clone();
            let count = move |_: Int32| _ = hear.fetch_add(1, Ordering::Relaxed);
            let subscription = node.create_subscription("number", 10, count).unwrap();
            spin_until(&executor, || heard.load(Ordering::Relaxed) > 0);
            subscription.counts()
        };
        (0..100).map(come_and_go).collect::<Vec<_>>()
    });
    for heard in &counts {
        assert_eq!((heard.shared_memory.messages, heard.network.messages), (0, 0), "{heard:?}");
    }
    let sent = publisher.counts();
    assert_eq!((sent.shared_memory.messages, sent.network.messages), (0, 0), "{sent:?}");
}
