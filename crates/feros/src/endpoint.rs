//! What publishers, subscriptions and services have in common: a place on their node's executor,
//! and events.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use feros_executor::{
    AddError, Entity, EntityHandle, ExclusiveGroup, ExecutorHandle, Kind, Progress, Ringer,
    Supervision, Supervisor,
};
use feros_rmw::{
    EventError, Notify, Publisher as EnginePublisher, PublisherEvent,
    Subscription as EngineSubscription, SubscriptionEvent,
};

use crate::context::Changes;
use crate::error::CreateError;
use crate::executor::{CallbackGroup, CallbackOptions};
use crate::logging;
use crate::mismatches::{LOOK_INTERVAL, Mismatches};
use crate::node::{Node, WeakNode};
use crate::subscription::Tally;
use crate::timer::NodeTimer;

/// The entities of one node, and the executor that they are on.
///
/// An entity waits here until its node is given to an executor; rings from before are kept by the
/// entity's ringer.
#[derive(Clone, Default)]
pub(crate) struct NodeMembers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    panics: Panics,
    /// The group of callbacks that name none.
    default_group: ExclusiveGroup,
}

#[derive(Default)]
struct State {
    executor: Option<ExecutorHandle>,
    members: Vec<Weak<Place>>,
}

/// Where one entity is.
struct Place {
    spot: Mutex<Option<Spot>>,
    /// The group with which it goes, if not with its node.
    group: Option<CallbackGroup>,
}

impl Place {
    /// Takes the entity to an executor.
    fn join(&self, executor: &ExecutorHandle) -> Result<(), AddError> {
        let mut spot = lock(&self.spot);
        if let Some(Spot::Waiting(entity)) = spot.take() {
            *spot = Some(Spot::OnExecutor(executor.add(entity)?));
        }
        Ok(())
    }

    /// Takes the entity off its executor; a callback that is running ends first.
    fn leave(&self) {
        let mut spot = lock(&self.spot);
        *spot = match spot.take() {
            Some(Spot::OnExecutor(handle)) => handle.detach().ok().map(Spot::Waiting),
            other => other,
        };
    }
}

enum Spot {
    Waiting(Entity),
    OnExecutor(EntityHandle),
}

