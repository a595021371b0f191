//! Tests that sockets at both ends measure the requested conditions.

use feros_test_support::eventually;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use feros_link::{DirectionCounters, Link, LinkOptions};

use crate::hosts::{WATCHDOG, greet, namespaces, receive, socket, to};

const PAYLOAD: usize = 1000;
/// The bits that a packet occupies on the line: the payload, the headers of UDP (8), IP (20) and
/// Ethernet (14), and Ethernet's preamble, checksum and gap between frames (24).
const LINE_BITS: f64 = ((PAYLOAD + 8 + 20 + 14 + 24) * 8) as f64;

/// Waits until at least `offered` packets have been offered in a direction, and all of them have
/// arrived or have been dropped.
fn settled(counters: impl Fn() -> DirectionCounters, offered: u64) -> DirectionCounters {
    eventually(|| {
        let now = counters();
        let done = now.packets + now.dropped_loss + now.dropped_queue;
        let is_settled = now.offered_packets >= offered && done == now.offered_packets;
        if is_settled { Ok(now) } else { Err(format!("{offered} expected: {now:?}")) }
    })
}

/// Sends numbered packets as fast as the link takes them from the device, so that the device's
/// queue never fills.
fn send_numbered(link: &Link, from: &UdpSocket, packets: u32) -> DirectionCounters {
    let before = link.counters().forward.offered_packets;
    let mut payload = [0; PAYLOAD];
    for number in 0..packets {
        payload[..4].copy_from_slice(&number.to_le_bytes());
        from.send_to(&payload, to(1)).unwrap();
        if number % 500 == 499 {
            settled_reading(link, before + u64::from(number) + 1);
        }
    }
    settled(|| link.counters().forward, before + u64::from(packets))
}

fn settled_reading(link: &Link, offered: u64) {
    let begin = Instant::now();
    while link.counters().forward.offered_packets < offered {
        assert!(begin.elapsed() < WATCHDOG, "{offered} expected: {:?}", link.counters().forward);
        std::thread::yield_now();
    }
}

/// The numbers and times of the packets that arrive until no packet comes for a while after `done`.
fn received(at: &UdpSocket, done: impl Fn() -> bool) -> Vec<(u32, Instant)> {
    let (mut packets, mut buffer) = (Vec::new(), [0; 2000]);
    loop {
        let finished = done();
        match at.recv(&mut buffer) {
            Ok(PAYLOAD) => {
                packets.push((u32::from_le_bytes(buffer[..4].try_into().unwrap()), Instant::now()));
            }
            Ok(_) => {}
            Err(_) if finished => return packets,
            Err(_) => {}
        }
    }
}

/// Sends and receives at the same time; returns the link's counters for this time, and the packets
/// that arrived.
fn exchange(
    options: LinkOptions,
    packets: u32,
) -> Option<(DirectionCounters, Vec<(u32, Instant)>)> {
    let (_alone, [first, second]) = namespaces()?;
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    let before = settled(|| link.counters().forward, 0);
    link.set(options).unwrap();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| send_numbered(&link, &a, packets));
        let received = received(&b, || sender.is_finished());
        let mut counters = sender.join().unwrap();
        assert_eq!(counters.dropped_device, 0, "more than this machine carries: {counters:?}");
        counters.offered_packets -= before.offered_packets;
        counters.packets -= before.packets;
        // A few of the offered packets may be the kernel's own requests for a hardware address.
        let all = counters.packets.abs_diff(received.len() as u64);
        assert!(all < 20, "{} of {counters:?} received", received.len());
        Some((counters, received))
    })
}

fn unlimited() -> LinkOptions {
    LinkOptions { queue_packets: None, ..LinkOptions::default() }
}

