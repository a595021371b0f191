//! Tests against data whose answers are published, and simulated data whose answers are known.
#![allow(clippy::unwrap_used)]

use rand::RngExt as _;
use rand_distr::{Distribution as _, LogNormal};

use super::*;

/// Michelson's 100 measurements of the speed of light of 1879, km/s above 299,000. NIST certifies
/// their mean, 852.4; R gives the quartiles 807.5, 850 and 892.5.
const MICHELSON: [u64; 100] = [
    850, 740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000, 1000,
    960, 960, 960, 940, 960, 940, 880, 800, 850, 880, 900, 840, 830, 790, 810, 880, 880, 830, 800,
    790, 760, 800, 880, 880, 880, 860, 720, 720, 620, 860, 970, 950, 880, 910, 850, 870, 840, 840,
    850, 840, 840, 840, 890, 810, 810, 820, 800, 770, 760, 740, 750, 760, 910, 920, 890, 860, 880,
    720, 840, 850, 850, 780, 890, 840, 780, 810, 760, 810, 790, 810, 820, 850, 870, 870, 810, 740,
    810, 940, 950, 800, 810, 870,
];

fn close(found: f64, wanted: f64, share: f64) {
    assert!(
        (found - wanted).abs() <= wanted.abs() * share,
        "{found} is not {wanted} within {share}"
    );
}

#[test]
fn quantiles_of_published_data() {
    let found = Distribution::of(&MICHELSON, 1).unwrap();
    assert_eq!(found.count, 100);
    close(found.mean, 852.4, 1e-12);
    assert_eq!(
        (found.min, found.p25, found.p50, found.p75, found.max),
        (620.0, 807.5, 850.0, 892.5, 1070.0)
    );
    // NumPy: percentile(data, [5, 95, 99]).
    assert_eq!((found.p5, found.p95), (739.0, 980.0));
    close(found.p99, 1000.7, 1e-9);
    // The exact interval by ranks (binomial) is 840 to 870.
    assert!(
        found.median_interval.0 >= 840.0 && found.median_interval.1 <= 870.0,
        "{:?}",
        found.median_interval
    );
    assert!(found.median_interval.0 < found.median_interval.1);
}

#[test]
fn nothing_one_and_extreme_samples() {
    assert_eq!(Distribution::of(&[], 1), None);
    let one = Distribution::of(&[7], 1).unwrap();
    assert_eq!(
        (one.min, one.p50, one.p99, one.max, one.median_interval),
        (7.0, 7.0, 7.0, 7.0, (7.0, 7.0))
    );
    let two = Distribution::of(&[10, 20], 1).unwrap();
    assert_eq!((two.p50, two.median_interval), (15.0, (10.0, 20.0)));
    let extreme = Distribution::of(&[0, u64::MAX], 1).unwrap();
    close(extreme.mean, u64::MAX as f64 / 2.0, 1e-9);
    assert_eq!(extreme.histogram().unwrap().len(), 2);
}

#[test]
fn the_same_seed_gives_the_same_and_another_does_not() {
    let samples: Vec<u64> = latencies(50_001, 40_000.0, 0.4, 3);
    assert_eq!(Distribution::of(&samples, 5), Distribution::of(&samples, 5));
    assert_ne!(
        Distribution::of(&samples, 5).unwrap().median_interval,
        Distribution::of(&samples, 6).unwrap().median_interval
    );
}

/// The shortcut to a resample's median gives the same interval as resampling.
#[test]
fn the_interval_is_that_of_resampling_in_full() {
    for count in [10, 101, 1000] {
        let mut samples = latencies(count, 40_000.0, 0.5, 11);
        samples.sort_unstable();
        let mut random = resample::random(12);
        let in_full = resample::percentile_interval(
            (0..4000)
                .map(|_| {
                    let mut drawn: Vec<u64> =
                        (0..count).map(|_| samples[random.random_range(0..count)]).collect();
                    drawn.sort_unstable();
                    quantile(&drawn, 0.5)
                })
                .collect(),
        );
        let short = Distribution::of(&samples, 13).unwrap().median_interval;
        close(short.0, in_full.0, 0.05);
        close(short.1, in_full.1, 0.05);
    }
}

