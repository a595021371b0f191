//! Tests of programs that write while they run, and of readers that follow them.

use std::io::Cursor;
use std::path::Path;

use feros_test_support::{eventually, until};
use feros_trace::{Event, Transport, now_nanos};
use feros_trace_analysis::{
    GrowingFile, LiveFigures, LiveTrace, PairLayers, Process, ReadError, Trace, WINDOW_LOOKS,
};

use crate::program::{LAYERS, PUBLISHER, Running, SUBSCRIPTION, files, run, run_well};

const PLENTY: u64 = 64 << 20;

/// Waits until the files of a folder contain this many events.
fn wait_for_events(folder: &Path, wanted: usize) {
    eventually(|| {
        let trace = Trace::read(folder).map_err(|error| error.to_string())?;
        let threads = trace.processes.iter().flat_map(|process| &process.threads);
        let events: usize = threads.map(|thread| thread.events.len()).sum();
        if events == wanted { Ok(()) } else { Err(format!("{events} of {wanted} events")) }
    });
}

/// Looks until no further events of the messages are expected, and returns the results.
fn settled(live: &mut LiveTrace) -> LiveFigures {
    live.look(|_| true);
    live.look(|_| true);
    live.look(|_| true)
}

fn the_pair(figures: &LiveFigures) -> &PairLayers {
    assert_eq!(figures.problems, [""; 0]);
    let [pair] = &figures.pairs[..] else { panic!("{figures:?}") };
    assert_eq!((pair.topic.as_str(), pair.transport), ("/chatter", Transport::SharedMemory));
    assert_eq!((pair.publisher, pair.subscription), (PUBLISHER, SUBSCRIPTION));
    pair
}

/// Checks the layers of messages 1 to `last`.
fn assert_layers(pair: &PairLayers, last: u64) {
    assert_eq!(pair.end_to_end.count, last);
    assert_eq!(pair.layers.len(), LAYERS.len());
    for ((layer, factor), found) in LAYERS.iter().zip(&pair.layers) {
        assert_eq!((found.name, found.nanos.count), (layer.name(), last));
        assert_eq!(found.nanos.median_nanos, factor * last.div_ceil(2), "{}", layer.name());
        assert_eq!(found.nanos.max_nanos, factor * last, "{}", layer.name());
    }
}

#[test]
fn two_programs_that_run_are_read_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made by the programs");
    let mut live = LiveTrace::new(&path);
    let nothing = live.look(|_| true);
    assert_eq!((nothing.pairs.len(), nothing.programs, nothing.problems.len()), (0, 0, 0));
    let begin = now_nanos();
    let mut talker = Running::start("talker", &path, PLENTY);
    let mut listener = Running::start("listener", &path, PLENTY);
    talker.record(1, 10, begin);
    listener.record(1, 10, begin);
    wait_for_events(&path, 13 * 10);
    let figures = settled(&mut live);
    assert_layers(the_pair(&figures), 10);
    assert_eq!(figures.programs, 2);
    // The subscription's half of a message may come later.
    let begin = now_nanos();
    talker.record(11, 20, begin);
    wait_for_events(&path, 13 * 10 + 7 * 10);
    assert_layers(the_pair(&live.look(|_| true)), 10);
    listener.record(11, 20, begin);
    wait_for_events(&path, 13 * 20);
    assert_layers(the_pair(&settled(&mut live)), 20);
    assert!(live.look(|topic| topic == "/other").pairs.is_empty(), "nobody wants it");
    // One of the programs is killed, and another one is started.
    talker.kill();
    let mut talker = Running::start("talker", &path, PLENTY);
    let begin = now_nanos();
    talker.record(21, 30, begin);
    listener.record(21, 30, begin);
    wait_for_events(&path, 13 * 30);
    let figures = settled(&mut live);
    assert_layers(the_pair(&figures), 30);
    assert!((2..=3).contains(&figures.programs), "the killed one has written lately");
    for _ in 0..WINDOW_LOOKS {
        live.look(|_| true);
    }
    assert_eq!(live.look(|_| true).pairs, [], "nothing came lately");
    listener.end();
    talker.end();
    // The files can be read like any other trace, which reports the killed program.
    let trace = Trace::read(&path).unwrap();
    assert_eq!(trace.incomplete().count(), 1);
    assert_eq!(trace.deliveries().whole.len(), 30);
}

