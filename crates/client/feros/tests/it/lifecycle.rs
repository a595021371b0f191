//! Managed nodes: their callbacks and publishers in each state, the changes of state, and the
//! information that other nodes get.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use feros::lifecycle::{
    CallbackReturn, ChangeStateError, LifecycleCallbacks, LifecycleNodeOptions, LifecyclePublisher,
    State, Transition,
};
use feros::msgs::std_msgs::msg::Int32;
use feros::{
    Context, Dispatch, Error, Executor, LifecycleClient, LifecycleNode, Node, NodeOptions,
    SubscriptionOptions,
};
use feros_test_support::{eventually, until};

use crate::support::{WATCHDOG, context, spinning, spinning_node};

use CallbackReturn::{Failure, Success};

type Log = Arc<Mutex<Vec<String>>>;
type Act = Box<dyn FnMut(&LifecycleNode) -> Result<CallbackReturn, Error> + Send>;

/// Callbacks that record their calls and return the results that the test specifies.
struct Noting {
    log: Log,
    acts: Vec<(&'static str, Act)>,
}

impl Noting {
    fn new() -> (Self, Log) {
        let log = Log::default();
        (Self { log: log.clone(), acts: Vec::new() }, log)
    }

    fn act(
        mut self,
        callback: &'static str,
        act: impl FnMut(&LifecycleNode) -> Result<CallbackReturn, Error> + Send + 'static,
    ) -> Self {
        self.acts.push((callback, Box::new(act)));
        self
    }

    fn called(
        &mut self,
        callback: &'static str,
        node: &LifecycleNode,
        previous: State,
        otherwise: CallbackReturn,
    ) -> Result<CallbackReturn, Error> {
        self.log.lock().unwrap().push(format!("{callback} from {previous}"));
        match self.acts.iter_mut().find(|(name, _)| *name == callback) {
            Some((_, act)) => act(node),
            None => Ok(otherwise),
        }
    }
}

impl LifecycleCallbacks for Noting {
    fn on_configure(&mut self, node: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.called("configure", node, p, Success)
    }

    fn on_cleanup(&mut self, node: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.called("cleanup", node, p, Success)
    }

    fn on_activate(&mut self, node: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.called("activate", node, p, Success)
    }

    fn on_deactivate(&mut self, node: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.called("deactivate", node, p, Success)
    }

    fn on_shutdown(&mut self, node: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.called("shutdown", node, p, Success)
    }

    fn on_error(&mut self, node: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.called("error", node, p, Failure)
    }
}

fn told(log: &Log) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

fn managed(context: &Context, callbacks: impl LifecycleCallbacks) -> LifecycleNode {
    context.create_lifecycle_node("managed", callbacks).unwrap()
}

fn spawn<T: Send + 'static>(
    ask: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::Builder::new().name("asking".into()).spawn(ask).unwrap()
}

/// Makes a subscription that passes its messages to a channel, from which the test takes them.
fn numbers(node: &Node, topic: &str) -> (impl Sized + use<>, Receiver<i32>) {
    let (sender, receiver) = sync_channel(100);
    let options = SubscriptionOptions::from(100).dispatch(Dispatch::PublishingThread);
    let subscription = node.create_subscription(topic, options, move |number: Int32| {
        sender.send(number.data).unwrap();
    });
    (subscription.unwrap(), receiver)
}

