//! Messages through shared memory, between contexts of this process that may not use the
//! intra-process transport. Processes are killed in `tests/crash`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::msgs::std_msgs::msg::{HeaderShape, Int32};
use feros::{
    Context, Executor, MessageInfo, Node, Publisher, PublisherOptions, QosProfile, Reason,
    SerializedMessage, SharedMemoryOptions, Subscription, SubscriptionEvent, SubscriptionOptions,
    Transport, TransportSet, View, WhenExhausted, transports_of_topic,
};

use crate::support::{WATCHDOG, context, publish_patiently, spin_until, spinning_node};
use feros_test_support::eventually;

const BETWEEN_PROCESSES: TransportSet = TransportSet::ALL.without(Transport::IntraProcess);

fn options(qos: impl Into<SubscriptionOptions>) -> SubscriptionOptions {
    qos.into().transports(BETWEEN_PROCESSES)
}

fn channel<T>() -> (SyncSender<T>, Receiver<T>) {
    sync_channel(100_000)
}

fn nodes() -> (Context, Context, Node, Node) {
    let (here, there) = (context(), context());
    let (talker, listener) =
        (here.create_node("talker").unwrap(), there.create_node("listener").unwrap());
    (here, there, talker, listener)
}

/// Publishes until all matches are served by shared memory; returns how many messages that took.
fn until_host<M>(publisher: &Publisher<M>, count: usize, mut publish: impl FnMut()) -> usize
where
    M: feros::message::Message,
{
    publisher.wait_for_subscriptions(count, WATCHDOG).unwrap();
    let mut published = 0;
    eventually(|| {
        let found = publisher.transports();
        let on_shared_memory =
            found.iter().filter(|found| found.transport == Some(Transport::SharedMemory)).count();
        if on_shared_memory == count {
            return Ok(published);
        }
        publish();
        published += 1;
        Err(format!("{found:?}"))
    })
}

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
    let before = publisher.counts();
    let data: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    publisher.publish(Image { data: data.clone(), ..Image::default() }).unwrap();
    let mut forms = Vec::new();
    while forms.len() < 4 {
        let (form, received) = receiver.recv_timeout(WATCHDOG).unwrap();
        if !received.is_empty() {
            assert!(received == data, "form {form}");
            forms.push(form);
        }
    }
    forms.sort_unstable();
    assert_eq!(forms, [0, 1, 2, 3]);
    let after = publisher.counts();
    assert_eq!(after.shared_memory.messages - before.shared_memory.messages, 4);
    assert_eq!(after.network, before.network, "the engine wrote nothing");
    assert_eq!(after.shared_memory_failures, 0);
}

