//! The managed node, which has a state and runs transitions.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use feros_engine::FailureCounter;
use feros_executor::panic_text;
use feros_message::Message;
use feros_msgs::lifecycle_msgs::msg::TransitionEvent;
use feros_sync::Mutex;

use crate::create_error::CreateError;
use crate::error::Error;
use crate::lifecycle::activation::Activation;
use crate::lifecycle::publisher::LifecyclePublisher;
use crate::lifecycle_states::callback_return::CallbackReturn;
use crate::lifecycle_states::change_state_error::ChangeStateError;
use crate::lifecycle_states::state::State;
use crate::lifecycle_states::state_machine::{Refusal, StateMachine};
use crate::lifecycle_states::transition::{Transition, TransitionKey};
use crate::logging;
use crate::node::Node;
use crate::topics::publisher::{Publisher, PublisherOptions};

/// The limit on the transitions that wait while another transition is being published.
const MAX_UNPUBLISHED: usize = 64;

/// A managed node, which has all methods of a [`Node`]. Clones refer to the same node.
///
/// The node begins in the state unconfigured. Other nodes and any thread may request a transition,
/// even in a callback of the node itself. The transition's callback runs on the thread that
/// requests the transition; for requests of other nodes, that is the executor's thread. While one
/// transition runs, no other transition begins.
///
/// No callback is called when the node is dropped. Put code that must run then into an
/// implementation of `Drop` for the callbacks.
#[derive(Clone)]
pub struct LifecycleNode(Arc<Inner>);

/// A weak reference to a managed node, for closures that the node itself owns.
#[derive(Clone)]
pub struct WeakLifecycleNode(Weak<Inner>);

/// Runs the callback that belongs to the first state. The second state is the state before the
/// transition.
pub(super) type RunCallback =
    Box<dyn FnMut(&LifecycleNode, State, State) -> Result<CallbackReturn, Error> + Send>;

struct Inner {
    /// The callbacks; `None` while one of them runs.
    run_callback: Mutex<Option<RunCallback>>,
    progress: Mutex<Progress>,
    activation: Arc<Activation>,
    /// The services through which other nodes manage this node.
    services: OnceLock<Box<dyn Any + Send + Sync>>,
    events: OnceLock<Publisher<TransitionEvent>>,
    /// Counts transitions that other nodes requested and that failed.
    refused: FailureCounter,
    /// Counts callbacks that had an error.
    failed: FailureCounter,
    /// Counts transitions that were not published.
    not_published: FailureCounter,
    node: Node,
}

/// The state, and the transitions that have not been published yet.
struct Progress {
    machine: StateMachine,
    unpublished: VecDeque<Transition>,
    is_publishing: bool,
    /// The number of transitions that were dropped because too many waited for publication.
    lost: u64,
}

impl LifecycleNode {
    pub(super) fn new(node: Node, run_callback: RunCallback) -> Self {
        Self(Arc::new(Inner {
            run_callback: Mutex::new(Some(run_callback)),
            progress: Mutex::new(Progress {
                machine: StateMachine::new(),
                unpublished: VecDeque::new(),
                is_publishing: false,
                lost: 0,
            }),
            activation: Arc::default(),
            services: OnceLock::new(),
            events: OnceLock::new(),
            refused: FailureCounter::new(),
            failed: FailureCounter::new(),
            not_published: FailureCounter::new(),
            node,
        }))
    }

    /// Logs the error of a transition that another node requested.
    pub(super) fn refuse(&self, error: &ChangeStateError) {
        if let Some(so_far) = self.0.refused.so_far() {
            tracing::error!(ros_logger = &**self.logger(), "{error}{so_far}");
        }
    }

    /// Starts to publish transitions with this publisher, and stores the services as long as the
    /// node lives.
    pub(super) fn communicate(
        &self,
        events: Publisher<TransitionEvent>,
        services: Box<dyn Any + Send + Sync>,
    ) {
        // This function is called only once, when the node is made.
        let _ = self.0.events.set(events);
        let _ = self.0.services.set(services);
    }

    /// Makes a weak reference to the node, for closures that the node itself owns.
    pub fn downgrade(&self) -> WeakLifecycleNode {
        WeakLifecycleNode(Arc::downgrade(&self.0))
    }

