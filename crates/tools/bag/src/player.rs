//! Plays a bag: publishes its messages unchanged, in the rhythm in which they were received or
//! sent.
//!
//! One thread reads ahead, and another publishes. The executor of the node answers the services.

mod clock;
mod control;
mod run;
mod services;
mod timeline;

pub use timeline::MessageOrder;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use feros::{CreateError, DeclareParameterError, Node, PublishError, QosProfile};
use feros_sync::Mutex;

use crate::error::ReadError;
use crate::metadata::TimeRange;
use crate::offered::Offered;
use crate::reader::BagReader;
use crate::selection::TopicSelection;
use control::Control;
use run::{Run, Stretch};
use timeline::Timeline;

/// The options of a player.
#[derive(Clone)]
pub struct PlayerOptions {
    /// The topics; an empty selection means all topics, including hidden ones.
    pub selection: TopicSelection,
    /// The speed, as a multiple of the recorded one.
    pub rate: f64,
    /// Begins this long after the start of the bag.
    pub start_offset: Duration,
    /// Ends after this much time of the bag.
    pub duration: Option<Duration>,
    /// Ends at this time of the bag, in nanoseconds since 1970.
    pub until: Option<i64>,
    /// Begins again at the end, forever.
    pub is_looping: bool,
    /// Waits this long before each start.
    pub delay: Duration,
    /// Publishes `/clock` this many times per second.
    pub clock_frequency: Option<f64>,
    /// Begins paused.
    pub start_paused: bool,
    /// The policies of the player's publishers, by topic. They replace the recorded policies.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// Before playing begins, waits at most this long for each topic to have a subscription.
    pub wait_for_subscriptions: Option<Duration>,
    /// At the end, waits at most this long for reliable subscriptions to acknowledge all messages.
    pub wait_for_all_acked: Option<Duration>,
    /// The limit on bytes of messages that are read ahead. In the order of sending, this many bytes
    /// again may wait for messages that were sent earlier.
    pub read_ahead_bytes: usize,
    /// The order in which messages are played, each at its time. The offset, the limits and the
    /// time of the player refer to the same kind of time.
    pub message_order: MessageOrder,
}

impl Default for PlayerOptions {
    /// Returns options that play the whole bag once, at the recorded speed, with 64 MiB read ahead.
    fn default() -> Self {
        Self {
            selection: TopicSelection::default(),
            rate: 1.0,
            start_offset: Duration::ZERO,
            duration: None,
            until: None,
            is_looping: false,
            delay: Duration::ZERO,
            clock_frequency: None,
            start_paused: false,
            qos_overrides: BTreeMap::new(),
            wait_for_subscriptions: None,
            wait_for_all_acked: None,
            read_ahead_bytes: 64 << 20,
            message_order: MessageOrder::Received,
        }
    }
}

/// Why a bag is not played, or not to its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The bag cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The node cannot create the player's endpoints.
    #[error("{0}")]
    Create(Arc<CreateError>),
    /// The node cannot declare the parameters with the bag's time.
    #[error("{0}")]
    Parameter(Arc<DeclareParameterError>),
    /// A message cannot be published.
    #[error("a message of {topic} cannot be published: {source}")]
    Publish {
        /// The topic.
        topic: String,
        /// The reason.
        source: Arc<PublishError>,
    },
    /// The bag has no messages of the selected topics in the selected time.
    #[error("there is nothing to play: the bag has no messages of these topics in this time")]
    Nothing,
    /// A bag lacks the times at which its messages were sent.
    #[error(
        "the bag {bag} does not state when its messages were sent: play them as they were received \
         (`--message-order received`), or record them again with `feros bag record`, which records \
         this time"
    )]
    NoSendTimes {
        /// The bag.
        bag: String,
    },
    /// The rate is not a positive number.
    #[error("the bag cannot be played at rate {rate}: give a number above 0, such as 0.5 or 2")]
    Rate {
        /// The number.
        rate: f64,
    },
    /// The system refused to start a thread.
    #[error(
        "the player's threads cannot be started: {reason}; end other processes, or raise `ulimit -u`"
    )]
    Thread {
        /// The system's description of the error.
        reason: String,
    },
    /// The player ended with a panic, which was logged.
    #[error("the player panicked: report this together with the bag")]
    Panicked,
}

impl From<CreateError> for PlayError {
    fn from(error: CreateError) -> Self {
        Self::Create(Arc::new(error))
    }
}

/// The counts of played messages and rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Played {
    /// The number of messages that were published.
    pub messages: u64,
    /// The number of times that the bag was played to its end.
    pub rounds: u64,
}

/// Plays a bag. It offers the control services of rosbag2: `~/pause`, `~/resume`,
/// `~/toggle_paused`, `~/is_paused`, `~/get_rate`, `~/set_rate`, `~/play_next`, `~/burst`,
/// `~/seek`, `~/play`, `~/stop`. The parameters `bag.start_time_nanos` and `bag.end_time_nanos` of
/// the node hold the times at which the bag begins and ends.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros_bag::{BagReader, Player, PlayerOptions};
/// let player = Player::start(&node, BagReader::open("my_bag")?, PlayerOptions::default())?;
/// let played = player.wait()?;
/// println!("{} messages", played.messages);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Player {
    control: Arc<Control>,
    playing: Mutex<Option<JoinHandle<Result<Played, PlayError>>>>,
    _services: Vec<Offered>,
    _clock: Option<clock::ClockThread>,
}

