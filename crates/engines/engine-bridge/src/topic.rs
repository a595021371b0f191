//! Bridges one topic from one side to another side. The bridge subscribes on the first side. For
//! each publisher there, it makes a publisher on the other side, called a mirror. A mirror has the
//! same policies as its publisher. It keeps the latched messages of the publisher while the
//! publisher exists, and losses of one publisher do not affect other publishers.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use feros_engine::{
    BridgeMark, CreateEndpointError, Created, Gid, Match, Sample, Stamp, Subscription,
    SubscriptionEvent, SubscriptionOptions, TypeHash,
};
use feros_sync::{AtomicBool, Mutex, Ordering};

use crate::bell::Bell;
use crate::class::Class;
use crate::counts::{Counters, Warnings};
use crate::mirror::{LINGER, Mirror, Mirrors};
use crate::side::Side;
use crate::topic_key::TopicKey;

/// The data that all threads of a bridge need.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) mark: BridgeMark,
    pub(crate) queue_len: usize,
    pub(crate) counters: Arc<Counters>,
    pub(crate) warnings: Arc<Warnings>,
}

/// How often to check whether the last messages of a departed publisher have been acknowledged.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A thread that bridges one topic or service. Before it ends on request, it forwards the messages
/// that have arrived.
pub(crate) struct Way {
    bell: Arc<Bell>,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Way {
    /// Starts `work` on a thread, and passes a flag to it. Whenever `bell` wakes the thread, `work`
    /// must check the flag, and return if the flag is set.
    pub(crate) fn start(
        name: &str,
        bell: Arc<Bell>,
        work: impl FnOnce(&AtomicBool) + Send + 'static,
    ) -> std::io::Result<Self> {
        let is_ending = Arc::new(AtomicBool::new(false));
        let flag = is_ending.clone();
        let thread =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&flag))?;
        Ok(Self { bell, is_ending, thread: Some(thread) })
    }

    /// Asks the thread to end.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.bell.ring();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.end();
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("a thread of the bridge panicked");
        }
    }
}

/// A bridged topic.
pub(crate) struct TopicWay {
    left: Arc<Mutex<BTreeSet<Gid>>>,
    has_news: Arc<AtomicBool>,
    desertion: Arc<Desertion>,
    pub(crate) way: Way,
}

/// The state of a topic whose publishers have all left. Until the subscription of the bridge is
/// withdrawn, a new publisher may match the subscription, and its messages must not be lost.
#[derive(Default)]
struct Desertion {
    /// Whether the topic is to end because it has no publisher.
    is_deserted: AtomicBool,
    /// Whether the topic continues because a publisher has appeared in the meantime.
    goes_on: AtomicBool,
}

impl TopicWay {
    /// Sets the publishers that are not, or no longer, bridged.
    pub(crate) fn leave(&self, left: BTreeSet<Gid>) {
        let mut known = self.left.lock();
        if *known != left {
            *known = left;
            self.has_news.store(true, Ordering::Release);
            self.way.bell.ring();
        }
    }

    /// Ends the topic because it has no publisher, unless a publisher has appeared in the meantime.
    pub(crate) fn end_deserted(&self) {
        self.desertion.is_deserted.store(true, Ordering::Release);
        self.way.bell.ring();
    }

    /// Whether a topic that was about to end continues after all. Resets the flag.
    pub(crate) fn goes_on(&self) -> bool {
        self.desertion.goes_on.swap(false, Ordering::AcqRel)
    }
}