#[test]
fn each_transition_calls_its_callback_with_the_state_it_came_from() {
    let (callbacks, log) = Noting::new();
    let node = managed(&context(), callbacks);
    assert_eq!(node.current_state(), State::Unconfigured);
    assert_eq!(node.configure(), Ok(State::Inactive));
    assert_eq!(node.activate(), Ok(State::Active));
    assert_eq!(node.deactivate(), Ok(State::Inactive));
    assert_eq!(node.cleanup(), Ok(State::Unconfigured));
    assert_eq!(node.trigger_transition("configure"), Ok(State::Inactive));
    assert_eq!(node.trigger_transition(3_u8), Ok(State::Active));
    let available: Vec<u8> = node.available_transitions().iter().map(|t| t.id()).collect();
    assert_eq!(available, [4, 7]);
    assert_eq!(node.shutdown(), Ok(State::Finalized));
    assert_eq!(node.available_transitions(), []);
    let expected = [
        "configure from unconfigured",
        "activate from inactive",
        "deactivate from active",
        "cleanup from inactive",
        "configure from unconfigured",
        "activate from inactive",
        "shutdown from active",
    ];
    assert_eq!(told(&log), expected);
}

#[test]
fn impossible_transitions_are_refused_with_the_possible_ones() {
    let (callbacks, log) = Noting::new();
    let node = managed(&context(), callbacks);
    for wanted in [0_u8, 2, 3, 4, 6, 7, 8, 10, 11, 12, 60, 97, 255] {
        let error = node.trigger_transition(wanted).unwrap_err();
        let (of, state) = (node.name().fully_qualified(), State::Unconfigured);
        let transition = wanted.to_string();
        assert_eq!(error, ChangeStateError::NotPossible { node: of, transition, state });
    }
    let error = node.trigger_transition("fly").unwrap_err().to_string();
    assert!(
        error.contains(
            r#"no transition "fly" in state unconfigured; it has configure [1], shutdown [5]"#
        ),
        "{error}"
    );
    assert_eq!(node.shutdown(), Ok(State::Finalized));
    let error = node.shutdown().unwrap_err().to_string();
    assert!(error.contains("it has none"), "{error}");
    assert_eq!(told(&log), ["shutdown from unconfigured"]);
}

#[test]
fn a_callback_that_fails_leaves_the_node_where_it_was() {
    let (callbacks, log) = Noting::new();
    let callbacks = callbacks
        .act("activate", |_| Ok(Failure))
        .act("cleanup", |_| Ok(Failure))
        .act("shutdown", |_| Ok(Failure));
    let node = managed(&context(), callbacks);
    node.configure().unwrap();
    let state_of = |result: Result<State, ChangeStateError>| match result {
        Err(ChangeStateError::Failed { state, transition, .. }) => (transition, state),
        other => panic!("{other:?}"),
    };
    assert_eq!(state_of(node.activate()), ("activate", State::Inactive));
    assert_eq!(state_of(node.cleanup()), ("cleanup", State::Inactive));
    assert_eq!(state_of(node.shutdown()), ("shutdown", State::Finalized));
    assert!(!told(&log).iter().any(|call| call.starts_with("error")));
}

#[test]
fn errors_and_panics_are_processed_by_on_error() {
    let heals = |callbacks: Noting| callbacks.act("error", |_| Ok(Success));
    type Break = fn(&LifecycleNode) -> Result<CallbackReturn, Error>;
    let returned: Break = |_| Ok(CallbackReturn::Error);
    let failed: Break = |_| Err(Error::other("no camera at /dev/video0"));
    let panicked: Break = |_| panic!("as wanted by the test");
    for broken in [returned, failed, panicked] {
        let (callbacks, log) = Noting::new();
        let node = managed(&context(), heals(callbacks.act("configure", broken)));
        let error = node.configure().unwrap_err();
        assert!(
            matches!(error, ChangeStateError::Error { state: State::Unconfigured, .. }),
            "{error}"
        );
        let calls = ["configure from unconfigured", "error from unconfigured"];
        assert_eq!(told(&log), calls);
        // The default `on_error` fails: the node is finalized.
        let (callbacks, log) = Noting::new();
        let node = managed(&context(), callbacks.act("activate", broken));
        node.configure().unwrap();
        let error = node.activate().unwrap_err();
        assert!(
            matches!(error, ChangeStateError::Error { state: State::Finalized, .. }),
            "{error}"
        );
        assert_eq!(told(&log)[1..], ["activate from inactive", "error from inactive"]);
        // `on_error` may fail as well.
        let (callbacks, _) = Noting::new();
        let node = managed(&context(), callbacks.act("configure", broken).act("error", broken));
        assert!(node.configure().is_err());
        assert_eq!(node.current_state(), State::Finalized);
    }
}