#[test]
fn the_rate_is_what_was_asked_for() {
    for (rate, packets) in [(2_000_000, 250), (20_000_000, 2_500), (100_000_000, 20_000)] {
        let options = LinkOptions { rate_bits_per_second: Some(rate), ..unlimited() };
        let mut seen = Vec::new();
        // A receiver that gets its processor late measures a wrong rate once; if the link's rate is
        // wrong, every measurement shows it.
        for _ in 0..5 {
            let Some((_, received)) = exchange(options.clone(), packets) else { return };
            assert_eq!(received.len(), packets as usize);
            let seconds = (received[received.len() - 1].1 - received[0].1).as_secs_f64();
            seen.push(f64::from(packets - 1) * LINE_BITS / seconds);
            if (seen[seen.len() - 1] / rate as f64 - 1.0).abs() < 0.02 {
                break;
            }
        }
        assert!(
            (seen[seen.len() - 1] / rate as f64 - 1.0).abs() < 0.02,
            "{seen:.0?} bit/s instead of {rate}"
        );
    }
}

#[test]
fn the_loss_is_what_was_asked_for() {
    // The numbers of packets are so large that 2 % is more than four standard deviations of each
    // share.
    for (loss, packets) in [(0.3, 100_000u32), (0.6, 30_000)] {
        let sigma = ((1.0 - loss) / (loss * f64::from(packets))).sqrt();
        assert!(4.0 * sigma < 0.02);
        let Some((counters, received)) =
            exchange(LinkOptions { loss, seed: 1, ..unlimited() }, packets)
        else {
            return;
        };
        let measured = 1.0 - received.len() as f64 / f64::from(packets);
        assert!((measured / loss - 1.0).abs() < 0.02, "{measured} lost instead of {loss}");
        let counted = counters.dropped_loss as f64 / counters.offered_packets as f64;
        assert!((counted / loss - 1.0).abs() < 0.02, "{counted} counted instead of {loss}");
    }
}

#[test]
fn losses_come_in_bursts_of_the_asked_length() {
    let (loss, burst, packets) = (0.2, 4.0, 100_000);
    let options = LinkOptions { loss, burst: Some(burst), seed: 2, ..unlimited() };
    let Some((_, received)) = exchange(options, packets) else { return };
    let gaps: Vec<u32> =
        received.windows(2).map(|pair| pair[1].0 - pair[0].0 - 1).filter(|&gap| gap > 0).collect();
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    // About 5000 bursts, with a standard deviation of 3.5 in length: 4 standard deviations of the
    // mean are 5 %.
    assert!((mean / burst - 1.0).abs() < 0.05, "{mean} lost in a row instead of {burst}");
    let measured = 1.0 - received.len() as f64 / f64::from(packets);
    assert!((measured / loss - 1.0).abs() < 0.05, "{measured} lost instead of {loss}");
}

#[test]
fn the_same_seed_loses_the_same_packets() {
    let lossy = |seed| LinkOptions { loss: 0.5, seed, ..unlimited() };
    let numbers = |seed| {
        Some(exchange(lossy(seed), 1000)?.1.iter().map(|packet| packet.0).collect::<Vec<_>>())
    };
    let Some(other) = numbers(10) else { return };
    // A packet of the kernel's own takes one of the link's random numbers, so that later packets
    // get others. The test therefore repeats until two runs agree.
    let mut runs: Vec<Vec<u32>> = Vec::new();
    let same = (0..7).find_map(|_| {
        let run = numbers(9)?;
        let is_known = runs.contains(&run);
        runs.push(run.clone());
        is_known.then_some(run)
    });
    let arrived: Vec<usize> = runs.iter().map(Vec::len).collect();
    assert_ne!(same.unwrap_or_else(|| panic!("no two are the same: {arrived:?} arrived")), other);
}