#[test]
fn the_change_to_shared_memory_loses_and_doubles_nothing() {
    let (_here, _there, talker, listener) = nodes();
    // All is kept, so that a thread that is held up loses nothing.
    let publisher = talker.create_publisher::<Int32>("number", QosProfile::keep_all()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = End(&done);
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

/// One thread may prepare its message for the network transport while another one changes the
/// transport.
#[test]
fn the_change_loses_nothing_of_several_threads_that_publish() {
    const THREADS: u32 = 3;
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", QosProfile::keep_all()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = End(&done);
        for thread in 0..THREADS {
            let (publisher, done) = (&publisher, &done);
            scope.spawn(move || {
                let mut height = 0;
                while !done.load(Ordering::Relaxed) {
                    let data = vec![1; 200_000]; // takes its time to be serialized
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

/// Ends what goes on until then, also when a test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn back_pressure_reaches_through_shared_memory() {
    const COUNT: i32 = 2000;
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Int32>("number", QosProfile::keep_all()).unwrap();
    let (sender, receiver) = channel();
    let subscription = listener
        .create_subscription("number", options(QosProfile::keep_all()), move |number: Int32| {
            // Slower than the publisher.
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
fn what_is_pushed_out_of_shared_memory_is_told() {
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
    // One at a time, so that none of these is lost.
    until_host(&publisher, 1, || {
        publisher.publish(Int32 { data: -1 }).unwrap();
        assert_eq!(receiver.recv_timeout(WATCHDOG), Ok(-1));
    });
    let before = subscription.counts().shared_memory.messages;
    publisher.publish(Int32 { data: 0 }).unwrap();
    // The callback holds 0, the queue the last two.
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
    // What the publisher, its subscriptions and the graph of a third party say of the matches. That
    // they may not take the process transport is not of interest here.
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
    let qos = QosProfile::keep_last(5).transient_local();
    let publisher = talker.create_publisher::<Int32>("number", qos).unwrap();
    (0..5).for_each(|data| publisher.publish(Int32 { data }).unwrap());
    let (sender, receiver) = channel();
    let deep = options(QosProfile { depth: 100, ..qos });
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
fn views_keep_their_messages_and_too_many_of_them_lose_nothing_in_silence() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let (sender, receiver) = channel();
    let _subscription = listener
        .create_subscription("image", options(100), move |image: View<Image>| {
            sender.send(image).unwrap()
        })
        .unwrap();
    let _spinning = spinning_node(&listener);
    let numbered =
        |number: u32| Image { height: number, data: vec![number as u8; 1000], ..Image::default() };
    until_host(&publisher, 1, || publisher.publish(numbered(0)).unwrap());
    (1..=30).for_each(|number| publisher.publish(numbered(number)).unwrap());
    let mut held = Vec::new();
    let mut numbers = Vec::new();
    while numbers.last() != Some(&30) {
        // Those that are held are as they were; letting one go lets the next one come.
        match receiver.recv_timeout(Duration::from_millis(200)) {
            Ok(view) => {
                numbers.push(view.get().height);
                held.push(view);
            }
            Err(_) if held.is_empty() => {} // it has not come to hand out the first
            Err(_) => drop(held.remove(0)),
        }
        assert!(
            held.iter().all(|view| view
                .get()
                .data
                .iter()
                .all(|byte| *byte == view.get().height as u8))
        );
    }
    numbers.retain(|number| *number > 0);
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
}

#[test]
fn messages_are_built_where_they_are_read() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let shape =
        ImageShape { header: HeaderShape { frame_id: "camera" }, encoding: "mono8", data: 1000 };
    let build = |height: u32| {
        let mut loan = publisher.loan(&shape).unwrap();
        let image = loan.fields().unwrap();
        *image.height = height;
        image.data.fill(height as u8);
        let is_shared = loan.is_shared();
        loan.publish().unwrap();
        is_shared
    };
    assert!(!build(0), "nobody shares it yet");
    let (sender, receiver) = channel();
    let process_sender = sender.clone();
    let see = |image: &Image| {
        (image.height, image.data[999], image.header.frame_id.clone(), image.encoding.clone())
    };
    let _host = listener
        .create_subscription("image", options(100), move |image: View<Image>| {
            sender.send(("host", see(&image.to_owned()))).unwrap();
        })
        .unwrap();
    let spinning = spinning_node(&listener);
    until_host(&publisher, 1, || {
        build(0);
    });
    let before = publisher.counts();
    assert!(build(7));
    let seen = (7, 7, "camera".to_owned(), "mono8".to_owned());
    while receiver.recv_timeout(WATCHDOG).unwrap() != ("host", seen.clone()) {}
    let after = publisher.counts();
    assert_eq!(after.network, before.network);
    // Others get it as well.
    let _process = listener
        .create_subscription("image", 100, move |image: Image| {
            process_sender.send(("process", see(&image))).unwrap()
        })
        .unwrap();
    publisher.wait_for_subscriptions(2, WATCHDOG).unwrap();
    assert!(build(8));
    let seen = (8, 8, "camera".to_owned(), "mono8".to_owned());
    let mut heard = [(); 2].map(|()| receiver.recv_timeout(WATCHDOG).unwrap());
    heard.sort_unstable();
    assert_eq!(heard, [("host", seen.clone()), ("process", seen)]);
    drop(spinning);
}

/// The mapped memory of publishers that holds `marker`, and where.
fn in_shared_memory(marker: &[u8]) -> (std::fs::File, u64) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let found = files.filter(|file| file.ends_with(".data")).find_map(|file| {
        let content = std::fs::read(file).ok()?;
        let at = content.windows(marker.len()).position(|window| window == marker)?;
        Some((std::fs::OpenOptions::new().read(true).write(true).open(file).unwrap(), at as u64))
    });
    found.expect("the message is in shared memory")
}

#[test]
fn what_another_process_writes_over_a_loan_is_an_error() {
    use std::os::unix::fs::FileExt;
    const MARKER: &str = "the-loan-that-is-overwritten";
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let _subscription = listener
        .create_subscription::<Image, _>("image", options(10), |_: SerializedMessage| ())
        .unwrap();
    let _spinning = spinning_node(&listener);
    until_host(&publisher, 1, || publisher.publish(Image::default()).unwrap());
    let shape =
        ImageShape { header: HeaderShape { frame_id: MARKER }, encoding: "mono8", data: 1000 };
    let mut loan = publisher.loan(&shape).unwrap();
    assert!(loan.is_shared());
    let (file, marker) = in_shared_memory(MARKER.as_bytes());
    // From the message's header over all that is not data.
    let (begin, length) = (marker - 16, 16 + MARKER.len() + 40);
    let mut original = vec![0; length];
    file.read_exact_at(&mut original, begin).unwrap();
    let (mut refused, mut fit) = (0, 0);
    for at in 0..length - 4 {
        for word in [0_u32, 1, 7, 0x7fff_ffff, u32::MAX] {
            file.write_all_at(&word.to_ne_bytes(), begin + at as u64).unwrap();
            match loan.fields() {
                Ok(fields) => {
                    fields.data.fill(1);
                    fit += 1;
                }
                Err(error) => {
                    assert!(
                        error.to_string().contains("overwritten by another process"),
                        "{error}"
                    );
                    refused += 1;
                }
            }
            // What was laid out, and nothing of what was written into the fields.
            file.write_all_at(&original, begin).unwrap();
        }
    }
    assert!(refused > 50 && fit > 50, "{refused} were refused, {fit} fit");
    assert_eq!(loan.fields().unwrap().data.len(), 1000);
    loan.publish().unwrap();
}

#[test]
fn an_exhausted_pool_is_an_error_or_the_network_transport() {
    let (_here, _there, talker, listener) = nodes();
    let (sender, receiver) = channel();
    let _subscription = listener
        .create_subscription("image", options(100), move |image: View<Image>| {
            sender.send(image).unwrap()
        })
        .unwrap();
    let _spinning = spinning_node(&listener);
    for when_exhausted in [WhenExhausted::Error, WhenExhausted::Network] {
        let shared_memory =
            SharedMemoryOptions { max_loans: 1, when_exhausted, ..SharedMemoryOptions::default() };
        let options = feros::PublisherOptions::from(10).shared_memory(shared_memory);
        let publisher = talker.create_publisher::<Image>("image", options).unwrap();
        until_host(&publisher, 1, || publisher.publish(Image::default()).unwrap());
        let loan = publisher.loan(&ImageShape::default()).unwrap();
        let published = publisher.publish(Image { height: 5, ..Image::default() });
        match when_exhausted {
            WhenExhausted::Error => {
                let error = published.unwrap_err();
                assert!(matches!(error, feros::PublishError::SharedMemory { .. }), "{error}");
            }
            WhenExhausted::Network => {
                published.unwrap();
                while receiver.recv_timeout(WATCHDOG).unwrap().get().height != 5 {}
            }
        }
        assert_eq!(publisher.counts().shared_memory_failures, 1);
        assert_eq!(publisher.pool().unwrap().lent, 1);
        loan.publish().unwrap();
        assert_eq!(publisher.pool().unwrap().lent, 0);
    }
}

#[test]
fn what_a_publisher_sent_before_it_left_is_delivered() {
    let (_here, _there, talker, listener) = nodes();
    let (sender, receiver) = channel();
    let subscription = listener
        .create_subscription("number", options(100), move |number: Int32| {
            sender.send(number.data).unwrap()
        })
        .unwrap();
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    for _ in 0..3 {
        let publisher = talker.create_publisher::<Int32>("number", 100).unwrap();
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        spin_until(&executor, || {
            publisher.publish(Int32 { data: -1 }).unwrap();
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
    assert_eq!(_deep.transports()[0].transport, Some(Transport::Network));

    // No transport at all: the publisher may use the shared-memory transport only, the subscription
    // anything but that.
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
