//! Matches messages whose stamps are close together, with the adaptive algorithm of
//! `message_filters`.
//!
//! A set has one message of each input. Of all sets that could follow the previous set, the policy
//! takes the set that spans the shortest time, except that the age penalty favours earlier sets.
//! The policy waits only until it can prove that no later message makes a better set.
//!
//! The newest of the first messages of all inputs is the *pivot*: each set has to contain the pivot
//! or a later message. Then the first messages are set aside one after the other, the oldest first,
//! which enumerates all sets that contain the pivot. Each input has one queue. The messages that
//! are set aside are the beginning of the queue, so resetting their number to zero brings them
//! back.

use std::collections::VecDeque;
use std::time::Duration;

use feros_executor::Time;

use crate::policy::{AnyMessage, Policy, Sorted};

/// A policy by which messages belong together if their stamps are close, like `ApproximateTime` of
/// `message_filters`. No message is used twice, and sets come in the order of time.
pub struct ApproximateTime {
    queue_size: usize,
    age_penalty: f64,
    max_interval_nanos: i64,
    lower_bounds_nanos: Vec<i64>,
    queues: Vec<Queue>,
    candidate: Option<Candidate>,
}

/// The best set so far. It consists of the first message of each queue.
#[derive(Clone, Copy)]
struct Candidate {
    start: i64,
    end: i64,
    pivot: usize,
    pivot_time: i64,
}

/// The messages of an input, in the order in which they came.
#[derive(Default)]
struct Queue {
    messages: VecDeque<(i64, AnyMessage)>,
    /// The number of messages at the beginning that have been set aside.
    aside: usize,
    /// Whether a message was dropped because the queue was full, and may have been better than the
    /// remaining messages.
    has_dropped: bool,
    lower_bound: i64,
}

impl ApproximateTime {
    /// Creates a policy that lets at most `queue_size` messages of each input wait; 0 counts as 1.
    /// With fewer than two, many messages are dropped.
    #[must_use]
    pub fn new(queue_size: usize) -> Self {
        Self {
            queue_size: queue_size.max(1),
            age_penalty: 0.1,
            max_interval_nanos: i64::MAX,
            lower_bounds_nanos: Vec::new(),
            queues: Vec::new(),
            candidate: None,
        }
    }

    /// Sets how much better a later set has to be than an earlier set, as a share of the time by
    /// which it ends later. The default is 0.1. Negative numbers count as zero.
    #[must_use]
    pub fn age_penalty(self, age_penalty: f64) -> Self {
        Self { age_penalty: age_penalty.max(0.0), ..self }
    }

    /// Sets the longest time that a set may span. By default, the time is unlimited.
    #[must_use]
    pub fn max_interval(self, max_interval: Duration) -> Self {
        Self { max_interval_nanos: nanos(max_interval), ..self }
    }

    /// Sets the shortest possible time between two messages of an input, if it is known, so that
    /// the policy has to wait less. Inputs are counted from 0. The default is zero.
    #[must_use]
    pub fn inter_message_lower_bound(mut self, input: usize, lower_bound: Duration) -> Self {
        // A bound for an input that no synchronizer can have is ignored.
        if input < 64 {
            if self.lower_bounds_nanos.len() <= input {
                self.lower_bounds_nanos.resize(input + 1, 0);
            }
            self.lower_bounds_nanos[input] = nanos(lower_bound);
        }
        self
    }

    /// Looks for sets as long as each input has a message that is not set aside.
    fn process(&mut self, sorted: &mut Sorted) {
        while self.queues.iter().all(|queue| queue.front().is_some()) {
            let (start_input, start) = self.first(Queue::front_time);
            let (end_input, end) = self.last(Queue::front_time);
            for (input, queue) in self.queues.iter_mut().enumerate() {
                // A dropped message of this input is older than the first messages of all inputs,
                // so it cannot have been better.
                queue.has_dropped &= input == end_input;
            }
            let candidate = match self.candidate {
                None => {
                    let span = end.saturating_sub(start);
                    if span > self.max_interval_nanos || self.queues[end_input].has_dropped {
                        let dropped = self.queues[start_input].messages.pop_front();
                        sorted.dropped.extend(dropped.map(|(_, message)| (start_input, message)));
                        continue;
                    }
                    Candidate { start, end, pivot: end_input, pivot_time: end }
                }
                Some(best) if !self.is_better(best, start, end) => best,
                Some(best) => Candidate { start, end, ..best },
            };
            let is_new = self
                .candidate
                .is_none_or(|best| (best.start, best.end) != (candidate.start, candidate.end));
            if is_new {
                // The messages that have been set aside belong only to worse sets.
                self.drop_aside(sorted);
            }
            self.candidate = Some(candidate);
            self.queues[start_input].aside += 1;
            if start_input == candidate.pivot || self.proves(candidate, end) {
                self.publish(sorted);
            } else if self.queues.iter().any(|queue| queue.front().is_none()) {
                self.look_ahead(candidate, sorted);
            }
        }
    }

    /// Whether a set with this start and end is better than the candidate: it has to gain more by
    /// its later start than it loses by its later end.
    fn is_better(&self, candidate: Candidate, start: i64, end: i64) -> bool {
        let gained = start.saturating_sub(candidate.start);
        #[allow(clippy::cast_precision_loss)] // exact up to a hundred days
        let (lost, gained) = (end.saturating_sub(candidate.end) as f64, gained as f64);
        lost * (1.0 + self.age_penalty) < gained
    }