#[test]
fn the_delay_is_what_was_asked_for_and_the_jitter_around_it() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    let delays = |options: LinkOptions, packets: u32| -> Vec<f64> {
        link.set(options).unwrap();
        let one = |number: u32| {
            let begin = Instant::now();
            a.send_to(&number.to_le_bytes(), to(1)).unwrap();
            assert_eq!(receive(&b, &mut [0; 16]).0, 4);
            begin.elapsed().as_secs_f64() * 1e3
        };
        let mut delays: Vec<f64> = (0..packets).map(one).collect();
        delays.sort_unstable_by(f64::total_cmp);
        delays
    };
    let delay = Duration::from_millis(20);
    let still = delays(LinkOptions { delay, ..LinkOptions::default() }, 50);
    assert!(still[0] >= 20.0, "one arrived after {} ms", still[0]);
    // The quickest tenth shows the delay that the link adds; the lateness of the rest depends on
    // how busy the machine is.
    assert!(still[5] < 21.0, "a tenth took {} ms or less", still[5]);

    let jitter = Duration::from_millis(10);
    // The delays are uniform between 10 and 30 ms, so the sorted delays at 10 %, 50 % and 90 % of
    // the 200 packets are about 12, 20 and 28 ms, with a standard deviation of at most 0.7 ms.
    let far_off = |shaken: &[f64]| {
        let shares = [(20, 12.0), (100, 20.0), (180, 28.0)];
        shares.into_iter().find(|(share, expected)| (shaken[*share] - expected).abs() >= 3.0)
    };
    let mut seen = Vec::new();
    // A busy machine adds delays now and then, but the link adds its own every time.
    for _ in 0..5 {
        let shaken = delays(LinkOptions { delay, jitter, seed: 4, ..LinkOptions::default() }, 200);
        assert!(shaken[0] >= 10.0, "one arrived after {} ms", shaken[0]);
        let Some((share, expected)) = far_off(&shaken) else { return };
        seen.push(format!("{:.1} ms where {expected} was expected", shaken[share]));
    }
    panic!("{seen:?}");
}

#[test]
fn packets_held_back_are_overtaken_and_counted() {
    let options = LinkOptions {
        rate_bits_per_second: Some(50_000_000),
        delay: Duration::from_millis(1),
        reorder: 0.1,
        reorder_by: Duration::from_millis(2),
        seed: 6,
        ..unlimited()
    };
    let packets = 5_000;
    let Some((counters, received)) = exchange(options, packets) else { return };
    assert_eq!(received.len(), packets as usize);
    let mut highest = 0;
    let late = received.iter().filter(|&&(number, _)| {
        highest = highest.max(number);
        number < highest
    });
    let late = late.count() as u64;
    assert!(
        late.abs_diff(counters.reordered) < 20,
        "{late} received late, {} counted",
        counters.reordered
    );
    // Five standard deviations.
    let share = late as f64 / f64::from(packets);
    assert!((share - 0.1).abs() < 0.021, "{share} late");
}

#[test]
fn a_full_queue_drops_what_comes_and_never_holds_more() {
    // The line is so slow that hardly any packet leaves it while all packets are sent, no matter
    // how long sending takes.
    let slow = LinkOptions { rate_bits_per_second: Some(200_000), ..unlimited() };
    let by_packets = LinkOptions { queue_packets: Some(10), ..slow.clone() };
    let Some((counters, received)) = exchange(by_packets, 300) else { return };
    assert_eq!(counters.largest_queue_packets, 10);
    assert!(counters.dropped_queue >= 200, "{counters:?}");
    // The first packets fit into the queue.
    assert!(received.iter().take(11).map(|packet| packet.0).eq(0..11));

    let by_bytes = LinkOptions { queue_bytes: Some(5_500), ..slow };
    let Some((counters, _)) = exchange(by_bytes, 300) else { return };
    assert!((4_400..=5_500).contains(&counters.largest_queue_bytes), "{counters:?}");
    assert!(counters.dropped_queue >= 200, "{counters:?}");
}

