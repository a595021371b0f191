//! `feros trace`: an unmodified program is traced, summarized and exported; faults of a trace are
//! reported.

use std::path::{Path, PathBuf};

use crate::process::{Finished, Running, feros};

/// A folder for one test, which is removed when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("feros_trace_{}_{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn traced(folder: &Folder, command: &[&str]) -> Finished {
    let arguments = [&["trace", "run", "--json", "--out", folder.text(), "--"], command].concat();
    Running::start(&arguments).finish()
}

#[test]
fn a_command_is_traced_summarized_and_exported() {
    let folder = Folder::new("whole");
    let demo = ["demo", "--count", "200", "--rate-hz", "100", "--without-ros2"];
    let out = traced(&folder, &[&[env!("CARGO_BIN_EXE_feros")], &demo[..]].concat()).success();
    let summary: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let topics = summary["topics"].as_array().unwrap();
    let host = topics.iter().find(|topic| {
        topic["transport"] == "shared_memory" && topic["end_to_end"]["count"].as_u64() >= Some(50)
    });
    let layers = host.unwrap_or_else(|| panic!("{summary}"))["layers"].as_array().unwrap();
    let share: f64 = layers.iter().map(|layer| layer["share_percent"].as_f64().unwrap()).sum();
    assert!((share - 100.0).abs() < 1e-6, "{summary}");
    for name in ["client", "engine write", "wire", "take"] {
        assert!(
            layers.iter().any(|layer| layer["name"] == name && layer["median_nanos"].is_u64()),
            "{summary}"
        );
    }
    let table = feros(&["trace", "summarize", folder.text()]).success();
    assert!(
        table.contains("through the shared-memory transport") && table.contains("end to end"),
        "{table}"
    );
    let file = folder.0.join("trace.json");
    feros(&["trace", "export", folder.text(), "--perfetto", file.to_str().unwrap()]).success();
    let perfetto: serde_json::Value =
        serde_json::from_reader(std::fs::File::open(&file).unwrap()).unwrap();
    assert!(perfetto["traceEvents"].as_array().unwrap().iter().any(|event| event["ph"] == "f"));
    // A second trace would be mixed with the first.
    let error = traced(&folder, &["true"]).failure(2);
    assert!(error.contains("--out"), "{error}");
}

#[test]
fn faults_of_traces_are_reported() {
    let folder = Folder::new("wrong");
    let error = traced(&folder, &["true"]).failure(1);
    assert!(error.contains("there is no trace in") && error.contains("SIGINT"), "{error}");
    let error = traced(&folder, &["/no/such/program"]).failure(1);
    assert!(error.contains("/no/such/program cannot be started"), "{error}");
    let file = folder.0.join("1.ferostrace");
    let write = |bytes: &[u8]| std::fs::write(&file, bytes).unwrap();
    write(b"something else");
    let summarize = |path: &Path| feros(&["trace", "summarize", path.to_str().unwrap()]);
    let error = summarize(&folder.0).failure(1);
    assert!(error.contains("is not a trace of Feros"), "{error}");
    write(b"FEROSTRC\x09\0\0\0");
    let error = summarize(&file).failure(1);
    assert!(error.contains("version 9"), "{error}");
    write(b"FEROSTRC\x01\0\0\0\0\0");
    let error = summarize(&file).failure(1);
    assert!(error.contains("is damaged at byte"), "{error}");
    let error = summarize(&folder.0.join("missing")).failure(1);
    assert!(error.contains("cannot be read"), "{error}");
}

#[test]
fn a_process_that_was_killed_is_named() {
    let folder = Folder::new("killed");
    let publish = ["topic", "pub", "/traced", "std_msgs/msg/Int32", "{data: 1}", "--rate", "100"];
    let killed = Running::start_with(&publish, |command| {
        command.env("FEROS_TRACE", folder.text());
    });
    // An empty file is a trace that has not begun.
    let is_begun = |entry: std::fs::DirEntry| entry.metadata().unwrap().len() > 0;
    let has_file = || std::fs::read_dir(&folder.0).unwrap().any(|entry| is_begun(entry.unwrap()));
    feros_test_support::until("its file", has_file);
    drop(killed); // ends it by force
    let ended = feros(&["trace", "summarize", folder.text()]);
    assert!(ended.err.contains("was killed"), "{ended:?}");
    assert!(ended.success().contains("no message was traced"));
}
