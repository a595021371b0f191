//! The container's side of a component's process: starts the process, reads its frames, and ends
//! it.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, net};

use feros_process::{ChildGroup, Ending, Signal, described};

use super::wire::Frame;
use feros_sync::Mutex;

use crate::placement::{Code, Done, Running, StartRequest, Started, on_thread};

/// The argument that marks a child process, which is not a container.
pub(crate) const CHILD_FLAG: &str = "--component-child";

/// The time that a child may take to end after its socket has been closed, before it gets SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a child may take to end after SIGTERM, before it gets SIGKILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// How often to check whether the container has asked a child to end that closed its socket and
/// still runs.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The state of a child, which the container and the supervising thread share.
#[derive(Default)]
struct Lifecycle {
    /// Called when the child has ended; set when the container asks the child to end.
    on_end: Option<Box<dyn FnOnce() + Send>>,
    has_ended: bool,
}

/// Starts this program again, with these arguments, as a child for a component, and a thread that
/// supervises the child.
pub(super) fn start(
    arguments: &[String],
    start_request: StartRequest,
    request: Vec<u8>,
    done: Done,
) {
    let spawned = spawn(arguments);
    let (child, socket) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            return done(Err(format!("a process for the component could not be started: {error}")));
        }
    };
    // If the thread cannot be started, the closure is dropped together with the socket, and the
    // child ends.
    on_thread(format!("child-{}", child.id()), "the component's process", done, move |done| {
        supervise(child, socket, start_request, request, done);
    });
}

fn spawn(arguments: &[String]) -> io::Result<(ChildGroup, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.args(arguments).stdin(Stdio::from(OwnedFd::from(theirs)));
    // Ctrl-C reaches only the container, which ends its components in order.
    Ok((ChildGroup::spawn(&mut command)?, ours))
}

/// Follows a child from its first frame to the end of its process.
fn supervise(
    mut child: ChildGroup,
    mut socket: UnixStream,
    start_request: StartRequest,
    request: Vec<u8>,
    done: Done,
) {
    let state = Arc::new(Mutex::new(Lifecycle::default()));
    let library = match &start_request.code {
        Code::Library(path) => path.as_os_str().as_bytes().to_vec(),
        Code::Shipped | Code::Python { .. } => Vec::new(),
    };
    let mut frame = Frame::Start { library, request }
        .write(&mut socket)
        .and_then(|()| Frame::read(&mut socket));
    let mut done = Some(done);
    let mut failure = None;
    if let Ok(Some(Frame::Started { name })) = &frame {
        match socket.try_clone() {
            Ok(socket) => {
                let running = Box::new(ProcessRunning { socket, state: state.clone() });
                let started = Started { name: name.clone(), running };
                done.take().expect("nothing took it yet")(Ok(started));
            }
            Err(error) => failure = Some(format!("its process cannot be supervised: {error}")),
        }
        if done.is_none() {
            frame = Frame::read(&mut socket);
        }
    }
    match frame {
        Ok(Some(Frame::Refused { text })) => failure = Some(text),
        Ok(Some(Frame::Panicked { text })) => {
            failure = Some(format!("a callback panicked: {text}"))
        }
        Ok(Some(_)) => failure = failure.or(Some("its process sent an unexpected frame".into())),
        Ok(None) => {}
        Err(error) => failure = Some(format!("the frames of its process cannot be read: {error}")),
    }
    let was_refused = done.is_some() && failure.is_some();
    drop(socket); // tells the child to end, if it still runs
    let end = describe(wait(&mut child, || state.lock().on_end.is_some()));
    let on_end = {
        let mut state = state.lock();
        state.has_ended = true;
        state.on_end.take()
    };
    match (done, on_end) {
        (Some(done), _) if was_refused => done(Err(failure.unwrap_or_default())),
        (Some(done), _) => {
            done(Err(format!(
                "Component constructor threw an exception: the process of the component {end}"
            )));
        }
        (None, Some(on_end)) => on_end(),
        (None, None) => {
            (start_request.on_failure)(failure.unwrap_or_else(|| format!("its process {end}")))
        }
    }
}

/// Waits until a child has ended. If the container has asked it to end, it gets signals when it
/// does not end in time.
pub(crate) fn wait(
    child: &mut ChildGroup,
    is_asked_to_end: impl Fn() -> bool,
) -> io::Result<ExitStatus> {
    let mut ending = None;
    loop {
        if ending.is_none() && is_asked_to_end() {
            let steps = [(STOP_TIMEOUT, Signal::TERM), (KILL_TIMEOUT, Signal::KILL)];
            ending = Some(Ending::begin(steps));
        }
        let due = ending.as_ref().and_then(Ending::due);
        let next_look = due.unwrap_or_else(|| Instant::now() + LOOK_INTERVAL);
        if let Some(status) = child.wait_until(next_look)? {
            return Ok(status);
        }
        if let Some(signal) = ending.as_mut().and_then(Ending::next_if_due) {
            tracing::warn!("the process of a component does not end, so it gets {signal:?}");
            child.signal_child(signal);
        }
    }
}

/// Describes how a process ended, as the end of a sentence.
pub(crate) fn describe(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) if status.code().is_some() => format!("ended with {}", described(status)),
        Ok(status) => format!("was ended by {}", described(status)),
        Err(error) => format!("ended in an unknown way: {error}"),
    }
}

struct ProcessRunning {
    socket: UnixStream,
    state: Arc<Mutex<Lifecycle>>,
}

impl Running for ProcessRunning {
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>) {
        {
            let mut state = self.state.lock();
            if state.has_ended {
                drop(state);
                return done();
            }
            state.on_end = Some(done);
        }
        // This ends the supervising thread's read. An error means that the child has ended already,
        // which that thread notices.
        drop(self.socket.shutdown(net::Shutdown::Both));
    }
}
