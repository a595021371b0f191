//! Waits for the processes, and reads their output.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::stdio;

use super::{Child, RunError, Supervisor, poll};
use crate::action::IoStream;
use crate::run::child::{Line, Stream};
use crate::run::output::Output;
use crate::run::reacting::{self, Reacting};

/// A line that handlers wait for.
struct HeardLine {
    /// The index of the process.
    index: usize,
    stream: IoStream,
    text: Vec<u8>,
}

impl Supervisor {
    /// Waits for the next event, and reads and writes available data.
    pub(super) fn wait(&mut self) -> Result<(), RunError> {
        let due = self.children.iter().filter_map(Child::due).chain(self.timers.due());
        let due = due.chain(self.reacting.due()).min();
        let timeout = due.map(|due| due.saturating_duration_since(Instant::now()));
        let wakers = [self.signals.descriptor(), self.requests.descriptor()];
        let mut descriptors =
            wakers.map(|waker| PollFd::from_borrowed_fd(waker, PollFlags::IN)).to_vec();
        let screen = descriptors.len();
        if self.output.screen.has_pending() {
            descriptors.push(PollFd::from_borrowed_fd(stdio::stdout(), PollFlags::OUT));
        }
        let streams_from = descriptors.len();
        // Handlers change meanwhile, so this is decided once.
        let is_read = self.streams_with_room();
        let streams = self.children.iter().flat_map(|child| &child.streams).zip(&is_read);
        let streams = streams.filter(|(_, is_read)| **is_read);
        descriptors
            .extend(streams.map(|(stream, _)| PollFd::new(&stream.descriptor, PollFlags::IN)));
        poll(&mut descriptors, timeout)?;
        let mut ready: Vec<bool> =
            descriptors.iter().map(|each| !each.revents().is_empty()).collect();
        drop(descriptors);
        let mut ready_streams = ready.split_off(streams_from).into_iter();
        if ready.get(screen) == Some(&true) {
            self.output.screen.write();
        }
        let ready =
            is_read.into_iter().map(|is_read| is_read && ready_streams.next() == Some(true));
        self.read(ready);
        Ok(())
    }

    /// Whether each stream may be read: neither the screen nor the handlers lag behind.
    fn streams_with_room(&self) -> Vec<bool> {
        let is_seen = self.output.screen.has_room();
        let children = self.children.iter().enumerate();
        let streams = children.flat_map(|(index, child)| {
            child.streams.iter().map(move |stream| (index, stream.which))
        });
        streams.map(|(index, which)| is_seen && !self.is_behind(index, which)).collect()
    }

    /// Whether the handlers of a stream lag behind.
    fn is_behind(&self, index: usize, which: IoStream) -> bool {
        !self.reacting.has_room() && self.reacting.hears(self.children[index].process.action, which)
    }

    /// Reads the streams that are ready; `ready` has one entry per stream.
    fn read(&mut self, mut ready: impl Iterator<Item = bool>) {
        let Self { children, output, reacting, .. } = self;
        let mut heard = Vec::new();
        for (index, child) in children.iter_mut().enumerate() {
            let mut streams = std::mem::take(&mut child.streams);
            streams.retain_mut(|stream| {
                let is_ready = ready.next().unwrap_or(false);
                !is_ready || read_some(stream, (index, child), output, reacting, &mut heard)
            });
            child.streams = streams;
        }
        self.tell_lines(heard);
    }

    /// Reads the output that a process wrote before it ended, so that the output precedes the
    /// message about the end.
    pub(super) fn read_rest(&mut self, index: usize) {
        let mut streams = std::mem::take(&mut self.children[index].streams);
        streams.retain_mut(|stream| {
            while is_readable(stream.descriptor.as_fd()) {
                let mut heard = Vec::new();
                let child = (index, &mut self.children[index]);
                let is_open =
                    read_some(stream, child, &mut self.output, &self.reacting, &mut heard);
                self.tell_lines(heard);
                if !is_open {
                    return false;
                }
                if !self.output.screen.has_room() || self.is_behind(index, stream.which) {
                    break;
                }
            }
            true
        });
        self.children[index].streams = streams;
    }

    /// Whether handlers wait for output that has not been read yet.
    pub(super) fn has_unheard_output(&self) -> bool {
        self.children.iter().any(|child| {
            child.streams.iter().any(|stream| {
                self.reacting.hears(child.process.action, stream.which)
                    && is_readable(stream.descriptor.as_fd())
            })
        })
    }

    fn tell_lines(&mut self, heard: Vec<HeardLine>) {
        for HeardLine { index, stream, text } in heard {
            let event = reacting::written(&self.children[index], stream, text);
            self.tell(|| event);
        }
    }
}

/// Reads the available bytes of a stream; returns false at its end.
fn read_some(
    stream: &mut Stream,
    (index, child): (usize, &mut Child),
    output: &mut Output,
    reacting: &Reacting,
    heard: &mut Vec<HeardLine>,
) -> bool {
    let which = stream.which;
    let is_heard = reacting.hears(child.process.action, which) || reacting.may_hear();
    let read = stream.read(|line| {
        output.line(&child.process.name, child.number, line);
        child.note(line);
        if is_heard {
            heard.push(HeardLine { index, stream: which, text: with_end(line) });
        }
    });
    read.is_some()
}

/// The line as the process has written it.
fn with_end(line: Line<'_>) -> Vec<u8> {
    let end: &[u8] = if line.has_ended { b"\n" } else { b"" };
    [line.text, end].concat()
}

fn is_readable(descriptor: BorrowedFd<'_>) -> bool {
    let mut one = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    poll(&mut one, Some(Duration::ZERO)).is_ok() && !one[0].revents().is_empty()
}
