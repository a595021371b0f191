//! The container's side of a component's process: starts the process, reads its frames, and ends
//! it.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{io, net, thread};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::wire::Frame;
use feros_sync::{Condvar, Mutex};

use crate::placement::{Done, Running, StartRequest, Started};

/// The argument that marks a child process, which is not a container.
pub(crate) const CHILD_FLAG: &str = "--component-child";

/// The time that a child may take to end after its socket has been closed, before it gets SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a child may take to end after SIGTERM, before it gets SIGKILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of a child that the container and the supervising thread share.
#[derive(Default)]
struct Shared {
    state: Mutex<Lifecycle>,
    ended: Condvar,
}

#[derive(Default)]
struct Lifecycle {
    /// Called when the child has ended.
    on_end: Vec<Box<dyn FnOnce() + Send>>,
    stop_requested: bool,
    has_ended: bool,
}

/// Starts a child for a component, and a thread that supervises it.
pub(super) fn start(
    ros_arguments: Vec<String>,
    start_request: StartRequest,
    request: Vec<u8>,
    done: Done,
) {
    let spawned = spawn(&ros_arguments);
    let (child, socket) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            return done(Err(format!("a process for the component could not be started: {error}")));
        }
    };
    let done = Arc::new(Mutex::new(Some(done)));
    let inside = done.clone();
    let supervisor = thread::Builder::new().name(format!("child-{}", child.id()));
    let spawned = supervisor.spawn(move || {
        let done = inside.lock().take();
        let done =
            done.expect("the thread is spawned once, and only its failure takes this before");
        supervise(child, socket, start_request, request, done);
    });
    // If the thread cannot be started, the closure is dropped together with the socket, and the
    // child ends.
    if let Err(error) = spawned
        && let Some(done) = done.lock().take()
    {
        done(Err(format!(
            "a thread for the component's process could not be started: {error}; end other threads, or raise `ulimit -u`"
        )));
    }
}

fn spawn(ros_arguments: &[String]) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new("/proc/self/exe")
        .arg(CHILD_FLAG)
        .args(ros_arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        // Ctrl-C must reach only the container, which ends its components in order.
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}

/// Follows a child from its first frame to the end of its process.
fn supervise(
    mut child: Child,
    mut socket: UnixStream,
    start_request: StartRequest,
    request: Vec<u8>,
    done: Done,
) {
    let shared = Arc::new(Shared::default());
    let library = start_request.library.as_os_str().as_bytes().to_vec();
    let mut frame = Frame::Start { library, request }
        .write(&mut socket)
        .and_then(|()| Frame::read(&mut socket));
    let mut done = Some(done);
    let mut failure = None;
    if let Ok(Some(Frame::Started { name })) = &frame {
        let running = ProcessRunning::new(&child, &socket, &shared);
        match running {
            Ok(running) => {
                let started = Started { name: name.clone(), running: Box::new(running) };
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
    drop(socket); // makes the child end, if it is still running
    let end = describe(child.wait());
    let on_end = {
        let mut state = shared.state.lock();
        state.has_ended = true;
        shared.ended.notify_all();
        state.stop_requested.then(|| std::mem::take(&mut state.on_end))
    };
    match (done, on_end) {
        (Some(done), _) if was_refused => done(Err(failure.unwrap_or_default())),
        (Some(done), _) => {
            done(Err(format!(
                "Component constructor threw an exception: the process of the component {end}"
            )));
        }
        (None, Some(on_end)) => on_end.into_iter().for_each(|done| done()),
        (None, None) => {
            (start_request.on_failure)(failure.unwrap_or_else(|| format!("its process {end}")))
        }
    }
}

/// Describes how a process ended, as the end of a sentence.
fn describe(status: io::Result<ExitStatus>) -> String {
    let status = match status {
        Ok(status) => status,
        Err(error) => return format!("ended in an unknown way: {error}"),
    };
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("was ended by {name}"),
            None => format!("was ended by signal {signal}"),
        },
        (None, None) => format!("ended with {status}"),
    }
}

struct ProcessRunning {
    /// Refers to the process even after the process has ended, so that a signal never reaches
    /// another process.
    pidfd: OwnedFd,
    socket: UnixStream,
    shared: Arc<Shared>,
}

impl ProcessRunning {
    fn new(child: &Child, socket: &UnixStream, shared: &Arc<Shared>) -> io::Result<Self> {
        let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        Ok(Self { pidfd, socket: socket.try_clone()?, shared: shared.clone() })
    }

    /// Ends the process by signals if it does not end in time.
    fn escalate(&self) {
        for (timeout, signal) in [(STOP_TIMEOUT, Signal::TERM), (KILL_TIMEOUT, Signal::KILL)] {
            let state = self.shared.state.lock();
            let state =
                self.shared.ended.wait_timeout_while(state, timeout, |state| !state.has_ended);
            if state.has_ended {
                return;
            }
            drop(state);
            tracing::warn!("the process of a component does not end: it gets {signal:?}");
            // An error means that the process has ended in the meantime, which is fine.
            let _ = pidfd_send_signal(&self.pidfd, signal);
        }
    }
}

impl Running for ProcessRunning {
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>) {
        {
            let mut state = self.shared.state.lock();
            if state.has_ended {
                drop(state);
                return done();
            }
            state.stop_requested = true;
            state.on_end.push(done);
        }
        // An error means that the child has ended already, which the supervising thread notices.
        drop(self.socket.shutdown(net::Shutdown::Both));
        let spawned =
            thread::Builder::new().name("end-child".into()).spawn(move || self.escalate());
        if let Err(error) = spawned {
            tracing::warn!("a component's process cannot be supervised while it ends: {error}");
        }
    }
}
