//! A child process and the processes that it starts.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions};
use rustix::process::{kill_process, kill_process_group, pidfd_open, waitid, waitpgid};

/// How often to check for the end of a child where the system refuses pidfds.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A child process that leads a process group, to which the processes that it starts belong. The
/// signals of a terminal do not reach it. Dropping this value kills the group, unless the child has
/// ended.
#[derive(Debug)]
pub struct ChildGroup(Child);

impl ChildGroup {
    /// Starts the child.
    ///
    /// # Errors
    /// Returns the errors of [`Command::spawn`].
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    /// The process id of the child.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Takes the ends of those of the child's pipes that the command asked for.
    pub fn take_pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.0.stdin.take(), self.0.stdout.take(), self.0.stderr.take())
    }

    /// The exit status, if the child has ended. Other processes of the group may still run.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Waits until the child ends, or until `deadline`. Returns the exit status if the child has
    /// ended.
    ///
    /// # Errors
    /// Returns an error if the exit status is lost, because other code of this process has already
    /// waited for the child, or because the process ignores SIGCHLD.
    pub fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let pidfd = pidfd_open(Pid::from_child(&self.0), PidfdFlags::empty());
        loop {
            let status = self.0.try_wait()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if status.is_some() || left.is_zero() {
                return Ok(status);
            }
            if let Ok(pidfd) = &pidfd {
                let mut ended = [PollFd::new(pidfd, PollFlags::IN)];
                // The next turn finds out what has ended the wait.
                let _ = poll(&mut ended, Timespec::try_from(left).ok().as_ref());
            } else {
                thread::sleep(left.min(LOOK_INTERVAL));
            }
        }
    }

    /// Sends a signal to the child alone, unless it has ended.
    pub fn signal_child(&mut self, signal: Signal) {
        if matches!(self.0.try_wait(), Ok(None)) {
            // This fails only if the child runs as another user by now.
            let _ = kill_process(Pid::from_child(&self.0), signal);
        }
    }

    /// Sends a signal to all processes of the group, also after the child has ended; returns
    /// whether there is such a process.
    ///
    /// After the child has ended, call this only while the group [has a
    /// process](Self::has_processes): then no other group can have its id.
    pub fn signal(&self, signal: Signal) -> bool {
        kill_process_group(Pid::from_child(&self.0), signal).is_ok()
    }

    /// Whether the group has a process. The caller must be a child subreaper, so that orphans
    /// become its children; otherwise this sees only the child. Reaps processes that have ended.
    pub fn has_processes(&mut self) -> bool {
        if self.status().is_none() {
            return true;
        }
        loop {
            match waitpgid(Pid::from_child(&self.0), WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                ended => return ended.is_ok(),
            }
        }
    }

    /// Whether the child has ended. This does not wait for the child, so that its group keeps the
    /// id.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(&self.0)), options), Ok(None))
    }

    /// Kills all processes of the group, even if the child has ended, and waits for the child. Call
    /// this only if nobody has waited for the child.
    ///
    /// # Errors
    /// Returns the error of the wait.
    pub fn kill_group(&mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::KILL);
        let _ = self.0.kill(); // it may have left the group
        self.0.wait()
    }

    /// Kills all processes of the group, unless the child has ended, and waits for the child.
    ///
    /// # Errors
    /// Returns the errors of [`wait_until`](Self::wait_until).
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        match self.0.try_wait()? {
            Some(status) => Ok(status),
            None => self.kill_group(),
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        let _ = self.kill(); // this fails only if the child has ended and its status is lost
    }
}

/// The end of a process, in words: `exit code 3`, or the name of a signal.
pub fn described(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => name.to_owned(),
            None => format!("signal {signal}"),
        },
        (None, None) => "an unknown status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    use feros_test_support::{WATCHDOG, until};
    use rustix::process::{getpid, set_child_subreaper};

    use super::*;
    use crate::Ending;

    /// Starts a shell, and returns its first line.
    fn shell(script: &str) -> (ChildGroup, String) {
        let mut command = Command::new("sh");
        let mut child =
            ChildGroup::spawn(command.args(["-c", script]).stdout(Stdio::piped())).unwrap();
        let (_, output, _) = child.take_pipes();
        let line = BufReader::new(output.unwrap()).lines().next().unwrap().unwrap();
        (child, line)
    }

    /// Whether a process runs; nobody may wait for it when it has ended.
    fn runs(process: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
    }

    #[test]
    fn a_child_that_ignores_sigterm_ends_by_sigkill() {
        let (mut child, _) = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        let steps = [(Duration::ZERO, Signal::TERM), (Duration::from_millis(50), Signal::KILL)];
        let (mut ending, mut sent) = (Ending::begin(steps), Vec::new());
        let status = loop {
            sent.extend(ending.next_if_due().inspect(|signal| assert!(child.signal(*signal))));
            let deadline = ending.due().unwrap_or_else(|| Instant::now() + WATCHDOG);
            if let Some(status) = child.wait_until(deadline).unwrap() {
                break status;
            }
        };
        assert_eq!(sent, [Signal::TERM, Signal::KILL]);
        assert_eq!((described(status).as_str(), child.status()), ("SIGKILL", Some(status)));
        assert_eq!(child.kill().unwrap(), status, "a child that has ended gets no signal");
    }

    #[test]
    fn a_signal_to_the_child_alone_spares_the_processes_it_started() {
        let (mut child, started) = shell("sleep 600 & echo $!; wait");
        child.signal_child(Signal::TERM);
        let status = child.wait_until(Instant::now() + WATCHDOG).unwrap();
        assert_eq!(status.map(described).as_deref(), Some("SIGTERM"));
        assert!(runs(&started));
        assert!(child.signal(Signal::KILL), "the process that it started has the group's id");
        until("its end", || !runs(&started));
    }

    #[test]
    fn the_group_ends_with_its_owner() {
        let (child, started) = shell("sh -c 'sleep 600 & echo $!; wait'; exit 3");
        assert!(runs(&started));
        drop(child);
        until("the end of the child of a child", || !runs(&started));
    }

    #[test]
    fn a_subreaper_sees_what_a_child_leaves_behind() {
        set_child_subreaper(Some(getpid())).unwrap();
        let (mut child, _) = shell("sleep 600 & echo; exit 3");
        assert!(child.has_processes());
        let status = child.wait_until(Instant::now() + WATCHDOG).unwrap();
        assert_eq!(status.map(described).as_deref(), Some("exit code 3"));
        assert!(child.has_processes() && child.signal(Signal::KILL));
        until("an empty group", || !child.has_processes());
        assert!(!child.signal(Signal::KILL));
    }
}
