//! Listeners of all kinds (in the talker's process, in another process, of stock ROS 2) come and go
//! while a publisher sends a thousand messages per second: no listener misses a message or receives
//! it twice.

use feros_interop::Peer as StockPeer;
use serde_json::{Value, json};

use crate::support::{Peer, Place, Random, WATCHDOG, heard, number, rounds, until};

/// The number of messages that each guest must have heard before leaving.
const FEW: u64 = 150;

#[track_caller]
fn must_be_seamless(who: &str, report: &Value) {
    let (first, last, count) =
        (heard(report, 1, "first"), heard(report, 1, "last"), heard(report, 1, "count"));
    let found =
        (heard(report, 1, "missing"), heard(report, 1, "doubled"), number(report, "/broken"));
    assert_eq!(found, (0, 0, 0), "{who}: {report}");
    assert_eq!(count, last + 1 - first, "{who}: {report}");
}

/// A stock subscription, and the numbers of the messages that it has received.
struct Stock {
    peer: StockPeer,
    numbers: Vec<u64>,
}

impl Stock {
    fn start(place: &Place) -> Self {
        let mut peer = StockPeer::start(place.domain(), "/stock", "guest");
        let qos = json!({"history": "keep_all"});
        peer.ask(
            "subscription",
            json!({"topic": "/image", "type": "sensor_msgs/msg/Image", "qos": qos}),
        );
        Self { peer, numbers: Vec::new() }
    }

    fn take(&mut self) -> u64 {
        let waiting = self.peer.ask("received", json!({"topic": "/image"}));
        let taken = self.peer.ask("take", json!({"topic": "/image", "count": waiting}));
        self.numbers.extend(taken.as_array().unwrap().iter().map(|image| number(image, "/height")));
        self.numbers.last().copied().unwrap_or_default()
    }

    fn must_be_seamless(&self) {
        let is_next = |pair: &[u64]| pair[1] == pair[0] + 1;
        let gap = self.numbers.windows(2).find(|pair| !is_next(pair));
        assert_eq!(
            gap,
            None,
            "stock: between {:?} and {:?}",
            self.numbers.first(),
            self.numbers.last()
        );
    }
}

#[test]
fn a_mixed_audience_comes_and_goes_and_nobody_misses_a_message() {
    let (place, has_stock) = match Place::with_ros2() {
        Some(place) => (place, true),
        None => (Place::of_host(), false),
    };
    let mut random = Random::new();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true}));
    let mut other = Peer::start(&place, "other");
    // Two listeners that stay from the first message to the last.
    talker.ask("listen", json!({"name": "stays", "topic": "image", "keep_all": true}));
    other.ask("listen", json!({"name": "stays", "topic": "image", "keep_all": true}));
    talker.until_transport("pub", 1, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 1000, "size": 16}));
    let mut stock_heard = 0;
    for round in 0..rounds(2) {
        let mut stock = has_stock.then(|| Stock::start(&place));
        talker.ask("listen", json!({"name": "guest", "topic": "image", "keep_all": true}));
        other.ask(
            "listen",
            json!({"name": "guest", "topic": "image", "keep_all": true, "form": "view"}),
        );
        let mut third = Peer::start(&place, "third");
        third.ask(
            "listen",
            json!({"name": "guest", "topic": "image", "keep_all": true, "form": "raw"}),
        );
        let mut guests = ["talker", "other", "third", "stock"];
        for at in (1..guests.len()).rev() {
            guests.swap(at, random.below(at as u64 + 1) as usize);
        }
        for guest in guests {
            let has_heard = |peer: &mut Peer| heard(&peer.of("report", "guest"), 1, "count") >= FEW;
            if let Some(stock) = &mut stock {
                // The messages are taken often, because after a long wait a single answer would be
                // too large.
                let progress = number(&talker.of("progress", "pub"), "/last");
                until("the stock subscription hears what is published", || {
                    (stock.take() >= progress && stock.numbers.len() as u64 >= FEW).then_some(())
                });
            }
            match guest {
                "talker" => {
                    until("a guest in the process hears", || has_heard(&mut talker).then_some(()));
                    must_be_seamless(guest, &talker.of("leave", "guest"));
                }
                "other" => {
                    until("a guest on the host hears", || has_heard(&mut other).then_some(()));
                    must_be_seamless(guest, &other.of("leave", "guest"));
                }
                "third" => {
                    until("a guest with a process of its own hears", || {
                        has_heard(&mut third).then_some(())
                    });
                    must_be_seamless(guest, &third.of("leave", "guest"));
                }
                _ => {
                    if let Some(mut stock) = stock.take() {
                        stock.take();
                        stock.must_be_seamless();
                        stock_heard += stock.numbers.len();
                    }
                }
            }
        }
        third.end();
        println!("round {round}: left in the order {guests:?}, {}", talker.of("counts", "pub"));
    }
    let stopped = talker.of("stop", "pub");
    assert_eq!(number(&stopped, "/errors"), 0, "{stopped}");
    for peer in [&mut talker, &mut other] {
        let report = until("all messages come", || {
            let report = peer.of("report", "stays");
            (heard(&report, 1, "last") == number(&stopped, "/last")).then_some(report)
        });
        must_be_seamless("one who stays", &report);
        assert_eq!(heard(&report, 1, "first"), 1, "{report}");
    }
    let counts = talker.of("counts", "pub");
    println!("{stopped}: {counts}, stock heard {stock_heard}, watchdog {WATCHDOG:?}");
    assert!(number(&counts, "/process") > 0 && number(&counts, "/host") > 0, "{counts}");
    assert!(number(&counts, "/skipped") > 0, "the engine was not needed all the time: {counts}");
    assert!(!has_stock || number(&counts, "/network") > 0, "{counts}");
    other.end();
    talker.end();
}