#[test]
fn a_file_is_bounded_and_the_one_before_is_kept() {
    const BYTES: u64 = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut program = Running::start("both", path, BYTES);
    let mut live = LiveTrace::new(path);
    // Each round has about 150 kB.
    let rounds = 12;
    for round in 0..rounds {
        let (first, last) = (1 + 1000 * round, 1000 * (round + 1));
        program.record(first, last, now_nanos());
        until("the round is written", || {
            let sizes = files(path).into_iter().filter_map(|file| file.metadata().ok());
            let on_disk: u64 = sizes.map(|metadata| metadata.len()).sum();
            assert!(on_disk <= BYTES, "{on_disk} bytes");
            // While the file is being renamed, it is missing for a moment.
            let deliveries = Trace::read(path).map(|trace| trace.deliveries().whole);
            let stamp = deliveries.ok().and_then(|whole| Some(whole.last()?.stamp));
            stamp == Some(1000 + last as i64)
        });
        live.look(|_| true);
    }
    let names: Vec<_> =
        files(path).iter().map(|file| file.extension().unwrap().to_owned()).collect();
    assert_eq!(names, ["ferostrace"; 2]);
    assert!(files(path)[0].to_str().unwrap().ends_with(".before.ferostrace"), "{:?}", files(path));
    let figures = settled(&mut live);
    let pair = the_pair(&figures);
    assert_eq!(figures.programs, 1);
    // No message is lost where a new file was begun.
    let newest = 1000 * rounds;
    assert_eq!((pair.end_to_end.count, pair.end_to_end.max_nanos), (512, 70 * newest));
    assert_eq!(pair.layers.iter().map(|layer| layer.nanos.max_nanos).sum::<u64>(), 70 * newest);
    program.end();
    let kept = Trace::read(path).unwrap().deliveries().whole.len();
    assert!((2000..1000 * rounds as usize).contains(&kept), "{kept}");
    assert_eq!(Trace::read(path).unwrap().incomplete().count(), 1, "the file before has no end");
}

#[test]
fn a_folder_that_is_cleared_is_written_to_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("traces");
    let mut program = Running::start("both", &path, PLENTY);
    program.record(1, 10, now_nanos());
    wait_for_events(&path, 130);
    std::fs::remove_dir_all(&path).unwrap();
    program.record(11, 20, now_nanos());
    until("it is there again", || path.is_dir());
    wait_for_events(&path, 130);
    program.end();
}

#[test]
fn wrong_values_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, value) in [("FEROS_TRACE_PERIOD", "soon"), ("FEROS_TRACE_BYTES", "7")] {
        let output = run("talker-whole", folder.path(), &[(variable, value)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(value), "{said}");
    }
    assert!(files(folder.path()).is_empty());
}

/// Writes a file as a program does; returns its bytes and its process.
fn written(folder: &Path, half: &str) -> (Vec<u8>, Process) {
    run_well(half, folder);
    let [file] = files(folder).try_into().unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let process = Process::parse(&file, &bytes).unwrap();
    (bytes, process)
}

/// Reads the new part of these first bytes.
fn read(growing: &mut GrowingFile, bytes: &[u8]) -> Result<Vec<Event>, ReadError> {
    let mut events = Vec::new();
    let length = bytes.len() as u64;
    growing.read(&mut Cursor::new(bytes), length, 1 << 20, |event, endpoint| {
        assert_eq!(endpoint.topic, "/chatter");
        events.push(event);
    })?;
    Ok(events)
}

#[test]
fn a_file_that_grows_byte_by_byte_tells_each_event_once() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, process) = written(folder.path(), "talker-twice");
    let expected = &process.threads[0].events;
    for step in [1, 7, 100, bytes.len()] {
        let mut growing = GrowingFile::new(&process.file, &process.boot);
        let mut events = Vec::new();
        let ends = (0..bytes.len()).step_by(step).chain([bytes.len()]);
        for end in ends {
            events.extend(read(&mut growing, &bytes[..end]).unwrap());
        }
        assert_eq!(&events, expected, "in steps of {step}");
        assert_eq!(growing.read_bytes(), bytes.len() as u64);
    }
}

#[test]
fn a_file_that_is_begun_anew_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, process) = written(folder.path(), "talker-twice");
    let mut growing = GrowingFile::new(&process.file, &process.boot);
    let events = read(&mut growing, &bytes).unwrap().len();
    assert_eq!(read(&mut growing, &bytes).unwrap().len(), 0);
    // The new file is shorter, or has another head.
    assert_eq!(read(&mut growing, &bytes[..10]).unwrap().len(), 0);
    assert_eq!(read(&mut growing, &bytes).unwrap().len(), events);
    let mut other = bytes.clone();
    other[20] ^= 1; // a byte of the time when the file was made
    assert_eq!(read(&mut growing, &other).unwrap().len(), events);
}

