//! Delivery through shared memory: the messages that arrive, their order, and reports of lost
//! messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::Int32;
use feros::{
    Executor, MessageInfo, PublisherOptions, QosProfile, Reason, SerializedMessage,
    SharedMemoryOptions, Subscription, SubscriptionEvent, SubscriptionOptions, Transport,
    TransportSet, View, transports_of_topic,
};

use crate::support::{WATCHDOG, context, listening, publish_patiently, spin_until, spinning_node};
use feros_test_support::{SetAtEnd, eventually, until};

use super::{channel, nodes, options, until_host};

#[test]
fn every_form_arrives_through_shared_memory() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let (sender, receiver) = channel();
    let forms = [(); 4].map(|()| sender.clone());
    let [owned, shared, view, raw] = forms;
    let _subscriptions = (
        listener
            .create_subscription("image", options(10), move |image: Image| {
                owned.send((0, image.data)).unwrap()
            })
            .unwrap(),
        listener
            .create_subscription(
                "image",
                options(10),
                move |image: Arc<Image>, info: MessageInfo| {
                    assert!(info.source_timestamp.is_some() && !info.from_same_session);
                    shared.send((1, image.data.clone())).unwrap();
                },
            )
            .unwrap(),
        listener
            .create_subscription("image", options(10), move |image: View<Image>| {
                view.send((2, image.get().data.to_vec())).unwrap();
            })
            .unwrap(),
        listener
            .create_subscription::<Image, _>(
                "image",
                options(10),
                move |bytes: SerializedMessage| {
                    raw.send((3, bytes.decode::<Image>().unwrap().data)).unwrap();
                },
            )
            .unwrap(),
    );
    let _spinning = spinning_node(&listener);
    until_host(&publisher, 4, || publisher.publish(Image::default()).unwrap());
    // Prepare the transport: if a message had to take the network, the messages after it take the
    // network too until it has arrived. The pool must also have grown already, since it cannot grow
    // while another process of the user makes shared memory.
    until("a large message goes through shared memory alone", || {
        let before = publisher.counts();
        publisher.publish(Image { data: vec![0; 3_000_000], ..Image::default() }).unwrap();
        publisher.counts().shared_memory.messages == before.shared_memory.messages + 4
    });
    let before = publisher.counts();
    let data: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    publisher.publish(Image { data: data.clone(), ..Image::default() }).unwrap();
    let mut forms = Vec::new();
    while forms.len() < 4 {
        let (form, received) = receiver.recv_timeout(WATCHDOG).unwrap();
        if received.last().is_some_and(|last| *last != 0) {
            assert!(received == data, "form {form}");
            forms.push(form);
        }
    }
    forms.sort_unstable();
    assert_eq!(forms, [0, 1, 2, 3]);
    let after = publisher.counts();
    let counts = format!("{before:?}, then {after:?}");
    assert_eq!(after.shared_memory.messages - before.shared_memory.messages, 4, "{counts}");
    assert_eq!(after.network, before.network, "the engine wrote nothing");
    assert_eq!(after.shared_memory_failures, before.shared_memory_failures, "{counts}");
}

