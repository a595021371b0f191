//! Hostile bags under the command: each verb ends on its own, reports the fault, and exhausts
//! neither the memory nor the folder of temporary files.

#[path = "../../../bag/tests/hostile/inputs.rs"]
mod inputs;

use std::path::Path;

use feros_test_support::until;

use crate::process::{Finished, Running, feros, has_line};

/// The limit on the memory that a verb takes for a file of a few KB, in KiB.
const MOST_MEMORY_KIB: u64 = 400 << 10;

/// Runs a verb with `TMPDIR` in this folder; returns its result, and the most memory that it used.
fn run(folder: &Path, arguments: &[&str]) -> (Finished, u64) {
    let running = Running::start_with(arguments, |command| {
        command.env("TMPDIR", folder);
    });
    let status = format!("/proc/{}/status", running.pid());
    let mut most = 0;
    // The status of a process that has ended but was not waited for contains no memory.
    until("its end", || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let memory = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = memory.and_then(|memory| memory.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(kib.unwrap_or(0));
        kib.is_none()
    });
    (running.finish(), most)
}

#[test]
fn hostile_bags_are_refused_by_each_verb() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let new = folder.path().join("new");
    for inputs::Input { path, said } in inputs::all(folder.path()) {
        let bag = path.to_str().unwrap();
        let convert = ["bag", "convert", "-i", bag, "-o", new.to_str().unwrap()];
        for verb in [&["bag", "info", bag][..], &["bag", "play", bag], &convert] {
            let (finished, memory_kib) = run(temporary.path(), verb);
            let error = finished.failure(1);
            assert!(error.contains(said), "{verb:?}: {error}");
            assert!(memory_kib < MOST_MEMORY_KIB, "{verb:?}: {memory_kib} KiB");
            assert!(!new.exists());
        }
    }
    let bag = inputs::endless_file(folder.path());
    let (finished, memory_kib) = run(temporary.path(), &["bag", "info", bag.to_str().unwrap()]);
    let error = finished.failure(1);
    assert!(error.contains("256 times"), "{error}");
    assert!(memory_kib < MOST_MEMORY_KIB, "{memory_kib} KiB");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn chunks_that_unpack_to_very_much_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let bag = inputs::endless_chunk(folder.path());
    let bag = bag.to_str().unwrap();
    let new = folder.path().join("new");
    let convert = ["bag", "convert", "-i", bag, "-o", new.to_str().unwrap()];
    for (verb, code) in [(&["bag", "info", bag][..], 0), (&["bag", "play", bag], 1), (&convert, 0)]
    {
        let (finished, memory_kib) = run(folder.path(), verb);
        assert_eq!(finished.code, Some(code), "{finished:?}");
        assert!(finished.err.contains("256 times the packed size"), "{finished:?}");
        assert!(memory_kib < MOST_MEMORY_KIB, "{verb:?}: {memory_kib} KiB");
    }
}

#[test]
fn many_chunks_of_few_bytes_are_told_with_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let bag = inputs::many_chunks(folder.path());
    let (finished, memory_kib) = run(folder.path(), &["bag", "info", bag.to_str().unwrap()]);
    assert!(memory_kib < MOST_MEMORY_KIB, "{memory_kib} KiB");
    assert!(finished.err.contains(" 22 chunks "), "{finished:?}");
    let messages = format!("Messages:          {}", inputs::MANY_CHUNKS);
    assert!(has_line(&finished.success(), &messages));
}

#[test]
fn very_many_topics_are_told_and_converted() {
    let folder = tempfile::tempdir().unwrap();
    let bag = inputs::many_topics(folder.path());
    let bag = bag.to_str().unwrap();
    let told = feros(&["bag", "info", bag, "--json"]).json();
    assert_eq!(told["topics"].as_array().unwrap().len(), inputs::MANY_TOPICS);
    let new = folder.path().join("new");
    // Searching for many definitions takes time, so only two topics are converted.
    let convert = ["bag", "convert", "-i", bag, "-o", new.to_str().unwrap(), "--topics", "/t7"];
    let said = feros(&[&convert[..], &["/t39999"]].concat()).success();
    assert!(said.contains(": 2 messages"), "{said}");
}

/// Unpacked data has no file name, so that nothing stays, no matter how the process ends.
#[test]
fn an_interrupt_while_a_bag_is_unpacked_leaves_nothing() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bag = inputs::long_file(folder.path());
    for verb in ["info", "play"] {
        let arguments = ["bag", verb, bag.to_str().unwrap()];
        let running = Running::start_with(&arguments, |command| {
            command.env("TMPDIR", temporary.path());
        });
        let files = format!("/proc/{}/fd", running.pid());
        until("a file that is unpacked", || {
            let links = std::fs::read_dir(&files).unwrap().flatten();
            let mut names = links.filter_map(|link| std::fs::read_link(link.path()).ok());
            names.any(|name| name.starts_with(temporary.path()))
        });
        running.interrupt();
        let finished = running.finish();
        assert!(finished.code != Some(0), "{finished:?}");
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}
