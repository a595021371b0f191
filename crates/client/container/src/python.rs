//! Components in Python: a process with an interpreter hosts them, since an interpreter in the
//! container's process would bring a second Feros (the extension of the package `feros`), and its
//! crash would end the other components.
//!
//! The container starts the process for the first component that is in no library, and exchanges
//! frames with it over a socket, which is the standard input of the process ([`wire`]). The process
//! ends with its last component, or when the container closes the socket ([`host`]).

mod host;
mod wire;

use std::sync::Arc;

use feros::message;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros_sync::Mutex;

use crate::placement::{Code, Done, Placement, StartRequest};
use crate::request::{node_options, rules};
use host::{Component, Host};

/// How the processes with interpreters are started.
pub(crate) struct Options {
    /// The threads of the executor of each component.
    pub(crate) threads: usize,
    /// Whether all components share a process.
    pub(crate) is_shared: bool,
    /// The ROS part of the command line, since log levels and other options also apply to Python.
    pub(crate) ros_arguments: Vec<String>,
}

/// Runs components in Python in processes with interpreters, and all others in another place.
pub(crate) struct WithPython {
    others: Box<dyn Placement>,
    options: Options,
    shared: Mutex<Option<Arc<Host>>>,
}

impl WithPython {
    pub(crate) fn new(others: Box<dyn Placement>, options: Options) -> Self {
        Self { others, options, shared: Mutex::default() }
    }

    /// Gives the component to a process that runs already, or to a new process.
    fn begin(&self, component: Component) {
        let started = if self.options.is_shared {
            let mut shared = self.shared.lock();
            let component = match &*shared {
                Some(host) => match host.begin(component) {
                    Ok(()) => return,
                    Err(component) => component,
                },
                None => component,
            };
            Host::start(&self.options, component).map(|host| *shared = Some(host))
        } else {
            Host::start(&self.options, component).map(drop)
        };
        if let Err((component, text)) = started {
            component.refuse(&text);
        }
    }
}

impl Placement for WithPython {
    fn start(&self, start_request: StartRequest, done: Done) {
        let Code::Python { otherwise } = &start_request.code else {
            return self.others.start(start_request, done);
        };
        match serialized(&start_request.request) {
            Ok(request) => {
                let otherwise = otherwise.clone();
                self.begin(Component::new(request, otherwise, start_request.on_failure, done));
            }
            Err(text) => done(Err(text)),
        }
    }
}

/// The request as the process gets it: its remap rules also set the name and the namespace.
fn serialized(request: &LoadNode_Request) -> Result<Vec<u8>, String> {
    node_options(request)?; // refuses what components in libraries refuse
    let request = LoadNode_Request { remap_rules: rules(request), ..request.clone() };
    message::to_vec(&request).map_err(|error| format!("the request cannot be passed on: {error}"))
}