#[test]
fn a_second_transition_is_refused_while_one_is_under_way() {
    let context = context();
    let (entered, enters) = sync_channel::<()>(1);
    let (leaves, leave) = sync_channel::<()>(1);
    let inside: Arc<Mutex<Vec<ChangeStateError>>> = Arc::default();
    let (callbacks, _) = Noting::new();
    let refused = inside.clone();
    let callbacks = callbacks.act("configure", move |node| {
        // All of these requests are refused, including requests for transitions that may begin only
        // when the callback ends.
        for wanted in ["activate", "configure", "transition_success", "nope"] {
            refused.lock().unwrap().push(node.trigger_transition(wanted).unwrap_err());
        }
        refused.lock().unwrap().push(node.trigger_transition(10_u8).unwrap_err());
        entered.send(()).unwrap();
        leave.recv().unwrap();
        Ok(Success)
    });
    let node = managed(&context, callbacks);
    let configuring = {
        let node = node.clone();
        spawn(move || node.configure())
    };
    enters.recv().unwrap();
    assert_eq!(node.current_state(), State::Configuring);
    let error = node.shutdown().unwrap_err();
    let expected = ChangeStateError::UnderWay {
        node: node.name().fully_qualified(),
        transition: r#""shutdown""#.into(),
        state: State::Configuring,
    };
    assert_eq!(error, expected);
    leaves.send(()).unwrap();
    assert_eq!(configuring.join().unwrap(), Ok(State::Inactive));
    let inside = inside.lock().unwrap();
    assert_eq!(inside.len(), 5);
    assert!(inside.iter().all(|e| matches!(e, ChangeStateError::UnderWay { .. })), "{inside:?}");
    assert_eq!(node.activate(), Ok(State::Active));
}

#[test]
fn managed_publishers_send_while_the_node_is_active() {
    let context = context();
    let other = context.create_node("other").unwrap();
    let (_subscription, received) = numbers(&other, "numbers");
    let place: Arc<Mutex<Option<LifecyclePublisher<Int32>>>> = Arc::default();
    let publish = |data: i32| {
        let place = place.clone();
        move |node: &LifecycleNode| -> Result<CallbackReturn, Error> {
            let mut place = place.lock().unwrap();
            if place.is_none() {
                *place = Some(node.create_lifecycle_publisher("numbers", 100)?);
            }
            place.as_ref().unwrap().publish(Int32 { data })?;
            Ok(Success)
        }
    };
    let (callbacks, _) = Noting::new();
    let callbacks = callbacks
        .act("configure", publish(1))
        .act("activate", publish(2))
        .act("deactivate", publish(4))
        .act("cleanup", publish(6))
        .act("shutdown", publish(9));
    let node = managed(&context, callbacks);
    node.configure().unwrap();
    let publisher = place.lock().unwrap().clone().unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    assert!(!publisher.is_activated());
    node.activate().unwrap();
    assert!(publisher.is_activated());
    publisher.publish(Int32 { data: 3 }).unwrap();
    node.deactivate().unwrap();
    publisher.publish(Int32 { data: 5 }).unwrap();
    node.cleanup().unwrap();
    node.configure().unwrap();
    node.activate().unwrap();
    let mut loan = publisher.loan(&()).unwrap();
    *loan.fields().unwrap().data = 7;
    loan.publish().unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 8, 0, 0, 0]).unwrap();
    node.shutdown().unwrap();
    let loan = publisher.loan(&()).unwrap();
    loan.publish().unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 11, 0, 0, 0]).unwrap();
    // The dropped messages are 1, 5, 6, 1, a loan and 11.
    assert_eq!(publisher.dropped_while_inactive(), 6);
    drop((publisher, place.lock().unwrap().take()));
    assert_eq!(received.try_iter().collect::<Vec<_>>(), [2, 3, 4, 2, 7, 8, 9]);
}