#[test]
fn the_interval_covers_the_true_median_in_95_of_100_experiments() {
    let covered = (0..1000)
        .filter(|&experiment| {
            let samples = latencies(100, 40_000.0, 0.5, experiment);
            let (low, high) = Distribution::of(&samples, experiment).unwrap().median_interval;
            (low..=high).contains(&40_000.0)
        })
        .count();
    // The expected number is 950; chance alone moves it by 7 (one standard deviation), and the
    // steps between samples move it a little more.
    assert!((925..=975).contains(&covered), "{covered} of 1000");
}

#[test]
fn many_samples_are_summed_up_with_every_one_of_them() {
    let samples = latencies(100_000, 250_000.0, 0.3, 4);
    let found = Distribution::of(&samples, 4).unwrap();
    assert_eq!(found.histogram().unwrap().len(), 100_000);
    let (low, high) = found.median_interval;
    assert!(low < 250_000.0 && 250_000.0 < high && high - low < 2_000.0, "{low} to {high}");
    assert!(found.histogram.unwrap().len() < 8_000);
}

#[test]
fn a_histogram_comes_back_as_it_was_and_damage_is_said() {
    let mut found = Distribution::of(&MICHELSON, 1).unwrap();
    let histogram = found.histogram().unwrap();
    assert_eq!((histogram.len(), histogram.min(), histogram.max()), (100, 620, 1070));
    let text = found.histogram.take().unwrap();
    assert!(text.starts_with("HISTFAAAA"), "the mark of V2, deflated: {text}");
    assert!(matches!(found.histogram(), Err(HistogramError::Absent)));
    for damaged in
        ["", "???", "SElTVA==", &text[..text.len() / 8 * 4], &text.replace("HIST", "TSIH")]
    {
        found.histogram = Some(damaged.to_owned());
        assert!(found.histogram().is_err(), "{damaged}");
    }
}

#[test]
fn merged_distributions_are_that_of_all_samples() {
    let (first, second) = (latencies(3000, 40_000.0, 0.2, 1), latencies(1000, 90_000.0, 0.2, 2));
    let all: Vec<u64> = first.iter().chain(&second).copied().collect();
    let wanted = Distribution::of(&all, 3).unwrap();
    let mut parts = [Distribution::of(&first, 1).unwrap(), Distribution::of(&second, 2).unwrap()];
    let found = Distribution::merged(&parts).unwrap();
    assert_eq!((found.count, found.min, found.max), (wanted.count, wanted.min, wanted.max));
    close(found.mean, wanted.mean, 1e-9);
    for (found, wanted) in [(found.p5, wanted.p5), (found.p50, wanted.p50), (found.p99, wanted.p99)]
    {
        close(found, wanted, 0.003);
    }
    parts[0].histogram = None;
    let without = Distribution::merged(&parts).unwrap();
    assert!(without.histogram.is_none() && without.p50 > 40_000.0 && without.p50 < 90_000.0);
    assert_eq!(Distribution::merged(&[]), None);
}

/// Makes repetitions of a system whose median varies between repetitions by `between`.
fn repetitions(count: u64, median: f64, between: f64, seed: u64) -> Vec<Repetition> {
    let mut random = resample::random(seed);
    let moved = LogNormal::new(median.ln(), between).unwrap();
    (0..count)
        .map(|index| {
            let samples = latencies(200, moved.sample(&mut random), 0.3, seed ^ (index << 32));
            Repetition::of(&Distribution::of(&samples, seed).unwrap()).unwrap()
        })
        .collect()
}

