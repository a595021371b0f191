//! Views and loans: messages that are read or built directly in shared memory, and exhausted pools.

use std::time::Duration;

use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::msgs::std_msgs::msg::HeaderShape;
use feros::{SerializedMessage, SharedMemoryOptions, View, WhenExhausted};
use feros_test_support::eventually;

use super::{channel, nodes, options, until_host, views_of_images};
use crate::support::{WATCHDOG, spinning_node};

#[test]
fn views_keep_their_messages_and_too_many_of_them_lose_nothing_in_silence() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let (_subscription, receiver) = views_of_images(&listener);
    let _spinning = spinning_node(&listener);
    let numbered =
        |number: u32| Image { height: number, data: vec![number as u8; 1000], ..Image::default() };
    until_host(&publisher, 1, || publisher.publish(numbered(0)).unwrap());
    (1..=30).for_each(|number| publisher.publish(numbered(number)).unwrap());
    let mut held = Vec::new();
    let mut numbers = Vec::new();
    while numbers.last() != Some(&30) {
        // Views that the test holds do not change. When no further message arrives, dropping a view
        // makes space for the next message.
        match receiver.recv_timeout(Duration::from_millis(200)) {
            Ok(view) => {
                numbers.push(view.get().height);
                held.push(view);
            }
            Err(_) if held.is_empty() => {} // the first view has not been handed out yet
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
    // Subscriptions on other transports get the message too.
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

/// Finds `marker` in the shared memory of publishers; returns the file and the position of the
/// marker.
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
fn writes_of_another_process_to_a_loan_are_errors() {
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
    // The range begins at the message's header and covers all bytes before the data.
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
                        error
                            .to_string()
                            .contains("another process of this user overwrote the message"),
                        "{error}"
                    );
                    refused += 1;
                }
            }
            // Restore the original layout, without the bytes that were written into the fields.
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
    let (_subscription, receiver) = views_of_images(&listener);
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
fn a_first_message_that_finds_the_pool_exhausted_comes_and_is_not_lost() {
    let (_here, _there, talker, listener) = nodes();
    let (subscription, receiver) = views_of_images(&listener);
    let _spinning = spinning_node(&listener);
    for _ in 0..10 {
        let shared_memory = SharedMemoryOptions { max_loans: 1, ..SharedMemoryOptions::default() };
        let options = feros::PublisherOptions::from(10).shared_memory(shared_memory);
        let publisher = talker.create_publisher::<Image>("image", options).unwrap();
        until_host(&publisher, 1, || {});
        let loan = publisher.loan(&ImageShape::default()).unwrap();
        assert!(loan.is_shared());
        publisher.publish(Image { height: 5, ..Image::default() }).unwrap();
        assert_eq!(receiver.recv_timeout(WATCHDOG).unwrap().get().height, 5);
        publisher.publish(Image { height: 6, ..Image::default() }).unwrap();
        assert_eq!(receiver.recv_timeout(WATCHDOG).unwrap().get().height, 6);
        loan.publish().unwrap();
        assert_eq!(receiver.recv_timeout(WATCHDOG).unwrap().get().height, 0);
        assert_eq!(subscription.counts().lost_on_local_transports, 0);
    }
}

#[test]
fn serialized_messages_are_built_where_they_are_read() {
    let (_here, _there, talker, listener) = nodes();
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let (_subscription, receiver) = views_of_images(&listener);
    let _spinning = spinning_node(&listener);
    let image = Image { height: 7, data: vec![1; 5000], ..Image::default() };
    let bytes = feros::message::to_vec(&image).unwrap();
    let lend = || publisher.loan_serialized(bytes.len()).unwrap();
    until_host(&publisher, 1, || {
        let mut loan = lend();
        loan.bytes_mut().copy_from_slice(&bytes);
        loan.publish().unwrap();
    });
    // Under load, several loans in a row may be private buffers (three in a row have been seen).
    // Their messages arrive too.
    eventually(|| {
        let mut loan = lend();
        let is_shared = loan.is_shared();
        loan.bytes_mut().copy_from_slice(&bytes);
        loan.publish().unwrap();
        assert_eq!(receiver.recv_timeout(WATCHDOG).unwrap().to_owned(), image);
        if is_shared { Ok(()) } else { Err(format!("{:?}", publisher.transports())) }
    });
    let mut no_message = lend();
    no_message.bytes_mut().fill(0xff);
    let refused = no_message.publish().unwrap_err().to_string();
    assert!(refused.contains("header"), "{refused}");
    drop(lend()); // the memory is returned
}
