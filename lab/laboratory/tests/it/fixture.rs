//! Runs scenarios with the mock, with a folder for the results and an observer.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros_lab::machine::Machine;
use feros_lab::peer::Peers;
use feros_lab::peer_builder::PeerBuilder;
use feros_lab::plan::Plan;
use feros_lab::record::{Record, Run, Status, Value};
use feros_lab::run::{self, Observer, Options, RunError, Summary};
use feros_lab::scenario::ScenarioFile;

/// Only one run at a time may use the machine, so the tests of one process wait for each other.
pub(crate) static MACHINE: Mutex<()> = Mutex::new(());

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    peers: Peers,
    pub(crate) machine: Machine,
}

/// The result of a run, and its notes.
pub(crate) struct Seen {
    pub(crate) result: Result<Summary, RunError>,
    pub(crate) notes: Vec<String>,
    pub(crate) measured: usize,
}

struct Witness<'a> {
    seen: Seen,
    interrupt_after: usize,
    interrupted: &'a AtomicBool,
}

impl Observer for Witness<'_> {
    fn note(&mut self, text: &str) {
        self.seen.notes.push(text.to_owned());
    }

    fn begins(&mut self, _: usize, _: usize, _: &str, _: Duration) {}

    fn ended(&mut self, record: &Record) {
        self.seen.measured += 1;
        if let Status::Failed(_) | Status::Hung(_) = record.status {
            self.seen.notes.push(format!("a cell ended with {:?}", record.status));
        }
        if self.seen.measured == self.interrupt_after {
            self.interrupted.store(true, Ordering::Relaxed);
        }
    }
}

/// The folder with the peers and the scenarios.
pub(crate) fn lab_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            peers: Peers::read(&lab_folder().join("peers")).unwrap(),
            machine: Machine {
                no_remote: Some("not in this test".into()),
                no_realtime: None,
                no_memory_lock: None,
            },
        }
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub(crate) fn plan(&self, name: &str, experiment: &str) -> Plan {
        let file = self.folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, format!("title = \"T\"\n[experiment]\n{experiment}")).unwrap();
        let check = |name: &str| self.peers.system(name).map(|_| ());
        let scenario =
            ScenarioFile::read(&file).unwrap().resolve(None, &[], &check).unwrap().unwrap();
        Plan::new(name, vec![scenario], &self.peers, &self.machine)
    }

    pub(crate) fn run(&self, plan: &Plan) -> Seen {
        self.run_until(plan, usize::MAX)
    }

    /// Interrupts the run when this many cells have ended.
    pub(crate) fn run_until(&self, plan: &Plan, cells: usize) -> Seen {
        let _alone = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let interrupted = AtomicBool::new(cells == 0);
        let (out, seen) = (
            self.out(),
            Seen {
                result: Err(RunError::Interrupted { done: 0, of: 0 }),
                notes: vec![],
                measured: 0,
            },
        );
        let mut witness = Witness { seen, interrupt_after: cells, interrupted: &interrupted };
        let options = Options {
            out: &out,
            command: "feros lab run test.toml".into(),
            machine: &self.machine,
            peers: &self.peers,
            interrupted: &interrupted,
        };
        // Another process may be testing the laboratory at the same time; this process waits until
        // the other process is done.
        let mut builder = PeerBuilder::at(self.folder.path().join("cache"));
        let result = loop {
            match run::run(plan, &options, &mut builder, &mut witness) {
                Err(RunError::Busy { path: None, .. }) => {
                    std::thread::sleep(Duration::from_millis(50))
                }
                result => break result,
            }
        };
        witness.seen.result = result;
        witness.seen
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        let text = std::fs::read_to_string(self.out().join("cells.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn stored_run(&self) -> Run {
        serde_json::from_str(&std::fs::read_to_string(self.out().join("run.json")).unwrap())
            .unwrap()
    }

    /// The single record of a system.
    pub(crate) fn record(&self, system: &str) -> Record {
        let is_of = |record: &Record| record.dimensions["system"] == Value::Text(system.into());
        let mut records: Vec<Record> = self.records().into_iter().filter(is_of).collect();
        assert_eq!(records.len(), 1, "{system}");
        records.remove(0)
    }

    pub(crate) fn raw(&self, record: &Record) -> String {
        let file = std::fs::File::open(self.out().join(record.raw.as_ref().unwrap())).unwrap();
        std::io::read_to_string(flate2::read::GzDecoder::new(file)).unwrap()
    }
}