    /// Whether no set that ends at `end` or later can be better than the candidate. All sets that
    /// compete with the candidate hold the pivot, so they cannot start later than the pivot.
    fn proves(&self, candidate: Candidate, end: i64) -> bool {
        !self.is_better(candidate, candidate.pivot_time, end)
    }

    /// Looks for a proof that the candidate is the best set. For each input without messages, it
    /// assumes the best message that can still come.
    fn look_ahead(&mut self, candidate: Candidate, sorted: &mut Sorted) {
        let before: Vec<usize> = self.queues.iter().map(|queue| queue.aside).collect();
        loop {
            let time = |queue: &Queue| queue.earliest_time(candidate.pivot_time);
            let (start_input, start) = self.first(time);
            let (_, end) = self.last(time);
            if self.proves(candidate, end) {
                return self.publish(sorted);
            }
            let may_be_better = self.is_better(candidate, start, end);
            if may_be_better || self.queues[start_input].front().is_none() {
                for (queue, aside) in self.queues.iter_mut().zip(before) {
                    queue.aside = aside;
                }
                return;
            }
            self.queues[start_input].aside += 1;
        }
    }

    /// Adds the candidate to the matched sets. Messages that have been set aside since the
    /// candidate was found come back into their queues.
    fn publish(&mut self, sorted: &mut Sorted) {
        self.candidate = None;
        let first = self.queues.iter_mut().filter_map(|queue| {
            queue.aside = 0;
            queue.messages.pop_front().map(|(_, message)| message)
        });
        sorted.matched.push(first.collect());
    }

    fn drop_aside(&mut self, sorted: &mut Sorted) {
        for (input, queue) in self.queues.iter_mut().enumerate() {
            let aside = queue.messages.drain(..std::mem::take(&mut queue.aside));
            sorted.dropped.extend(aside.map(|(_, message)| (input, message)));
        }
    }

    /// Returns the input with the earliest time, and that time. Of several such inputs, it returns
    /// the first.
    fn first(&self, time: impl Fn(&Queue) -> i64) -> (usize, i64) {
        let times = self.queues.iter().map(time).enumerate();
        times.min_by_key(|(_, time)| *time).unwrap_or_default()
    }

    /// Returns the input with the latest time, and that time. Of several such inputs, it returns
    /// the last.
    fn last(&self, time: impl Fn(&Queue) -> i64) -> (usize, i64) {
        let times = self.queues.iter().map(time).enumerate();
        times.max_by_key(|(_, time)| *time).unwrap_or_default()
    }
}

impl Queue {
    /// Returns the first message that is not set aside.
    fn front(&self) -> Option<&(i64, AnyMessage)> {
        self.messages.get(self.aside)
    }

    fn front_time(&self) -> i64 {
        self.front().map_or(0, |(time, _)| *time)
    }

    /// Returns the earliest time that the next message of the input can have.
    fn earliest_time(&self, pivot_time: i64) -> i64 {
        match (self.front(), self.messages.back()) {
            (Some((time, _)), _) => *time,
            (None, Some((last, _))) => last.saturating_add(self.lower_bound).max(pivot_time),
            (None, None) => pivot_time,
        }
    }

    /// Whether the newest message is out of order, or follows sooner than the bound allows.
    fn is_irregular(&self) -> bool {
        let mut newest = self.messages.iter().rev().map(|(time, _)| *time);
        match (newest.next(), newest.next()) {
            (Some(last), Some(before)) => last.saturating_sub(before) < self.lower_bound,
            _ => false,
        }
    }
}

impl Policy for ApproximateTime {
    fn set_inputs(&mut self, count: usize) {
        let bounds = self.lower_bounds_nanos.iter().copied().chain(std::iter::repeat(0));
        let queue = |lower_bound| Queue { lower_bound, ..Queue::default() };
        self.queues = bounds.take(count).map(queue).collect();
    }

    fn add(&mut self, input: usize, stamp: Time, message: AnyMessage, sorted: &mut Sorted) {
        let Some(queue) = self.queues.get_mut(input) else { return };
        let had_none = queue.front().is_none();
        queue.messages.push_back((stamp.as_nanos(), message));
        sorted.irregular += u64::from(queue.is_irregular());
        if had_none {
            self.process(sorted);
        }
        let queue = &mut self.queues[input];
        if queue.messages.len() > self.queue_size {
            let oldest = queue.messages.pop_front();
            queue.has_dropped = true;
            sorted.dropped.extend(oldest.map(|(_, message)| (input, message)));
            self.queues.iter_mut().for_each(|queue| queue.aside = 0);
            // The candidate has lost a message, so another set may be the best set now.
            if self.candidate.take().is_some() {
                self.process(sorted);
            }
        }
    }

    fn clear(&mut self, sorted: &mut Sorted) {
        self.candidate = None;
        for (input, queue) in self.queues.iter_mut().enumerate() {
            (queue.aside, queue.has_dropped) = (0, false);
            let all = queue.messages.drain(..);
            sorted.dropped.extend(all.map(|(_, message)| (input, message)));
        }
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
