//! Actions: goals that succeed, are deferred, canceled, aborted or given up, and the answers that
//! clients get; servers and clients that end; invalid requests; and the order of announcements.

mod announcing;
mod canceling;
mod ends;
mod generic;
mod introspection;
mod statuses;
mod wrong;

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use feros::action::{GoalResult, SendGoalError};
use feros::msgs::action_msgs::msg::GoalStatusArray;
use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::{
    ActionClient, ActionServer, ActionServerOptions, CancelResponse, Context, Executor, GoalId,
    GoalResponse, GoalStatus, Node, Outcome, QosProfile, ServerGoalHandle, Transport, TransportSet,
};
use feros_test_support::{Background, eventually};

use crate::support::{
    WATCHDOG, context, context_of, dropped_futures, spinning, spinning_node, two_nodes,
};

/// A server that passes accepted goals to the test, and a client in another context. Goals with a
/// negative order are rejected, and goals with an odd order are deferred; a goal with the order 13
/// cannot be canceled.
pub(super) struct Pair {
    pub(super) client: ActionClient<Fibonacci>,
    pub(super) accepted: Receiver<ServerGoalHandle<Fibonacci>>,
    pub(super) server: Option<ActionServer<Fibonacci>>,
    pub(super) caller: Node,
    pub(super) here: Context,
    _spinning: [Background; 2],
}

impl Pair {
    pub(super) fn new() -> Self {
        Self::with(ActionServerOptions::default())
    }

    pub(super) fn with(options: ActionServerOptions) -> Self {
        Self::between([context(), context()], options, |_| {})
    }

    /// Calls `before_spinning` when the client has found the server.
    fn between(
        [here, there]: [Context; 2],
        options: ActionServerOptions,
        before_spinning: impl FnOnce(&ActionClient<Fibonacci>),
    ) -> Self {
        let (serving, caller) =
            (here.create_node("server").unwrap(), there.create_node("caller").unwrap());
        let (sender, accepted) = sync_channel(100);
        let server = serving
            .create_action_server_with::<Fibonacci, _>(
                "fibonacci",
                options,
                (
                    |_: &GoalId, goal: &Fibonacci_Goal| match goal.order {
                        ..0 => GoalResponse::Reject,
                        order if order % 2 == 1 => GoalResponse::AcceptAndDefer,
                        _ => GoalResponse::AcceptAndExecute,
                    },
                    |goal: &ServerGoalHandle<Fibonacci>| match goal.goal().order {
                        13 => CancelResponse::Reject,
                        _ => CancelResponse::Accept,
                    },
                    move |goal: ServerGoalHandle<Fibonacci>| sender.send(goal).unwrap(),
                ),
            )
            .unwrap();
        let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
        before_spinning(&client);
        let _spinning = [spinning_node(&serving), spinning_node(&caller)];
        client.wait_for_server(WATCHDOG).unwrap();
        Self { client, accepted, server: Some(server), caller, here, _spinning }
    }

    /// Sends a goal that the server accepts.
    pub(super) fn goal(&self, order: i32) -> Goal {
        let client = self.client.send_goal_and_wait(Fibonacci_Goal { order }, WATCHDOG).unwrap();
        let server = self.accepted.recv_timeout(WATCHDOG).unwrap();
        assert_eq!(client.goal_id(), server.goal_id());
        assert_eq!(client.accepted_at(), server.accepted_at());
        Goal { client, server }
    }
}

/// The handles of a goal on both sides.
pub(super) struct Goal {
    pub(super) client: feros::ClientGoalHandle<Fibonacci>,
    pub(super) server: ServerGoalHandle<Fibonacci>,
}

impl Goal {
    pub(super) fn result(&self) -> GoalResult<Fibonacci_Result> {
        self.client.get_result().unwrap().wait(WATCHDOG).unwrap()
    }
}

pub(super) fn result(numbers: &[i32]) -> Fibonacci_Result {
    Fibonacci_Result { sequence: numbers.to_vec() }
}

