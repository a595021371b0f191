//! Plays a bag: publishes its messages as they were, at the times at which they were received, or
//! sent.
//!
//! One thread reads ahead, one publishes; whoever spins the node answers the services.

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
use crate::reader::BagReader;
use crate::selection::TopicSelection;
use control::Control;
use run::{Run, Stretch};
use services::Services;
use timeline::Timeline;

/// How a bag is played.
#[derive(Clone)]
pub struct PlayerOptions {
    /// The topics; all, also hidden ones, where nothing is said of what is wanted.
    pub selection: TopicSelection,
    /// How many times as fast as it was recorded.
    pub rate: f64,
    /// Begins so far into the bag.
    pub start_offset: Duration,
    /// Ends after this stretch of the bag.
    pub duration: Option<Duration>,
    /// Ends at this time of the bag, in nanoseconds since 1970.
    pub until: Option<i64>,
    /// Begins again at the end, for ever.
    pub is_looping: bool,
    /// Waits before it begins, each time.
    pub delay: Duration,
    /// Publishes `/clock` so many times a second.
    pub clock_frequency: Option<f64>,
    /// Begins paused.
    pub start_paused: bool,
    /// Policies of publishers that replace those that were recorded, by topic.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// Waits so long for each topic to have a subscription before it begins.
    pub wait_for_subscriptions: Option<Duration>,
    /// Waits so long at the end for reliable subscriptions to have all.
    pub wait_for_all_acked: Option<Duration>,
    /// Bytes of messages that are read ahead; as many may wait for others that were sent before
    /// them.
    pub read_ahead_bytes: usize,
    /// The order in which messages are played, each at its time: offset, limits, and the time of
    /// the player are of this kind.
    pub message_order: MessageOrder,
}

impl Default for PlayerOptions {
    /// Everything, once, as fast as it was recorded, with 64 MiB read ahead.
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
    /// The node cannot have the player's endpoints.
    #[error("{0}")]
    Create(Arc<CreateError>),
    /// The node cannot have the parameters that tell the bag's time.
    #[error("{0}")]
    Parameter(Arc<DeclareParameterError>),
    /// A message cannot be published.
    #[error("a message of {topic} cannot be published: {source}")]
    Publish {
        /// The topic.
        topic: String,
        /// Why not.
        source: Arc<PublishError>,
    },
    /// The bag has no messages of the topics and the time that are wanted.
    #[error("there is nothing to play: the bag has no messages of these topics and this time")]
    Nothing,
    /// A bag does not tell when its messages were sent.
    #[error(
        "the bag {bag} does not tell when its messages were sent: play them as they were received \
         (`--message-order received`), or record them anew with `feros bag record`, which keeps it"
    )]
    NoSendTimes {
        /// The bag.
        bag: String,
    },
    /// A rate is a positive number.
    #[error("the rate {rate} cannot be played: give a number above 0, such as 0.5 or 2")]
    Rate {
        /// The number.
        rate: f64,
    },
    /// The system starts no thread.
    #[error("the player's threads cannot be started: {reason}; end others, or raise `ulimit -u`")]
    Thread {
        /// What the system says.
        reason: String,
    },
    /// The player ended by a panic, which was told.
    #[error("the player ended by a panic: report it with the bag")]
    Panicked,
}

impl From<CreateError> for PlayError {
    fn from(error: CreateError) -> Self {
        Self::Create(Arc::new(error))
    }
}

/// What was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Played {
    /// Messages that were published.
    pub messages: u64,
    /// How often the bag was played to its end.
    pub rounds: u64,
}

/// Plays a bag, and is steered by the services that `rosbag2` has: `~/pause`, `~/resume`,
/// `~/toggle_paused`, `~/is_paused`, `~/get_rate`, `~/set_rate`, `~/play_next`, `~/burst`,
/// `~/seek`, `~/play`, `~/stop`. The parameters `bag.start_time_nanos` and `bag.end_time_nanos` of
/// the node tell where the bag begins and ends.
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
    _services: Services,
    _clock: Option<clock::ClockThread>,
}

/// Tells where the bag begins and ends, so that who steers the player can show its place in it.
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
            // Of several bags that one node plays, the first counts.
            Ok(_) | Err(DeclareParameterError::AlreadyDeclared { .. }) => {}
            Err(error) => return Err(PlayError::Parameter(Arc::new(error))),
        }
    }
    Ok(())
}

impl Player {
    /// Makes the publishers, and begins to play.
    ///
    /// # Errors
    /// When the bag has nothing to play, the node cannot have the publishers, or the rate is none.
    pub fn start(node: &Node, bag: BagReader, options: PlayerOptions) -> Result<Self, PlayError> {
        Self::start_merged(node, vec![bag], options)
    }

    /// As [`Player::start`], of several bags at once: their messages come in one order, and the
    /// bags' time is from their first message to their last.
    ///
    /// # Errors
    /// As [`Player::start`].
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
        let services = Services::start(node, &control)?;
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

    /// Publishes nothing from now on; the time of the bag stands still.
    pub fn pause(&self) {
        self.control.set_paused(true);
    }

    /// Goes on.
    pub fn resume(&self) {
        self.control.set_paused(false);
    }

    /// Pauses, or goes on.
    pub fn toggle_paused(&self) {
        self.control.toggle_paused();
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.control.is_paused()
    }

    /// How many times as fast as it was recorded the bag is played.
    pub fn rate(&self) -> f64 {
        self.control.rate()
    }

    /// Plays at another rate; whether that is one: a positive number.
    pub fn set_rate(&self, rate: f64) -> bool {
        self.control.set_rate(rate)
    }

    /// Publishes the next message while paused; whether there was one.
    pub fn play_next(&self) -> bool {
        self.control.step(1) == 1
    }

    /// The time of the bag, in nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        self.control.now()
    }

    /// Goes to another time of the bag; whether the bag has it.
    pub fn seek(&self, time: i64) -> bool {
        self.control.seek(time)
    }

    /// Whether everything was played, or it was stopped.
    pub fn has_ended(&self) -> bool {
        self.control.has_ended()
    }

    /// Ends playing.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Waits until everything is played, and says what was.
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
        // Whoever wants to know how it went has waited before.
        let _ = self.wait();
    }
}

/// The topics that are played, by name.
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

/// Everything but what is left out.
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
