//! Bad input: the error, and the exit code. 2 is for a wrong command line, 1 for a fault of the
//! machine or of a file.

use std::fs;

use crate::fixture::{Fixture, TINY};

#[test]
fn a_wrong_command_line_ends_with_2_and_what_there_is() {
    let fixture = Fixture::new();
    for (line, said) in [
        (
            "run quik",
            "error: there is no grid and no scenario `quik`; name a grid (quick, standard, papers, full or goals), a scenario \
             of `feros lab list`, or a file whose name ends with .toml; did you mean quick?",
        ),
        ("plan quick --only tinny", "error: there is no scenario `tinny`; did you mean tiny?"),
        (
            "run quick --system mok",
            "error: no system `mok`; there are: absent, mock; did you mean `mock`?",
        ),
        ("run full", "error: no scenario of full is left to measure"),
        ("run quick-2", "error: no scenario of quick-2 is left to measure"),
    ] {
        assert_eq!(fixture.run(line).failure(2), said, "{line}");
    }
    let variant = fixture.run("run quick --system mock:slo");
    assert!(
        variant
            .failure(2)
            .starts_with("error: `mock` has no configuration `slo`; there are: slow, ")
    );
    assert!(variant.failure(2).ends_with("; did you mean `slow`?"), "{variant:?}");
    for line in ["run", "measure quick", "run quick --grid full", "compare one", "report"] {
        assert_eq!(fixture.run(line).code, Some(2), "{line}");
    }
    assert_eq!(fs::read_dir(fixture.path("")).unwrap().count(), 0, "nothing was written");
}

#[test]
fn a_scenario_that_is_not_understood_is_said_with_file_line_and_what_is_allowed() {
    let fixture = Fixture::new();
    for (from, to, begin, end) in [
        (
            "sizes = [256]",
            "sises = [256]",
            "10: unknown field `sises`, expected one of `part`, `workload`, `systems`,",
            "; did you mean `sizes`?",
        ),
        (
            "sizes = [256]",
            "sizes = [\"4Q\"]",
            "10: ",
            "expected a size in bytes of at most 1 GiB: 256, \"4K\" or \"1M\"",
        ),
        (
            "\"composed\"",
            "\"compozed\"",
            "9: unknown variant `compozed`, expected one of `remote`, `local`,",
            "; did you mean `composed`?",
        ),
        (
            "\"latency\"\nsystems",
            "\"latenzy\"\nsystems",
            "7: unknown variant `latenzy`, expected one of",
            "; did you mean `latency`?",
        ),
        (
            "[\"mock\", ",
            "[\"mok\", ",
            "8: no system `mok`; there are: absent, mock",
            "; did you mean `mock`?",
        ),
        (
            "count = 20",
            "count = -3",
            "12: -3 is not allowed here",
            ": a whole number from 0 to 100000000",
        ),
        (
            "count = 20",
            "count = \"all\"",
            "12: invalid type: string \"all\", expected",
            "a whole number from 0 to 100000000",
        ),
        (
            "count = 20",
            "nodes = [2.5]",
            "12: 2.5 is not allowed here",
            ": a whole number from 1 to 10000",
        ),
        (
            "[grid.quick]",
            "[grid.quik]",
            "15: unknown variant `quik`, expected one of",
            "; did you mean `quick`?",
        ),
        (
            "kind = \"lines\"",
            "kind = \"line\"",
            "21: unknown variant `line`, expected one of",
            "; did you mean `lines`?",
        ),
    ] {
        assert!(TINY.contains(from), "{from}");
        fixture.write("scenarios/tiny.toml", &TINY.replace(from, to));
        for (line, file) in [
            ("run ../scenarios/tiny.toml", "../scenarios/tiny.toml"),
            (
                "plan quick",
                fixture.path("../scenarios/tiny.toml").canonicalize().unwrap().to_str().unwrap(),
            ),
        ] {
            let ended = fixture.run(line);
            let said = ended.failure(1);
            let rest =
                said.strip_prefix(&format!("error: {file}:")).unwrap_or_else(|| panic!("{said}"));
            assert!(rest.starts_with(begin) && rest.ends_with(end), "{to}: {said}");
        }
    }
    let ended = fixture.run("run nowhere.toml");
    assert_eq!(
        ended.failure(1),
        "error: nowhere.toml:1: it cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(fs::read_dir(fixture.path("")).unwrap().count(), 0, "nothing was written");
}

#[test]
fn a_manifest_that_is_not_understood_is_said_with_file_and_line() {
    let fixture = Fixture::new();
    fixture.write("peers/absent/peer.toml", "title = \"T\"\nprogramm = [\"x\"]\n");
    let ended = fixture.run("list");
    let said = ended.failure(1);
    assert!(
        said.contains(
            "peers/absent/peer.toml:2: unknown field `programm`, expected one of `title`,"
        ),
        "{said}"
    );
    assert!(said.ends_with("; did you mean `program`?"), "{said}");
}

#[test]
fn a_folder_that_is_no_run_is_left_as_it_is() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("thesis")).unwrap();
    fs::write(fixture.path("thesis/chapter.tex"), "text").unwrap();
    let ended = fixture.run("run ../scenarios/tiny.toml --out thesis");
    assert_eq!(
        ended.failure(1),
        "error: thesis holds no run, but `chapter.tex`: choose another folder with --out"
    );
    let no_run =
        "has neither run.json nor cells.jsonl. Give the folder that `feros lab run --out` wrote";
    for line in ["report thesis", "compare thesis thesis"] {
        assert_eq!(fixture.run(line).failure(1), format!("error: thesis {no_run}"));
    }
    assert_eq!(fixture.run("report nowhere").failure(1), format!("error: nowhere {no_run}"));
    let names =
        fs::read_dir(fixture.path("thesis")).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["chapter.tex"]);

    fixture.run("run ../scenarios/tiny.toml --out one").success();
    let before = fixture.read("one/cells.jsonl");
    assert_eq!(
        fixture.run("run ../scenarios/tiny.toml --out one").failure(1),
        "error: one holds a finished run of tiny; feros lab report shows it: choose another folder with --out"
    );
    assert_eq!(
        fixture.run("run quick --out one").failure(1),
        "error: one holds a run of tiny, not of quick: choose another folder with --out"
    );
    assert_eq!(fixture.run("compare one thesis").failure(1), format!("error: thesis {no_run}"));
    assert_eq!(fixture.read("one/cells.jsonl"), before);
}

