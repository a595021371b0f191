//! The signals to send to a process, one after the other, until it ends.

use std::time::{Duration, Instant};

use rustix::process::Signal;

/// `N` signals to send one after the other until a process ends. The owner of this value sends
/// them.
#[derive(Debug)]
pub struct Ending<const N: usize> {
    steps: [(Duration, Signal); N],
    sent: usize,
    due: Option<Instant>,
}

impl<const N: usize> Ending<N> {
    /// Begins now. Each signal is due when its time has passed since the signal before it.
    pub fn begin(steps: [(Duration, Signal); N]) -> Self {
        let mut ending = Self { steps, sent: 0, due: None };
        ending.wait_for_next();
        ending
    }

    fn wait_for_next(&mut self) {
        // If the wait is too long for an `Instant`, the signal is never due.
        let next = self.steps.get(self.sent);
        self.due = next.and_then(|(after, _)| Instant::now().checked_add(*after));
    }

    /// The time at which the next signal is due; `None` after the last signal, or if the next
    /// signal is never due.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the next signal if it is due.
    pub fn next_if_due(&mut self) -> Option<Signal> {
        if self.due? <= Instant::now() { self.next_signal() } else { None }
    }

    /// Returns the next signal even if it is not due; after the last signal, that signal again.
    /// `None` if there are no signals at all.
    pub fn next_signal(&mut self) -> Option<Signal> {
        let (_, signal) = *self.steps.get(self.sent).or(self.steps.last())?;
        self.sent += 1;
        self.wait_for_next();
        Some(signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_come_in_order_when_they_are_due_or_hurried() {
        let mut ending = Ending::begin([
            (Duration::ZERO, Signal::INT),
            (Duration::from_secs(600), Signal::TERM),
            (Duration::MAX, Signal::KILL),
        ]);
        assert_eq!((ending.next_if_due(), ending.next_if_due()), (Some(Signal::INT), None));
        assert!(ending.due() > Some(Instant::now()));
        assert_eq!(ending.next_signal(), Some(Signal::TERM));
        assert_eq!((ending.due(), ending.next_if_due()), (None, None), "it is never due");
        assert_eq!(ending.next_signal(), Some(Signal::KILL));
        assert_eq!(ending.next_signal(), Some(Signal::KILL), "once more");
        assert_eq!(Ending::begin([]).next_signal(), None);
    }
}