    /// The state of the node.
    pub fn current_state(&self) -> State {
        self.0.progress.lock().machine.state()
    }

    /// The transitions that begin in the present state of the node.
    pub fn available_transitions(&self) -> Vec<Transition> {
        Transition::from_state(self.current_state()).collect()
    }

    /// Whether managed publishers send now. They send from the beginning of the transition
    /// `activate` until the node is no longer active.
    pub fn is_activated(&self) -> bool {
        self.0.activation.is_active()
    }

    /// Makes a publisher that sends only while the node is active. In all other respects it is like
    /// a publisher of [`Node::create_publisher`], which always sends.
    ///
    /// # Errors
    /// See [`Node::create_publisher`].
    pub fn create_lifecycle_publisher<M: Message>(
        &self,
        topic: &str,
        options: impl Into<PublisherOptions>,
    ) -> Result<LifecyclePublisher<M>, CreateError> {
        let publisher = self.create_publisher(topic, options)?;
        Ok(LifecyclePublisher::new(publisher, &self.0.activation, self.logger()))
    }

    /// Runs the transition `configure`; returns the resulting state.
    ///
    /// # Errors
    /// See [`ChangeStateError`].
    pub fn configure(&self) -> Result<State, ChangeStateError> {
        self.trigger_transition(Transition::CONFIGURE)
    }

    /// Runs the transition `cleanup`; returns the resulting state.
    ///
    /// # Errors
    /// See [`ChangeStateError`].
    pub fn cleanup(&self) -> Result<State, ChangeStateError> {
        self.trigger_transition(Transition::CLEANUP)
    }

    /// Runs the transition `activate`; returns the resulting state.
    ///
    /// # Errors
    /// See [`ChangeStateError`].
    pub fn activate(&self) -> Result<State, ChangeStateError> {
        self.trigger_transition(Transition::ACTIVATE)
    }

    /// Runs the transition `deactivate`; returns the resulting state.
    ///
    /// # Errors
    /// See [`ChangeStateError`].
    pub fn deactivate(&self) -> Result<State, ChangeStateError> {
        self.trigger_transition(Transition::DEACTIVATE)
    }

    /// Runs the transition `shutdown` of the present state; returns the resulting state.
    ///
    /// # Errors
    /// See [`ChangeStateError`].
    pub fn shutdown(&self) -> Result<State, ChangeStateError> {
        self.trigger_transition(Transition::ACTIVE_SHUTDOWN.label())
    }

