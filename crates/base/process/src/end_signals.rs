//! Waits for a child in a process that may receive a signal to end: the child ends first, so that
//! the process leaves no child behind.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};

use crate::{ChildGroup, hangup_to_handle};

/// How often to check for a signal.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The time that a child may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// The bytes of output that are read at once.
const READ_BYTES: usize = 64 << 10;

/// The last signal that this process has received of those that end a process: SIGINT, SIGTERM,
/// SIGQUIT and SIGHUP. Clones share it. The default value receives no signals.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::process::{Command, Stdio};
///
/// use feros_process::{ChildGroup, EndSignals, Followed};
///
/// let mut echo = ChildGroup::spawn(Command::new("echo").arg("hello").stdout(Stdio::piped()))?;
/// let (_, output, _) = echo.take_pipes();
/// let mut text = Vec::new();
/// let followed = EndSignals::receive()?.follow(&mut echo, output.unwrap(), |bytes| {
///     text.extend_from_slice(bytes);
///     ControlFlow::Continue(())
/// })?;
/// assert!(matches!(followed, Followed::Ended(status) if status.success()));
/// assert_eq!(text, b"hello\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EndSignals(Arc<AtomicUsize>);

/// The reason why [`EndSignals::follow`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The output and the child have ended.
    Ended(ExitStatus),
    /// `take` returned `Break`, so the group was killed.
    Refused,
    /// This process received a signal with this number, so the group was ended.
    Signalled(i32),
}

impl EndSignals {
    /// From now on, these signals no longer end the process by themselves: when
    /// [`received`](Self::received) returns a signal, the caller has to end the process. SIGHUP
    /// stays ignored if the process ignores it.
    ///
    /// # Errors
    /// If the system refuses a handler.
    pub fn receive() -> io::Result<Self> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM, SIGQUIT].into_iter().chain(hangup_to_handle()) {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&signals.0), number)?;
        }
        Ok(signals)
    }

    /// The number of the last signal, if there was any.
    pub fn received(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }

    /// Calls `take` with the output of a child until the output ends, and waits for the child. If a
    /// signal arrives, `take` gets no further output, and all processes of the group get SIGTERM;
    /// after two seconds, or when the child and the output have ended, they get SIGKILL. Call this
    /// only before any other wait for the child.
    ///
    /// # Errors
    /// If the output cannot be read, or the exit status of the child is lost; the child is then
    /// killed when it is dropped.
    pub fn follow(
        &self,
        child: &mut ChildGroup,
        mut output: impl Read + AsFd,
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> io::Result<Followed> {
        let mut buffer = vec![0; READ_BYTES];
        let mut is_open = true;
        loop {
            if let Some(signal) = self.received() {
                end(child, is_open.then_some(&mut output), &mut buffer)?;
                return Ok(Followed::Signalled(signal));
            }
            if !is_open {
                if let Some(status) = child.wait_until(Instant::now() + LOOK_INTERVAL)? {
                    return Ok(Followed::Ended(status));
                }
                continue;
            }
            match read_soon(&mut output, &mut buffer)? {
                None => {}
                Some(0) => is_open = false,
                Some(count) if take(&buffer[..count]).is_break() => {
                    child.kill_group()?;
                    return Ok(Followed::Refused);
                }
                Some(_) => {}
            }
        }
    }
}

/// Ends all processes of a group. The caller must not have waited for the child before: the process
/// id of the child is also the id of the group, and the system may reuse it after such a wait.
fn end(
    child: &mut ChildGroup,
    mut output: Option<&mut (impl Read + AsFd)>,
    buffer: &mut [u8],
) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + GRACE;
    child.signal(Signal::TERM);
    while Instant::now() < deadline && (output.is_some() || !child.has_ended()) {
        match output.as_deref_mut() {
            // The output is read and dropped: a process that is blocked because the pipe is full
            // could not go on, and so could not end by itself.
            Some(open) => {
                if matches!(read_soon(open, buffer), Ok(Some(0)) | Err(_)) {
                    output = None;
                }
            }
            None => thread::sleep(LOOK_INTERVAL),
        }
    }
    child.kill_group()
}

