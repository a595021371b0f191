//! The end of a run: reactions, orphans, and the rest of the output.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::stdio;

use super::{Child, LAUNCH, Level, RunError, Supervisor, poll};

/// The time that the last output may wait for a reader once all processes have ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

impl Supervisor {
    /// Ends the reactions that take too long.
    pub(super) fn end_reactions(&mut self) -> Result<(), RunError> {
        let Some(due) = self.reacting.abort() else { return Ok(()) };
        self.output.message(
            Level::Warning,
            LAUNCH,
            "the reaction to the end of the launch takes too long, so Python ends",
        );
        while self.reacting.is_pending() && Instant::now() < due {
            let mut answers =
                vec![PollFd::from_borrowed_fd(self.requests.descriptor(), PollFlags::IN)];
            poll(&mut answers, Some(due.saturating_duration_since(Instant::now())))?;
            drop(answers);
            self.take_answers();
        }
        Ok(())
    }

    /// Ends the orphans that are left when all processes have ended.
    pub(super) fn end_orphans(&mut self) -> Result<(), RunError> {
        loop {
            let without_delay = !self.signals.take_requests().is_empty();
            let Some(timeout) = self.orphans.end(without_delay) else { return Ok(()) };
            let mut descriptors =
                vec![PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN)];
            if self.output.screen.has_pending() {
                descriptors.push(PollFd::from_borrowed_fd(stdio::stdout(), PollFlags::OUT));
            }
            poll(&mut descriptors, Some(timeout))?;
            if descriptors.get(1).is_some_and(|stdout| !stdout.revents().is_empty()) {
                self.output.screen.write();
            }
        }
    }

    /// Reads and writes the rest of the output after all processes have ended, as long as standard
    /// output has a reader.
    pub(super) fn drain_output(&mut self) {
        loop {
            (0..self.children.len()).for_each(|index| self.read_rest(index));
            if self.output.screen.has_room() {
                self.flush();
            }
            if !self.output.screen.has_pending() {
                return;
            }
            let mut stdout = [PollFd::from_borrowed_fd(stdio::stdout(), PollFlags::OUT)];
            let failed = poll(&mut stdout, Some(DRAIN_TIMEOUT)).is_err();
            if failed || stdout[0].revents().is_empty() || !self.signals.take_requests().is_empty()
            {
                return;
            }
            self.output.screen.write();
        }
    }

    /// Writes the last lines that have no line break.
    fn flush(&mut self) {
        for Child { streams, process, number, .. } in &mut self.children {
            for stream in streams {
                stream.flush(|source, line| self.output.line(&process.name, *number, source, line));
            }
        }
    }
}
