//! The position of playing in a bag, and the commands to its player: pause, rate, step, seek, stop.

use std::time::{Duration, Instant};

use feros_sync::{Condvar, Mutex};

use crate::interrupt::Interrupt;
use crate::metadata::TimeRange;

/// The limit on one wait, which keeps the arithmetic in range. A change of the time wakes the
/// waiting thread anyway.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The commands to the player, and its state.
pub(super) struct Control {
    range: TimeRange,
    /// The flags that stop the reading of the bags.
    interrupts: Vec<Interrupt>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    clock: PlayClock,
    is_paused: bool,
    /// The number of messages still to be published despite the pause.
    steps: u64,
    stepped: u64,
    seek: Option<i64>,
    is_stopped: bool,
    has_ended: bool,
}

/// The clock of the bag, which runs at a rate or stands still.
#[derive(Debug, Clone, Copy)]
struct PlayClock {
    /// The time of the bag at `since`.
    anchor: i64,
    since: Instant,
    rate: f64,
    is_running: bool,
}

impl PlayClock {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "saturates")]
    fn now(&self) -> i64 {
        let passed = if self.is_running { self.since.elapsed() } else { Duration::ZERO };
        self.anchor.saturating_add((passed.as_nanos() as f64 * self.rate) as i64)
    }

    fn set(&mut self, anchor: i64, is_running: bool) {
        (self.anchor, self.since, self.is_running) = (anchor, Instant::now(), is_running);
    }

    /// Returns the time to wait until the bag reaches `time`.
    #[expect(clippy::cast_precision_loss, reason = "waits are corrected when they are over")]
    fn wait_for(&self, time: i64) -> Duration {
        let left = time.saturating_sub(self.now());
        if left <= 0 {
            return Duration::ZERO;
        }
        let seconds = (left as f64 / self.rate * 1e-9).min(LONGEST_WAIT.as_secs_f64());
        // The result is not zero, since the code above has found that the message is not due yet.
        Duration::from_secs_f64(seconds).max(Duration::from_nanos(1))
    }
}

/// The next action of the playing thread, after it waited for a message to be due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Publish,
    Seek(i64),
    Stop,
}

impl Control {
    pub(super) fn new(
        start: i64,
        rate: f64,
        is_paused: bool,
        range: TimeRange,
        interrupts: Vec<Interrupt>,
    ) -> Self {
        let clock = PlayClock { anchor: start, since: Instant::now(), rate, is_running: false };
        let state = State {
            clock,
            is_paused,
            steps: 0,
            stepped: 0,
            seek: None,
            is_stopped: false,
            has_ended: false,
        };
        Self { range, interrupts, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state.lock());
        self.changed.notify_all();
        changed
    }

    /// Starts the clock of the bag at this time.
    pub(super) fn begin(&self, time: i64) {
        self.change(|state| state.clock.set(time, !state.is_paused));
    }

    /// Waits until the message of this time is due, or the player has something else to do.
    pub(super) fn wait_for(&self, time: i64) -> Turn {
        let mut state = self.state.lock();
        loop {
            if state.is_stopped {
                return Turn::Stop;
            }
            if let Some(time) = state.seek.take() {
                return Turn::Seek(time);
            }
            if state.is_paused {
                if state.steps > 0 {
                    state.steps -= 1;
                    state.clock.set(time, false);
                    return Turn::Publish;
                }
                state = self.changed.wait(state);
                continue;
            }
            let wait = state.clock.wait_for(time);
            if wait.is_zero() {
                return Turn::Publish;
            }
            state = self.changed.wait_timeout(state, wait);
        }
    }