#[test]
fn the_change_to_shared_memory_loses_and_doubles_nothing() {
    let (_here, _there, talker, listener) = nodes();
    // The history keeps all messages, so that a delayed thread loses no message.
    let publisher = talker.create_publisher::<Int32>("number", QosProfile::keep_all()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = SetAtEnd(&done);
        scope.spawn(|| {
            let mut data = 0;
            while !done.load(Ordering::Relaxed) {
                publish_patiently(&publisher, &Int32 { data });
                data += 1;
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        for _ in 0..5 {
            let (sender, receiver) = channel();
            let subscription = listener
                .create_subscription(
                    "number",
                    options(QosProfile::keep_all()),
                    move |number: Int32| {
                        sender.send(number.data).unwrap();
                    },
                )
                .unwrap();
            let spinning = spinning_node(&listener);
            let mut heard = Vec::new();
            while subscription.counts().shared_memory.messages < 200 {
                heard.push(receiver.recv_timeout(WATCHDOG).unwrap());
            }
            drop(spinning);
            let counts = subscription.counts();
            heard.extend(receiver.try_iter());
            assert!(heard.windows(2).all(|pair| pair[1] == pair[0] + 1), "{counts:?}: {heard:?}");
            assert_eq!(counts.lost_on_local_transports, 0);
        }
    });
    let counts = publisher.counts();
    assert!(counts.network.messages > 0 && counts.skipped_engine_writes > 0, "{counts:?}");
}

/// One thread may be preparing a message for the network transport while another thread changes the
/// transport.
#[test]
fn the_change_loses_nothing_of_several_threads_that_publish() {
    const THREADS: u32 = 3;
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", QosProfile::keep_all()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = SetAtEnd(&done);
        for thread in 0..THREADS {
            let (publisher, done) = (&publisher, &done);
            scope.spawn(move || {
                let mut height = 0;
                while !done.load(Ordering::Relaxed) {
                    let data = vec![1; 200_000]; // serializing it takes some time
                    publish_patiently(
                        publisher,
                        &Image { width: thread, height, data, ..Image::default() },
                    );
                    height += 1;
                }
            });
        }
        for _ in 0..20 {
            let (sender, receiver) = channel();
            let subscription = listener
                .create_subscription(
                    "image",
                    options(QosProfile::keep_all()),
                    move |image: View<Image>| {
                        sender.send((image.get().width, image.get().height)).unwrap();
                    },
                )
                .unwrap();
            let spinning = spinning_node(&listener);
            let mut heard = vec![Vec::new(); THREADS as usize];
            while subscription.counts().shared_memory.messages < 50 {
                let (thread, number) = receiver.recv_timeout(WATCHDOG).unwrap();
                heard[thread as usize].push(number);
            }
            drop(spinning);
            let counts = subscription.counts();
            for numbers in heard {
                assert!(
                    numbers.windows(2).all(|pair| pair[1] == pair[0] + 1),
                    "{counts:?}: {numbers:?}"
                );
            }
        }
    });
}

#[test]
fn back_pressure_reaches_through_shared_memory() {
    const COUNT: i32 = 2000;
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Int32>("number", QosProfile::keep_all()).unwrap();
    let (sender, receiver) = channel();
    let subscription = listener
        .create_subscription("number", options(QosProfile::keep_all()), move |number: Int32| {
            // The callback is slower than the publisher.
            if number.data % 64 == 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
            sender.send(number.data).unwrap();
        })
        .unwrap();
    let _spinning = spinning_node(&listener);
    until_host(&publisher, 1, || publisher.publish(Int32 { data: -1 }).unwrap());
    (0..COUNT).for_each(|data| publish_patiently(&publisher, &Int32 { data }));
    let heard: Vec<_> = (0..)
        .map(|_| receiver.recv_timeout(WATCHDOG).unwrap())
        .filter(|data| *data >= 0)
        .take(COUNT as usize)
        .collect();
    assert_eq!(heard, (0..COUNT).collect::<Vec<_>>());
    assert_eq!(subscription.counts().lost_on_local_transports, 0);
    assert!(publisher.counts().shared_memory.messages >= COUNT as u64);
}

#[test]
fn messages_replaced_in_shared_memory_are_reported_as_lost() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Int32>("number", 10).unwrap();
    let (sender, receiver) = channel();
    let (gate, hold) = channel::<()>();
    let (events, lost) = channel();
    let with_event = options(2).on_event(move |event| {
        if let SubscriptionEvent::MessageLost { total, .. } = event {
            events.send(total).unwrap();
        }
    });
    let subscription = listener
        .create_subscription("number", with_event, move |number: Int32| {
            if number.data == 0 {
                hold.recv_timeout(WATCHDOG).unwrap();
            }
            sender.send(number.data).unwrap();
        })
        .unwrap();
    let _spinning = spinning_node(&listener);
    // Publish one message at a time, so that none of these messages is lost.
    until_host(&publisher, 1, || {
        publisher.publish(Int32 { data: -1 }).unwrap();
        assert_eq!(receiver.recv_timeout(WATCHDOG), Ok(-1));
    });
    let before = subscription.counts().shared_memory.messages;
    publisher.publish(Int32 { data: 0 }).unwrap();
    // While the callback is blocked on message 0, the queue keeps only the last two messages.
    while subscription.counts().shared_memory.messages == before {
        std::thread::yield_now();
    }
    (1..=5).for_each(|data| publisher.publish(Int32 { data }).unwrap());
    gate.send(()).unwrap();
    let mut heard = Vec::new();
    while heard.last() != Some(&5) {
        heard.push(receiver.recv_timeout(WATCHDOG).unwrap());
    }
    heard.retain(|data| *data > 0);
    let missing = 5 - heard.len() as u64;
    assert!((2..=3).contains(&missing), "{heard:?}");
    assert_eq!(lost.recv_timeout(WATCHDOG).unwrap(), missing);
}

