//! Runs each component in a separate process, so that an abort or a wild pointer of one component
//! does not end the others.
//!
//! The container starts its own program again for each component ([`child`]), and exchanges frames
//! with that child over a socket, which is the child's standard input ([`wire`]). Each side ends
//! when the other side closes the socket.

pub(crate) mod child;
mod supervisor;
mod wire;

use feros::message;

pub(crate) use supervisor::{CHILD_FLAG, describe, wait};

use crate::command_line::LOCK_MEMORY;
use crate::placement::{Done, Placement, StartRequest};

/// Runs each component in a separate process.
pub(crate) struct InProcesses {
    /// The words of the command line by which this program becomes the container.
    pub(crate) words: Vec<String>,
    pub(crate) locks_memory: bool,
    /// The ROS part of the command line, since log levels and other options also apply to children.
    pub(crate) ros_arguments: Vec<String>,
}

impl Placement for InProcesses {
    fn start(&self, start_request: StartRequest, done: Done) {
        match message::to_vec(&*start_request.request) {
            Ok(request) => {
                let mut arguments = self.words.clone();
                arguments.push(CHILD_FLAG.to_owned());
                arguments.extend(self.locks_memory.then(|| LOCK_MEMORY.to_owned()));
                arguments.extend_from_slice(&self.ros_arguments);
                supervisor::start(&arguments, start_request, request, done)
            }
            Err(error) => done(Err(format!("the request cannot be passed to a process: {error}"))),
        }
    }
}