#[test]
fn damaged_blocks_are_refused_and_add_no_events() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, process) = written(folder.path(), "talker-twice");
    let expected = &process.threads[0].events;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let mut growing = GrowingFile::new(&process.file, &process.boot);
        // The head has no checksum. A length that reaches beyond the end looks like a block that is
        // still being written.
        if let Ok(events) = read(&mut growing, &damaged) {
            assert!(at < 128 || events.len() < expected.len() || events == *expected, "byte {at}");
            assert!(expected.starts_with(&events), "byte {at}");
        }
    }
    let other = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut other = bytes.clone();
        change(&mut other);
        read(&mut GrowingFile::new(&process.file, &process.boot), &other).unwrap_err()
    };
    assert!(matches!(other(&|file| file[0] = b'X'), ReadError::NotATrace { .. }));
    assert!(matches!(other(&|file| file[8] = 9), ReadError::Version { found: 9, .. }));
    assert!(matches!(other(&|file| file[33] ^= 1), ReadError::OtherClock { .. }));
    let huge = other(&|file| file.extend([2, 255, 255, 255, 255, 0, 0, 0, 0]));
    assert!(huge.to_string().contains("too large"), "{huge}");
}

#[test]
fn of_much_that_is_new_the_end_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut bytes, process) = written(folder.path(), "talker-whole");
    // The blocks that a program writes again and again after the names.
    let mut growing = GrowingFile::new(&process.file, &process.boot);
    growing.read(&mut Cursor::new(&bytes[..130]), 130, 0, |_, _| ()).unwrap();
    let names = growing.read_bytes() as usize;
    let length: [u8; 4] = bytes[names + 1..names + 5].try_into().unwrap();
    let blocks = bytes[names + 9 + u32::from_le_bytes(length) as usize..].to_vec();
    for _ in 0..100 {
        bytes.extend(&blocks);
    }
    let mut growing = GrowingFile::new(&process.file, &process.boot);
    let budget = 3 * blocks.len() as u64;
    let mut count = 0;
    let mut look = |growing: &mut GrowingFile| {
        let length = bytes.len() as u64;
        growing.read(&mut Cursor::new(&bytes), length, budget, |_, _| count += 1).unwrap();
        count
    };
    let of_one = process.threads[0].events.len();
    let count = look(&mut growing);
    assert!((of_one..=3 * of_one).contains(&count), "{count} of {}", 101 * of_one);
    // Events beyond the budget are read by the next call, and nothing is read twice.
    assert_eq!(look(&mut growing), 3 * of_one);
    assert_eq!((look(&mut growing), growing.read_bytes()), (3 * of_one, bytes.len() as u64));
}

#[test]
fn foreign_files_are_reported_and_disturb_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut program = Running::start("both", path, PLENTY);
    program.record(1, 10, now_nanos());
    wait_for_events(path, 130);
    let [file] = files(path).try_into().unwrap();
    std::fs::write(path.join("1.ferostrace"), "something else").unwrap();
    std::fs::write(path.join("2.ferostrace"), "FERO").unwrap();
    std::fs::write(path.join("notes.txt"), "not looked at").unwrap();
    std::os::unix::fs::symlink(&file, path.join("3.ferostrace")).unwrap();
    std::fs::create_dir(path.join("4.ferostrace")).unwrap();
    let mut live = LiveTrace::new(path);
    let figures = settled(&mut live);
    let [problem] = &figures.problems[..] else { panic!("{figures:?}") };
    assert!(problem.contains("1.ferostrace is not a trace of Feros"), "{problem}");
    assert_layers(&figures.pairs[0], 10);
    // A renamed file is the same file, and a new file under its old name is another.
    let before = path.join("9.before.ferostrace");
    std::fs::rename(&file, &before).unwrap();
    std::fs::copy(&before, &file).unwrap();
    std::fs::remove_file(path.join("1.ferostrace")).unwrap();
    let figures = settled(&mut live);
    assert_eq!(figures.problems, [""; 0]);
    program.end();
    // There is a file where the folder should be.
    let problems = LiveTrace::new(&path.join("notes.txt")).look(|_| true).problems;
    assert!(problems[0].contains("notes.txt cannot be read"), "{problems:?}");
}
