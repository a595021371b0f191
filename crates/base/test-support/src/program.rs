//! A program that a test runs to its end, and the processes that it leaves.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::background::spawn;

/// The result of a program.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub err: String,
}

impl Ended {
    /// The standard output of a program that must have succeeded.
    ///
    /// # Panics
    /// When it failed.
    #[track_caller]
    pub fn success(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.out
    }

    /// The last line of a program that must have ended with this code, and with an empty standard
    /// output.
    ///
    /// # Panics
    /// When it ended in another way.
    #[track_caller]
    pub fn failure(&self, code: i32) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        self.err.lines().last().unwrap_or_default()
    }
}

/// A running program, without input. Dropping it kills the program.
pub struct Program {
    child: Child,
    output: Option<[JoinHandle<String>; 2]>,
}

impl Program {
    /// Starts a program and reads its output on threads.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let out = read(child.stdout.take().expect("it is piped"));
        let err = read(child.stderr.take().expect("it is piped"));
        Self { child, output: Some([out, err]) }
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// When the program does not end within the time `longest`.
    pub fn finish(mut self, longest: Duration) -> Ended {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is a child") {
                break status;
            }
            assert!(began.elapsed() < longest, "the program does not end");
            thread::sleep(Duration::from_millis(10));
        };
        let output = self.output.take().expect("it is there until the end");
        let [out, err] = output.map(|text| text.join().expect("UTF-8"));
        Ended { code: status.code(), out, err }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    spawn("output", move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).expect("UTF-8");
        text
    })
}

/// The processes of this host whose environment has this value of a variable, which child processes
/// inherit.
///
/// # Panics
/// When `/proc` cannot be read.
pub fn processes_with(variable: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{variable}={value}").into_bytes();
    let ids = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // The environment of a process that has ended, or belongs to another user, cannot be read.
    ids.filter(|id| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted)
    })
    .collect()
}
