//! Nodes of ROS 2 Humble, made by hand (`peers/humble.hpp`), since no wheel has Humble. They use
//! the libraries of Humble's time that the system has.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use feros_test_support::skip;

use crate::{Domain, Process};

const COMMON_SOURCE: &str = include_str!("../peers/humble.hpp");

/// The library of a node of Humble, which is below one of Humble's two `rmw` implementations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HumbleOn {
    /// Fast DDS 2, below `rmw_fastrtps`.
    FastDds,
    /// Cyclone DDS 0.10, below `rmw_cyclonedds`.
    CycloneDds,
}

/// The data for compiling the program that uses one of the libraries.
struct Recipe {
    name: &'static str,
    source: &'static str,
    /// A header that only this version of the library has.
    header: &'static str,
    missing: &'static str,
    libraries: &'static [&'static str],
}

const ON_FAST_DDS: Recipe = Recipe {
    name: "humble_fastdds",
    source: include_str!("../peers/humble_fastdds.cpp"),
    header: "fastrtps/config.h",
    missing: "Fast DDS 2 for the node of Humble is not installed: on Debian 12, apt-get install \
              libfastrtps-dev",
    libraries: &["-lfastrtps", "-lpthread"],
};

const ON_CYCLONE_DDS: Recipe = Recipe {
    name: "humble_cyclonedds",
    source: include_str!("../peers/humble_cyclonedds.cpp"),
    header: "dds/ddsi/q_radmin.h",
    missing: "Cyclone DDS 0.10 for the node of Humble is not installed: on Debian, apt-get install \
              cyclonedds-dev",
    libraries: &["-lddsc", "-lpthread"],
};

/// The process of a node that behaves like the nodes of ROS 2 Humble. Dropping the handle kills the
/// process.
pub struct HumblePeer(Process);

impl HumblePeer {
    /// Starts the node `namespace`/`name`, and waits until it is ready. Returns `None`, and reports
    /// the skip, if the library is not installed.
    ///
    /// # Panics
    /// If the program cannot be compiled or started.
    #[must_use]
    pub fn start(domain: &Domain, on: HumbleOn, namespace: &str, name: &str) -> Option<Self> {
        Self::start_prepared(domain, on, namespace, name, |_| ())
    }

    /// Like [`start`](Self::start), after `prepare` has changed the command. On Cyclone DDS, the
    /// variable `HUMBLE_INTERFACES` names the interfaces that the node uses, which by default is
    /// that of loopback alone.
    ///
    /// # Panics
    /// See [`start`](Self::start).
    #[must_use]
    pub fn start_prepared(
        domain: &Domain,
        on: HumbleOn,
        namespace: &str,
        name: &str,
        prepare: impl FnOnce(&mut Command),
    ) -> Option<Self> {
        let recipe = match on {
            HumbleOn::FastDds => &ON_FAST_DDS,
            HumbleOn::CycloneDds => &ON_CYCLONE_DDS,
        };
        if !is_installed(recipe) {
            skip(recipe.missing);
            return None;
        }
        let mut command = Command::new(compiled(recipe));
        domain.confine(&mut command);
        command.env_remove("LD_PRELOAD").env_remove("HUMBLE_INTERFACES");
        prepare(&mut command);
        let mut peer = Self(Process::start(command));
        assert_eq!(peer.answer(), "ready");
        peer.ask(format_args!("node {namespace} {name}"));
        Some(peer)
    }

    /// Requests an operation, as `peers/humble.hpp` lists them, and returns its result.
    ///
    /// # Panics
    /// If the peer answers with an error, ends or hangs.
    pub fn ask(&mut self, request: impl Display) -> String {
        self.0.tell(request);
        self.answer()
    }

    /// Makes the client, server, publisher or subscription that the request describes, waits until
    /// it matches one other endpoint, and returns its number.
    ///
    /// # Panics
    /// See [`ask`](Self::ask).
    pub fn ask_matched(&mut self, request: impl Display) -> String {
        let number = self.ask(request);
        self.ask(format_args!("matched {number} 1"));
        number
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

/// Whether the compiler finds the library.
fn is_installed(recipe: &Recipe) -> bool {
    let mut command = Command::new("c++");
    command.args(["-x", "c++", "-E", "-"]).stdin(Stdio::piped());
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let stdin = child.stdin.take();
    let asked =
        stdin.is_some_and(|mut stdin| writeln!(stdin, "#include <{}>", recipe.header).is_ok());
    child.wait().is_ok_and(|status| status.success()) && asked
}

/// The program, in the folder of the test program. Tests in other processes wait while one of them
/// compiles it.
fn compiled(recipe: &Recipe) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().expect("a test is in a folder");
    let mut hasher = DefaultHasher::new();
    (COMMON_SOURCE, recipe.source).hash(&mut hasher);
    let program = folder.join(format!("{}_{:016x}", recipe.name, hasher.finish()));
    let lock = File::create(program.with_extension("lock")).expect("the folder can be written");
    lock.lock().expect("files can be locked");
    if !program.is_file() {
        compile(recipe, &program);
    }
    program
}

fn compile(recipe: &Recipe, program: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("peers/{}.cpp", recipe.name));
    let unfinished = program.with_extension("unfinished");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-O0", "-g0", "-o"]).arg(&unfinished).arg(source);
    let output = command.args(recipe.libraries).output().expect("c++ was there before");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&unfinished, program).expect("the program was written");
}