#[test]
fn with_backpressure_a_sender_waits_and_nothing_is_dropped() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    // A send buffer of the usual size, which holds far less than is sent.
    rustix::net::sockopt::set_socket_send_buffer_size(&a, 100_000).unwrap();
    let rate = 20_000_000;
    let waiting = LinkOptions {
        rate_bits_per_second: Some(rate),
        backpressure: true,
        queue_packets: Some(1_000), // room for all that waits if the link's thread is held up
        ..LinkOptions::default()
    };
    link.set(waiting.clone()).unwrap();
    let packets = 2_000u32;
    let before = link.counters().forward.packets;
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            (0..packets).for_each(|number| {
                let mut payload = [0; PAYLOAD];
                payload[..4].copy_from_slice(&number.to_le_bytes());
                a.send_to(&payload, to(1)).unwrap();
            });
            begin.elapsed().as_secs_f64()
        });
        let all_passed = || link.counters().forward.packets >= before + u64::from(packets);
        assert_eq!(received(&b, || sender.is_finished() && all_passed()).len(), packets as usize);
        // All packets except those in the buffer had to leave before the last packet was accepted.
        let whole = f64::from(packets) * LINE_BITS / rate as f64;
        assert!(sender.join().unwrap() > 0.8 * whole, "the sender did not wait");
    });
    let after = link.counters().forward;
    assert_eq!((after.dropped_queue, after.dropped_device), (0, 0));

    // Without backpressure, the same sender does not have to wait.
    link.set(LinkOptions { backpressure: false, queue_packets: Some(100), ..waiting }).unwrap();
    for _ in 0..packets {
        a.send_to(&[0; PAYLOAD], to(1)).unwrap();
    }
    let after = settled(|| link.counters().forward, after.offered_packets + u64::from(packets));
    assert!(after.dropped_queue > u64::from(packets) / 2, "{after:?}");
}

#[test]
fn a_change_while_packets_wait_holds_at_once() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    // At this rate, a hundred packets would take two hours.
    link.set(LinkOptions { rate_bits_per_second: Some(100), ..unlimited() }).unwrap();
    for number in 0..100u32 {
        a.send_to(&number.to_le_bytes(), to(1)).unwrap();
    }
    settled_reading(&link, 100);
    assert!(b.recv(&mut [0; 16]).is_err());
    link.set(LinkOptions { rate_bits_per_second: Some(10_000_000), ..unlimited() }).unwrap();
    for number in 0..100u32 {
        let mut buffer = [0; 4];
        receive(&b, &mut buffer);
        assert_eq!(u32::from_le_bytes(buffer), number);
    }
    // At first all packets are lost, then no packet is lost.
    link.set(LinkOptions { loss: 1.0, ..unlimited() }).unwrap();
    let before = link.counters().forward;
    a.send_to(b"lost", to(1)).unwrap();
    let after = settled(|| link.counters().forward, before.offered_packets + 1);
    assert_eq!(after.packets, before.packets);
    link.set(unlimited()).unwrap();
    a.send_to(b"kept", to(1)).unwrap();
    let mut buffer = [0; 4];
    receive(&b, &mut buffer);
    assert_eq!(&buffer, b"kept");
}

#[test]
fn sizes_at_the_limits_pass() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let _link =
        Link::between(&first, &second, LinkOptions { mtu: 576, ..LinkOptions::default() }).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    let mut buffer = vec![0; 65_536];
    for size in [0, 1, 548, 549, 1472, 65_507] {
        a.send_to(&vec![1; size], to(1)).unwrap();
        assert_eq!(receive(&b, &mut buffer).0, size);
    }
}

#[test]
fn an_idle_link_sleeps() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let options = LinkOptions { rate_bits_per_second: Some(1_000_000), ..LinkOptions::default() };
    let link = Link::between(&first, &second, options).unwrap();
    let wakes = || -> Option<u64> {
        let threads =
            std::fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
        let is_link = |thread: &std::path::PathBuf| {
            std::fs::read_to_string(thread.join("comm"))
                .is_ok_and(|name| name.trim() == "feros-link")
        };
        let status =
            std::fs::read_to_string(threads.into_iter().filter(is_link).last()?.join("status"))
                .ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse().ok()
    };
    let begin = Instant::now();
    settled(|| link.counters().forward, 0);
    let before = loop {
        match wakes() {
            Some(wakes) => break wakes,
            None => std::thread::yield_now(), // the thread has not set its name yet
        }
        assert!(begin.elapsed() < WATCHDOG, "the link has no thread");
    };
    let from = begin.elapsed();
    std::thread::sleep(Duration::from_millis(500)); // the measured time
    let (woken, during) = (wakes().unwrap() - before, begin.elapsed() - from);
    assert!((woken as f64) < during.as_secs_f64() * 40.0, "{woken} times awake in {during:?}");
}
