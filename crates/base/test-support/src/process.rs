//! A second process for a test, which the test talks to line by line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process that receives commands line by line, and reports when it has finished a command.
/// Dropping this value kills the process.
pub struct TestProcess {
    child: Child,
    input: Option<ChildStdin>,
    says: BufReader<ChildStdout>,
}

impl TestProcess {
    /// Starts the test program that `command` runs, with only the test `test`. For example, the
    /// command may run the program on another host or with other environment variables.
    ///
    /// # Panics
    /// Panics if the process cannot be started.
    #[must_use]
    pub fn start(mut command: Command, test: &str) -> Self {
        command.args([test, "--exact", "--nocapture"]);
        Self::of(command)
    }

    /// Starts another program.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let says = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { input: child.stdin.take(), says, child }
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process with SIGKILL. Afterwards its id may belong to another process.
    ///
    /// # Panics
    /// When the process cannot be killed.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is a child");
        self.child.wait().expect("it is a child");
    }

    /// Returns the next line that the process prints.
    ///
    /// # Panics
    /// Panics if the process has ended, or the line is not UTF-8.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.says.read_line(&mut line).expect("UTF-8");
        assert_ne!(read, 0, "the process ended");
        line.truncate(line.trim_end().len());
        line
    }

    /// Reads lines until one contains `begin`, and returns the text after it.
    ///
    /// # Panics
    /// Panics if the process ends without such a line.
    pub fn said(&mut self, begin: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.says.read_line(&mut line).expect("UTF-8"), 0, "{begin} is said");
            if let Some((_, rest)) = line.split_once(begin) {
                return rest.trim_end().to_owned();
            }
        }
    }

    /// Sends a command to the process.
    ///
    /// # Panics
    /// Panics if the process has ended.
    pub fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().expect("there until the end");
        writeln!(input, "{line}").expect("the process reads it");
    }

    /// Sends a line, and returns the next line that the process prints.
    ///
    /// # Panics
    /// When the process has ended.
    pub fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.line()
    }

    /// Sends a command to a process that [`obey`]s, and waits until the command is done.
    ///
    /// # Panics
    /// Panics if the process ends before the command is done.
    pub fn command(&mut self, word: &str) {
        self.tell(word);
        while self.line() != word {}
    }

    /// Closes the input of the process, and waits until the process has ended successfully.
    ///
    /// # Panics
    /// Panics if the process ends with a failure.
    pub fn end(mut self) {
        self.input = None;
        self.says.read_to_end(&mut Vec::new()).expect("a pipe is read");
        assert!(self.child.wait().expect("it is a child").success());
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        let _ = self.child.kill(); // the process may already have ended
        let _ = self.child.wait();
    }
}

/// This function is for the code in the other process. It prints that the process is ready, and
/// then handles each line of the input as a command. When a command is done, it prints the command
/// again. It returns when the input ends.
///
/// # Panics
/// Panics if the input is not UTF-8.
pub fn obey(mut handle: impl FnMut(&str)) {
    println!("ready");
    for line in std::io::stdin().lines() {
        let line = line.expect("UTF-8");
        handle(&line);
        println!("{line}");
    }
}
