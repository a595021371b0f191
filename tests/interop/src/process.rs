//! A process whose lines a test waits for, with a limit on each wait.

use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use feros_test_support::{WATCHDOG, spawn};

/// Sends each line to the test, until the process ends or the test does.
fn pass_on(thread: &str, from: impl Read + Send + 'static, to: SyncSender<String>) {
    spawn(thread, move || {
        BufReader::new(from).lines().map_while(Result::ok).all(|line| to.send(line).is_ok())
    });
}

/// A process and the lines of its standard output and standard error.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    pub(crate) said: Vec<String>,
}

impl Process {
    /// Starts the process.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let (sender, lines) = sync_channel(10_000);
        pass_on("test-out", child.stdout.take().expect("it is piped"), sender.clone());
        pass_on("test-err", child.stderr.take().expect("it is piped"), sender);
        let stdin = child.stdin.take().expect("it is piped");
        Self { child, stdin, lines, said: Vec::new() }
    }

    /// The numbers of its threads and of its descriptors.
    ///
    /// # Panics
    /// When the process has ended.
    pub fn threads_and_descriptors(&self) -> (usize, usize) {
        let count = |what| {
            let folder = format!("/proc/{}/{what}", self.child.id());
            std::fs::read_dir(folder).expect("the process runs").count()
        };
        (count("task"), count("fd"))
    }

    /// The first line that `is` accepts, including lines printed before this call; waits until the
    /// process prints such a line.
    ///
    /// # Panics
    /// When the process prints no such line.
    pub fn line(&mut self, is: impl Fn(&str) -> bool) -> String {
        if let Some(line) = self.said.iter().find(|line| is(line)) {
            return line.clone();
        }
        let started = Instant::now();
        while let Some(line) = self.next(started) {
            self.said.push(line.clone());
            if is(&line) {
                return line;
            }
        }
        panic!("its only lines: {:#?}", self.said);
    }

    /// Waits until a text has been printed this many times; returns the last of these lines.
    ///
    /// # Panics
    /// When the process does not.
    pub fn line_again(&mut self, text: &str, times: usize) -> String {
        let started = Instant::now();
        while self.count(text) < times {
            let Some(line) = self.next(started) else {
                panic!("it did not print {text:?} {times} times: {:#?}", self.said)
            };
            self.said.push(line);
        }
        self.said.iter().rfind(|line| line.contains(text)).cloned().unwrap_or_default()
    }

    /// The number of lines so far that contain a text.
    pub fn count(&mut self, text: &str) -> usize {
        while let Ok(line) = self.lines.try_recv() {
            self.said.push(line);
        }
        self.said.iter().filter(|line| line.contains(text)).count()
    }

    /// Sends a line to the process.
    ///
    /// # Panics
    /// When the process has ended.
    pub fn tell(&mut self, line: impl Display) {
        writeln!(self.stdin, "{line}").expect("it reads its input");
    }

    pub(crate) fn next(&self, started: Instant) -> Option<String> {
        self.lines.recv_timeout(WATCHDOG.saturating_sub(started.elapsed())).ok()
    }

    /// Presses Ctrl-C and waits for the end; returns all lines.
    ///
    /// # Panics
    /// When the process fails.
    pub fn interrupt(self) -> Vec<String> {
        self.end_with(&["INT"])
    }

    /// Sends signals within a few milliseconds, and waits for the end; returns all lines.
    ///
    /// # Panics
    /// When the process fails.
    pub fn end_with(self, signals: &[&str]) -> Vec<String> {
        let pid = self.child.id();
        let each = signals.iter().map(|signal| format!("kill -{signal} {pid}"));
        // The process may have ended before the last signal.
        let script = format!("{}; :", each.collect::<Vec<_>>().join("; "));
        let sent = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
        assert!(sent.is_ok_and(|ended| ended.success()));
        let (code, said) = self.finish();
        assert_eq!(code, Some(0), "{said:#?}");
        said
    }

    /// Waits for the end; returns the exit code and all lines.
    ///
    /// # Panics
    /// When the process does not end.
    pub fn finish(mut self) -> (Option<i32>, Vec<String>) {
        let started = Instant::now();
        while self.child.try_wait().expect("it is a child").is_none() {
            assert!(started.elapsed() < WATCHDOG, "it does not end: {:#?}", self.said);
            std::thread::sleep(Duration::from_millis(10));
        }
        let code = self.child.wait().expect("it is a child").code();
        while let Ok(line) = self.lines.recv() {
            self.said.push(line);
        }
        (code, std::mem::take(&mut self.said))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
