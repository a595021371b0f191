//! The container's side of a process with a Python interpreter: starts the process, sends requests
//! for components to it, reads its frames, and ends it.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{io, net, thread};

use feros_component::index::Index;
use feros_process::{ChildGroup, python_interpreter};
use feros_sync::Mutex;

use super::Options;
use super::wire::{Frame, Kind};
use crate::placement::{Done, NO_SUCH_CLASS, Running, Started};
use crate::process::{describe, wait};

/// The code that finds the host of components in the package `feros`, and runs it.
const BECOME_HOST: &str = include_str!("become_host.py");
/// The exit code of that code if the interpreter has no package `feros`.
const ABSENT: i32 = 97;
/// The time that the process may take to read a frame. The container ends a slower process.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// A component that a process with an interpreter starts, runs or ends.
pub(super) struct Component {
    /// The serialized load request.
    request: Vec<u8>,
    /// The error for the client if Python does not have the component either.
    otherwise: String,
    /// Taken when the component runs, or cannot start.
    done: Option<Done>,
    /// Taken when the component has failed.
    on_failure: Option<Box<dyn FnOnce(String) + Send>>,
    /// Called when the component has ended. Set when the container asks the component to end.
    on_end: Option<Box<dyn FnOnce() + Send>>,
}

/// A process with an interpreter. It ends with its last component.
pub(super) struct Host {
    state: Mutex<State>,
    socket: UnixStream,
    /// Locked while a frame is written.
    writing: Mutex<()>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    components: HashMap<u64, Component>,
    /// Whether the process refuses further components.
    is_over: bool,
}

impl Component {
    pub(super) fn new(
        request: Vec<u8>,
        otherwise: String,
        on_failure: Box<dyn FnOnce(String) + Send>,
        done: Done,
    ) -> Self {
        let (done, on_failure) = (Some(done), Some(on_failure));
        Self { request, otherwise, done, on_failure, on_end: None }
    }

    /// Tells the client that Python has the package, but no class for the component. Whether a
    /// library of the package has the class only matters if there is such a library.
    fn refuse_class(self, reason: &str) {
        if let Some(done) = self.done {
            let in_library = self.otherwise.strip_prefix(NO_SUCH_CLASS);
            let in_library = in_library.map(|text| format!(";{text}")).unwrap_or_default();
            done(Err(format!("{NO_SUCH_CLASS} {reason}{in_library}")));
        }
    }

    /// Tells the client that Python has no such component, and why.
    pub(super) fn refuse(self, reason: &str) {
        if let Some(done) = self.done {
            done(Err(format!("{}; {reason}", self.otherwise)));
        }
    }

    /// Tells what the end of its process means for the component.
    fn end_with_process(self, end: &str) {
        match (self.done, self.on_end, self.on_failure) {
            (Some(done), ..) => done(Err(format!(
                "Component constructor threw an exception: the Python process {end}"
            ))),
            (None, Some(on_end), _) => on_end(),
            (None, None, Some(on_failure)) => on_failure(format!("the Python process {end}")),
            (None, None, None) => {}
        }
    }
}

impl Host {
    /// Starts a process with this component. An error has the reason for the client.
    pub(super) fn start(
        options: &Options,
        component: Component,
    ) -> Result<Arc<Self>, (Component, String)> {
        let interpreter = python_interpreter();
        let started = spawn(&interpreter, options).and_then(|(child, socket)| {
            let reading = socket.try_clone()?;
            let (state, writing) = (Mutex::default(), Mutex::default());
            let host = Arc::new(Self { state, socket, writing });
            let followed = host.clone();
            // If the thread cannot be started, dropping the closure kills the process.
            thread::Builder::new()
                .name(format!("python-{}", child.id()))
                .spawn(move || followed.follow(&interpreter, child, reading))?;
            Ok(host)
        });
        match started {
            Ok(host) => match host.begin(component) {
                Ok(()) => Ok(host),
                Err(component) => Err((component, "the Python process has ended".to_owned())),
            },
            Err(error) => {
                let text = format!(
                    "for components in Python, {} cannot be started: {error}",
                    python_interpreter()
                );
                Err((component, text))
            }
        }
    }

    /// Starts a component in this process. Returns the component if the process refuses it.
    pub(super) fn begin(&self, mut component: Component) -> Result<(), Component> {
        let request = std::mem::take(&mut component.request);
        let id = {
            let mut state = self.state.lock();
            if state.is_over {
                drop(state);
                component.request = request;
                return Err(component);
            }
            state.last_id += 1;
            let id = state.last_id;
            state.components.insert(id, component);
            id
        };
        self.send(&Frame { kind: Kind::Start, id, content: request });
        Ok(())
    }