    /// Runs a transition, which is given as its number, its label or a [`Transition`]; returns the
    /// resulting state.
    ///
    /// # Errors
    /// See [`ChangeStateError`].
    ///
    /// ```no_run
    /// # let node: feros::LifecycleNode = unimplemented!();
    /// use feros::lifecycle::{State, Transition};
    /// assert_eq!(node.trigger_transition(Transition::CONFIGURE)?, State::Inactive);
    /// assert_eq!(node.trigger_transition("shutdown")?, State::Finalized);
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn trigger_transition<'a>(
        &self,
        transition: impl Into<TransitionKey<'a>>,
    ) -> Result<State, ChangeStateError> {
        let wanted = transition.into();
        let begun = self.begin(wanted).map_err(|(refusal, state)| {
            let (node, transition) = (self.full_name(), wanted.to_string());
            match refusal {
                Refusal::NotPossible => ChangeStateError::NotPossible { node, transition, state },
                Refusal::UnderWay => ChangeStateError::UnderWay { node, transition, state },
            }
        })?;
        let result = self.run(begun.goal(), begun.start());
        let mut state = self.finish(result);
        if result == CallbackReturn::Error {
            let result = self.run(State::ErrorProcessing, begun.start());
            state = self.finish(result);
        }
        let (node, transition) = (self.full_name(), begun.label());
        match result {
            CallbackReturn::Success => Ok(state),
            CallbackReturn::Failure => Err(ChangeStateError::Failed { node, transition, state }),
            CallbackReturn::Error => Err(ChangeStateError::Error { node, transition, state }),
        }
    }

    fn begin(&self, wanted: TransitionKey<'_>) -> Result<Transition, (Refusal, State)> {
        let mut progress = self.0.progress.lock();
        let state = progress.machine.state();
        let begun = progress.machine.begin(wanted).map_err(|refusal| (refusal, state))?;
        if begun.goal() == State::Activating {
            self.0.activation.set(true);
        }
        progress.note(begun);
        drop(progress);
        self.publish_transitions();
        Ok(begun)
    }

    /// Ends the running transition with the result of its callback; returns the resulting state.
    fn finish(&self, result: CallbackReturn) -> State {
        let mut progress = self.0.progress.lock();
        let finished = progress.machine.finish(result);
        let state = progress.machine.state();
        if state != State::Active {
            self.0.activation.set(false);
        }
        finished.into_iter().for_each(|finished| progress.note(finished));
        drop(progress);
        self.publish_transitions();
        state
    }

    /// Runs the callback that belongs to the state `running`.
    fn run(&self, running: State, previous: State) -> CallbackReturn {
        let taken = self.0.run_callback.lock().take();
        // This never fails: only a transition takes the callbacks, and one transition runs at a
        // time.
        let Some(mut run_callback) = taken else { return CallbackReturn::Error };
        let logger = logging::enter_logger(self.logger());
        let result = catch_unwind(AssertUnwindSafe(|| run_callback(self, running, previous)));
        drop(logger);
        *self.0.run_callback.lock() = Some(run_callback);
        let problem = match result {
            Ok(Ok(result)) => return result,
            Ok(Err(error)) => error.to_string(),
            Err(payload) => format!("a panic: {}", panic_text(&*payload)),
        };
        if let Some(so_far) = self.0.failed.so_far() {
            tracing::error!(
                ros_logger = &**self.logger(),
                "the callback of state {running} had an error: {problem}{so_far}"
            );
        }
        CallbackReturn::Error
    }

    /// Publishes the transitions that have happened, in order. One thread at a time publishes the
    /// transitions of all threads.
    fn publish_transitions(&self) {
        let Some(events) = self.0.events.get() else { return };
        if std::mem::replace(&mut self.0.progress.lock().is_publishing, true) {
            return;
        }
        let mut publishing = Publishing { inner: &self.0, is_done: false };
        while let Some(transition) = publishing.take_next() {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let event = TransitionEvent {
                timestamp: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
                transition: transition.into(),
                start_state: transition.start().into(),
                goal_state: transition.goal().into(),
            };
            if let Err(error) = events.publish(event)
                && let Some(so_far) = self.0.not_published.so_far()
            {
                tracing::error!(
                    ros_logger = &**self.logger(),
                    "the transition to {} was not published: {error}{so_far}",
                    transition.goal()
                );
            }
        }
    }

    fn full_name(&self) -> String {
        self.name().fully_qualified()
    }
}

impl Deref for LifecycleNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0.node
    }
}

impl WeakLifecycleNode {
    /// Returns the node if it still exists.
    pub fn upgrade(&self) -> Option<LifecycleNode> {
        self.0.upgrade().map(LifecycleNode)
    }
}

impl Progress {
    fn note(&mut self, transition: Transition) {
        if self.unpublished.len() < MAX_UNPUBLISHED {
            self.unpublished.push_back(transition);
        } else {
            self.lost += 1;
        }
    }
}

/// Marks one thread as the one that publishes. The mark ends even if a subscription panics during
/// the publication, so that other threads can publish later.
struct Publishing<'a> {
    inner: &'a Inner,
    is_done: bool,
}

impl Publishing<'_> {
    fn take_next(&mut self) -> Option<Transition> {
        let mut progress = self.inner.progress.lock();
        let next = progress.unpublished.pop_front();
        progress.is_publishing = next.is_some();
        self.is_done = next.is_none();
        let lost = std::mem::take(&mut progress.lost);
        drop(progress);
        if let Some(lost) = self.inner.not_published.count_many(lost) {
            tracing::error!(
                ros_logger = &**self.inner.node.logger(),
                "{lost} transitions have not been published so far: more than {MAX_UNPUBLISHED} \
                 transitions waited while one was being published"
            );
        }
        next
    }
}

impl Drop for Publishing<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.inner.progress.lock().is_publishing = false;
        }
    }
}