/// Opening a pipe would block the command for ever, and no signal would end it.
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let fixture = Fixture::new();
    let refused = "it is not a regular file, but a pipe, a device or a folder";
    for (folder, run) in [("pipes", " --out pipes"), ("feros-lab-tiny", "")] {
        fs::create_dir(fixture.path(folder)).unwrap();
        let pipe = fixture.path(&format!("{folder}/run.json"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let ended = fixture.run(&format!("run ../scenarios/tiny.toml{run}"));
        let said = format!("error: {folder}/run.json cannot be used: {refused}");
        assert_eq!(ended.failure(1), said);
        let ended = fixture.run(&format!("report {folder}"));
        let said = format!("error: {folder}/run.json cannot be read: {refused}");
        assert_eq!(ended.failure(1), said);
    }
}

#[test]
fn where_nothing_is_installed_nothing_is_called_measured() {
    let fixture = Fixture::new();
    let line = "run ../scenarios/tiny.toml --system absent";
    let ended = fixture.run(line);
    assert_eq!(
        ended.failure(1),
        "error: nothing can be measured: no system of this plan is installed; install one and \
         repeat the command"
    );
    assert!(ended.err.contains("(install: apt-get install libnothing)"), "{}", ended.err);
    // Once it is installed, the same command continues in the same folder.
    let text = fs::read_to_string(fixture.path("../peers/mock/peer.toml")).unwrap();
    let text = text
        .replace("[\"./build\"]", "[\"true\"]")
        .replace("{peer}", "{repository}/lab/peers/mock");
    fixture.write("peers/absent/peer.toml", &text);
    let ended = fixture.run(line);
    assert!(
        ended.success().starts_with("1 cell in feros-lab-tiny: 1 measured now, 0 failed"),
        "{ended:?}"
    );
}
