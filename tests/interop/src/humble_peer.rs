//! A node of ROS 2 Humble, made by hand (`peers/humble.cpp`), since no wheel has Humble. It uses
//! Fast DDS 2 of the system, the library of Humble's time.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use feros_test_support::skip;

use crate::{Domain, Process};

const SOURCE: &str = include_str!("../peers/humble.cpp");

/// A node as those of ROS 2 Humble; dropping it kills it.
pub struct HumblePeer(Process);

impl HumblePeer {
    /// Starts the node `namespace`/`name`, and waits until it is ready. Returns `None`, and reports
    /// the skip, if Fast DDS 2 is not installed.
    ///
    /// # Panics
    /// If the program cannot be compiled or started.
    #[must_use]
    pub fn start(domain: &Domain, namespace: &str, name: &str) -> Option<Self> {
        if !is_installed() {
            skip(
                "Fast DDS 2 for the node of Humble is not installed: on Debian 12, apt-get install \
                 libfastrtps-dev",
            );
            return None;
        }
        let mut command = Command::new(compiled());
        domain.confine(&mut command);
        command.env_remove("LD_PRELOAD");
        let mut peer = Self(Process::start(command));
        assert_eq!(peer.answer(), "ready");
        peer.ask(format_args!("node {namespace} {name}"));
        Some(peer)
    }

    /// Requests an operation, as `peers/humble.cpp` lists them, and returns its result.
    ///
    /// # Panics
    /// If the peer answers with an error, ends or hangs.
    pub fn ask(&mut self, request: impl Display) -> String {
        self.0.tell(request);
        self.answer()
    }

    /// Like [`ask`](Self::ask), for operations whose result is a message.
    ///
    /// # Panics
    /// See [`ask`](Self::ask).
    pub fn ask_for_message(&mut self, request: impl Display) -> Vec<u8> {
        let text = self.ask(request);
        let digits = |at: usize| text.get(at..at + 2).expect("two digits for each byte");
        let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(digits(at), 16));
        bytes.collect::<Result<_, _>>().expect("hexadecimal digits")
    }

    /// The form in which requests contain messages.
    #[must_use]
    pub fn message(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}"); // writing to a string never fails
            text
        })
    }

    fn answer(&mut self) -> String {
        let started = Instant::now();
        while let Some(line) = self.0.next(started) {
            match line.strip_prefix("ANSWER ").and_then(|answer| answer.split_once(' ')) {
                Some(("ok", result)) => return result.to_owned(),
                Some((_, error)) => panic!("the node of Humble: {error}"),
                None => self.0.said.push(line),
            }
        }
        panic!("the node of Humble does not answer; its output: {:#?}", self.0.said)
    }
}

/// Whether the compiler finds Fast DDS 2.
fn is_installed() -> bool {
    let mut command = Command::new("c++");
    command.args(["-x", "c++", "-E", "-"]).stdin(Stdio::piped());
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let stdin = child.stdin.take();
    let asked =
        stdin.is_some_and(|mut stdin| writeln!(stdin, "#include <fastrtps/config.h>").is_ok());
    child.wait().is_ok_and(|status| status.success()) && asked
}

/// The program, in the folder of the test program. Tests in other processes wait while one of them
/// compiles it.
fn compiled() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().expect("a test is in a folder");
    let mut hasher = DefaultHasher::new();
    SOURCE.hash(&mut hasher);
    let program = folder.join(format!("humble_peer_{:016x}", hasher.finish()));
    let lock = File::create(program.with_extension("lock")).expect("the folder can be written");
    lock.lock().expect("files can be locked");
    if !program.is_file() {
        compile(&program);
    }
    program
}

fn compile(program: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/humble.cpp");
    let unfinished = program.with_extension("unfinished");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-O0", "-g0", "-o"]).arg(&unfinished).arg(source);
    command.args(["-lfastrtps", "-lfastcdr", "-lpthread"]);
    let output = command.output().expect("c++ was there before");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&unfinished, program).expect("the program was written");
}
