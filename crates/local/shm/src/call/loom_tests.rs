//! Tests the channels of calls under loom. The client and the server run at the same time.

use std::sync::Arc;

use feros_doorbell::{Place, Slot};
use feros_sync::Ordering;
use loom::thread;

use super::channel::{Channel, SendToChannelError};
use super::layout::{ClaimState, MAX_WAITING, Role};
use super::memory::CallMapping;

const PLACE: Option<Place> = Some(Place { doorbell: Some(3), slot: Slot::FIRST });

/// Makes the client's and the server's side of one channel.
fn sides() -> [Channel; 2] {
    let mapping = Arc::new(CallMapping::new());
    [Role::Client, Role::Server].map(|role| Channel::new(mapping.clone(), 0, role))
}

fn send(from: &Channel, number: u8) -> Result<(), SendToChannelError> {
    from.send(i64::from(number), 0, 1, |memory| {
        memory[0] = number;
        true
    })
}

/// Takes a message. Returns its number and content.
fn take(by: &Channel) -> Option<(i64, u8)> {
    let taken = by.take(|head, read| {
        let mut bytes = vec![0; head.size_bytes];
        read(&mut bytes);
        (head.number, bytes[0])
    });
    taken.expect("the other side's values are possible")
}

/// The test sends more messages than can wait at the same time, so that slots are used again.
#[test]
fn each_message_that_was_sent_is_taken_once_in_order_and_says_what_was_written() {
    loom::model(|| {
        let [client, server] = sides();
        let sender = thread::spawn(move || {
            (1..=3).filter(|number| send(&client, *number).is_ok()).collect::<Vec<u8>>()
        });
        let mut taken: Vec<_> = (0..2).filter_map(|_| take(&server)).collect();
        let sent = sender.join().expect("sends");
        taken.extend(std::iter::from_fn(|| take(&server)));
        let expected: Vec<_> = sent.iter().map(|number| (i64::from(*number), *number)).collect();
        assert_eq!(taken, expected);
        assert!(sent.len() >= MAX_WAITING);
    });
}

#[test]
fn a_message_is_seen_or_its_taker_is_rung() {
    loom::model(|| {
        let [client, server] = sides();
        let sender = thread::spawn(move || {
            send(&server, 1).expect("there is room");
            server.place_of_other() != 0
        });
        client.set_place(PLACE);
        let is_seen = client.may_have_message();
        let is_rung = sender.join().expect("sends");
        assert!(is_seen || is_rung);
    });
}

#[test]
fn room_is_seen_or_the_waiting_side_is_rung() {
    loom::model(|| {
        let [client, server] = sides();
        server.set_place(PLACE);
        for number in 0..MAX_WAITING as u8 {
            send(&server, number).expect("there is room");
        }
        let taker = thread::spawn(move || {
            take(&client).expect("it is full");
            client.place_of_who_awaits_room().is_some_and(|place| place != 0)
        });
        server.await_room(true);
        let is_sent = send(&server, 9).is_ok();
        let is_rung = taker.join().expect("takes");
        assert!(is_sent || is_rung);
    });
}

/// The server that uses the channel leaves, the client frees the channel, and two other servers try
/// to claim it.
#[test]
fn a_channel_changes_hands_as_it_was_before_its_first_use() {
    loom::model(|| {
        let mapping = Arc::new(CallMapping::new());
        let claims = |mapping: &CallMapping, server: u8| {
            mapping.layout().claims.claim([server; 16], u32::from(server)).is_some()
        };
        assert!(claims(&mapping, 1));
        mapping.layout().claims.of_channels[0].set(ClaimState::Open);
        let former = {
            let mapping = mapping.clone();
            thread::spawn(move || {
                let channel = Channel::new(mapping.clone(), 0, Role::Server);
                send(&channel, 7).expect("there is room");
                mapping.layout().claims.of_channels[0].set(ClaimState::Left);
            })
        };
        let next = {
            let mapping = mapping.clone();
            thread::spawn(move || {
                let is_claimed = claims(&mapping, 2);
                if is_claimed {
                    for role in [Role::Client, Role::Server] {
                        let side = mapping.layout().side(0, role);
                        assert_eq!(side.sent.load(Ordering::Relaxed), 0);
                        assert_eq!(side.place.load(Ordering::Relaxed), 0);
                    }
                    mapping.layout().claims.of_channels[0].set(ClaimState::Open);
                }
                is_claimed
            })
        };
        let layout = mapping.layout();
        let is_freed = layout.claims.of_channels[0].is(ClaimState::Left);
        if is_freed {
            layout.free(0);
        }
        if let Some(index) = layout.claims.opened_by([2; 16]) {
            assert_eq!((index, layout.claims.of_channels[0].pid()), (0, 2));
        }
        former.join().expect("leaves");
        let is_claimed = next.join().expect("claims");
        assert!(is_freed || !is_claimed);
        assert_eq!(layout.claims.opened_by([2; 16]).is_some(), is_claimed);
    });
}