#[test]
fn a_link_that_cannot_be_opened_tells_why_on_both_sides_and_is_tried_again() {
    let (_here, _there, talker, listener) = nodes();
    let observer = context();
    let shared_memory =
        SharedMemoryOptions { max_subscriptions: 1, ..SharedMemoryOptions::default() };
    let only_one = PublisherOptions { shared_memory, ..PublisherOptions::from(10) };
    let publisher = talker.create_publisher::<Int32>("number", only_one).unwrap();
    let subscribe = || listener.create_subscription("number", options(10), |_: Int32| ()).unwrap();
    let mut subscriptions = vec![subscribe(), subscribe()];
    let _spinning = spinning_node(&listener);
    let why = Reason::TooManySubscriptions { limit: 1 };
    let topic = publisher.topic_name().to_owned();
    // Checks the matches as reported by the publisher, by its subscriptions and by the graph of a
    // third node. The reason why the intra-process transport is not used is ignored, because the
    // transport is not allowed here.
    let told = |subscriptions: &[Subscription<Int32>]| {
        let one = |(transport, reason): (Option<Transport>, Option<Reason>)| {
            (transport, reason.filter(|_| transport != Some(Transport::SharedMemory)))
        };
        let mine = publisher.transports().into_iter().map(|found| (found.transport, found.reason));
        let theirs = subscriptions.iter().flat_map(|subscription| subscription.transports());
        let theirs = theirs.map(|found| (found.transport, found.reason));
        let graph = observer.graph();
        let seen = transports_of_topic(&graph, &topic)
            .into_iter()
            .map(|found| (found.transport, found.reason));
        let mut told: [Vec<_>; 3] =
            [mine.map(one).collect(), theirs.map(one).collect(), seen.map(one).collect()];
        told.iter_mut().for_each(|one| one.sort_by_key(|(transport, _)| *transport));
        told
    };
    let until_told = |subscriptions: &[Subscription<Int32>],
                      expected: &[(Option<Transport>, Option<Reason>)]| {
        eventually(|| {
            let told = told(subscriptions);
            if told.iter().all(|told| told == expected) {
                return Ok(());
            }
            publisher.publish(Int32::default()).unwrap();
            Err(format!("{told:?}"))
        });
    };
    until_told(
        &subscriptions,
        &[(Some(Transport::SharedMemory), None), (Some(Transport::Network), Some(why))],
    );
    let served = subscriptions
        .iter()
        .position(|one| one.transports()[0].transport == Some(Transport::SharedMemory))
        .unwrap();
    drop(subscriptions.swap_remove(served));
    until_told(&subscriptions, &[(Some(Transport::SharedMemory), None)]);
}