/// Reads the output that arrives within [`LOOK_INTERVAL`]; returns `None` if no output arrives, and
/// 0 at the end of the output.
fn read_soon(output: &mut (impl Read + AsFd), buffer: &mut [u8]) -> io::Result<Option<usize>> {
    let limit = Timespec::try_from(LOOK_INTERVAL).ok();
    match poll(&mut [PollFd::new(&*output, PollFlags::IN)], limit.as_ref()) {
        Ok(0) | Err(Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match output.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use feros_test_support::until;

    use super::*;

    /// Follows a shell, and receives a signal when the shell has printed a line; returns the
    /// output.
    fn ended_at_its_first_line(script: &str) -> (Followed, String) {
        let mut command = Command::new("sh");
        let command = command.args(["-c", script]).stdout(Stdio::piped());
        let mut child = ChildGroup::spawn(command).unwrap();
        let (_, output, _) = child.take_pipes();
        let (signals, mut text) = (EndSignals::default(), Vec::new());
        let followed = signals.follow(&mut child, output.unwrap(), |bytes| {
            text.extend_from_slice(bytes);
            if text.contains(&b'\n') {
                signals.0.store(15, Ordering::SeqCst);
            }
            ControlFlow::Continue(())
        });
        (followed.unwrap(), String::from_utf8(text).unwrap())
    }

    /// Whether a process runs. A zombie has ended, even if its parent never waits for it.
    fn runs(process: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
    }

    #[test]
    fn a_signal_ends_all_processes_of_the_group() {
        for script in [
            "sleep 600 & echo $!; wait",
            // The child ends, and the process that it started keeps the output open.
            "sleep 600 & echo $!",
            "sleep 600 >/dev/null & echo $!",
            "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & echo $!; wait",
            "exec sh -c 'echo $$; exec >/dev/null; sleep 600'",
        ] {
            let (followed, started) = ended_at_its_first_line(script);
            assert_eq!(followed, Followed::Signalled(15), "{script}");
            until("the end of the group", || !runs(started.trim()));
        }
    }

    #[test]
    fn output_without_end_hinders_no_signal_and_may_be_refused() {
        assert_eq!(ended_at_its_first_line("yes").0, Followed::Signalled(15));
        let deaf = "trap '' TERM; echo; while :; do echo more; done";
        assert_eq!(ended_at_its_first_line(deaf).0, Followed::Signalled(15));
        let mut yes = ChildGroup::spawn(Command::new("yes").stdout(Stdio::piped())).unwrap();
        let (_, output, _) = yes.take_pipes();
        let refuse = |_: &[u8]| ControlFlow::Break(());
        let followed = EndSignals::default().follow(&mut yes, output.unwrap(), refuse).unwrap();
        assert_eq!(followed, Followed::Refused);
        assert!(yes.status().is_some());
    }

    #[test]
    fn a_child_that_ends_is_waited_for() {
        let mut command = Command::new("sh");
        let script = "echo a; exec >/dev/null; sleep 0.1; exit 3";
        let command = command.args(["-c", script]).stdout(Stdio::piped());
        let mut child = ChildGroup::spawn(command).unwrap();
        let (_, output, _) = child.take_pipes();
        let mut text = Vec::new();
        let followed = EndSignals::default().follow(&mut child, output.unwrap(), |bytes| {
            text.extend_from_slice(bytes);
            ControlFlow::Continue(())
        });
        let Followed::Ended(status) = followed.unwrap() else { panic!("it was not ended") };
        assert_eq!((status.code(), &text[..]), (Some(3), &b"a\n"[..]));
    }

    #[test]
    fn signals_are_received() {
        let signals = EndSignals::receive().unwrap();
        assert_eq!(signals.clone().received(), None);
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!((signals.received(), EndSignals::default().received()), (Some(SIGTERM), None));
    }
}
