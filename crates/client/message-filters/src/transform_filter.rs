//! Messages that wait for the transform of their frame, as in `tf2_ros::MessageFilter`.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_executor::Time;
use feros_message::HasHeader;
use feros_sync::Mutex;
use feros_tf2::{Buffer, BufferWatcher, LookupError, Readiness};

use crate::input::Input;
use crate::outlet::Outlet;

/// The number of events, per message of the capacity, that may wait while the closures are busy on
/// another thread.
const EVENTS_PER_MESSAGE: usize = 2;

/// Holds back messages until their frame can be transformed into all target frames at the time of
/// their stamp, and then passes them on.
///
/// ```
/// use feros_message_filters::TransformFilter;
/// use feros_msgs::sensor_msgs::msg::LaserScan;
/// use feros_tf2::Buffer;
/// use std::sync::Arc;
///
/// let buffer = Buffer::new();
/// // let _listener = TransformListener::new(&node, &buffer)?;
/// let (filter, scans) = TransformFilter::builder(&buffer, ["odom"])
///     .capacity(20)
///     .on_drop(|scan: Arc<LaserScan>, why| println!("{}: {why}", scan.header.frame_id))
///     .build(|scan: Arc<LaserScan>| println!("{}", scan.ranges.len()));
/// // let _scan = node.create_subscription("scan", 10, scans)?;
/// scans(Arc::default());
/// assert_eq!(filter.counts().dropped_without_frame, 1);
/// ```
pub struct TransformFilter<M> {
    core: Arc<Core<M>>,
}

/// The options of a filter that is to be created.
#[must_use = "a builder makes nothing until it builds"]
pub struct TransformFilterBuilder<M> {
    buffer: Buffer,
    targets: Vec<String>,
    capacity: usize,
    tolerance: Duration,
    on_drop: Option<OnDrop<M>>,
}

type OnDrop<M> = Box<dyn FnMut(Arc<M>, DropReason) + Send>;

/// Why a filter dropped a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DropReason {
    /// The header of the message names no frame.
    #[error("the message has an empty frame_id: its publisher has to set header.frame_id")]
    NoFrame,
    /// Another message came when the queue was full, and this message had waited longest.
    #[error(
        "the queue of {capacity} messages is full, and this message still waits for a transform: \
         {waits_for}"
    )]
    QueueFull {
        /// The number of messages that may wait.
        capacity: usize,
        /// The reason why the message waited.
        waits_for: LookupError,
    },
    /// The stamp of the message is older than the buffer's transforms.
    #[error("the message is older than all data in the transform cache: {0}")]
    TooOld(LookupError),
    /// The buffer was cleared, as when time jumps back, or [`TransformFilter::clear`] was called.
    #[error("the waiting messages were cleared, for example because time jumped back")]
    Cleared,
}

/// The counts of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TransformFilterCounts {
    /// The number of messages that came.
    pub received: u64,
    /// The number of messages that were passed on.
    pub passed: u64,
    /// The number of messages that wait now.
    pub waiting: usize,
    /// The number of messages dropped with [`DropReason::NoFrame`].
    pub dropped_without_frame: u64,
    /// The number of messages dropped with [`DropReason::QueueFull`].
    pub dropped_for_room: u64,
    /// The number of messages dropped with [`DropReason::TooOld`].
    pub dropped_too_old: u64,
    /// The number of messages dropped with [`DropReason::Cleared`].
    pub dropped_cleared: u64,
    /// The number of messages, ready or dropped, for which no closure was called, because the
    /// closures were busy on another thread for too long.
    pub overflowed: u64,
}

enum Event<M> {
    Pass(Arc<M>),
    Drop(Arc<M>, DropReason),
}

struct Core<M> {
    buffer: Buffer,
    targets: Vec<String>,
    capacity: usize,
    tolerance: Duration,
    state: Mutex<State<M>>,
    outlet: Outlet<Event<M>>,
}

struct State<M> {
    waiting: VecDeque<Arc<M>>,
    counts: TransformFilterCounts,
}

impl<M: HasHeader + Send + Sync + 'static> TransformFilter<M> {
    /// Begins to build a filter for messages that are to be transformed into all of these frames.
    pub fn builder<S: Into<String>>(
        buffer: &Buffer,
        targets: impl IntoIterator<Item = S>,
    ) -> TransformFilterBuilder<M> {
        TransformFilterBuilder {
            buffer: buffer.clone(),
            targets: targets.into_iter().map(Into::into).collect(),
            capacity: 100,
            tolerance: Duration::ZERO,
            on_drop: None,
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> TransformFilterCounts {
        let state = self.core.state.lock();
        TransformFilterCounts { waiting: state.waiting.len(), ..state.counts }
    }

    /// Drops all waiting messages; they count as dropped, and `on_drop` is called with each of
    /// them.
    pub fn clear(&self) {
        self.core.buffer_cleared();
    }
}

impl<M: HasHeader + Send + Sync + 'static> TransformFilterBuilder<M> {
    /// Sets the limit on messages that wait; 0 counts as 1. The default is 100.
    pub fn capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.max(1), ..self }
    }

    /// Also requires the transform at a time that is this much later than the stamp, for messages
    /// that take time to measure. The default is zero.
    pub fn tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// Sets a closure that is called with each dropped message and the reason.
    pub fn on_drop(self, on_drop: impl FnMut(Arc<M>, DropReason) + Send + 'static) -> Self {
        Self { on_drop: Some(Box::new(on_drop)), ..self }
    }

    /// Returns the filter, which calls `callback` with messages that are ready, and the filter's
    /// input. The filter works as long as its input or the [`TransformFilter`] exists.
    pub fn build(
        self,
        mut callback: impl FnMut(Arc<M>) + Send + 'static,
    ) -> (TransformFilter<M>, Input<M>) {
        let mut on_drop = self.on_drop;
        let deliver = move |event| match event {
            Event::Pass(message) => callback(message),
            Event::Drop(message, reason) => {
                if let Some(on_drop) = &mut on_drop {
                    on_drop(message, reason);
                }
            }
        };
        let core = Arc::new(Core {
            buffer: self.buffer,
            targets: self.targets,
            capacity: self.capacity,
            tolerance: self.tolerance,
            state: Mutex::new(State { waiting: VecDeque::new(), counts: Default::default() }),
            outlet: Outlet::new(self.capacity.saturating_mul(EVENTS_PER_MESSAGE), deliver),
        });
        core.buffer.watch(Arc::downgrade(&core) as Weak<dyn BufferWatcher>);
        let input = core.clone();
        (TransformFilter { core }, Box::new(move |message| input.add(message)))
    }
}