#[test]
fn late_joiners_get_history_by_the_engine_and_the_rest_through_shared_memory_once() {
    let (_here, _there, talker, listener) = nodes();
    // The depth is large enough for all messages that are published before the subscription has
    // received the history, which takes a while on some engines.
    let qos = QosProfile::keep_last(100).transient_local();
    let publisher = talker.create_publisher::<Int32>("number", qos).unwrap();
    (0..5).for_each(|data| publisher.publish(Int32 { data }).unwrap());
    let (sender, receiver) = channel();
    let deep = options(qos);
    let subscription = listener
        .create_subscription("number", deep, move |number: Int32| sender.send(number.data).unwrap())
        .unwrap();
    let _spinning = spinning_node(&listener);
    let mut data = 5;
    let mut heard = Vec::new();
    until_host(&publisher, 1, || {
        publisher.publish(Int32 { data }).unwrap();
        while heard.last() != Some(&data) {
            heard.push(receiver.recv_timeout(WATCHDOG).unwrap());
        }
        data += 1;
    });
    (data..data + 10).for_each(|data| publisher.publish(Int32 { data }).unwrap());
    while heard.last() != Some(&(data + 9)) {
        heard.push(receiver.recv_timeout(WATCHDOG).unwrap());
    }
    assert_eq!(heard, (0..data + 10).collect::<Vec<_>>());
    assert!(subscription.counts().shared_memory.messages >= 10);
}

#[test]
fn messages_sent_before_the_publisher_left_are_delivered() {
    let (_here, _there, talker, listener) = nodes();
    let (subscription, receiver) =
        listening(&listener, "number", options(100), |number: Int32| number.data);
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    for _ in 0..3 {
        let publisher = talker.create_publisher::<Int32>("number", 100).unwrap();
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        spin_until(&executor, || {
            publisher.publish(Int32 { data: -1 }).unwrap();
            receiver.try_iter().for_each(|data| assert_eq!(data, -1));
            publisher.transports()[0].transport == Some(Transport::SharedMemory)
        });
        (0..50).for_each(|data| publisher.publish(Int32 { data }).unwrap());
        assert!(publisher.counts().shared_memory.messages >= 50);
        drop(publisher);
        let gone = || subscription.publisher_count() == 0;
        listener.context().wait_for_graph(WATCHDOG, || "the end of the publisher", gone).unwrap();
        let mut heard = Vec::new();
        spin_until(&executor, || {
            heard.extend(receiver.try_iter().filter(|data| *data >= 0));
            heard.last() == Some(&49)
        });
        assert_eq!(heard, (0..50).collect::<Vec<_>>());
    }
}

#[test]
fn transports_can_be_restricted_and_tell_why() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Int32>("number", 10).unwrap();
    let network = SubscriptionOptions::from(10).transports(Transport::Network);
    let _network = listener.create_subscription("number", network, |_: Int32| {}).unwrap();
    let process = SubscriptionOptions::from(10).transports(Transport::IntraProcess);
    let _process = listener.create_subscription("number", process, |_: Int32| {}).unwrap();
    let deep = options(100_000);
    let _deep = listener.create_subscription("number", deep, |_: Int32| {}).unwrap();
    publisher.wait_for_subscriptions(3, WATCHDOG).unwrap();
    let path_of = |gid| publisher.transports().into_iter().find(|found| found.gid == gid).unwrap();
    assert_eq!(path_of(_process.gid()).transport, Some(Transport::IntraProcess));
    let found = path_of(_network.gid());
    assert_eq!(found.transport, Some(Transport::Network));
    assert!(
        found
            .reason
            .unwrap()
            .to_string()
            .contains("the subscription does not allow the intra_process transport")
    );
    let found = path_of(_deep.gid());
    assert_eq!(found.transport, Some(Transport::Network));
    // The subscription chooses the transport of the match by itself.
    let seen =
        eventually(|| _deep.transports().first().map(|found| found.transport).ok_or("no match"));
    assert_eq!(seen, Some(Transport::Network));

    // Here the two sides have no common transport: the publisher may use only shared memory, and
    // the subscription all other transports.
    let host_only = feros::PublisherOptions::from(10).transports(Transport::SharedMemory);
    let lonely = talker.create_publisher::<Int32>("lonely", host_only).unwrap();
    let no_host = SubscriptionOptions::from(10)
        .transports(TransportSet::ALL.without(Transport::SharedMemory));
    let subscription = listener.create_subscription("lonely", no_host, |_: Int32| {}).unwrap();
    lonely.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let found = lonely.transports().remove(0);
    assert_eq!(found.transport, None);
    assert!(matches!(found.reason, Some(Reason::NoTransport { .. })), "{found:?}");
    lonely.publish(Int32::default()).unwrap();
    assert_eq!(lonely.counts().network.messages, 0);
    drop(subscription);
}
