//! The policy `ApproximateTime` with arbitrary messages: sets are valid, no message is lost, and an
//! exhaustive search finds no set that is better than the set that the policy took.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use feros_message_filters::{AnyMessage, ApproximateTime, Policy, Sorted, Time};
use proptest::prelude::*;

/// The inputs of messages in the order of arrival, with their times.
fn arrivals(inputs: usize) -> impl Strategy<Value = Vec<(usize, i64)>> {
    let gaps = prop::collection::vec((0..inputs, 1..40_i64), 0..120);
    gaps.prop_map(move |gaps| {
        let mut times = vec![0; inputs];
        let mut all: Vec<_> = gaps
            .into_iter()
            .map(|(input, gap)| {
                times[input] += gap;
                (input, times[input])
            })
            .collect();
        // Messages arrive as on a robot: ordered by time, and with each input in order.
        all.sort_by_key(|(_, time)| *time);
        all
    })
}

fn time_of(message: &AnyMessage) -> i64 {
    *message.clone().downcast::<i64>().unwrap()
}

/// Returns all sets and all dropped messages. Messages that remain at the end are cleared, so they
/// count as dropped.
fn run(mut policy: ApproximateTime, inputs: usize, all: &[(usize, i64)]) -> Sorted {
    let mut sorted = Sorted::default();
    policy.set_inputs(inputs);
    for (input, time) in all {
        policy.add(*input, Time::from_nanos(*time), Arc::new(*time), &mut sorted);
    }
    policy.clear(&mut sorted);
    sorted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn sets_are_proper_and_nothing_is_lost(
        (inputs, all) in (2..6_usize).prop_flat_map(|inputs| (Just(inputs), arrivals(inputs))),
        queue_size in 1..12_usize,
        max_interval in prop_oneof![Just(u64::MAX), 0..60_u64],
        penalty in 0.0..2.0_f64,
    ) {
        let policy = ApproximateTime::new(queue_size)
            .age_penalty(penalty)
            .max_interval(Duration::from_nanos(max_interval));
        let sorted = run(policy, inputs, &all);
        let sets: Vec<Vec<i64>> =
            sorted.matched.iter().map(|set| set.iter().map(time_of).collect()).collect();
        for set in &sets {
            prop_assert_eq!(set.len(), inputs);
            let span = set.iter().max().unwrap() - set.iter().min().unwrap();
            prop_assert!(span as u64 <= max_interval, "{:?}", set);
        }
        // Later sets have later messages of every input, so no message is used twice.
        for pair in sets.windows(2) {
            prop_assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| a < b), "{:?}", pair);
        }
        prop_assert_eq!(sorted.matched.len() * inputs + sorted.dropped.len(), all.len());
        prop_assert_eq!(sorted.irregular, 0);
    }

    #[test]
    fn the_first_set_is_the_best_with_its_pivot(
        (inputs, all) in (2..4_usize).prop_flat_map(|inputs| (Just(inputs), arrivals(inputs))),
        penalty in 0.0..1.0_f64,
    ) {
        let sorted = run(ApproximateTime::new(1000).age_penalty(penalty), inputs, &all);
        let Some(set) = sorted.matched.first() else { return Ok(()) };
        let set: Vec<i64> = set.iter().map(time_of).collect();
        let of = |input: usize| {
            all.iter().filter(move |(of, _)| *of == input).map(|(_, time)| *time)
        };
        // The pivot is the latest of the first messages: each set has to contain it or a later
        // message.
        let (pivot, pivot_time) = (0..inputs)
            .map(|input| (input, of(input).next().unwrap()))
            .max_by_key(|(_, time)| *time)
            .unwrap();
        let cost = |start: i64, end: i64| (end as f64) * (1.0 + penalty) - start as f64;
        let (start, end) = (*set.iter().min().unwrap(), *set.iter().max().unwrap());
        // For each possible end of a set, the best partners are the latest messages of the other
        // inputs that are not after that end.
        for (_, other_end) in all.iter().filter(|(_, time)| *time >= pivot_time) {
            let partners = (0..inputs).map(|input| {
                if input == pivot {
                    Some(pivot_time)
                } else {
                    of(input).rev().find(|time| time <= other_end)
                }
            });
            let Some(partners) = partners.collect::<Option<Vec<_>>>() else { continue };
            let other_start = *partners.iter().min().unwrap();
            let real_end = *partners.iter().max().unwrap();
            prop_assert!(
                cost(start, end) <= cost(other_start, real_end) + 1e-6,
                "{:?} spans {start} to {end}, {:?} would be better", set, partners
            );
        }
    }
}