#[test]
fn clearly_different_systems_differ_and_the_ratio_is_right() {
    let (fast, slow) = (repetitions(5, 40_000.0, 0.02, 1), repetitions(5, 80_000.0, 0.02, 2));
    let found = compare(&fast, &slow, 3).unwrap();
    assert_eq!((found.verdict, found.repetitions), (Verdict::Smaller, 5));
    close(found.ratio, 0.5, 0.06);
    assert!(found.interval.0 < found.ratio && found.ratio < found.interval.1);
    let turned = compare(&slow, &fast, 3).unwrap();
    assert_eq!(turned.verdict, Verdict::Larger);
    close(turned.ratio, 1.0 / found.ratio, 1e-9);
}

#[test]
fn equal_systems_are_seldom_called_different_however_few_the_repetitions() {
    for count in [2, 3, 8] {
        let called = (0..100)
            .filter(|&seed| {
                let first = repetitions(count, 40_000.0, 0.08, seed * 2 + 1000);
                let second = repetitions(count, 40_000.0, 0.08, seed * 2 + 1001);
                compare(&first, &second, seed).unwrap().verdict != Verdict::NoDifference
            })
            .count();
        // The interval allows 5 % of errors; with 100 experiments, 12 % is far beyond chance.
        assert!(called <= 12, "{called} of 100 with {count} repetitions");
    }
}

#[test]
fn the_interval_of_the_ratio_covers_it() {
    let covered = (0..100)
        .filter(|&seed| {
            let first = repetitions(5, 40_000.0, 0.05, seed * 2 + 5000);
            let second = repetitions(5, 60_000.0, 0.05, seed * 2 + 5001);
            let (low, high) = compare(&first, &second, seed).unwrap().interval;
            (low..=high).contains(&(40.0 / 60.0))
        })
        .count();
    assert!(covered >= 88, "{covered} of 100");
}

#[test]
fn one_repetition_says_only_what_is_plain() {
    let one = |median, seed| {
        vec![
            Repetition::of(&Distribution::of(&latencies(20_000, median, 0.2, seed), seed).unwrap())
                .unwrap(),
        ]
    };
    let near = compare(&one(40_000.0, 1), &one(42_000.0, 2), 3).unwrap();
    assert!(near.interval.1 < 1.0, "the samples alone would show a difference: {near:?}");
    assert_eq!((near.verdict, near.repetitions), (Verdict::NoDifference, 1));
    assert_eq!(compare(&one(40_000.0, 1), &one(60_000.0, 2), 3).unwrap().verdict, Verdict::Smaller);
    assert_eq!(compare(&one(40_000.0, 1), &[], 3), None);
}

#[test]
fn repetitions_without_a_histogram_or_a_ratio() {
    let mut known = Distribution::of(&MICHELSON, 1).unwrap();
    known.histogram = None;
    let repetition = Repetition::of(&known).unwrap();
    let found = compare(&[repetition], &[Repetition::of(&known).unwrap()], 1).unwrap();
    assert_eq!((found.ratio, found.verdict), (1.0, Verdict::NoDifference));
    assert!(Repetition::of(&Distribution::of(&[0, 0, 0], 1).unwrap()).is_none());
    known.p50 = f64::NAN;
    assert!(Repetition::of(&known).is_none());
}

#[test]
fn a_median_over_repetitions_lies_in_its_interval() {
    let (median, (low, high)) =
        median_over_repetitions(&repetitions(3, 40_000.0, 0.05, 8), 1).unwrap();
    assert!(
        low < median && median < high && low > 20_000.0 && high < 80_000.0,
        "{low} {median} {high}"
    );
    assert_eq!(median_over_repetitions(&[], 1), None);
}

/// Makes times like the times of real processes: many are near the median, and some are far above
/// it.
fn latencies(count: usize, median: f64, spread: f64, seed: u64) -> Vec<u64> {
    let mut random = resample::random(seed);
    let times = LogNormal::new(median.ln(), spread).unwrap();
    (0..count).map(|_| times.sample(&mut random) as u64).collect()
}
