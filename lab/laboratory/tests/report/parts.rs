//! Tests of joining several runs into one report.

use std::path::PathBuf;

use feros_lab::report::{ReadError, Report, Results};

use crate::folder;
use crate::small::Small;

/// A run of one cell, under this name, in its own folder. A `Small` run has no folder, so this
/// writes one.
fn written(name: &str, system_version: &str, change: impl FnOnce(&mut Small)) -> PathBuf {
    let mut small = Small::new(&["feros"], None);
    small.run.grid = name.to_owned();
    small.run.command = format!("feros lab run {name}");
    small.run.environment.insert("kernel".to_owned(), "6.1".to_owned());
    small.run.systems[0].version = Some(system_version.to_owned());
    small.cell("feros", "local", (256, 100), 0, 20.0).noise.insert("load".to_owned(), 0.5);
    change(&mut small);
    let folder = folder(&format!("part-{name}"));
    std::fs::write(folder.join("run.json"), serde_json::to_string(&small.run).unwrap()).unwrap();
    let lines: Vec<String> =
        small.records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    std::fs::write(folder.join("cells.jsonl"), lines.concat()).unwrap();
    folder
}

#[test]
fn parts_are_joined_and_named() {
    let first = written("papers-1", "1.0", |_| {});
    let second = written("papers-2", "1.1", |small| {
        small.run.scenarios[0].name = "two".to_owned();
        small.run.scenarios[0].title = "What two answers".to_owned();
        small.run.began_unix_seconds += 86_400;
        small.run.ended_unix_seconds = Some(small.run.began_unix_seconds + 50);
        small.run.environment.insert("kernel".to_owned(), "6.2".to_owned());
        small.records[0].scenario = "two".to_owned();
    });
    let results = Results::read_parts(&[first, second]).unwrap();
    assert_eq!(results.notices, []);
    assert_eq!((results.records.len(), results.run.scenarios.len()), (2, 2));
    assert_eq!(results.run.grid, "papers-1, papers-2");
    assert_eq!(results.run.systems.len(), 1);
    assert_eq!(results.run.systems[0].version.as_deref(), Some("1.0 (papers-1); 1.1 (papers-2)"));
    assert_eq!(results.run.environment["kernel"], "6.1 (papers-1); 6.2 (papers-2)");
    assert_eq!(results.run.command, "feros lab run papers-1\nferos lab run papers-2");
    assert_eq!(results.parts.len(), 2);
    assert_eq!((results.parts[0].cells, results.parts[0].load), (1, Some(0.5)));

    let report = Report::of(&results);
    for text in [&report.html, &report.markdown] {
        for needed in ["papers-2", "What one answers", "What two answers", "1 min 40 s", "50 s"] {
            assert!(text.contains(needed), "{needed}:\n{}", report.markdown);
        }
        // The time of both together, not from the beginning of the first to the end of the last.
        assert!(text.contains("2 min 30 s"), "{}", report.markdown);
    }
}

#[test]
fn one_scenario_in_two_parts_has_more_repetitions() {
    let first = written("again-1", "1.0", |_| {});
    let second = written("again-2", "1.0", |small| small.run.ended_unix_seconds = None);
    let results = Results::read_parts(&[first, second]).unwrap();
    let repetitions: Vec<u32> = results.records.iter().map(|record| record.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
    assert_eq!(results.run.scenarios.len(), 1);
    assert_eq!(results.run.systems[0].version.as_deref(), Some("1.0"));
    assert_eq!(results.run.ended_unix_seconds, None);
    assert!(Report::of(&results).html.contains("This run has not ended"));
}

#[test]
fn a_single_run_has_no_parts_and_a_wrong_folder_is_refused() {
    let only = written("alone", "1.0", |_| {});
    let results = Results::read_parts(std::slice::from_ref(&only)).unwrap();
    assert_eq!((results.parts.len(), results.run.grid.as_str()), (0, "alone"));
    assert!(!Report::of(&results).html.contains("<h2>Parts</h2>"));
    let error = Results::read_parts(&[only, folder("part-empty")]).unwrap_err();
    assert!(matches!(error, ReadError::NoRun(_)), "{error}");
    assert!(Results::read_parts(&[]).is_err());
}
