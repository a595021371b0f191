use std::time::Duration;

use proptest::prelude::*;

use super::*;

const MILLISECOND: u64 = 1_000_000;

/// Every packet that arrives, as (time, packet). Each packet is taken exactly at its time of
/// arrival.
fn all_arrivals(line: &mut Scheduler<u64>) -> Vec<(u64, u64)> {
    let mut arrivals = Vec::new();
    while let Some(next) = line.next_arrival() {
        arrivals.extend(std::iter::from_fn(|| line.arrived(next)));
    }
    arrivals
}

fn line_at(bits_per_second: u64) -> LinkOptions {
    LinkOptions {
        rate_bits_per_second: Some(bits_per_second),
        queue_packets: None,
        ..LinkOptions::default()
    }
}

#[test]
fn a_packet_occupies_the_line_for_its_size() {
    // 976 bytes and the 24 extra bytes on the line are 8000 bits.
    let mut line = Scheduler::new(line_at(1_000_000));
    for packet in 0..3 {
        line.offer(5, 976, packet);
    }
    assert_eq!(all_arrivals(&mut line), [(8_000_005, 0), (16_000_005, 1), (24_000_005, 2)]);
}

#[test]
fn short_frames_are_filled_up() {
    let mut line = Scheduler::new(line_at(1_000_000));
    line.offer(0, 14, 0);
    line.offer(0, 60, 1);
    assert_eq!(all_arrivals(&mut line), [(672_000, 0), (1_344_000, 1)]);
}

#[test]
fn rates_that_divide_nothing_evenly_do_not_drift() {
    let rate = 7_777_777;
    let mut line = Scheduler::new(line_at(rate));
    let packets = 100_000u64;
    for packet in 0..packets {
        line.offer(0, 1000, packet);
    }
    let last = all_arrivals(&mut line).last().map(|last| last.0);
    assert_eq!(last, Some((packets * 1024 * 8 * 1_000_000_000) / rate));
}

#[test]
fn without_a_rate_nothing_waits() {
    let mut line = Scheduler::new(LinkOptions { queue_packets: Some(0), ..LinkOptions::default() });
    for packet in 0..100 {
        line.offer(9, 1500, packet);
    }
    assert_eq!(all_arrivals(&mut line).len(), 100);
    assert_eq!(line.counters().dropped_queue, 0);
}

#[test]
fn a_line_that_was_idle_begins_when_a_packet_comes() {
    let mut line = Scheduler::new(line_at(1_000_000));
    line.offer(0, 976, 0);
    line.offer(50 * MILLISECOND, 976, 1);
    assert_eq!(all_arrivals(&mut line), [(8 * MILLISECOND, 0), (58 * MILLISECOND, 1)]);
}