/// Starts to bridge a topic. The publishers in `left` are not bridged.
pub(crate) fn carry(
    key: &TopicKey,
    (hash, left): (Option<TypeHash>, BTreeSet<Gid>),
    (from, to): (&Side, &Side),
    shared: Shared,
) -> Created<TopicWay> {
    let bell = Arc::<Bell>::default();
    let left = Arc::new(Mutex::new(left));
    let has_news = Arc::new(AtomicBool::new(true));
    let (news, event_bell) = (has_news.clone(), bell.clone());
    let subscription = from.session.create_subscription(SubscriptionOptions {
        node: from.node,
        topic: &from.name_here(&key.topic),
        type_name: &key.type_name,
        type_hash: hash,
        qos: key.class.requested(shared.queue_len),
        announcement: &shared.mark.announcement(),
        ignore_local_publications: true,
        on_data: bell.notify(),
        on_event: Some(Arc::new(move || {
            news.store(true, Ordering::Release);
            event_bell.ring();
        })),
    })?;
    let mirrors = Mirrors {
        key: key.clone(),
        hash,
        to: to.clone(),
        mark: shared.mark,
        queue_len: shared.queue_len,
    };
    let desertion = Arc::<Desertion>::default();
    let carrier = Carrier {
        desertion: desertion.clone(),
        subscription,
        mirrors,
        shared,
        left: left.clone(),
        has_news: has_news.clone(),
        sources: HashMap::new(),
        bell: bell.clone(),
    };
    let way = Way::start("feros-brg-topic", bell, move |is_ending| carrier.run(is_ending));
    let way = way.map_err(|error| CreateEndpointError::Engine {
        name: key.topic.clone(),
        operation: "starting a thread",
        code: error.to_string(),
    })?;
    Ok(TopicWay { left, has_news, desertion, way })
}

/// A publisher on the side `from`, as the thread knows it.
struct Source {
    /// The publisher's mirror on the other side, or `None` if the publisher is not bridged by this
    /// thread.
    mirror: Option<Mirror>,
    /// Whether the publisher is not bridged because its process also publishes on the other side.
    is_left: bool,
    /// The time at which the publisher left, if it has left.
    gone: Option<Instant>,
}

impl Source {
    /// Whether the publisher can be forgotten: it has left, and either its messages have been
    /// acknowledged, or the wait for acknowledgements has timed out.
    fn may_go(&self) -> bool {
        self.gone.is_some_and(|since| {
            since.elapsed() >= LINGER || self.mirror.as_ref().is_none_or(Mirror::is_acked)
        })
    }
}

struct Carrier {
    desertion: Arc<Desertion>,
    subscription: Arc<dyn Subscription>,
    mirrors: Mirrors,
    shared: Shared,
    /// The publishers that are not bridged because their processes also publish on the other side.
    left: Arc<Mutex<BTreeSet<Gid>>>,
    /// Whether an endpoint has appeared or left, or a message was lost.
    has_news: Arc<AtomicBool>,
    sources: HashMap<Gid, Source>,
    bell: Arc<Bell>,
}

/// The key that represents all publishers that the engine does not identify. They share one mirror.
const STRANGER: Gid = Gid([0; 16]);

impl Carrier {
    fn run(mut self, is_ending: &AtomicBool) {
        loop {
            // The flag is read before the messages are taken, so that all messages that arrived
            // before the end was requested are forwarded.
            let must_end = is_ending.load(Ordering::Acquire);
            let is_last = must_end || self.desertion.is_deserted.load(Ordering::Acquire);
            let has_news = self.has_news.swap(false, Ordering::AcqRel);
            if has_news {
                self.see_who_is_there();
            }
            let has_passed_on = self.pass_on(is_ending);
            if has_news || is_last {
                self.count_losses();
            }
            if is_last {
                self.linger();
                if must_end || !(has_passed_on || self.goes_on()) {
                    return;
                }
                continue;
            }
            self.sources.retain(|_, source| !source.may_go());
            let someone_leaves = self.sources.values().any(|source| source.gone.is_some());
            self.bell.wait(someone_leaves.then_some(LOOK_EVERY));
        }
    }