/// Publishes feedback until some of it arrives. The server may find the client's subscription later
/// than the client finds the server, and sends feedback only to known subscriptions.
pub(super) fn first_feedback<T>(heard: &Receiver<T>, mut publish: impl FnMut()) -> T {
    eventually(|| {
        publish();
        heard.try_recv()
    })
}

#[test]
fn a_goal_has_feedback_statuses_and_a_result() {
    let pair = Pair::new();
    let (sender, feedback) = sync_channel(100_000);
    let on_feedback = move |feedback: Fibonacci_Feedback| sender.send(feedback.sequence).unwrap();
    let sent = pair.client.send_goal_with_feedback(Fibonacci_Goal { order: 4 }, on_feedback);
    let goal = sent.unwrap().wait(WATCHDOG).unwrap();
    let work = pair.accepted.recv_timeout(WATCHDOG).unwrap();
    assert_eq!(work.goal().order, 4);
    eventually(|| (goal.status() == GoalStatus::Executing).then_some(()).ok_or(goal.status()));
    let publish =
        |sequence: Vec<i32>| work.publish_feedback(Fibonacci_Feedback { sequence }).unwrap();
    assert_eq!(first_feedback(&feedback, || publish(vec![0])), [0]);
    [vec![0, 1], vec![0, 1, 1]].into_iter().for_each(publish);
    let next = || feedback.recv_timeout(WATCHDOG).unwrap();
    let second = std::iter::repeat_with(next).find(|sequence| sequence.len() > 1).unwrap();
    assert_eq!([second, next()], [vec![0, 1], vec![0, 1, 1]]);
    let outcome = goal.get_result().unwrap();
    work.succeed(result(&[0, 1, 1, 2])).unwrap();
    let outcome = outcome.wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.goal_id), (GoalStatus::Succeeded, goal.goal_id()));
    assert_eq!(outcome.result.sequence, [0, 1, 1, 2]);
    assert_eq!((goal.status(), work.status()), (GoalStatus::Succeeded, GoalStatus::Succeeded));
    drop(goal);
    // The client no longer follows the goal, so the feedback closure has been dropped together with
    // the sender.
    assert_eq!(feedback.recv_timeout(WATCHDOG), Err(RecvTimeoutError::Disconnected));
}

/// The three services of an action share one doorbell; no service may keep the others from ringing
/// it.
#[test]
fn a_server_that_begins_to_spin_late_hears_all_its_requests_in_shared_memory() {
    let only_shared_memory = TransportSet::NONE.with(Transport::SharedMemory);
    let contexts = [(); 2].map(|()| context_of(only_shared_memory));
    let pair = Pair::between(contexts, ActionServerOptions::default(), |client| {
        client.wait_for_server(WATCHDOG).unwrap();
    });
    let goal = pair.goal(2);
    assert_eq!(goal.client.cancel().unwrap().wait(WATCHDOG).unwrap(), [goal.client.goal_id()]);
    goal.server.canceled(result(&[0, 1])).unwrap();
    assert_eq!(goal.result().result, result(&[0, 1]));
}

#[test]
fn all_that_a_client_waits_for_can_be_awaited() {
    let (serving, caller) = two_nodes("server", "caller");
    let _server = serving
        .create_action_server::<Fibonacci, _>("fibonacci", |goal: ServerGoalHandle<Fibonacci>| {
            goal.succeed(result(&[goal.goal().order])).unwrap();
        })
        .unwrap();
    let _spinning = spinning_node(&serving);
    let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let executor = Executor::new();
    executor.add_node(&caller).unwrap();
    let conversation = async {
        let goal = client.send_goal(Fibonacci_Goal { order: 5 })?.await?;
        let outcome = goal.get_result()?.await?;
        let canceled = goal.cancel()?.await;
        Ok::<_, feros::Error>((outcome.result.sequence, canceled))
    };
    match executor.spin_until_complete(Some(WATCHDOG), conversation).unwrap() {
        Outcome::Completed(told) => {
            let (sequence, canceled) = told.unwrap();
            assert_eq!(sequence, [5]);
            let ended = matches!(canceled, Err(feros::action::CancelError::GoalTerminated { .. }));
            assert!(ended, "{canceled:?}");
        }
        other => panic!("the watchdog bit: {other:?}"),
    }
}

