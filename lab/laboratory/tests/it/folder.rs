//! The folder of a run: an interrupted run in it continues, and the laboratory uses no folder with
//! other content.

use std::io::Write as _;

use feros_lab::run::RunError;

use crate::fixture::Fixture;

const EXPERIMENT: &str = "workload = \"latency\"\nsystems = [\"mock\", \"mock:slow\"]\nplacements = [\"composed\"]\n\
                          sizes = [256, 512]\nrates_hz = [500]\ncount = 20\nrepetitions = 2\n";

#[test]
fn an_interrupted_run_continues_without_repeating_anything() {
    let fixture = Fixture::new();
    let plan = fixture.plan("resume", EXPERIMENT);
    let first = fixture.run_until(&plan, 3);
    assert!(
        matches!(first.result, Err(RunError::Interrupted { done: 3, of: 8 })),
        "{:?}",
        first.result
    );
    assert!(fixture.stored_run().ended_unix_seconds.is_none());
    let kept = fixture.records();

    // This is the state after the machine died in the middle of a cell: half a line, and an
    // uncompressed raw file.
    let mut cells =
        std::fs::OpenOptions::new().append(true).open(fixture.out().join("cells.jsonl")).unwrap();
    cells.write_all(b"{\"scenario\":\"resu").unwrap();
    std::fs::write(fixture.out().join("raw/00003-resume-mock-slow.log"), "# half\n").unwrap();

    let second = fixture.run(&plan);
    let summary = second.result.unwrap();
    assert_eq!((summary.cells, summary.complete), (8, 5), "{:?}", second.notes);
    assert!(
        second.notes.iter().any(|note| note.contains("results so far: 3; the interrupted cell")),
        "{:?}",
        second.notes
    );
    let records = fixture.records();
    assert_eq!(records[..3], kept[..], "the results are unchanged");
    let mut keys: Vec<String> = records
        .iter()
        .map(|record| format!("{:?} {}", record.dimensions, record.repetition))
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 8, "each cell once");
    assert!(fixture.out().join("raw/00003-resume-mock-slow.interrupted-1.log.gz").exists());

    let third = fixture.run(&plan);
    let Err(RunError::OtherContent { what, .. }) = third.result else {
        panic!("{:?}", third.result)
    };
    assert!(what.contains("finished run of resume"), "{what}");
}

#[test]
fn a_folder_with_something_else_is_refused() {
    let fixture = Fixture::new();
    let plan = fixture.plan("one", EXPERIMENT);
    fixture.run_until(&plan, 1).result.unwrap_err();
    let before = fixture.records();
    let refused = |plan: &feros_lab::plan::Plan| match fixture.run(plan).result {
        Err(RunError::OtherContent { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert!(refused(&fixture.plan("two", EXPERIMENT)).contains("a run of one, not of two"));
    let changed = fixture.plan("one", &EXPERIMENT.replace("512", "1024"));
    assert!(refused(&changed).contains("other cells"));
    assert_eq!(fixture.records(), before, "nothing is lost by asking");

    let fixture = Fixture::new();
    std::fs::create_dir(fixture.out()).unwrap();
    std::fs::write(fixture.out().join("thesis.tex"), "text").unwrap();
    let result = fixture.run(&fixture.plan("one", EXPERIMENT)).result;
    assert!(
        matches!(&result, Err(RunError::OtherContent { what, .. }) if what.contains("thesis.tex")),
        "{result:?}"
    );
}

/// Opening a pipe would block for ever, so the laboratory refuses it and does not change it.
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let fixture = Fixture::new();
    let plan = fixture.plan("one", EXPERIMENT);
    fixture.run_until(&plan, 1).result.unwrap_err();
    for name in ["run.json", "run.new", "plan.json", "cells.jsonl", "raw/00002-one.log"] {
        let file = fixture.out().join(name);
        let kept = fixture.folder.path().join("kept");
        let is_there = file.exists();
        if is_there {
            std::fs::rename(&file, &kept).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let error = fixture.run(&plan).result.unwrap_err().to_string();
        assert!(error.contains("it is not a regular file"), "{name}: {error}");
        let names_it = name == "run.new" || error.contains(name);
        assert!(names_it, "{name}: {error}");
        if name != "run.new" {
            std::fs::remove_file(&file).unwrap();
        }
        if is_there {
            std::fs::rename(&kept, &file).unwrap();
        }
    }
    assert_eq!(fixture.run(&plan).result.unwrap().complete, 7);
}

#[test]
fn two_runs_at_once_are_refused() {
    let fixture = Fixture::new();
    let plan = fixture.plan("one", EXPERIMENT);
    std::fs::create_dir_all(fixture.out()).unwrap();
    let other = std::fs::File::create(fixture.out().join("lock")).unwrap();
    other.lock().unwrap();
    std::fs::write(fixture.out().join("lock"), "4711").unwrap();
    let result = fixture.run(&plan).result;
    let error = result.unwrap_err();
    assert!(matches!(&error, RunError::Busy { path: Some(_), .. }), "{error:?}");
    assert!(error.to_string().contains("4711"), "{error}");
    drop(other);
    assert_eq!(fixture.run(&plan).result.unwrap().complete, 8);
}