/// Declares parameters with the times at which the bag begins and ends, so that a user interface
/// can show the position in it.
fn declare_span(node: &Node, time: TimeRange) -> Result<(), PlayError> {
    let span = [("bag.start_time_nanos", time.start), ("bag.end_time_nanos", time.end)];
    for (name, nanos) in span {
        let declared = node
            .build_parameter(name, nanos)
            .description("Nanoseconds since 1970 of the bag's first or last message")
            .read_only()
            .ignore_override()
            .declare();
        match declared {
            // If one node plays several bags, the first one's span counts.
            Ok(_) | Err(DeclareParameterError::AlreadyDeclared { .. }) => {}
            Err(error) => return Err(PlayError::Parameter(Arc::new(error))),
        }
    }
    Ok(())
}

impl Player {
    /// Creates the publishers, and begins to play.
    ///
    /// # Errors
    /// When the bag has nothing to play, the node cannot create the publishers, or the rate is
    /// invalid.
    pub fn start(node: &Node, bag: BagReader, options: PlayerOptions) -> Result<Self, PlayError> {
        Self::start_merged(node, vec![bag], options)
    }

    /// Like [`Player::start`], but plays several bags at once: their messages are merged, and the
    /// time runs from the first message in any bag to the last.
    ///
    /// # Errors
    /// The errors of [`Player::start`].
    pub fn start_merged(
        node: &Node,
        bags: Vec<BagReader>,
        options: PlayerOptions,
    ) -> Result<Self, PlayError> {
        if !(options.rate.is_finite() && options.rate > 0.0) {
            return Err(PlayError::Rate { rate: options.rate });
        }
        let wanted = wanted_topics(&bags, &options.selection);
        if wanted.is_empty() {
            return Err(PlayError::Nothing);
        }
        let timeline = Timeline::of(&bags, options.message_order)?;
        let time = timeline.range;
        let start = time.start.saturating_add(nanos(options.start_offset));
        let by_duration = options.duration.map(|duration| start.saturating_add(nanos(duration)));
        let limits = [by_duration, options.until, Some(time.end)];
        let end = limits.into_iter().flatten().min().unwrap_or(time.end);
        if start > end {
            return Err(PlayError::Nothing);
        }
        let (rate, is_paused) = (options.rate, options.start_paused);
        let interrupts = bags.iter().map(|bag| bag.interrupt().clone()).collect();
        let control = Arc::new(Control::new(start, rate, is_paused, time, interrupts));
        let played = Stretch { topics: wanted, timeline, range: start..=end };
        let run = Run::new(node, bags, played, &options, control.clone())?;
        let services = services::start(node, &control)?;
        declare_span(node, time)?;
        let clock = options.clock_frequency;
        let clock =
            clock.map(|hertz| clock::ClockThread::start(node, hertz, &control)).transpose()?;
        let thread = std::thread::Builder::new().name("feros-bag-play".into());
        let playing = thread
            .spawn(move || run.play(&options))
            .map_err(|error| PlayError::Thread { reason: error.to_string() })?;
        Ok(Self { control, playing: Mutex::new(Some(playing)), _services: services, _clock: clock })
    }

    /// Stops publishing until [`Player::resume`]; the time of the bag stands still.
    pub fn pause(&self) {
        self.control.set_paused(true);
    }

    /// Continues after a pause.
    pub fn resume(&self) {
        self.control.set_paused(false);
    }

    /// Pauses, or continues after a pause.
    pub fn toggle_paused(&self) {
        self.control.toggle_paused();
    }

    /// Whether the player is paused.
    pub fn is_paused(&self) -> bool {
        self.control.is_paused()
    }

    /// The speed, as a multiple of the recorded one.
    pub fn rate(&self) -> f64 {
        self.control.rate()
    }

    /// Plays at another rate; returns whether the rate is valid: a positive number.
    pub fn set_rate(&self, rate: f64) -> bool {
        self.control.set_rate(rate)
    }

    /// Publishes the next message while paused; returns whether a message was left.
    pub fn play_next(&self) -> bool {
        self.control.step(1) == 1
    }

    /// Returns the current time of the bag, in nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        self.control.now()
    }

    /// Goes to another time of the bag; returns whether the bag contains it.
    pub fn seek(&self, time: i64) -> bool {
        self.control.seek(time)
    }

    /// Whether all messages were played, or the player was stopped.
    pub fn has_ended(&self) -> bool {
        self.control.has_ended()
    }

    /// Stops playing.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Waits until all messages are played, and returns their counts.
    ///
    /// # Errors
    /// When the bag could not be read or published to its end.
    pub fn wait(&self) -> Result<Played, PlayError> {
        let Some(playing) = self.playing.lock().take() else { return Ok(Played::default()) };
        playing.join().unwrap_or(Err(PlayError::Panicked))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.stop();
        // A caller that needs the result calls `wait` before.
        let _ = self.wait();
    }
}

/// Returns the names of the topics that are played.
fn wanted_topics(bags: &[BagReader], selection: &TopicSelection) -> BTreeSet<String> {
    let topics = bags.iter().flat_map(BagReader::topics).map(|topic| &topic.metadata);
    let says_what = !selection.is_empty();
    let selection = if says_what {
        selection.clone()
    } else {
        let all = TopicSelection::all();
        TopicSelection { include_hidden_topics: true, ..merged(all, selection) }
    };
    let wanted = topics.filter(|topic| selection.has(&topic.name, &topic.type_name));
    wanted.map(|topic| topic.name.clone()).collect()
}

/// Returns the selection of all topics minus the excluded ones.
fn merged(all: TopicSelection, selection: &TopicSelection) -> TopicSelection {
    let selection = selection.clone();
    TopicSelection {
        all_topics: all.all_topics,
        all_services: all.all_services,
        all_actions: all.all_actions,
        ..selection
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