#[test]
fn several_goals_at_once_each_have_their_own_end() {
    let pair = Pair::new();
    let goals: Vec<Goal> = (0..8).map(|number| pair.goal(number * 2)).collect();
    assert_eq!(pair.server.as_ref().unwrap().goal_count(), 8);
    let results: Vec<_> = goals.iter().map(|goal| goal.client.get_result().unwrap()).collect();
    for goal in goals.iter().rev() {
        let order = goal.server.goal().order;
        if order % 4 == 0 {
            goal.server.succeed(result(&[order])).unwrap();
        } else {
            goal.server.abort(result(&[-order])).unwrap();
        }
    }
    for (number, waiting) in (0..8).zip(results) {
        let (order, outcome) = (number * 2, waiting.wait(WATCHDOG).unwrap());
        let expected = if order % 4 == 0 {
            (GoalStatus::Succeeded, vec![order])
        } else {
            (GoalStatus::Aborted, vec![-order])
        };
        assert_eq!((outcome.status, outcome.result.sequence), expected);
    }
}

#[test]
fn a_goal_may_be_rejected_or_deferred() {
    let pair = Pair::new();
    let error = pair.client.send_goal_and_wait(Fibonacci_Goal { order: -1 }, WATCHDOG).unwrap_err();
    assert!(matches!(error, SendGoalError::Rejected { .. }), "{error}");
    let queue: Vec<Goal> = [1, 3, 5].map(|order| pair.goal(order)).into();
    for goal in &queue {
        assert_eq!(goal.server.status(), GoalStatus::Accepted);
        let error = goal.server.succeed(result(&[])).unwrap_err().to_string();
        assert!(error.contains("it is ACCEPTED, and only EXECUTING or CANCELING can"), "{error}");
    }
    for goal in queue {
        goal.server.execute().unwrap();
        assert!(goal.server.is_executing());
        goal.server.succeed(result(&[goal.server.goal().order])).unwrap();
        assert_eq!(goal.result().result.sequence, [goal.server.goal().order]);
    }
}

/// The publisher keeps one message for late subscriptions.
#[test]
fn late_subscriptions_get_the_statuses() {
    let pair = Pair::new();
    let (first, second) = (pair.goal(2), pair.goal(4));
    first.server.succeed(result(&[])).unwrap();
    let (sender, statuses) = sync_channel(10);
    let late = pair.here.create_node("late").unwrap();
    let subscription = late
        .create_subscription(
            "fibonacci/_action/status",
            QosProfile::action_status_default(),
            move |array: GoalStatusArray| sender.send(array).unwrap(),
        )
        .unwrap();
    let _spinning = spinning_node(&late);
    let told = statuses.recv_timeout(WATCHDOG).unwrap().status_list;
    let told: Vec<(GoalId, i8)> =
        told.iter().map(|said| (said.goal_info.goal_id.uuid, said.status)).collect();
    assert_eq!(told, [(first.server.goal_id(), 4), (second.server.goal_id(), 2)]);
    assert_eq!(subscription.publisher_count(), 1);
}

/// If several threads end goals at the same time, the last status message has the final status of
/// all these goals.
#[test]
fn the_last_status_message_is_the_latest() {
    let pair = Pair::with(ActionServerOptions::default().result_timeout(None));
    let last: Arc<Mutex<Vec<i8>>> = Arc::default();
    let seen = last.clone();
    let listener = pair.here.create_node("listener").unwrap();
    let _statuses = listener
        .create_subscription(
            "fibonacci/_action/status",
            QosProfile::action_status_default(),
            move |array: GoalStatusArray| {
                *seen.lock().unwrap() = array.status_list.iter().map(|said| said.status).collect();
            },
        )
        .unwrap();
    let _spinning = spinning_node(&listener);
    for round in 1..=10 {
        let goals: Vec<Goal> = (0..6).map(|number| pair.goal(number * 2)).collect();
        let together = Barrier::new(goals.len());
        std::thread::scope(|scope| {
            for goal in &goals {
                scope.spawn(|| {
                    together.wait();
                    goal.server.succeed(result(&[])).unwrap();
                });
            }
        });
        eventually(|| {
            let statuses = last.lock().unwrap().clone();
            let all_ended = statuses.len() == round * 6 && statuses.iter().all(|said| *said == 4);
            if all_ended { Ok(()) } else { Err(format!("{statuses:?}")) }
        });
    }
}