#[test]
fn an_activation_that_fails_ends_what_it_began() {
    type End = fn() -> Result<CallbackReturn, Error>;
    let ends: [End; 2] = [|| Ok(Failure), || Err(Error::other("as wanted by the test"))];
    for end in ends {
        let (callbacks, _) = Noting::new();
        let node = managed(&context(), callbacks.act("activate", move |_| end()));
        let publisher = node.create_lifecycle_publisher::<Int32>("numbers", 1).unwrap();
        node.configure().unwrap();
        assert!(node.activate().is_err());
        assert!(!publisher.is_activated());
    }
}

#[test]
fn others_ask_and_change_the_state_by_services() {
    let context = context();
    let (callbacks, log) = Noting::new();
    let node = managed(&context, callbacks);
    let _spinning = spinning_node(&node);
    let other = context.create_node("other").unwrap();
    let client = LifecycleClient::new(&other, "managed").unwrap();
    let state = || client.get_state(WATCHDOG).unwrap().label;
    assert_eq!(client.remote_name(), node.name().fully_qualified());
    assert_eq!(state(), "unconfigured");
    for wrong in [0_u8, 3, 10, 255] {
        assert!(!client.change_state(wrong, WATCHDOG).unwrap(), "{wrong}");
    }
    for wrong in ["activate", "transition_success", "Configure"] {
        assert!(!client.change_state(wrong, WATCHDOG).unwrap(), "{wrong}");
    }
    assert!(client.change_state("configure", WATCHDOG).unwrap());
    assert!(client.change_state(Transition::ACTIVATE, WATCHDOG).unwrap());
    assert_eq!(state(), "active");
    let available = client.get_available_transitions(WATCHDOG).unwrap();
    let ids: Vec<u8> = available.iter().map(|described| described.transition.id).collect();
    assert_eq!(ids, [4, 7]);
    assert_eq!(available[1].goal_state.label, "shuttingdown");
    assert_eq!(client.get_available_states(WATCHDOG).unwrap().len(), 11);
    assert_eq!(client.get_transition_graph(WATCHDOG).unwrap().len(), 25);
    assert!(client.change_state("shutdown", WATCHDOG).unwrap());
    assert_eq!(state(), "finalized");
    assert_eq!(told(&log).len(), 3);
}

