//! Damaged folders of runs: errors are reported with the file and the line, and the rest is used.

use std::fs;

use feros_lab::report::{ReadError, Report, Results};

use crate::folder;
use crate::synthetic::Synthetic;

fn written(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    Synthetic::new(2, 1).write(&folder);
    folder
}

#[test]
fn a_folder_without_a_run_is_refused() {
    let empty = folder("not-a-run");
    let error = Results::read(&empty).unwrap_err();
    assert!(matches!(error, ReadError::NoRun(_)), "{error}");
    assert!(error.to_string().contains("feros lab run --out"), "{error}");
    assert!(Results::read(&empty.join("absent")).is_err());
}

/// Opening a pipe would block for ever.
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    for name in ["run.json", "cells.jsonl"] {
        let folder = written(&format!("pipe-{name}"));
        let file = folder.join(name);
        fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let error = Results::read(&folder).unwrap_err().to_string();
        let expected = format!("{} cannot be read: it is not a regular file", file.display());
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_cut_line_and_a_wrong_one_are_left_out() {
    let folder = written("cut");
    let path = folder.join("cells.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    let cells = text.lines().count();
    text.truncate(text.len() - 100);
    let text = text.replacen("\"repetition\":0", "\"repetition\":\"zero\"", 1);
    fs::write(&path, text).unwrap();
    let results = Results::read(&folder).unwrap();
    assert_eq!(results.records.len(), cells - 2);
    let notices: Vec<String> = results.notices.iter().map(ToString::to_string).collect();
    assert!(
        notices[0].contains("cells.jsonl:1: not a cell") && notices[0].contains("zero"),
        "{notices:?}"
    );
    assert!(
        notices[1].contains(&format!("cells.jsonl:{cells}: it ends within this cell")),
        "{notices:?}"
    );
    assert!(Report::of(&results).html.contains("it ends within this cell"));
}

#[test]
fn without_run_json_the_cells_speak() {
    let folder = written("no-run-json");
    fs::remove_file(folder.join("run.json")).unwrap();
    let results = Results::read(&folder).unwrap();
    assert!(
        results.notices[0].to_string().contains("run.json: it is missing"),
        "{:?}",
        results.notices
    );
    assert!(results.run.systems.iter().any(|system| system.name == "feros"));
    let html = Report::of(&results).html;
    assert!(html.contains("<svg class=\"plot") && html.contains("Which one for what"));
}

#[test]
fn another_format_is_said_with_its_line() {
    let folder = written("format");
    let path = folder.join("run.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"format\": 1", "\"format\": 77");
    fs::write(&path, text).unwrap();
    let results = Results::read(&folder).unwrap();
    let notice = results.notices[0].to_string();
    assert!(
        notice.contains("run.json:2: it has format 77, but this laboratory reads format 1"),
        "{notice}"
    );
    assert!(!results.records.is_empty());

    fs::write(&path, "{\n  \"format\": 1,\n  \"grid\": 5\n}").unwrap();
    let notice = Results::read(&folder).unwrap().notices[0].to_string();
    assert!(notice.contains("run.json:3: it is not a run"), "{notice}");
    fs::write(&path, b"\xff\x00{").unwrap();
    let notice = Results::read(&folder).unwrap().notices[0].to_string();
    assert!(notice.contains("run.json:1: it is not JSON"), "{notice}");
}

#[test]
fn a_run_whose_cells_are_missing_is_an_empty_one() {
    let folder = written("no-cells");
    fs::remove_file(folder.join("cells.jsonl")).unwrap();
    let results = Results::read(&folder).unwrap();
    assert!(
        results.records.is_empty()
            && results.notices[0].to_string().contains("no cell of this run has ended")
    );
}
