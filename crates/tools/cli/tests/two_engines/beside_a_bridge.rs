//! `feros bridge` between two engines beside a node on both: it carries the messages of processes
//! on one engine to those on the other, but no messages from or to the node on both.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::UInt32;
use feros_test_support::{Watchdog, until};

use crate::process::{Running, spawn};
use crate::wires::{
    BOTH, DDS, Heard, KEEP_ALL, OF_A_SOURCE, UINT32, Wires, ZENOH, count_in_order, number_in,
    numbers_in, publish, repeating,
};

/// The number of messages that every subscription must receive from each source.
const ENOUGH: usize = 300;
/// The limit on messages that an interrupted publisher may have published without a subscription
/// receiving them.
const IN_FLIGHT: usize = 100;

/// Nodes on a single engine are processes of their own: a bridge leaves out endpoints of a process
/// that is on both sides.
#[test]
fn each_message_comes_once_and_is_bridged_once() {
    let _watchdog = Watchdog::start();
    let wires = Wires::new();
    let folder = tempfile::tempdir().unwrap();
    let on_both = wires.node(&BOTH, "on_both");
    let heard = Heard::new(&on_both.node, "/beside");
    let publisher = on_both.node.create_publisher::<UInt32>("/beside", QosProfile::keep_all());
    let publisher = publisher.unwrap();
    let engines = [&**DDS, ZENOH];
    let line = [&["topic", "echo", "/beside", UINT32][..], &KEEP_ALL].concat();
    let echoes = engines.map(|engine| wires.start(engine, &line));
    let publishing: Vec<Running> = (0..)
        .zip(engines)
        .map(|(source, engine)| {
            let file = numbers_in(folder.path(), source * OF_A_SOURCE, OF_A_SOURCE / 2);
            let line = ["topic", "pub", "/beside", UINT32, "-r", "100", "--print", "0"];
            wires.start(engine, &[&line[..], &["--yaml-file", &file], &KEEP_ALL].concat())
        })
        .collect();
    // A running bridge takes a node on both engines for a node on one, until the bridge has
    // discovered the node on both.
    until("all by their own wires", || {
        heard.subscription.publisher_count() == 3 && publisher.subscription_count() == 3
    });
    let mut numbers: Vec<u32> = heard.numbers.try_iter().collect();
    let (for_both, mut data) = (publisher, 2 * OF_A_SOURCE);
    let saying = repeating(move || {
        publish(&for_both, data);
        data += 1;
    });
    let before = [0, 1].map(|source| last_of(&numbers, source));
    let line = ["bridge", "--engines", &BOTH, "--topics", "/beside", "--services", ""];
    let bridge = wires.start_plain(&line);
    let reading = echoes.map(|echo| spawn("reading", move || read_enough(echo)));
    let mut printed = reading.map(|reading| reading.join().unwrap());
    bridge.interrupt();
    let said = bridge.finish().success();
    publishing.iter().for_each(Running::interrupt);
    publishing.into_iter().for_each(|publishing| drop(publishing.finish()));
    drop(saying);
    for (echo, printed) in &mut printed {
        let echo = echo.take().unwrap();
        echo.interrupt();
        printed.extend(echo.finish().out.lines().filter_map(number_in));
    }
    numbers.extend(heard.numbers.try_iter());
    for numbers in [&numbers, &printed[0].1, &printed[1].1] {
        assert!((0..3).all(|source| count_in_order(numbers, source) >= ENOUGH));
    }
    // The bridge carried what the process on each engine published, once: neither messages that
    // came back, nor those of the node on both.
    for (from, to) in [(0, 1), (1, 0)] {
        let counted = count_of(&said, engines[from], engines[to]);
        let source = u32::try_from(from).unwrap();
        let arrived = count_in_order(&printed[to].1, source);
        let published = (last_of(&numbers, source) - before[from]) as usize + IN_FLIGHT;
        assert!((arrived..=published).contains(&counted), "{arrived} of {published}: {said}");
    }
}

fn last_of(numbers: &[u32], source: u32) -> u32 {
    let own = numbers.iter().copied().filter(|number| number / OF_A_SOURCE == source);
    own.max().unwrap_or(source * OF_A_SOURCE)
}

/// Reads the output until there are enough messages of each source.
fn read_enough(mut echo: Running) -> (Option<Running>, Vec<u32>) {
    let mut numbers = Vec::new();
    while !(0..3).all(|source| count_in_order(&numbers, source) >= ENOUGH) {
        numbers.extend(number_in(&echo.line().unwrap()));
    }
    (Some(echo), numbers)
}

/// The number of messages that the bridge reports from side to side.
fn count_of(said: &str, from: &str, to: &str) -> usize {
    let counts = said.lines().find_map(|line| line.strip_prefix(&format!("from {from} to {to}: ")));
    let count = counts.and_then(|counts| counts.split(' ').next()?.parse().ok());
    count.unwrap_or_else(|| panic!("{said}"))
}