#[test]
fn packets_that_do_not_fit_into_the_queue_are_dropped() {
    let limited = LinkOptions { queue_packets: Some(3), ..line_at(1_000_000) };
    let mut line = Scheduler::new(limited);
    for packet in 0..10 {
        line.offer(0, 976, packet);
    }
    // One packet is on the line, three wait behind it.
    assert_eq!(
        all_arrivals(&mut line).iter().map(|arrival| arrival.1).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert_eq!((line.counters().dropped_queue, line.counters().largest_queue_packets), (6, 3));
    assert_eq!(line.counters().largest_queue_bytes, 3 * 976);

    let limited = LinkOptions { queue_bytes: Some(2000), ..line_at(1_000_000) };
    let mut line = Scheduler::new(limited);
    for packet in 0..10 {
        line.offer(0, 976, packet);
    }
    line.offer(0, 48, 10); // this packet still fits
    let arrived = all_arrivals(&mut line).iter().map(|arrival| arrival.1).collect::<Vec<_>>();
    assert_eq!(arrived, [0, 1, 2, 10]);
}

#[test]
fn a_line_without_a_limit_has_one() {
    let mut line = Scheduler::new(line_at(1));
    for packet in 0..10_000 {
        line.offer(0, 65_535, packet);
    }
    assert_eq!(line.counters().dropped_queue, 10_000 - MOST_BYTES_HELD / 65_535);
}

#[test]
fn a_change_of_rate_holds_for_what_waits() {
    let mut line = Scheduler::new(line_at(1_000));
    for packet in 0..3 {
        line.offer(0, 976, packet); // 8 s each
    }
    // Half of the first packet has left the line; the other half and the other packets travel a
    // thousand times as fast.
    line.set(4_000 * MILLISECOND, line_at(1_000_000));
    let times: Vec<u64> =
        all_arrivals(&mut line).iter().map(|arrival| arrival.0 / MILLISECOND).collect();
    assert_eq!(times, [4_004, 4_012, 4_020]);
}

#[test]
fn a_shorter_delay_overtakes_nothing() {
    let delayed =
        |delay| LinkOptions { delay: Duration::from_millis(delay), ..LinkOptions::default() };
    let mut line = Scheduler::new(delayed(100));
    line.offer(0, 100, 0);
    line.set(10 * MILLISECOND, delayed(1));
    line.offer(10 * MILLISECOND, 100, 1);
    line.offer(200 * MILLISECOND, 100, 2);
    assert_eq!(
        all_arrivals(&mut line),
        [(100 * MILLISECOND, 0), (100 * MILLISECOND, 1), (201 * MILLISECOND, 2)]
    );
}

#[test]
fn delay_and_jitter_have_the_asked_mean_and_width() {
    let options = LinkOptions {
        delay: Duration::from_millis(10),
        jitter: Duration::from_millis(4),
        seed: 3,
        ..LinkOptions::default()
    };
    let mut line = Scheduler::new(options);
    let packets = 100_000u64;
    for packet in 0..packets {
        line.offer(packet * 20 * MILLISECOND, 100, packet); // so far apart that they never wait
    }
    let delays: Vec<f64> = all_arrivals(&mut line)
        .iter()
        .map(|&(at, packet)| (at - packet * 20 * MILLISECOND) as f64 / 1e6)
        .collect();
    assert_eq!(delays.len() as u64, packets);
    let mean = delays.iter().sum::<f64>() / packets as f64;
    let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / packets as f64;
    assert!((mean - 10.0).abs() < 0.05, "mean {mean}");
    let even = 8.0 / 12.0f64.sqrt();
    assert!(
        (variance.sqrt() / even - 1.0).abs() < 0.02,
        "deviation {} instead of {even}",
        variance.sqrt()
    );
    assert!(delays.iter().all(|delay| (6.0..=14.0).contains(delay)));
}

#[test]
fn the_asked_share_is_held_back_and_overtaken() {
    let options = LinkOptions {
        delay: Duration::from_millis(1),
        reorder: 0.05,
        reorder_by: Duration::from_millis(10),
        seed: 11,
        ..LinkOptions::default()
    };
    let mut line = Scheduler::new(options);
    let packets = 100_000u64;
    for packet in 0..packets {
        line.offer(packet * MILLISECOND, 100, packet);
    }
    assert_eq!(all_arrivals(&mut line).len() as u64, packets);
    let share = line.counters().reordered as f64 / packets as f64;
    assert!((share / 0.05 - 1.0).abs() < 0.05, "{share} reordered");
}

#[test]
fn a_seed_loses_the_same_packets_whatever_the_time_and_the_jitter() {
    let lossy = LinkOptions {
        loss: 0.2,
        burst: Some(3.0),
        queue_packets: None,
        seed: 42,
        ..LinkOptions::default()
    };
    let survivors = |options: &LinkOptions, apart: u64| {
        let mut line = Scheduler::new(options.clone());
        for packet in 0..10_000 {
            line.offer(packet * apart, 1000, packet);
        }
        let mut arrived: Vec<u64> =
            all_arrivals(&mut line).iter().map(|arrival| arrival.1).collect();
        arrived.sort_unstable();
        arrived
    };
    let first = survivors(&lossy, 0);
    let slow = LinkOptions { rate_bits_per_second: Some(10_000_000), ..lossy.clone() };
    let shaky = LinkOptions {
        delay: Duration::from_millis(5),
        jitter: Duration::from_millis(5),
        ..lossy.clone()
    };
    assert_eq!(first, survivors(&slow, 1234));
    assert_eq!(first, survivors(&shaky, 77));
    assert_ne!(first, survivors(&LinkOptions { seed: 43, ..lossy }, 0));
}

#[test]
fn dropped_packets_do_not_change_the_fate_of_the_others() {
    let lossy = LinkOptions { loss: 0.5, seed: 5, ..line_at(1_000_000) };
    let fate_of = |options: &LinkOptions| {
        let mut line = Scheduler::new(options.clone());
        for packet in 0..100 {
            line.offer(0, 976, packet);
        }
        // The queue is empty again.
        line.offer(10_000 * MILLISECOND, 976, 100);
        all_arrivals(&mut line).iter().any(|arrival| arrival.1 == 100)
    };
    for seed in 0..20 {
        let wide = LinkOptions { seed, ..lossy.clone() };
        let narrow = LinkOptions { queue_packets: Some(2), ..wide.clone() };
        assert_eq!(fate_of(&wide), fate_of(&narrow));
    }
}

prop_compose! {
    fn any_options()(
        rate in prop::option::of(1_000u64..=crate::RATE_CEILING_BITS_PER_SECOND),
        delay in 0u64..50_000_000,
        jitter_share in 0.0..=1.0f64,
        loss in prop_oneof![Just(0.0), 0.0..=1.0f64, Just(1.0)],
        burst in prop::option::of(1.0..20.0f64),
        reorder in prop_oneof![Just(0.0), 0.0..=1.0f64],
        queue_packets in prop::option::of(0u64..50),
        queue_bytes in prop::option::of(0u64..100_000),
        seed: u64,
    ) -> LinkOptions {
        let least = if loss < 1.0 { loss / (1.0 - loss) } else { 1.0 };
        LinkOptions {
            rate_bits_per_second: rate,
            delay: Duration::from_nanos(delay),
            jitter: Duration::from_nanos((delay as f64 * jitter_share) as u64),
            loss,
            burst: burst.map(|burst: f64| burst.max(least)),
            reorder,
            reorder_by: Duration::from_millis(3),
            queue_packets,
            queue_bytes,
            backpressure: false,
            mtu: 1500,
            seed,
        }
    }
}

proptest! {
    #[test]
    fn every_packet_is_counted_once_and_order_is_kept(
        options in any_options(),
        later in any_options(),
        packets in prop::collection::vec((0u64..200_000, 14usize..9000), 1..300),
    ) {
        prop_assert_eq!(options.validate(), Ok(()));
        let ordered = options.reorder == 0.0 && later.reorder == 0.0;
        let change_at = packets.len() / 2;
        let mut line = Scheduler::new(options);
        let (mut now, mut arrivals) = (0, Vec::new());
        for (number, &(pause, bytes)) in packets.iter().enumerate() {
            now += pause;
            if number == change_at {
                line.set(now, later.clone());
            }
            line.offer(now, bytes, number as u64);
            while let Some(arrival) = line.arrived(now) {
                prop_assert!(arrival.0 <= now);
                arrivals.push(arrival);
            }
        }
        arrivals.extend(all_arrivals(&mut line));
        let counters = line.counters();
        prop_assert_eq!(counters.offered_packets, packets.len() as u64);
        prop_assert_eq!(counters.packets, arrivals.len() as u64);
        prop_assert_eq!(counters.offered_packets, counters.packets + counters.dropped_loss + counters.dropped_queue);
        prop_assert_eq!((line.waiting_bytes, line.travelling_bytes), (0, 0));
        if ordered {
            prop_assert!(arrivals.is_sorted());
            prop_assert!(arrivals.iter().map(|arrival| arrival.1).is_sorted());
            prop_assert_eq!(counters.reordered, 0);
        }
    }

    #[test]
    fn the_line_never_carries_more_than_its_rate(
        rate in 1_000u64..=crate::RATE_CEILING_BITS_PER_SECOND,
        packets in prop::collection::vec((0u64..2_000_000, 60usize..9000), 2..200),
    ) {
        let mut line = Scheduler::new(line_at(rate));
        let mut now = 0;
        for &(pause, bytes) in &packets {
            now += pause;
            line.offer(now, bytes, bytes as u64);
        }
        let arrivals = all_arrivals(&mut line);
        let (first, last) = (arrivals[0].0, arrivals[arrivals.len() - 1].0);
        let bits: u128 = arrivals[1..].iter().map(|arrival| u128::from(arrival.1 + 24) * 8).sum();
        // Times are whole nanoseconds, so a fraction may be cut off.
        prop_assert!(u128::from(last - first + 1) * u128::from(rate) >= bits * 1_000_000_000);
    }
}
