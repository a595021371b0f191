//! The container's side of a component's process: starts it, hears from it, sees its end, ends it.

use feros_sync::{Condvar, Mutex};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{io, net, thread};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::CHILD_FLAG;
use super::wire::Frame;
use crate::placement::{Done, Order, Running, Started};

/// A child that was told to end gets this long before it is told by a signal.
const PATIENCE: Duration = Duration::from_secs(5);
/// ... and this long from SIGTERM to SIGKILL.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// What container and supervising thread know of a child.
#[derive(Default)]
struct Life {
    state: Mutex<LifeState>,
    ended: Condvar,
}

#[derive(Default)]
struct LifeState {
    /// Its end is wanted, and who wants to know of it.
    told: Vec<Box<dyn FnOnce() + Send>>,
    is_told: bool,
    is_over: bool,
}

/// Starts a child for a component, and a thread that stays with it.
pub(super) fn start(ros_arguments: Vec<String>, order: Order, request: Vec<u8>, done: Done) {
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
        supervise(child, socket, order, request, done);
    });
    // The closure is dropped then, and with it the socket: the child ends.
    if let Err(error) = spawned
        && let Some(done) = done.lock().take()
    {
        done(Err(format!("a thread for the component's process could not be started: {error}")));
    }
}

fn spawn(ros_arguments: &[String]) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new("/proc/self/exe")
        .arg(CHILD_FLAG)
        .args(ros_arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        // Ctrl-C goes to the container, which ends its components in order.
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}

/// The life of a child, from its first word to the end of its process.
fn supervise(mut child: Child, mut socket: UnixStream, order: Order, request: Vec<u8>, done: Done) {
    let life = Arc::new(Life::default());
    let library = order.library.as_os_str().as_bytes().to_vec();
    let mut heard = Frame::Start { library, request }
        .write(&mut socket)
        .and_then(|()| Frame::read(&mut socket));
    let mut done = Some(done);
    let mut last_words = None;
    if let Ok(Some(Frame::Started { name })) = &heard {
        let running = ProcessRunning::new(&child, &socket, &life);
        match running {
            Ok(running) => {
                let started = Started { name: name.clone(), running: Box::new(running) };
                done.take().expect("nothing took it yet")(Ok(started));
            }
            Err(error) => last_words = Some(format!("its process cannot be supervised: {error}")),
        }
        if done.is_none() {
            heard = Frame::read(&mut socket);
        }
    }
    match heard {
        Ok(Some(Frame::Refused { text })) => last_words = Some(text),
        Ok(Some(Frame::Panicked { text })) => {
            last_words = Some(format!("a callback panicked: {text}"))
        }
        Ok(Some(_)) => {
            last_words = last_words.or(Some("its process said something unexpected".into()))
        }
        Ok(None) => {}
        Err(error) => last_words = Some(format!("its process cannot be understood: {error}")),
    }
    let was_refused = done.is_some() && last_words.is_some();
    drop(socket); // the word to end, where it has not ended yet
    let end = describe(child.wait());
    let told = {
        let mut state = life.state.lock();
        state.is_over = true;
        life.ended.notify_all();
        state.is_told.then(|| std::mem::take(&mut state.told))
    };
    match (done, told) {
        (Some(done), _) if was_refused => done(Err(last_words.unwrap_or_default())),
        (Some(done), _) => {
            done(Err(format!(
                "Component constructor threw an exception: the process of the component {end}"
            )));
        }
        (None, Some(told)) => told.into_iter().for_each(|done| done()),
        (None, None) => (order.failed)(last_words.unwrap_or_else(|| format!("its process {end}"))),
    }
}

/// How a process ended, as the end of a sentence.
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
    /// Names the process even when it is over, so that a signal hits no other.
    pidfd: OwnedFd,
    socket: UnixStream,
    life: Arc<Life>,
}

impl ProcessRunning {
    fn new(child: &Child, socket: &UnixStream, life: &Arc<Life>) -> io::Result<Self> {
        let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        Ok(Self { pidfd, socket: socket.try_clone()?, life: life.clone() })
    }

    /// Has the process ended by signals when it does not end in time.
    fn insist(&self) {
        for (patience, signal) in [(PATIENCE, Signal::TERM), (LAST_PATIENCE, Signal::KILL)] {
            let state = self.life.state.lock();
            let state = self.life.ended.wait_timeout_while(state, patience, |state| !state.is_over);
            if state.is_over {
                return;
            }
            drop(state);
            tracing::warn!("the process of a component does not end: it gets {signal:?}");
            // It may have ended just now, which is as well.
            let _ = pidfd_send_signal(&self.pidfd, signal);
        }
    }
}

impl Running for ProcessRunning {
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>) {
        {
            let mut state = self.life.state.lock();
            if state.is_over {
                drop(state);
                return done();
            }
            state.is_told = true;
            state.told.push(done);
        }
        // An error means that the child is gone already, which its thread sees.
        drop(self.socket.shutdown(net::Shutdown::Both));
        let spawned = thread::Builder::new().name("end-child".into()).spawn(move || self.insist());
        if let Err(error) = spawned {
            tracing::warn!("the end of a component's process is not watched: {error}");
        }
    }
}
