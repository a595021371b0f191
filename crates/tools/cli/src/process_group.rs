//! The processes that a command starts: their lines arrive in one queue, and no process is left
//! behind.
//!
//! Each child has its input on a pipe, and ends when its input does. A child that does not end is
//! killed after [`LEAVE_LIMIT`], with the processes that it started. SIGINT, SIGTERM and SIGHUP to
//! the command arrive in the same queue, so that the command can end its children before itself;
//! Ctrl-C does not reach the children.

use std::io::{self, BufRead, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use feros::Context;
use feros_process::{ChildGroup, hangup_to_handle, read_lines};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::error::CliError;

/// How long a child may take to end after its input has ended.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);

/// The limit on lines that wait to be read; a child that prints more lines has to wait.
const QUEUE_DEPTH: usize = 1024;

/// A longer line of a child counts as several lines.
const LONGEST_LINE_BYTES: usize = 1 << 20;

/// An event of a process of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProcessEvent {
    /// A child printed a line.
    Line(Member, String),
    /// A child's output ended: it is ending.
    Ended(Member),
    /// The user wants to end the command.
    Interrupted,
    /// No event came until the deadline.
    Timeout,
}

/// A child of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Member(usize);

/// A group of child processes. Dropping the group ends all of them.
pub(crate) struct ProcessGroup {
    children: Vec<Running>,
    sender: SyncSender<ProcessEvent>,
    events: Receiver<ProcessEvent>,
    signals: Handle,
}

struct Running {
    name: String,
    process: ChildGroup,
    input: Option<ChildStdin>,
}

impl ProcessGroup {
    /// Creates a group without children. From now on SIGINT, SIGTERM and SIGHUP are its events.
    pub(crate) fn new() -> io::Result<Self> {
        let (sender, events) = sync_channel(QUEUE_DEPTH);
        let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup_to_handle()))?;
        let handle = signals.handle();
        let interrupted = sender.clone();
        thread::Builder::new().name("group-signals".into()).spawn(move || {
            for _ in &mut signals {
                if interrupted.send(ProcessEvent::Interrupted).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { children: Vec::new(), sender, events, signals: handle })
    }

    /// Starts a child. Its standard error is that of this process.
    pub(crate) fn start(&mut self, name: &str, command: &mut Command) -> io::Result<Member> {
        let mut process = ChildGroup::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let (input, output, _) = process.take_pipes();
        let member = Member(self.children.len());
        self.children.push(Running { name: name.to_owned(), process, input });
        let output = output.expect("standard output was asked to be a pipe");
        let sender = self.sender.clone();
        read_lines("group-output", output, LONGEST_LINE_BYTES, move |line| {
            let ended = ProcessEvent::Ended(member);
            // After the group is dropped, nobody receives events.
            let _ = sender.send(line.map_or(ended, |line| ProcessEvent::Line(member, line)));
        })?;
        Ok(member)
    }

    /// The name that a child was started under.
    pub(crate) fn name(&self, member: Member) -> &str {
        &self.children[member.0].name
    }

    /// The process of a child.
    #[cfg(test)]
    fn process_id(&self, member: Member) -> u32 {
        self.children[member.0].process.id()
    }

    /// Sends a line to a child. A child that is ending does not read it, which shows as
    /// [`ProcessEvent::Ended`].
    pub(crate) fn tell(&mut self, member: Member, line: &dyn std::fmt::Display) {
        if let Some(input) = &mut self.children[member.0].input {
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// Returns the next event, waiting for it until `deadline`.
    pub(crate) fn next(&self, deadline: Instant) -> ProcessEvent {
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => event,
            // The group itself holds a sender.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                ProcessEvent::Timeout
            }
        }
    }

    /// Makes a child end, and returns its exit status.
    pub(crate) fn end(&mut self, member: Member) -> io::Result<ExitStatus> {
        let child = &mut self.children[member.0];
        drop(child.input.take());
        child.wait_until(Instant::now() + LEAVE_LIMIT)
    }

    /// Makes all children end at the same time.
    pub(crate) fn end_all(&mut self) {
        for child in &mut self.children {
            drop(child.input.take());
        }
        let deadline = Instant::now() + LEAVE_LIMIT;
        for child in &mut self.children {
            // A child that cannot be waited for no longer belongs to this process.
            let _ = child.wait_until(deadline);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end_all();
        self.signals.close();
    }
}

impl Running {
    /// Waits for the child's end and kills it at `deadline`.
    fn wait_until(&mut self, deadline: Instant) -> io::Result<ExitStatus> {
        self.process.wait_until(deadline)?.map_or_else(|| self.process.kill(), Ok)
    }
}

/// Passes each line of this process's input to `on_line`, on a thread of its own; the end of the
/// input shuts the context down.
pub(crate) fn listen_to_lines(
    context: &Context,
    mut on_line: impl FnMut(&str) + Send + 'static,
) -> Result<(), CliError> {
    let context = context.clone();
    thread::Builder::new().name("orders".into()).spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            on_line(&line);
        }
        drop(on_line);
        leave(context);
    })?;
    Ok(())
}

/// Ends this process because its coordinator requests that or has ended, even if a thread hangs.
fn leave(context: Context) -> ! {
    context.shutdown();
    drop(context);
    thread::sleep(LEAVE_LIMIT);
    std::process::exit(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A watchdog; the test does not expect to wait this long.
    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_and_the_end_come_in_order() {
        let mut group = ProcessGroup::new().unwrap();
        let child =
            group.start("echo", &mut shell("read line; echo \"heard $line\"; exit 3")).unwrap();
        group.tell(child, &"hello");
        assert_eq!(group.next(later()), ProcessEvent::Line(child, "heard hello".into()));
        assert_eq!(group.next(later()), ProcessEvent::Ended(child));
        assert_eq!(group.end(child).unwrap().code(), Some(3));
        assert_eq!(group.name(child), "echo");
    }

    #[test]
    fn the_end_of_its_input_ends_a_child_that_listens() {
        let mut group = ProcessGroup::new().unwrap();
        let child = group.start("cat", &mut shell("exec cat")).unwrap();
        assert_eq!(group.next(Instant::now()), ProcessEvent::Timeout);
        assert!(group.end(child).unwrap().success());
    }

    #[test]
    fn a_child_that_does_not_listen_is_killed() {
        let mut group = ProcessGroup::new().unwrap();
        let child = group.start("deaf", &mut shell("exec sleep 600")).unwrap();
        let process = format!("/proc/{}", group.process_id(child));
        assert!(Path::new(&process).exists());
        group.children[child.0].wait_until(Instant::now()).unwrap();
        assert!(!Path::new(&process).exists());
    }

    #[test]
    fn dropping_the_family_ends_all() {
        let mut group = ProcessGroup::new().unwrap();
        let children = [(); 3].map(|()| group.start("cat", &mut shell("exec cat")).unwrap());
        let processes = children.map(|child| format!("/proc/{}", group.process_id(child)));
        drop(group);
        assert!(processes.iter().all(|process| !Path::new(process).exists()));
    }
}
