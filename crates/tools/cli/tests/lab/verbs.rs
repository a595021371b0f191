//! Each verb without any fault.

use crate::fixture::Fixture;

/// The line of a table that begins with a word, its columns cut at two spaces or more.
fn row<'a>(table: &'a str, first: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.trim_start().starts_with(first));
    let line = line.unwrap_or_else(|| panic!("no row {first} in:\n{table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn list_says_what_there_is_and_what_installs_it() {
    let fixture = Fixture::new();
    let before = fixture.run("list");
    assert_eq!(row(before.success(), "tiny"), ["tiny", "M16 Figure 7", "quick", "Known latencies"]);
    assert_eq!(row(before.success(), "absent")[2], "not built yet: --build tries");
    let built = fixture.run("list --build");
    let absent = row(built.success(), "absent");
    assert_eq!(
        absent,
        [
            "absent",
            "What is never installed",
            "not installed: libnothing is not installed",
            "apt-get install libnothing"
        ]
    );
    let mock = row(built.success(), "mock");
    assert!(mock.contains(&"installed") && mock[2].starts_with("slow spread lossy"), "{mock:?}");
    // A known state is remembered.
    assert_eq!(row(fixture.run("list").success(), "absent"), absent);
}

#[test]
fn list_shows_declared_features_on_request() {
    let fixture = Fixture::new();
    let described = r#"title = "D"
program = ["d"]
roles = ["talker"]
placements = ["local"]
[features]
sources = ["its manual"]
licence = "MIT"
systems = ["linux", "windows"]
languages = ["rust"]
discovery = "master"
transports = ["tcp"]
serialization = "protobuf"
policies = []
calls = true
scheduling = "settable"
"#;
    fixture.write("peers/absent/peer.toml", described);
    let listed = fixture.run("list --features");
    let out = listed.success();
    assert!(row(out, "absent")[1..] == ["publish/subscribe", "yes"], "{out}");
    for expected in [["operating systems", "Linux, Windows"], ["QoS", "none of ROS 2"]] {
        let is_it = |line: &&str| line.contains(expected[0]) && line.contains(expected[1]);
        assert_eq!(out.lines().filter(is_it).count(), 1, "{expected:?}\n{out}");
    }
    assert!(!out.contains("mock"), "it is no system: {out}");
    fixture.run("list --features --build").failure(2);
}

#[test]
fn plan_says_how_long_it_takes_and_what_is_missing() {
    let fixture = Fixture::new();
    let first = fixture.run("plan quick");
    let unknown = "\nnot built yet, so they may be missing: mock, absent\n";
    assert!(first.success().contains(unknown), "{first:?}");
    assert!(!fixture.path("../cache").exists(), "a plan builds nothing");
    fixture.run("list --build").success();
    let planned = fixture.run("plan quick");
    let out = planned.success();
    assert_eq!(row(out, "tiny")[..4], ["tiny", "M16 Figure 7", "3", "0"]);
    assert!(
        out.contains("\n3 cells, about ") && out.contains("for 3 of them the start time"),
        "{out}"
    );
    assert_eq!(
        row(out, "absent"),
        ["absent", "libnothing is not installed", "apt-get install libnothing"]
    );
    assert!(!fixture.path("feros-lab-quick").exists(), "a plan writes no results");

    // After a run, the costs of the cells are known.
    fixture.run("run quick --system mock").success();
    let planned = fixture.run("plan quick --system mock");
    assert!(planned.success().contains("from earlier cells on this machine"), "{planned:?}");
    assert!(!planned.out.contains("absent"), "{planned:?}");
}

#[test]
fn run_measures_and_report_shows_it() {
    let fixture = Fixture::new();
    let ran = fixture.run("run ../scenarios/tiny.toml");
    assert_eq!(
        ran.success(),
        "1 cell in feros-lab-tiny: 1 measured now, 0 failed, 0 not possible here\n\
         to see the results: feros lab report feros-lab-tiny\n"
    );
    let missing =
        "absent: not measured, libnothing is not installed (install: apt-get install libnothing)\n";
    assert!(ran.err.contains(missing), "{}", ran.err);
    assert!(ran.err.contains("1/1 tiny mock composed 256 B 100 Hz, "), "{}", ran.err);
    let cells = fixture.cells("feros-lab-tiny");
    assert_eq!(cells[0]["subscriptions"][0]["latency"]["p50"], 1e6, "{cells:?}");
    assert_eq!((&cells[0]["sent"], &cells[0]["status"]["ended"]), (&20.into(), &"complete".into()));

    let reported = fixture.run("report feros-lab-tiny");
    assert_eq!(reported.success(), "feros-lab-tiny/report.html\n");
    assert_eq!(reported.err, "");
    let (page, summary) =
        (fixture.read("feros-lab-tiny/report.html"), fixture.read("feros-lab-tiny/report.md"));
    for text in [&page, &summary] {
        assert!(
            text.contains("Known latencies") && text.contains("apt-get install libnothing"),
            "{summary}"
        );
    }
    assert!(page.contains("feros lab run ../scenarios/tiny.toml"), "the command that repeats it");
    assert_eq!(
        fixture.run("report feros-lab-tiny --out shown/here").success(),
        "shown/here/report.html\n"
    );
    assert_eq!(fixture.read("shown/here/report.html"), page);

    // Several runs make one report, in a folder of its own.
    let several = fixture.run("report feros-lab-tiny feros-lab-tiny");
    assert_eq!(
        several.failure(2),
        "error: a report of several runs needs a folder of its own: --out DIR"
    );
    fixture.run("report feros-lab-tiny feros-lab-tiny --out joined").success();
    assert!(fixture.read("joined/report.md").contains("## Parts"));

    // The failure of a system is a result.
    fixture.write(
        "scenarios/tiny.toml",
        &crate::fixture::TINY.replace("\"mock\"", "\"mock\", \"mock:crash\""),
    );
    let ran = fixture.run("run ../scenarios/tiny.toml --out crashed");
    assert!(
        ran.success().starts_with("2 cells in crashed: 1 measured now, 1 failed, 0 not possible"),
        "{ran:?}"
    );
    assert!(
        ran.err.contains("tiny mock:crash: pair ended with signal: 11 (SIGSEGV)"),
        "{}",
        ran.err
    );
}

#[test]
fn compare_tells_a_difference_where_there_is_one() {
    let fixture = Fixture::new();
    // By its name, as `list` prints it.
    let run = "run tiny --system mock";
    fixture.run(run).success();
    // A finished run is not changed: the same command begins another one.
    let first = fixture.read("feros-lab-tiny/cells.jsonl");
    assert!(fixture.run(run).success().contains("in feros-lab-tiny-2: 1 measured now"));
    fixture.slow_down();
    assert!(fixture.run(run).success().contains("in feros-lab-tiny-3: 1 measured now"));
    assert_eq!(fixture.read("feros-lab-tiny/cells.jsonl"), first);

    let same = fixture.run("compare feros-lab-tiny feros-lab-tiny-2 --html same.html");
    let latency = row(same.success(), "tiny");
    assert!(
        latency.contains(&"1×") && latency.contains(&"no difference"),
        "{latency:?}\n{}",
        same.out
    );
    assert!(
        same.out.ends_with("same.html\n")
            && fixture.read("same.html").starts_with("<!DOCTYPE html>")
    );
    let worse = fixture.run("compare feros-lab-tiny feros-lab-tiny-3 --differences");
    let latency = row(worse.success(), "tiny");
    assert!(
        latency.contains(&"2×") && latency.last() == Some(&"worse"),
        "{latency:?}\n{}",
        worse.out
    );
}