impl<M: HasHeader + Send + Sync + 'static> Core<M> {
    fn add(&self, message: Arc<M>) {
        self.change(|state, events| {
            state.counts.received += 1;
            if message.frame_id().is_empty() {
                return events.push(Event::Drop(message, DropReason::NoFrame));
            }
            // This happens under the lock, so that a thread that adds a transform now will check
            // this message afterwards.
            match self.readiness(&message) {
                Readiness::Ready => return events.push(Event::Pass(message)),
                Readiness::Never => {
                    let reason = DropReason::TooOld(self.why(&message));
                    return events.push(Event::Drop(message, reason));
                }
                Readiness::NotYet => state.waiting.push_back(message),
            }
            if state.waiting.len() > self.capacity
                && let Some(oldest) = state.waiting.pop_front()
            {
                let (capacity, waits_for) = (self.capacity, self.why(&oldest));
                events.push(Event::Drop(oldest, DropReason::QueueFull { capacity, waits_for }));
            }
        });
    }

    /// Changes the state, and delivers the resulting events without holding the lock.
    fn change(&self, change: impl FnOnce(&mut State<M>, &mut Vec<Event<M>>)) {
        let (mut events, mut overflowed) = (Vec::new(), Vec::new());
        {
            let mut state = self.state.lock();
            change(&mut state, &mut events);
            for event in events {
                state.counts.count(&event);
                overflowed.extend(self.outlet.put(event));
            }
            state.counts.overflowed += overflowed.len() as u64;
        }
        drop(overflowed); // not under the lock, since dropping messages may run the user's code
        self.outlet.deliver();
    }

    /// Returns the times at which the transform has to be known.
    fn times(&self, message: &M) -> [Time; 2] {
        let stamp = Time::from_nanos(message.stamp_nanos());
        [stamp, if stamp == Time::ZERO { stamp } else { stamp + self.tolerance }]
    }

    fn readiness(&self, message: &M) -> Readiness {
        let times = self.times(message);
        let times = if times[0] == times[1] { &times[..1] } else { &times[..] };
        let mut worst = Readiness::Ready;
        for target in &self.targets {
            for time in times {
                match self.buffer.readiness(target, message.frame_id(), *time) {
                    Readiness::Ready => {}
                    Readiness::NotYet => worst = Readiness::NotYet,
                    Readiness::Never => return Readiness::Never,
                }
            }
        }
        worst
    }

    /// Returns the reason why a message cannot be transformed now.
    fn why(&self, message: &M) -> LookupError {
        let times = self.times(message);
        let errors = self.targets.iter().flat_map(|target| {
            times.map(|time| self.buffer.lookup(target, message.frame_id(), time).err())
        });
        // If there is no error, the transform came between the two lookups.
        errors.flatten().next().unwrap_or_else(|| LookupError::UnknownFrame {
            argument: "source_frame",
            frame: message.frame_id().to_owned(),
            nearest: None,
        })
    }
}

impl TransformFilterCounts {
    fn count<M>(&mut self, event: &Event<M>) {
        let counter = match event {
            Event::Pass(_) => &mut self.passed,
            Event::Drop(_, DropReason::NoFrame) => &mut self.dropped_without_frame,
            Event::Drop(_, DropReason::QueueFull { .. }) => &mut self.dropped_for_room,
            Event::Drop(_, DropReason::TooOld(_)) => &mut self.dropped_too_old,
            Event::Drop(_, DropReason::Cleared) => &mut self.dropped_cleared,
        };
        *counter += 1;
    }
}

impl<M: HasHeader + Send + Sync + 'static> BufferWatcher for Core<M> {
    fn transforms_came(&self) {
        self.change(|state, events| {
            state.waiting.retain(|message| match self.readiness(message) {
                Readiness::NotYet => true,
                Readiness::Ready => {
                    events.push(Event::Pass(message.clone()));
                    false
                }
                Readiness::Never => {
                    let reason = DropReason::TooOld(self.why(message));
                    events.push(Event::Drop(message.clone(), reason));
                    false
                }
            });
        });
    }

    fn buffer_cleared(&self) {
        self.change(|state, events| {
            let all = state.waiting.drain(..);
            events.extend(all.map(|message| Event::Drop(message, DropReason::Cleared)));
        });
    }
}