    fn send(&self, frame: &Frame) {
        let written = {
            let _one_at_a_time = self.writing.lock();
            frame.write(&mut &self.socket)
        };
        if let Err(error) = written {
            tracing::warn!("the Python process of the container does not listen: {error}");
            self.close();
        }
    }

    /// Tells the process to end.
    fn close(&self) {
        self.state.lock().is_over = true;
        // An error means that the process has ended already.
        drop(self.socket.shutdown(net::Shutdown::Both));
    }

    /// Reads the frames of the process up to its end.
    fn follow(self: Arc<Self>, interpreter: &str, mut child: ChildGroup, mut socket: UnixStream) {
        loop {
            match Frame::read(&mut socket) {
                Ok(Some(frame)) => self.handle(frame),
                Ok(None) => break,
                Err(error) => {
                    tracing::error!("the frames of a Python process cannot be read: {error}");
                    break;
                }
            }
        }
        self.close();
        let status = wait(&mut child, || true);
        let is_absent = matches!(&status, Ok(status) if status.code() == Some(ABSENT));
        let end = describe(status);
        let components = std::mem::take(&mut self.state.lock().components);
        for component in components.into_values() {
            if is_absent {
                component.refuse(&format!(
                    "{interpreter} has no package feros for components in Python: install its wheel \
                     there, or activate the environment that has it"
                ));
            } else {
                component.end_with_process(&end);
            }
        }
    }

    fn handle(self: &Arc<Self>, frame: Frame) {
        let (id, text) = (frame.id, frame.text());
        match frame.kind {
            Kind::Started => {
                let done = self.state.lock().components.get_mut(&id).and_then(|c| c.done.take());
                if let Some(done) = done {
                    let running = Box::new(RunningInPython { host: self.clone(), id });
                    done(Ok(Started { name: text, running }));
                }
            }
            Kind::Refused => {
                if let Some(done) = self.remove(id).and_then(|component| component.done) {
                    done(Err(text));
                }
            }
            Kind::Unknown => {
                if let Some(component) = self.remove(id) {
                    component.refuse(&text);
                }
            }
            Kind::NoClass => {
                if let Some(component) = self.remove(id) {
                    component.refuse_class(&text);
                }
            }
            Kind::Failed => {
                let failed =
                    self.state.lock().components.get_mut(&id).and_then(|c| c.on_failure.take());
                if let Some(failed) = failed {
                    failed(text);
                }
            }
            Kind::Ended => {
                if let Some(on_end) = self.remove(id).and_then(|component| component.on_end) {
                    on_end();
                }
            }
            Kind::Start | Kind::Stop => {
                tracing::error!("a Python process sent a frame that only it may get");
            }
        }
    }

    /// Removes a component that has ended. The process ends with its last component: it then takes
    /// no memory, and the next component runs the code that the files have at that time.
    fn remove(&self, id: u64) -> Option<Component> {
        let (component, is_last) = {
            let mut state = self.state.lock();
            let component = state.components.remove(&id);
            state.is_over |= state.components.is_empty();
            (component, state.is_over)
        };
        if is_last {
            self.close();
        }
        component
    }
}

fn spawn(interpreter: &str, options: &Options) -> io::Result<(ChildGroup, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let prefixes = std::env::join_paths(Index::from_env().prefixes()).unwrap_or_default();
    let mut command = Command::new(interpreter);
    command.args(["-c", BECOME_HOST, &options.threads.to_string()]).arg(prefixes);
    command.args(&options.ros_arguments).stdin(Stdio::from(OwnedFd::from(theirs)));
    // Ctrl-C reaches only the container, which ends its components in order.
    Ok((ChildGroup::spawn(&mut command)?, ours))
}

struct RunningInPython {
    host: Arc<Host>,
    id: u64,
}

impl Running for RunningInPython {
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>) {
        let all_end = {
            let mut state = self.host.state.lock();
            let Some(component) = state.components.get_mut(&self.id) else {
                drop(state);
                return done();
            };
            component.on_end = Some(done);
            state.components.values().all(|component| component.on_end.is_some())
        };
        if all_end {
            // The process then ends in time, even if one of its components does not end.
            self.host.close();
        } else {
            self.host.send(&Frame { kind: Kind::Stop, id: self.id, content: Vec::new() });
        }
    }
}