/// A single thread handles requests for goals, results and cancellation, and does the work in
/// parts.
#[test]
fn a_server_works_for_goals_with_a_timer_on_one_thread() {
    let (serving, caller) = two_nodes("server", "caller");
    let (sender, queue) = sync_channel::<ServerGoalHandle<Fibonacci>>(10);
    let _server = serving
        .create_action_server::<Fibonacci, _>("fibonacci", move |goal| sender.send(goal).unwrap())
        .unwrap();
    let mut current: Option<(ServerGoalHandle<Fibonacci>, Vec<i32>)> = None;
    let _timer = serving
        .create_wall_timer(Duration::from_millis(1), move || {
            let begin = || queue.try_recv().ok().map(|goal| (goal, vec![0, 1]));
            let Some((goal, mut sequence)) = current.take().or_else(begin) else { return };
            if sequence.len() > usize::try_from(goal.goal().order).unwrap() {
                return goal.succeed(result(&sequence)).unwrap();
            }
            sequence.push(sequence[sequence.len() - 1] + sequence[sequence.len() - 2]);
            goal.publish_feedback(Fibonacci_Feedback { sequence: sequence.clone() }).unwrap();
            current = Some((goal, sequence));
        })
        .unwrap();
    let _spinning = spinning_node(&serving);
    let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let goals =
        [3, 5].map(|order| client.send_goal_and_wait(Fibonacci_Goal { order }, WATCHDOG).unwrap());
    let ends = goals.map(|goal| goal.get_result().unwrap().wait(WATCHDOG).unwrap().result.sequence);
    assert_eq!(ends, [vec![0, 1, 1, 2], vec![0, 1, 1, 2, 3, 5]]);
}

/// Within a process, feedback takes only the intra-process transport, which passes a pointer.
#[test]
fn within_a_process_feedback_goes_by_pointer() {
    let context = context();
    let node = context.create_node("both").unwrap();
    let (sender, feedback) = sync_channel(10);
    let server = node
        .create_action_server::<Fibonacci, _>("fibonacci", |goal: ServerGoalHandle<Fibonacci>| {
            goal.publish_feedback(Fibonacci_Feedback { sequence: vec![7] }).unwrap();
            goal.succeed(result(&[7])).unwrap();
        })
        .unwrap();
    assert_eq!(server.action_name(), node.resolve_topic_name("fibonacci", false).unwrap());
    let client = node.create_action_client::<Fibonacci>("fibonacci").unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    let _spinning = spinning(executor);
    client.wait_for_server(WATCHDOG).unwrap();
    let on_feedback = move |feedback: Fibonacci_Feedback| sender.send(feedback.sequence).unwrap();
    let sent = client.send_goal_with_feedback(Fibonacci_Goal { order: 1 }, on_feedback).unwrap();
    let goal = sent.wait(WATCHDOG).unwrap();
    assert_eq!(goal.get_result().unwrap().wait(WATCHDOG).unwrap().result.sequence, [7]);
    assert_eq!(feedback.recv_timeout(WATCHDOG).unwrap(), [7]);
    let counts = client.feedback_counts();
    assert_eq!((counts.intra_process.messages, counts.network.messages), (1, 0));
    let known = node.action_names_and_types();
    assert!(known[server.action_name()].contains("example_interfaces/action/Fibonacci"));
}

/// The client takes no responses, and sends more goals than its response queue has space for.
#[test]
fn goals_that_nobody_waits_for_are_all_worked_for() {
    let pair = Pair::new();
    for _ in 0..dropped_futures(1500) {
        drop(pair.client.send_goal(Fibonacci_Goal { order: 2 }).unwrap());
        let goal = pair.accepted.recv_timeout(WATCHDOG).unwrap();
        assert_eq!(goal.status(), GoalStatus::Executing);
        goal.succeed(result(&[0, 1])).unwrap();
    }
}