    /// Waits this long, unless the player is stopped.
    pub(super) fn delay(&self, delay: Duration) {
        let until = Instant::now() + delay;
        let mut state = self.state.lock();
        while !state.is_stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.changed.wait_timeout(state, left);
        }
    }

    /// Records that a message was published.
    pub(super) fn published(&self) {
        let mut state = self.state.lock();
        // Only `step`, which works during a pause, waits for this count.
        if state.is_paused {
            state.stepped += 1;
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Records that no more messages will be published.
    pub(super) fn end(&self) {
        self.change(|state| {
            state.has_ended = true;
            state.clock.set(state.clock.now(), false);
        });
    }

    pub(super) fn set_paused(&self, is_paused: bool) {
        self.change(|state| {
            let is_running = !is_paused && !state.has_ended;
            state.clock.set(state.clock.now(), is_running);
            (state.is_paused, state.steps) = (is_paused, 0);
        });
    }

    pub(super) fn toggle_paused(&self) {
        let is_paused = self.is_paused();
        self.set_paused(!is_paused);
    }

    pub(super) fn is_paused(&self) -> bool {
        self.state.lock().is_paused
    }

    pub(super) fn rate(&self) -> f64 {
        self.state.lock().clock.rate
    }

    pub(super) fn set_rate(&self, rate: f64) -> bool {
        let is_rate = rate.is_finite() && rate > 0.0;
        if is_rate {
            self.change(|state| {
                state.clock.set(state.clock.now(), state.clock.is_running);
                state.clock.rate = rate;
            });
        }
        is_rate
    }

    /// Lets the playing thread publish `count` messages despite the pause, and waits for that.
    /// Returns the number of published messages: 0 if the player is not paused.
    pub(super) fn step(&self, count: u64) -> u64 {
        let mut state = self.state.lock();
        if !state.is_paused || state.has_ended {
            return 0;
        }
        let before = state.stepped;
        state.steps = count;
        self.changed.notify_all();
        let goes_on = |state: &State| {
            state.is_paused
                && !state.has_ended
                && !state.is_stopped
                && state.stepped - before < count
        };
        while goes_on(&state) {
            state = self.changed.wait(state);
        }
        state.stepped - before
    }

    pub(super) fn now(&self) -> i64 {
        self.state.lock().clock.now()
    }

    /// Continues at another time; returns whether the bag contains it.
    pub(super) fn seek(&self, time: i64) -> bool {
        let is_there = (self.range.start..=self.range.end).contains(&time);
        is_there
            && self.change(|state| {
                if state.has_ended {
                    return false;
                }
                state.seek = Some(time);
                let is_running = state.clock.is_running;
                state.clock.set(time, is_running);
                true
            })
    }

    pub(super) fn stop(&self) {
        self.interrupts.iter().for_each(Interrupt::set);
        self.change(|state| state.is_stopped = true);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state.lock().is_stopped
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.lock().has_ended
    }

    /// Waits until the state changes, or until the timeout.
    pub(super) fn wait(&self, timeout: Duration) {
        let state = self.state.lock();
        if !state.is_stopped {
            drop(self.changed.wait_timeout(state, timeout));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::Arc;

    const RANGE: TimeRange = TimeRange { start: 0, end: 1_000_000_000_000 };

    #[test]
    fn time_runs_at_its_rate_and_stands_still() {
        let control = Control::new(5, 1000.0, false, RANGE, Vec::new());
        assert_eq!(control.now(), 5);
        control.begin(5);
        assert_eq!(control.wait_for(2_000_000_005), Turn::Publish);
        assert!(control.now() >= 2_000_000_005);
        control.set_paused(true);
        let now = control.now();
        assert_eq!((control.now(), control.is_paused()), (now, true));
        assert!(!control.set_rate(0.0) && !control.set_rate(f64::NAN) && control.set_rate(2.0));
        assert_eq!(control.rate(), 2.0);
    }

    #[test]
    fn a_paused_player_steps_seeks_and_stops() {
        let control = Arc::new(Control::new(0, 1.0, true, RANGE, Vec::new()));
        let playing = control.clone();
        let playing = feros_test_support::spawn("playing", move || {
            let mut turns = Vec::new();
            for time in [10, 20, 30] {
                let turn = playing.wait_for(time);
                turns.push(turn);
                if turn == Turn::Publish {
                    playing.published();
                }
            }
            playing.end();
            turns
        });
        assert_eq!(control.step(1), 1);
        assert_eq!(control.now(), 10);
        assert!(!control.seek(-1));
        assert!(control.seek(500));
        feros_test_support::until("it went there", || control.state.lock().seek.is_none());
        control.stop();
        assert_eq!(playing.join().unwrap(), [Turn::Publish, Turn::Seek(500), Turn::Stop]);
        assert!(!control.seek(5) && control.step(1) == 0);
    }
}