/// One entity of a node; it leaves the executor when this is dropped.
pub(crate) struct Member(
    #[allow(dead_code, reason = "owns the place until it is dropped")] Arc<Place>,
);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NodeMembers {
    /// Takes in an entity; it goes to the executor of its group or node at once if there is one.
    pub(crate) fn add(
        &self,
        entity: Entity,
        kind: Kind,
        options: &CallbackOptions,
    ) -> Result<Member, AddMemberError> {
        if options.group.as_ref().is_some_and(|group| !group.node().is_same(self)) {
            return Err(AddMemberError::ForeignGroup);
        }
        let attributes = options.attributes(kind, &self.0.default_group);
        let entity = entity.with(attributes).supervised_by(self.0.clone());
        let group = options.group.clone().filter(CallbackGroup::is_separate);
        let mut state = lock(&self.0.state);
        let executor = match &group {
            Some(group) => group.executor(),
            None => state.executor.clone(),
        };
        let spot = match executor {
            Some(executor) => Spot::OnExecutor(executor.add(entity)?),
            None => Spot::Waiting(entity),
        };
        let place = Arc::new(Place { spot: Mutex::new(Some(spot)), group });
        state.members.retain(|member| member.strong_count() > 0);
        state.members.push(Arc::downgrade(&place));
        Ok(Member(place))
    }

    /// Moves all entities to an executor, but for those of separate groups. `false` when the node
    /// is on one already.
    pub(crate) fn join(&self, executor: &ExecutorHandle) -> Result<bool, AddError> {
        let mut state = lock(&self.0.state);
        if state.executor.is_some() {
            return Ok(false);
        }
        let places = state.members.iter().filter_map(Weak::upgrade);
        places.filter(|place| place.group.is_none()).try_for_each(|place| place.join(executor))?;
        state.executor = Some(executor.clone());
        Ok(true)
    }

    /// As [`join`](Self::join), for the entities of one separate group.
    pub(crate) fn join_group(
        &self,
        group: &CallbackGroup,
        executor: &ExecutorHandle,
    ) -> Result<bool, AddError> {
        let state = lock(&self.0.state);
        if group.executor().is_some() {
            return Ok(false);
        }
        let places = state.members.iter().filter_map(Weak::upgrade);
        let is_of_group =
            |place: &Arc<Place>| place.group.as_ref().is_some_and(|known| known.is_same(group));
        places.filter(is_of_group).try_for_each(|place| place.join(executor))?;
        group.set_executor(Some(executor.clone()));
        Ok(true)
    }

    /// Takes all entities off the node's executor; a callback that is running ends first.
    pub(crate) fn leave(&self) {
        lock(&self.0.state).executor = None;
        self.0
            .places()
            .iter()
            .filter(|place| place.group.is_none())
            .for_each(|place| place.leave());
    }

    /// As [`leave`](Self::leave), for the entities of one separate group.
    pub(crate) fn leave_group(&self, group: &CallbackGroup) {
        let state = lock(&self.0.state);
        group.set_executor(None);
        drop(state);
        for place in self.0.places() {
            if place.group.as_ref().is_some_and(|known| known.is_same(group)) {
                place.leave();
            }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Has panics of the entities' callbacks caught; the first ends all of them, then calls `hook`.
    pub(crate) fn on_panic(&self, hook: PanicHook) {
        let former = lock(&self.0.panics.hook).replace(hook);
        drop(former); // outside the lock
        let calm = (Supervision::Off as u8, Supervision::Catch as u8);
        let _ = self.0.panics.supervision.compare_exchange(
            calm.0,
            calm.1,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
    }

    /// Runs a callback that no executor runs, under the same rules.
    pub(crate) fn supervise(&self, work: impl FnOnce()) {
        feros_executor::supervise(&*self.0, work);
    }
}

/// Why an entity was not taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddMemberError {
    #[error(transparent)]
    Executor(#[from] AddError),
    #[error(
        "its callback group belongs to another node: make one with this node's `create_callback_group`"
    )]
    ForeignGroup,
}

type PanicHook = Box<dyn FnOnce(&str) + Send>;

/// What a node does when one of its callbacks panics.
#[derive(Default)]
struct Panics {
    /// A [`Supervision`].
    supervision: AtomicU8,
    hook: Mutex<Option<PanicHook>>,
}

impl Shared {
    fn places(&self) -> Vec<Arc<Place>> {
        lock(&self.state).members.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Supervisor for Shared {
    fn supervision(&self) -> Supervision {
        match self.panics.supervision.load(Ordering::Acquire) {
            off if off == Supervision::Off as u8 => Supervision::Off,
            catch if catch == Supervision::Catch as u8 => Supervision::Catch,
            _ => Supervision::Refuse,
        }
    }

    fn panicked(&self, text: &str) {
        self.panics.supervision.store(Supervision::Refuse as u8, Ordering::Release);
        for place in self.places() {
            let spot = lock(&place.spot).take();
            drop(spot); // outside the lock: what a callback has captured may do anything
        }
        let hook = lock(&self.panics.hook).take(); // of several callbacks that panic at once, the first calls it
        if let Some(hook) = hook {
            hook(text);
        }
    }
}

/// Remembers that the engine reported an event, until the entity handles it.
pub(crate) struct WatchEvents {
    pending: Arc<AtomicBool>,
    ringer: Ringer,
    /// Who waits for a match looks again; the graph may have told them before the endpoint itself
    /// knew.
    graph_changes: Arc<Changes>,
}

impl WatchEvents {
    /// Events ring this entity.
    pub(crate) fn new(node: &Node, ringer: Ringer) -> Self {
        Self { pending: Arc::default(), ringer, graph_changes: node.context().changes().clone() }
    }

    pub(crate) fn notify(&self) -> Notify {
        let pending = self.pending.clone();
        let (ringer, graph_changes) = (self.ringer.clone(), self.graph_changes.clone());
        Arc::new(move || {
            pending.store(true, Ordering::Release);
            ringer.ring();
            graph_changes.announce();
        })
    }

    /// Puts the events of a publisher on its node's executor.
    pub(crate) fn publisher_events(
        self,
        node: &Node,
        topic: &str,
        engine: &Arc<dyn EnginePublisher>,
        on_event: Option<Box<dyn FnMut(PublisherEvent) + Send>>,
        mut prepare: impl FnMut() + Send + 'static,
    ) -> Result<Member, CreateError> {
        let engine = Arc::downgrade(engine);
        let take = move || engine.upgrade().map_or(Ok(None), |engine| engine.take_event());
        let ringer = self.ringer.clone();
        let mut events =
            Events::new(self, node, topic, take, on_event, publisher_event_needs_a_word);
        let entity = Entity::new(&ringer, move || {
            prepare();
            events.handle();
            Progress::Done
        });
        node.add_member(topic, entity)
    }

    /// Events of a subscription, to be handled by its own entity.
    pub(crate) fn subscription_events(
        self,
        node: &Node,
        topic: &str,
        engine: &Arc<dyn EngineSubscription>,
        tally: Arc<Tally>,
        on_event: Option<Box<dyn FnMut(SubscriptionEvent) + Send>>,
        log_lost_messages: bool,
    ) -> Events<
        SubscriptionEvent,
        impl FnMut() -> Result<Option<SubscriptionEvent>, EventError> + Send + use<>,
    > {
        let engine = engine.clone();
        let mut losses = AllLosses::default();
        let take = move || match losses.on_fast_transports(tally.lost()) {
            Some(event) => Ok(Some(event)),
            None => Ok(engine.take_event()?.map(|event| losses.with_engine(event))),
        };
        let needs_a_word = if log_lost_messages {
            subscription_event_needs_a_word
        } else {
            subscription_event_but_loss_needs_a_word
        };
        Events::new(self, node, topic, take, on_event, needs_a_word)
    }
}

/// Losses of all transports as one event.
#[derive(Default)]
struct AllLosses {
    by_engine: u64,
    on_fast_transports: u64,
}

impl AllLosses {
    /// The event of losses that the engine knows nothing of.
    fn on_fast_transports(&mut self, total: u64) -> Option<SubscriptionEvent> {
        let change = total.saturating_sub(self.on_fast_transports);
        self.on_fast_transports = total;
        let total = self.by_engine + total;
        (change > 0).then_some(SubscriptionEvent::MessageLost { total, change })
    }

    /// The engine's event with the losses of the other transports in its total.
    fn with_engine(&mut self, event: SubscriptionEvent) -> SubscriptionEvent {
        match event {
            SubscriptionEvent::MessageLost { total, change } => {
                self.by_engine = total;
                SubscriptionEvent::MessageLost { total: total + self.on_fast_transports, change }
            }
            other => other,
        }
    }
}

/// Takes events from an endpoint, says what a user has to know, and hands them to the user's
/// closure.
pub(crate) struct Events<E, T> {
    pending: Arc<AtomicBool>,
    ringer: Ringer,
    node: WeakNode,
    logger: Arc<str>,
    topic: String,
    take: T,
    on_event: Option<Box<dyn FnMut(E) + Send>>,
    needs_a_word: fn(&E) -> Option<Word>,
    mismatches: Mismatches,
    /// While the name of a node that does not match is awaited.
    look_again: Option<NodeTimer>,
}

/// What is to be said about an event.
pub(crate) enum Word {
    /// Endpoints of the topic may not fit: the graph tells which and why.
    LookForMismatches,
    /// This.
    Warn(String),
}

impl<E: Copy, T: FnMut() -> Result<Option<E>, EventError>> Events<E, T> {
    fn new(
        watch: WatchEvents,
        node: &Node,
        topic: &str,
        take: T,
        on_event: Option<Box<dyn FnMut(E) + Send>>,
        needs_a_word: fn(&E) -> Option<Word>,
    ) -> Self {
        let (node, logger) = (node.downgrade(), node.logger().clone());
        Self {
            pending: watch.pending,
            ringer: watch.ringer,
            node,
            logger,
            topic: topic.to_owned(),
            take,
            on_event,
            needs_a_word,
            mismatches: Mismatches::default(),
            look_again: None,
        }
    }

    /// Whether there is something to handle; costs one load.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire)
    }

    /// There is an event that the engine does not know of.
    pub(crate) fn announce(&self) {
        self.pending.store(true, Ordering::Release);
    }

    /// Handles what is pending.
    pub(crate) fn handle(&mut self) {
        if !self.is_pending() {
            return;
        }
        self.pending.store(false, Ordering::Release);
        let _logger = logging::enter_logger(&self.logger);
        if self.look_again.is_some() {
            self.tell_mismatches();
        }
        loop {
            match (self.take)() {
                Ok(Some(event)) => {
                    match (self.needs_a_word)(&event) {
                        Some(Word::LookForMismatches) => self.tell_mismatches(),
                        Some(Word::Warn(text)) => tracing::warn!("{}: {text}", self.topic),
                        None => {}
                    }
                    if let Some(on_event) = &mut self.on_event {
                        on_event(event);
                    }
                }
                Ok(None) => return,
                Err(error) => return tracing::error!("{error}"),
            }
        }
    }

    fn tell_mismatches(&mut self) {
        let Some(node) = self.node.upgrade() else { return };
        let (mut news, awaits_name) = self.mismatches.sort(node.mismatches(&self.topic), true);
        if !awaits_name {
            self.look_again = None;
        } else if self.look_again.is_none() {
            let (pending, ringer) = (self.pending.clone(), self.ringer.clone());
            let timer = node.create_wall_timer(LOOK_INTERVAL, move || {
                pending.store(true, Ordering::Release);
                ringer.ring();
            });
            self.look_again = timer.ok();
            if self.look_again.is_none() {
                // An executor that takes no timers.
                news.extend(self.mismatches.sort(node.mismatches(&self.topic), false).0);
            }
        }
        for text in news {
            tracing::warn!("{text}");
        }
    }
}

fn publisher_event_needs_a_word(event: &PublisherEvent) -> Option<Word> {
    match event {
        PublisherEvent::Matched(_)
        | PublisherEvent::OfferedQosIncompatible { .. }
        | PublisherEvent::IncompatibleType { .. } => Some(Word::LookForMismatches),
        _ => None,
    }
}

fn subscription_event_but_loss_needs_a_word(event: &SubscriptionEvent) -> Option<Word> {
    subscription_event_needs_a_word(event).filter(|word| matches!(word, Word::LookForMismatches))
}

fn subscription_event_needs_a_word(event: &SubscriptionEvent) -> Option<Word> {
    match event {
        SubscriptionEvent::Matched(_)
        | SubscriptionEvent::RequestedQosIncompatible { .. }
        | SubscriptionEvent::IncompatibleType { .. } => Some(Word::LookForMismatches),
        // Said the first time and then as often as the number doubles, so that a bad link fills no
        // disk.
        SubscriptionEvent::MessageLost { total, change }
            if total.checked_ilog2() > total.saturating_sub(*change).checked_ilog2() =>
        {
            Some(Word::Warn(format!("{total} messages were lost so far")))
        }
        _ => None,
    }
}
