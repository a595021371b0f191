//! A run that is interrupted or killed, or that meets another run: finished measurements are kept,
//! and the same command continues.

use std::fs;

use crate::fixture::{Fixture, wait_until};

const RUN: &str = "run quick --system mock";
const OUT: &str = "feros-lab-quick";

#[test]
fn the_same_command_continues_an_interrupted_run() {
    let fixture = Fixture::new();
    let running = fixture.start(RUN);
    fixture.wait_for_cells(OUT, 1);
    running.signal("INT");
    let ended = running.finish();
    assert_eq!(fixture.processes(), [0_u32; 0]);
    let kept = fixture.read("feros-lab-quick/cells.jsonl");
    let done = kept.lines().count();
    let text = format!("interrupted after {done} of 3 cells; the same command continues");
    assert_eq!(ended.failure(130), text);
    assert!((1..3).contains(&done) && kept.ends_with('\n'), "{kept}");
    // Even an unfinished run can be shown.
    fixture.run("report feros-lab-quick").success();
    assert!(fixture.read("feros-lab-quick/report.html").contains("This run has not ended"));

    let continued = fixture.run(RUN);
    let all =
        format!("3 cells in {OUT}: {} measured now, 0 failed, 0 not possible here\n", 3 - done);
    assert!(continued.success().starts_with(&all), "{continued:?}");
    assert!(
        continued.err.starts_with(&format!("continuing the run in {OUT}; results so far: {done}")),
        "{}",
        continued.err
    );
    assert!(
        fixture.read("feros-lab-quick/cells.jsonl").starts_with(&kept),
        "the measurements are unchanged"
    );
    assert_eq!(fixture.cells(OUT).len(), 3);
    let raw = fs::read_dir(fixture.path(OUT).join("raw")).unwrap().flatten();
    let interrupted =
        raw.filter(|file| file.file_name().to_string_lossy().contains(".interrupted-1.log.gz"));
    assert_eq!(interrupted.count(), 1, "the output of the interrupted cell is kept, too");
}

#[test]
fn a_run_that_was_killed_continues_and_leaves_nothing_running() {
    let fixture = Fixture::new();
    let running = fixture.start(RUN);
    fixture.wait_for_cells(OUT, 1);
    running.signal("KILL");
    assert_eq!(running.finish().code, None);
    let kept = fixture.read("feros-lab-quick/cells.jsonl");
    let done = kept.lines().count();
    assert!((1..3).contains(&done), "{kept}");
    // Its programs end on their own once the run has ended.
    wait_until("the end of its programs", || fixture.processes().is_empty());
    let continued = fixture.run(RUN);
    assert!(
        continued
            .success()
            .starts_with(&format!("3 cells in {OUT}: {} measured now, 0 failed", 3 - done)),
        "{continued:?}"
    );
    assert!(fixture.read("feros-lab-quick/cells.jsonl").starts_with(&kept));
    let left =
        fs::read_dir(fixture.path("../tmp")).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["feros-lab.lock"], "temporary files of both");
}

#[test]
fn a_second_run_is_refused_and_the_first_one_goes_on() {
    let fixture = Fixture::new();
    let first = fixture.start(RUN);
    fixture.wait_for_cells(OUT, 0);
    let pid = first.id();
    let busy = "two runs at once would disturb each other. Wait for the other run, or end it";
    let second = fixture.start(&format!("{RUN} --out another")).finish();
    assert_eq!(
        second.failure(1),
        format!("error: this machine: process {pid} is running a measurement here; {busy}")
    );
    assert!(!fixture.path("another").exists(), "a refused run leaves no folder");
    // A second run into the same folder, from where the lock of the machine is not visible, such as
    // a container.
    let mut command = fixture.command(RUN);
    command.env("TMPDIR", fixture.path(""));
    let second = crate::fixture::Running::of(command).finish();
    let text =
        format!("error: {OUT}: process {pid} is running a measurement into this folder; {busy}");
    assert_eq!(second.failure(1), text);
    assert!(
        first
            .finish()
            .success()
            .starts_with(&format!("3 cells in {OUT}: 3 measured now, 0 failed"))
    );
}

#[test]
fn a_build_ends_with_the_command_that_began_it() {
    let fixture = Fixture::new();
    let slow = "title = \"S\"\nbuild = [\"sh\", \"-c\", \"touch $FEROS_LAB_OUT/begun; sleep 600\"]\n\
                program = [\"true\"]\nroles = [\"talker\"]\nplacements = [\"local\"]\n";
    fixture.write("peers/absent/peer.toml", slow);
    let running = fixture.start("list --build");
    wait_until("the build", || fixture.path("../cache/absent/begun").exists());
    running.signal("INT");
    let ended = running.finish();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    wait_until("the end of the build", || fixture.processes().is_empty());
}