#[test]
fn changes_are_reported_in_order() {
    let context = context();
    let (callbacks, _) = Noting::new();
    let node = managed(&context, callbacks.act("activate", |_| Ok(CallbackReturn::Error)));
    let other = context.create_node("other").unwrap();
    let client = LifecycleClient::new(&other, "managed").unwrap();
    let seen: Arc<Mutex<Vec<(String, String, u8)>>> = Arc::default();
    let sink = seen.clone();
    let subscription = client
        .on_transition_event(move |event| {
            assert!(event.timestamp > 0);
            let (start, goal) = (event.start_state.label, event.goal_state.label);
            sink.lock().unwrap().push((start, goal, event.transition.id));
        })
        .unwrap();
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    let _spinning = spinning_node(&other);
    node.configure().unwrap();
    let _ = node.activate().unwrap_err();
    let expected = [
        ("unconfigured", "configuring", 1),
        ("configuring", "inactive", 10),
        ("inactive", "activating", 3),
        ("activating", "errorprocessing", 32),
        ("errorprocessing", "finalized", 61),
    ];
    eventually(|| {
        let seen = seen.lock().unwrap();
        if seen.len() == expected.len() { Ok(()) } else { Err(format!("{seen:?}")) }
    });
    let seen = seen.lock().unwrap();
    let seen: Vec<_> = seen.iter().map(|(s, g, id)| (s.as_str(), g.as_str(), *id)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn without_communication_the_program_alone_manages_it() {
    let context = context();
    let options =
        LifecycleNodeOptions::from(NodeOptions::new("quiet")).enable_communication_interface(false);
    let node = context.create_lifecycle_node_with(options, ()).unwrap();
    let loud = context.create_lifecycle_node("loud", ()).unwrap();
    let offered = |of: &LifecycleNode| {
        let name = format!("{}/", of.name().fully_qualified());
        let (services, topics) = (of.service_names_and_types(), of.topic_names_and_types());
        let names = services.keys().chain(topics.keys());
        let ends = ["_state", "_states", "_transitions", "_graph", "/transition_event"];
        names
            .filter(|known| known.starts_with(&name) && ends.iter().any(|end| known.ends_with(end)))
            .count()
    };
    until("the other node's services and topic", || offered(&loud) == 6);
    assert_eq!(offered(&node), 0);
    assert_eq!(node.configure(), Ok(State::Inactive));
}

#[test]
fn a_timer_of_the_node_may_change_its_state() {
    let context = context();
    let (callbacks, _) = Noting::new();
    let (sender, done): (SyncSender<State>, _) = sync_channel(1);
    let mut kept = Vec::new();
    let callbacks = callbacks.act("configure", move |node| {
        let (weak, sender) = (node.downgrade(), sender.clone());
        // Objects that the node owns must not own the node in turn.
        kept.push(node.create_wall_timer(Duration::from_millis(1), move || {
            let Some(node) = weak.upgrade() else { return };
            if node.current_state() == State::Inactive {
                let _ = sender.try_send(node.activate().unwrap());
            }
        })?);
        Ok(Success)
    });
    let node = managed(&context, callbacks);
    let spinning = spinning_node(&node);
    node.configure().unwrap();
    assert_eq!(done.recv_timeout(WATCHDOG), Ok(State::Active));
    drop(spinning);
    let weak = node.downgrade();
    drop(node);
    assert!(weak.upgrade().is_none(), "the timer does not keep the node");
}

#[test]
fn questions_are_answered_while_a_transition_runs() {
    let context = context();
    let (entered, enters) = sync_channel::<()>(1);
    let (leaves, leave) = sync_channel::<()>(1);
    let (callbacks, _) = Noting::new();
    let node = managed(
        &context,
        callbacks.act("configure", move |_| {
            entered.send(()).unwrap();
            leave.recv().unwrap();
            Ok(Success)
        }),
    );
    let executor = Executor::builder().threads(2).build();
    executor.add_node(&node).unwrap();
    let _spinning = spinning(executor);
    let other = context.create_node("other").unwrap();
    let client = Arc::new(LifecycleClient::new(&other, "managed").unwrap());
    let changing = {
        let client = client.clone();
        spawn(move || client.change_state("configure", WATCHDOG))
    };
    enters.recv().unwrap();
    assert_eq!(client.get_state(WATCHDOG).unwrap().label, "configuring");
    let available = client.get_available_transitions(WATCHDOG).unwrap();
    let ids: Vec<u8> = available.iter().map(|described| described.transition.id).collect();
    assert_eq!(ids, [10, 11, 12], "as rcl tells them");
    leaves.send(()).unwrap();
    assert!(changing.join().unwrap().unwrap());
    assert_eq!(client.get_state(WATCHDOG).unwrap().label, "inactive");
}

#[test]
fn the_last_handle_ends_node_and_callbacks() {
    let context = context();
    let (callbacks, log) = Noting::new();
    let node = managed(&context, callbacks);
    let name = node.name().clone();
    node.configure().unwrap();
    assert_eq!(Arc::strong_count(&log), 2);
    drop(node);
    assert_eq!(Arc::strong_count(&log), 1);
    assert_eq!(told(&log), ["configure from unconfigured"], "its end calls nothing");
    until("the end of the node", || !context.graph().nodes.iter().any(|node| node.name == name));
}
