//! A process for each component: what one of them does to itself, an abort or a wild pointer, the
//! others survive.
//!
//! The container starts itself again for each component ([`child`]) and talks with it over a socket
//! that is the child's standard input ([`wire`]). Its end, seen from either side, is the word to
//! end.

pub(crate) mod child;
mod supervisor;
mod wire;

use feros::message;

use crate::placement::{Done, Order, Placement};

/// How a child is told from a container on the command line.
pub(crate) const CHILD_FLAG: &str = "--component-child";

/// A process per component.
pub(crate) struct InProcesses {
    /// The ROS part of the command line: log levels and the like hold in children too.
    pub(crate) ros_arguments: Vec<String>,
}

impl Placement for InProcesses {
    fn start(&self, order: Order, done: Done) {
        match message::to_vec(&*order.request) {
            Ok(request) => supervisor::start(self.ros_arguments.clone(), order, request, done),
            Err(error) => done(Err(format!("the request cannot be handed to a process: {error}"))),
        }
    }
}
