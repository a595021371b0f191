//! A fixture with systems whose answers are known, a scenario, and `feros lab` as its user types
//! it.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) use feros_test_support::Ended;
use feros_test_support::{Program, processes_with};

/// A watchdog against hanging; no call is expected to take this long.
const LONGEST: Duration = Duration::from_secs(120);
/// The processes of a fixture are recognized by this variable, which children inherit.
const MARK: &str = "FEROS_TEST_DESK";

/// The grid has three cells of about a second; the scenario as it stands has one for each system.
pub(crate) const TINY: &str = r#"title = "Known latencies"
document = "M16"
item = "Figure 7"
finding = "What the mock says."

[experiment]
workload = "latency"
systems = ["mock", "absent"]
placements = ["composed"]
sizes = [256]
rates_hz = [100]
count = 20
warm_up = 5

[grid.quick]
sizes = [256, "1K", "4K"]
count = 100

[[figure]]
title = "Medians"
kind = "lines"
x = "size_bytes"
y = "latency"
series = ["system"]
"#;

const ABSENT: &str = r#"title = "What is never installed"
build = ["sh", "-c", "echo libnothing is not installed >&2; exit 69"]
program = ["{out}/nothing"]
install = "apt-get install libnothing"
roles = ["talker", "listener", "pair"]
placements = ["local", "composed"]
"#;

/// A folder for all files that a call reads and writes, including the lock of the machine.
pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["peers/absent", "scenarios", "tmp", "fixture"] {
            fs::create_dir_all(fixture.folder.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(mock(), fixture.folder.path().join("peers/mock")).unwrap();
        fixture.write("peers/absent/peer.toml", ABSENT);
        fixture.write("scenarios/tiny.toml", TINY);
        fixture
    }

    /// Writes a file; from the folder of the calls, `fixture`, its path is `../NAME`.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// A file in the folder of the calls.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("fixture").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// From now on the mock takes 2 ms instead of 1 ms.
    pub(crate) fn slow_down(&self) {
        let text = fs::read_to_string(mock().join("peer.toml")).unwrap();
        let slow = text.replace("[\"./build\"]", "[\"true\"]").replace(
            "{peer}/mock.py\"",
            "{repository}/lab/peers/mock/mock.py\", \"--latency-nanos\", \"2000000\"",
        );
        assert_ne!(slow, text);
        fs::remove_file(self.folder.path().join("peers/mock")).unwrap();
        fs::create_dir(self.folder.path().join("peers/mock")).unwrap();
        self.write("peers/mock/peer.toml", &slow);
    }

    /// `feros lab` with the words of `line`, to be changed or started.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.wrapped(&[], line)
    }

    /// The same call, through a program that starts others.
    pub(crate) fn wrapped(&self, through: &[&str], line: &str) -> Command {
        let feros = [env!("CARGO_BIN_EXE_feros"), "lab"];
        let mut words = through.iter().copied().chain(feros).chain(line.split_whitespace());
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .current_dir(self.path(""))
            .env("FEROS_LAB_PEERS", self.folder.path().join("peers"))
            .env("FEROS_LAB_SCENARIOS", self.folder.path().join("scenarios"))
            .env("FEROS_LAB_CACHE", self.folder.path().join("cache"))
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env(MARK, self.mark())
            .process_group(0);
        command
    }

    pub(crate) fn start(&self, line: &str) -> Running {
        Running::of(self.command(line))
    }

    /// Runs the call to its end; none of its processes may be left.
    pub(crate) fn run(&self, line: &str) -> Ended {
        let ended = self.start(line).finish();
        assert_eq!(self.processes(), [0_u32; 0], "left behind by {ended:?}");
        ended
    }

    /// The processes that this fixture started and that still exist.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_with(MARK, &self.mark())
    }

    fn mark(&self) -> String {
        self.folder.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// The lines of `cells.jsonl` of a run.
    pub(crate) fn cells(&self, run: &str) -> Vec<serde_json::Value> {
        let text = self.read(&format!("{run}/cells.jsonl"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until a run has this many cells and has begun another one.
    pub(crate) fn wait_for_cells(&self, run: &str, cells: usize) {
        wait_until("the next cell", || {
            let is_under_way =
                |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "log");
            let raw = fs::read_dir(self.path(run).join("raw")).into_iter().flatten().flatten();
            self.read(&format!("{run}/cells.jsonl")).lines().count() >= cells
                && raw.into_iter().any(|entry| is_under_way(&entry))
        });
    }
}

fn mock() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lab/peers/mock").canonicalize().unwrap()
}

/// A running call; it is killed when this is dropped.
pub(crate) struct Running(Program);

impl Running {
    pub(crate) fn of(command: Command) -> Self {
        Self(Program::start(command))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends a signal to the call and all processes of its group, as a terminal does.
    pub(crate) fn signal(&self, name: &str) {
        let sent =
            Command::new("sh").args(["-c", &format!("kill -{name} -{}", self.id())]).status();
        assert!(sent.unwrap().success(), "kill -{name}");
    }

    pub(crate) fn finish(self) -> Ended {
        self.0.finish(LONGEST)
    }
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONGEST, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}
