//! Tests of the files that processes write, and of reading whole files.

use feros_trace::{FILE_EXTENSION, Transport};
use feros_trace_analysis::{Process, ReadError, Summary, Trace, TraceError};

use crate::program::{LAYERS, PUBLISHER, SUBSCRIPTION, files, run, run_well};

#[test]
fn a_pipe_is_refused_without_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe").with_extension(FILE_EXTENSION);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = Process::read(&pipe).unwrap_err();
    assert!(matches!(error, ReadError::Io { .. }), "{error}");
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn two_processes_are_merged_into_whole_ways() {
    let folder = tempfile::tempdir().unwrap();
    run_well("talker-whole", folder.path());
    run_well("listener-whole", folder.path());
    let trace = Trace::read(folder.path()).unwrap();
    assert_eq!((trace.processes.len(), trace.incomplete().count()), (2, 0));
    let deliveries = trace.deliveries();
    assert_eq!(deliveries.whole.len(), 10);
    assert!(deliveries.without_publisher.is_empty() && deliveries.without_callback.is_empty());
    for (n, delivery) in (1..).zip(&deliveries.whole) {
        assert_eq!(
            (delivery.topic.as_str(), delivery.transport),
            ("/chatter", Transport::SharedMemory)
        );
        assert_eq!((delivery.publisher, delivery.subscription), (PUBLISHER, SUBSCRIPTION));
        let breakdown = delivery.way.breakdown().unwrap();
        for (layer, factor) in LAYERS {
            assert_eq!(breakdown.nanos(layer), Some(factor * n), "{}", layer.name());
        }
        assert_eq!(breakdown.end_to_end_nanos(), 70 * n);
    }
    let summary = Summary::of(&trace);
    let [topic] = summary.topics.as_slice() else { panic!("{summary:?}") };
    assert_eq!(
        (topic.end_to_end.count, topic.end_to_end.median_nanos, topic.end_to_end.max_nanos),
        (10, 350, 700)
    );
    let share: f64 = topic.layers.iter().map(|layer| layer.share_percent).sum();
    assert!((share - 100.0).abs() < 1e-9);
    assert_eq!(summary.publish_calls["/chatter"].median_nanos, 100);
}

#[test]
fn a_file_written_in_two_parts_is_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    run_well("talker-twice", folder.path());
    let trace = Trace::read(folder.path()).unwrap();
    let [process] = trace.processes.as_slice() else { panic!("{trace:?}") };
    assert!(process.is_complete);
    assert_eq!(process.threads.len(), 1);
    assert_eq!(process.threads[0].events.len(), 7 * 15);
}

#[test]
fn a_killed_process_leaves_a_file_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    run_well("talker-killed", folder.path());
    run_well("listener-whole", folder.path());
    let trace = Trace::read(folder.path()).unwrap();
    assert_eq!(trace.processes.len(), 2);
    let [killed] = trace.incomplete().collect::<Vec<_>>()[..] else { panic!("one was killed") };
    assert!(killed.threads.is_empty() && killed.program.starts_with("it-"), "{killed:?}");
    let deliveries = trace.deliveries();
    assert!(deliveries.whole.is_empty());
    assert_eq!(deliveries.without_publisher["/chatter"], 10);
    let summary = Summary::of(&trace);
    assert_eq!(summary.processes.iter().filter(|process| !process.is_complete).count(), 1);
    // Reading a single file works too.
    assert!(!Process::read(&killed.file).unwrap().is_complete);
}

#[test]
fn a_ring_that_is_too_small_says_how_much_it_lost() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("talker-whole", folder.path(), &[("FEROS_TRACE_EVENTS", "20")]);
    assert!(output.status.success(), "{output:?}");
    let summary = Summary::of(&Trace::read(folder.path()).unwrap());
    assert_eq!((summary.processes[0].events, summary.processes[0].overwritten), (19, 51));
    let output = run("talker-whole", folder.path(), &[("FEROS_TRACE_EVENTS", "none")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("Capacity(\"none\")"), "{said}");
}

#[test]
fn folders_and_files_that_are_no_traces_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let error = Trace::read(folder.path()).unwrap_err();
    assert!(
        matches!(error, TraceError::NoFiles { .. }) && error.to_string().contains("FEROS_TRACE="),
        "{error}"
    );
    std::fs::write(folder.path().join(format!("1.{FILE_EXTENSION}")), "").unwrap();
    let error = Trace::read(folder.path()).unwrap_err();
    assert!(
        matches!(error, TraceError::NoFiles { .. }),
        "killed in the moment of its start: {error}"
    );
    let missing = folder.path().join("missing");
    assert!(matches!(Trace::read(&missing), Err(TraceError::Read(ReadError::Io { .. }))));
    let file = folder.path().join("1.ferostrace");
    std::fs::write(&file, "hello").unwrap();
    assert!(matches!(
        Trace::read(folder.path()),
        Err(TraceError::Read(ReadError::NotATrace { .. }))
    ));
    let mut newer = b"FEROSTRC".to_vec();
    newer.extend(2_u32.to_le_bytes());
    std::fs::write(&file, newer).unwrap();
    let error = Trace::read(folder.path()).unwrap_err();
    assert!(matches!(error, TraceError::Read(ReadError::Version { found: 2, .. })), "{error}");
}

#[test]
fn no_damage_goes_unnoticed_and_none_makes_the_reader_panic() {
    let folder = tempfile::tempdir().unwrap();
    run_well("talker-whole", folder.path());
    let [file] = files(folder.path()).try_into().unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let whole = Process::parse(&file, &bytes).unwrap();
    assert!(whole.is_complete);
    for at in 8..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        if let Ok(read) = Process::parse(&file, &damaged) {
            // The head has no checksum. A length that reaches beyond the end looks as if the
            // process had been killed.
            assert!(at < 128 || !read.is_complete, "byte {at}");
        }
        if let Ok(read) = Process::parse(&file, &bytes[..at]) {
            assert!(!read.is_complete, "{at} bytes");
        }
    }
    // Files from two hosts.
    let mut other = bytes.clone();
    other[33] ^= 1; // a byte of the boot id
    std::fs::write(folder.path().join("2.ferostrace"), other).unwrap();
    assert!(matches!(Trace::read(folder.path()), Err(TraceError::TwoClocks { .. })));
}

#[test]
fn perfetto_gets_tracks_slices_and_arrows() {
    let folder = tempfile::tempdir().unwrap();
    run_well("talker-whole", folder.path());
    run_well("listener-whole", folder.path());
    let trace = Trace::read(folder.path()).unwrap();
    let mut json = Vec::new();
    trace.write_perfetto(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).collect::<Vec<_>>();
    assert_eq!((of("M").len(), of("s").len(), of("f").len()), (4, 10, 10));
    let slices = of("X");
    let publish: Vec<_> =
        slices.iter().filter(|slice| slice["name"] == "publish /chatter").collect();
    assert_eq!(publish.len(), 10);
    assert_eq!((publish[0]["ts"].as_f64(), publish[0]["dur"].as_f64()), (Some(0.0), Some(0.02)));
    let callbacks: Vec<_> =
        slices.iter().filter(|slice| slice["name"] == "callback /chatter").collect();
    for (end, callback) in of("f").iter().zip(callbacks) {
        let start = of("s").into_iter().find(|start| start["id"] == end["id"]).unwrap();
        assert_ne!(start["pid"], end["pid"]);
        assert_eq!(
            (&end["ts"], &end["tid"], &end["bp"]),
            (&callback["ts"], &callback["tid"], &"e".into())
        );
    }
}
