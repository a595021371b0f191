//! The signals that end a program, and the patience that keeps a second one from doing so. The
//! signals go to a second process, which runs `program`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions};
use feros_test_support::{ReservedDomain, Watchdog, eventually};

/// The variable with the patience of the second process, in milliseconds.
const PATIENCE: &str = "FEROS_TEST_PATIENCE_MILLIS";

/// The second process, which ends with its input. In a normal test run, this test does nothing.
#[test]
fn program() {
    let Ok(millis) = std::env::var(PATIENCE) else { return };
    feros::signals::set_patience(Duration::from_millis(millis.parse().unwrap()));
    let _listening = feros::signals::on_signal(|| println!("ending"));
    println!("ready");
    std::io::read_to_string(std::io::stdin()).unwrap();
}

/// The variable with the domain of a second process that has a context.
const DOMAIN: &str = "FEROS_TEST_SIGNALS_DOMAIN";

/// The second process with a context. Its program drops the context while the thread that handles
/// the signal still calls a listener. In a normal test run, this test does nothing.
#[test]
fn program_with_a_context() {
    let Ok(domain) = std::env::var(DOMAIN) else { return };
    let session = SessionOptions::localhost(domain.parse().unwrap());
    let context =
        Context::new(ContextOptions { handle_signals: true, ..ContextOptions::new(session) })
            .unwrap();
    let session = Arc::downgrade(context.session());
    let [(called, is_called), (release, is_released)] = [(); 2].map(|()| sync_channel::<()>(1));
    let is_released = Mutex::new(is_released);
    let guard = context.on_shutdown(move || {
        called.send(()).unwrap();
        is_released.lock().unwrap().recv().unwrap();
    });
    println!("ready");
    is_called.recv().unwrap();
    drop(context);
    assert!(session.upgrade().is_none(), "the session outlives the program's context");
    release.send(()).unwrap();
    drop(guard);
    println!("the session has ended");
}

#[test]
fn the_session_ends_with_the_programs_context() {
    let _watchdog = Watchdog::start();
    let domain = ReservedDomain::new();
    let id = domain.id().to_string();
    let mut program = Program::start("signals::program_with_a_context", DOMAIN, &id);
    program.signal("-INT");
    program.until_it_says("the session has ended");
    std::io::copy(&mut program.out, &mut std::io::sink()).unwrap();
    assert!(program.child.wait().unwrap().success());
}

/// The signals that end a program, with their numbers; without SIGHUP if the tests run under
/// `nohup`, because their children ignore it too.
fn all() -> impl Iterator<Item = (&'static str, i32)> {
    let all = [("-INT", 2), ("-TERM", 15), ("-HUP", 1)];
    all.into_iter().filter(|(name, _)| *name != "-HUP" || !feros_process::ignores_hangup())
}

/// The second process, which is killed when this is dropped.
struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Program {
    fn patient(millis: &str) -> Self {
        Self::start("signals::program", PATIENCE, millis)
    }

    /// Starts a test of this file as a program, with a variable that lets it run.
    fn start(test: &str, variable: &str, value: &str) -> Self {
        let mut child = feros_test_support::this_program()
            .args([test, "--exact", "--nocapture"])
            .env(variable, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut program = Self { child, out };
        program.until_it_says("ready");
        program
    }

    fn until_it_says(&mut self, word: &str) {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(self.out.read_line(&mut line).unwrap(), 0, "it ended before it was {word}");
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[test]
fn signals_within_the_patience_change_nothing() {
    let _watchdog = Watchdog::start();
    for (first, _) in all() {
        let mut program = Program::patient("3600000");
        program.signal(first);
        program.until_it_says("ending");
        ["-INT", "-TERM", "-HUP", first].iter().for_each(|name| program.signal(name));
        drop(program.child.stdin.take());
        // Read to the end, so that the program can write what the test harness says.
        std::io::copy(&mut program.out, &mut std::io::sink()).unwrap();
        assert!(program.child.wait().unwrap().success(), "after {first}");
    }
}

#[test]
fn a_signal_after_the_patience_ends_the_program() {
    let _watchdog = Watchdog::start();
    for (name, number) in all() {
        let mut program = Program::patient("1");
        program.signal(name);
        program.until_it_says("ending");
        let status = eventually(|| {
            program.signal(name);
            program.child.try_wait().unwrap().ok_or("it does not end")
        });
        assert_eq!(status.code(), Some(128 + number), "{name}");
    }
}