    /// Creates a mirror for each new publisher, and records which publishers have left.
    fn see_who_is_there(&mut self) {
        let matches = self.subscription.matches();
        let there: HashSet<Gid> = matches.iter().map(|found| found.gid).collect();
        let left = self.left.lock().clone();
        // A publisher that has been added to or removed from `left` is treated as a new publisher.
        self.sources
            .retain(|gid, source| !there.contains(gid) || left.contains(gid) == source.is_left);
        for found in &matches {
            if let Some(known) = self.sources.get_mut(&found.gid) {
                known.gone = None;
                continue;
            }
            let is_left = left.contains(&found.gid);
            let mirror = if is_left { None } else { self.mirror_of(found) };
            self.sources.insert(found.gid, Source { mirror, is_left, gone: None });
        }
        for (gid, source) in &mut self.sources {
            if !there.contains(gid) && source.gone.is_none() {
                source.gone = Some(Instant::now());
            }
        }
    }

    fn mirror_of(&self, found: &Match) -> Option<Mirror> {
        let is_ours = BridgeMark::read(found.announcement.as_deref()).is_none()
            && Class::of(&found.qos) == self.mirrors.key.class;
        is_ours.then(|| self.made(self.mirrors.of(found))).flatten()
    }

    fn made(&self, mirror: Created<Mirror>) -> Option<Mirror> {
        mirror.inspect_err(|error| self.shared.warnings.warn_once(error.to_string())).ok()
    }

    /// Forwards the messages that have arrived. Returns whether there were any.
    fn pass_on(&mut self, is_ending: &AtomicBool) -> bool {
        let mut has_passed_on = false;
        loop {
            match self.subscription.take() {
                Ok(Some(sample)) => self.pass_on_one(&sample, is_ending),
                Ok(None) => return has_passed_on,
                Err(error) => {
                    self.shared.warnings.warn_once(error.to_string());
                    return has_passed_on;
                }
            }
            has_passed_on = true;
        }
    }

    fn pass_on_one(&mut self, sample: &Sample, is_ending: &AtomicBool) {
        let from = sample.info.publisher_gid;
        if !self.sources.contains_key(&from) {
            self.see_who_is_there();
        }
        if !self.sources.contains_key(&from) && !self.sources.contains_key(&STRANGER) {
            let mirror = self.made(self.mirrors.of_strangers());
            self.sources.insert(STRANGER, Source { mirror, is_left: false, gone: None });
        }
        let gid = if self.sources.contains_key(&from) { from } else { STRANGER };
        let source = self.sources.get_mut(&gid);
        let Some(mirror) = source.and_then(|source| source.mirror.as_mut()) else { return };
        let info = &sample.info;
        let numbered = (info.publication_sequence_number, info.stamp().unwrap_or_else(Stamp::now));
        match mirror.publish(numbered, &sample.payload, &self.mirrors, is_ending) {
            Ok(()) => Counters::add(&self.shared.counters.messages, 1),
            Err(error) => {
                Counters::add(&self.shared.counters.failed, 1);
                self.shared.warnings.warn_once(error.to_string());
            }
        }
    }

    fn count_losses(&self) {
        loop {
            match self.subscription.take_event() {
                Ok(Some(SubscriptionEvent::MessageLost { change, .. })) => {
                    Counters::add(&self.shared.counters.lost, change);
                }
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => return self.shared.warnings.warn_once(error.to_string()),
            }
        }
    }

    /// Whether a publisher has appeared on a topic that was about to end. If so, the topic
    /// continues.
    fn goes_on(&mut self) -> bool {
        self.see_who_is_there();
        let is_used =
            self.sources.values().any(|source| source.gone.is_none() && source.mirror.is_some());
        if is_used {
            self.desertion.is_deserted.store(false, Ordering::Release);
            self.desertion.goes_on.store(true, Ordering::Release);
        }
        is_used
    }

    /// Waits until the messages of departed publishers have been delivered.
    fn linger(&self) {
        let until = Instant::now() + LINGER;
        for mirror in self.sources.values().filter_map(|source| source.mirror.as_ref()) {
            mirror.wait_until_acked(until);
        }
    }
}
