//! Tests of reports on synthetic runs: the texts, the appearance in a browser, and the handling of
//! damaged runs.
#![allow(clippy::unwrap_used, missing_docs)]

mod browser;
mod chooser;
mod comparison;
mod damage;
mod discovery;
mod documents;
mod features;
mod floors;
mod parts;
mod small;
mod synthetic;

use std::path::PathBuf;

use feros_lab::record::*;
use feros_lab::report::{Report, Results};
use synthetic::Synthetic;

/// Creates an empty folder for this test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a run, reads it again, and makes its report.
pub(crate) fn report_of(made: &Synthetic, name: &str) -> (PathBuf, Results, Report) {
    let folder = folder(name);
    made.write(&folder);
    let results = Results::read(&folder).unwrap();
    let report = Report::of(&results);
    report.write(&folder).unwrap();
    (folder, results, report)
}

#[test]
fn a_whole_run_is_said_with_its_numbers() {
    let (folder, results, report) = report_of(&Synthetic::new(7, 2), "whole");
    assert_eq!(results.notices, []);
    assert_eq!(results.records.len(), Synthetic::new(7, 2).records.len());
    let html = std::fs::read_to_string(folder.join("report.html")).unwrap();
    // In the model, rcl needs 160 us between processes, feros 27 us, and the floor 19 us.
    for needed in [
        "Which one for what",
        "a futex hand-over after one copy",
        "The document found",
        "Twenty composed nodes cost about what two processes do.",
        "RTI_LICENSE_FILE is not set",
        "scripts/setup.sh --lab",
        "no package of it exists",
        "killed",
        "it has no way between hosts",
        "AMD EPYC 7B13",
        "feros lab run standard --seed 7 --out results",
    ] {
        assert!(html.contains(needed), "{needed}");
    }
    assert!(report.markdown.contains("| roscpp |") && report.markdown.contains("floors:udp"));
    // The model has a straight line of 118 us per node.
    let chain = report.markdown.split("## Chains of nodes").nth(1).unwrap();
    assert!(
        chain.contains("A straight line through median latency adds for each node: feros 2"),
        "{chain}"
    );
    assert!(chain.contains("(5 points, power "), "{chain}");
    // In the model ROS 1 is unfair: the fifth subscription takes twice as long.
    let fairness = report.markdown.split("## Five subscriptions").nth(1).unwrap();
    assert!(fairness.contains("feros has the lowest spread"), "{fairness}");
    // The sentence has the ratio of each system, not multiples of ratios.
    let twice = ["roscpp 2×", "roscpp 2.", "roscpp 1.9", "roscpp 1.8"];
    assert!(twice.iter().any(|words| fairness.contains(words)), "{fairness}");
}

#[test]
fn nothing_is_fetched_and_everything_is_escaped() {
    let mut made = Synthetic::new(3, 1);
    let attack = "</title><script>alert(1)</script>\"'&";
    made.run.grid = attack.to_owned();
    made.run.command = attack.to_owned();
    made.run.environment.insert(attack.to_owned(), attack.to_owned());
    made.run.systems[0].title = attack.to_owned();
    made.run.systems[0].version = Some(attack.to_owned());
    made.run.scenarios[0].finding = attack.to_owned();
    made.run.scenarios[0].name = attack.to_owned();
    for record in &mut made.records {
        if record.scenario == "size" {
            record.scenario = attack.to_owned();
            record.status = Status::Failed(attack.to_owned());
            record.dimensions.insert("qos".to_owned(), Value::Text(attack.to_owned()));
        }
    }
    let (_, _, report) = report_of(&made, "attack");
    assert!(!report.html.contains("<script>alert"), "a script from the data is in the page");
    assert_eq!(report.html.matches("<script").count(), 2, "the page's own scripts");
    // The font is in the page itself.
    let html = report.html.replacen("url(data:font/woff2;base64,", "", 1);
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    // Markdown shows text between fences literally.
    let outside_fences = report.markdown.split("```").step_by(2).collect::<String>();
    assert!(!outside_fences.contains("<script>"));
}

#[test]
fn runs_of_every_shape_make_a_page() {
    let mut empty = Synthetic::new(1, 1);
    empty.records.clear();
    empty.run.ended_unix_seconds = None;
    let (_, _, report) = report_of(&empty, "empty");
    assert!(
        report.html.contains("This run has not ended")
            && report.html.contains("No latency was measured")
            && report.html.contains("This run does not answer any of the questions")
    );

    let mut half = Synthetic::new(1, 1);
    let is_floor = |name: &str| name.starts_with("floors:");
    half.run.systems.retain(|system| !is_floor(&system.name));
    half.records.retain(
        |record| !matches!(&record.dimensions["system"], Value::Text(name) if is_floor(name)),
    );
    half.records.truncate(40);
    half.run.ended_unix_seconds = None;
    let (_, _, report) = report_of(&half, "half");
    assert!(
        report.html.contains("No floor was measured")
            && report.html.contains("No cell of this experiment has ended")
    );

    let mut nothing_works = Synthetic::new(1, 1);
    for record in &mut nothing_works.records {
        record.status = Status::Hung("killed after 5 s".to_owned());
        record.subscriptions.clear();
        record.layers.clear();
        record.values.clear();
        record.timeline.clear();
    }
    let (_, _, report) = report_of(&nothing_works, "nothing-works");
    assert!(
        report.html.contains("Nothing was measured:")
            && report.html.contains("hung: killed after 5 s")
    );
}

/// A file may contain numbers that no system produces.
#[test]
fn odd_numbers_do_no_harm() {
    let mut made = Synthetic::new(1, 1);
    let odd = [0.0, -1.0, 1e300, -1e300, f64::MAX, f64::MIN_POSITIVE];
    for (index, record) in made.records.iter_mut().enumerate() {
        let number = odd[index % odd.len()];
        record.dimensions.insert("size_bytes".to_owned(), Value::Number(number));
        record.values.values_mut().for_each(|value| *value = number);
        for latency in record.subscriptions.iter_mut().filter_map(|one| one.latency.as_mut()) {
            (latency.p50, latency.p5, latency.p99, latency.median_interval) =
                (number, -number, number, (number, -number));
            latency.histogram = Some("???".to_owned());
        }
        record.timeline = vec![(u64::MAX, u64::MAX); 2];
    }
    made.run
        .floors
        .iter_mut()
        .enumerate()
        .for_each(|(index, floor)| floor.nanos.p50 = odd[index % odd.len()]);
    let (_, _, report) = report_of(&made, "odd");
    assert!(
        !report.html.contains("NaN") && !report.html.contains(" inf"),
        "the page shows a value that is not a number"
    );
}
