//! Programs run with a time limit. What was started is ended by its own process id, whatever
//! happens to the caller.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program could not be started.
    #[error("{program} did not start: {source}")]
    Start {
        /// The program as it was called.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program was still running at the end of its time and was ended.
    #[error("{program} did not end within {} s and was ended; it had said: {stderr}", limit.as_secs())]
    TimeOver {
        /// The program as it was called.
        program: String,
        /// The time that it had.
        limit: Duration,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The program ended with an exit code that says failure, or by a signal.
    #[error("{program} failed ({status}): {stderr}")]
    Failed {
        /// The program as it was called.
        program: String,
        /// Exit code or signal.
        status: ExitStatus,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// Waiting for the program or reading from it failed.
    #[error("{program} was lost: {source}")]
    Lost {
        /// The program as it was called.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A running program; dropping it ends it.
#[derive(Debug)]
pub struct Running {
    program: String,
    child: Child,
    began: Instant,
    stdout: Option<JoinHandle<io::Result<String>>>,
    stderr: Option<JoinHandle<io::Result<String>>>,
}

impl Running {
    /// Starts `command` without standard input; its output is collected.
    ///
    /// # Errors
    /// [`RunError::Start`] when there is no such program or no process to be had.
    pub fn start(command: &mut Command) -> Result<Self, RunError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let start_error = |source| RunError::Start { program: program.clone(), source };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(start_error)?;
        let stdout = child.stdout.take().map(|pipe| collect(pipe, "bench-stdout"));
        let stderr = child.stderr.take().map(|pipe| collect(pipe, "bench-stderr"));
        Ok(Self {
            program: program.clone(),
            child,
            began: Instant::now(),
            stdout: stdout.transpose().map_err(start_error)?,
            stderr: stderr.transpose().map_err(start_error)?,
        })
    }

    /// Waits until the program has ended, at most `limit` after its start, and returns its standard
    /// output.
    ///
    /// # Errors
    /// [`RunError::TimeOver`], after ending the program; [`RunError::Failed`] when it did not exit
    /// with 0.
    pub fn finish(mut self, limit: Duration) -> Result<String, RunError> {
        let lost = |program: &str| {
            let program = program.to_owned();
            move |source| RunError::Lost { program, source }
        };
        let status = loop {
            if let Some(status) = self.child.try_wait().map_err(lost(&self.program))? {
                break status;
            }
            if self.began.elapsed() >= limit {
                self.end();
                // A process that this one started may still hold the pipe open: what is not there
                // yet is not waited for.
                let stderr = match &self.stderr {
                    Some(reader) if reader.is_finished() => {
                        text_of(&mut self.stderr).unwrap_or_default()
                    }
                    _ => String::new(),
                };
                return Err(RunError::TimeOver { program: self.program.clone(), limit, stderr });
            }
            // Rare enough not to disturb what is being measured beside this process.
            thread::sleep(Duration::from_millis(50));
        };
        let stdout = text_of(&mut self.stdout).map_err(lost(&self.program))?;
        let stderr = text_of(&mut self.stderr).map_err(lost(&self.program))?;
        if status.success() {
            return Ok(stdout);
        }
        Err(RunError::Failed {
            program: self.program.clone(),
            status,
            stderr: stderr.trim().to_owned(),
        })
    }

    /// Whether the program has not ended yet.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn end(&mut self) {
        // Both only fail when the program has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

fn collect(
    mut pipe: impl Read + Send + 'static,
    name: &str,
) -> io::Result<JoinHandle<io::Result<String>>> {
    thread::Builder::new().name(name.into()).spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    })
}

fn text_of(reader: &mut Option<JoinHandle<io::Result<String>>>) -> io::Result<String> {
    match reader.take() {
        Some(reader) => {
            reader.join().map_err(|_| io::Error::other("the reading thread panicked"))?
        }
        None => Ok(String::new()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_of_a_program_that_succeeds() {
        let running = Running::start(&mut shell("echo hello; echo noise >&2")).unwrap();
        assert_eq!(running.finish(Duration::from_secs(60)).unwrap(), "hello\n");
    }

    #[test]
    fn failure_carries_exit_code_and_reason() {
        let error = Running::start(&mut shell("echo why >&2; exit 3"))
            .unwrap()
            .finish(Duration::from_secs(60));
        let message = error.unwrap_err().to_string();
        assert!(message.contains("exit status: 3") && message.contains("why"), "{message}");
    }

    #[test]
    fn program_that_hangs_is_ended() {
        let running = Running::start(&mut shell("exec sleep 600")).unwrap();
        let process = format!("/proc/{}", running.child.id());
        assert!(std::path::Path::new(&process).exists());
        let mut running = running;
        assert!(running.is_running());
        let error = running.finish(Duration::from_millis(100)).unwrap_err();
        assert!(matches!(error, RunError::TimeOver { .. }), "{error}");
        assert!(!std::path::Path::new(&process).exists());
    }

    #[test]
    fn missing_program_is_named() {
        let error = Running::start(&mut Command::new("/nonexistent/program")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/program"), "{error}");
    }
}
