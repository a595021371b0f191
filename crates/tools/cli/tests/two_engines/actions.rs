//! An action whose server is on both engines: clients on each engine and on both follow their
//! goals, receive each feedback once, and cancel.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::{
    ActionServer, CancelResponse, ClientGoalHandle, GoalId, GoalResponse, GoalStatus, Node,
    ServerGoalHandle,
};
use feros_test_support::{WATCHDOG, eventually};

use crate::wires::{BOTH, DDS, Spun, Wires, ZENOH, repeating};

const FIBONACCI: &str = "example_interfaces/action/Fibonacci";

/// A server that accepts all goals, and hands them to the test.
fn serve(node: &Node) -> (ActionServer<Fibonacci>, Receiver<ServerGoalHandle<Fibonacci>>) {
    let (sender, accepted) = sync_channel(10);
    let callbacks = (
        |_: &GoalId, _: &Fibonacci_Goal| GoalResponse::AcceptAndExecute,
        |_: &ServerGoalHandle<Fibonacci>| CancelResponse::Accept,
        move |goal: ServerGoalHandle<Fibonacci>| sender.send(goal).unwrap(),
    );
    (node.create_action_server::<Fibonacci, _>("/reach", callbacks).unwrap(), accepted)
}

fn say(work: &ServerGoalHandle<Fibonacci>, number: i32) {
    work.publish_feedback(Fibonacci_Feedback { sequence: vec![number] }).unwrap();
}

/// Both sides of a goal, and the feedback that its client has received.
struct Followed {
    goal: ClientGoalHandle<Fibonacci>,
    work: ServerGoalHandle<Fibonacci>,
    feedback: Receiver<i32>,
    last: i32,
}

impl Followed {
    fn new(spun: &Spun, accepted: &Receiver<ServerGoalHandle<Fibonacci>>, order: i32) -> Self {
        let client = spun.node.create_action_client::<Fibonacci>("/reach").unwrap();
        client.wait_for_server(WATCHDOG).unwrap();
        let (sender, feedback) = sync_channel(100_000);
        let hear = move |heard: Fibonacci_Feedback| sender.send(heard.sequence[0]).unwrap();
        let sent = client.send_goal_with_feedback(Fibonacci_Goal { order }, hear).unwrap();
        let goal = sent.wait(WATCHDOG).unwrap();
        let work = accepted.recv_timeout(WATCHDOG).unwrap();
        assert_eq!((work.goal_id(), work.goal().order), (goal.goal_id(), order));
        Self { goal, work, feedback, last: -1 }
    }

    /// Whether feedback up to this number was received, and none of it twice.
    fn has_heard(&mut self, number: i32) -> bool {
        for heard in self.feedback.try_iter() {
            assert!(heard > self.last, "feedback {heard} after {}", self.last);
            self.last = heard;
        }
        self.last >= number
    }
}

#[test]
fn goals_from_each_wire_are_followed_and_canceled() {
    let wires = Wires::new();
    let nodes = wires.nodes();
    let (_server, accepted) = serve(&nodes[2].node);
    let mut followed: Vec<_> =
        nodes.iter().zip(0..).map(|(spun, order)| Followed::new(spun, &accepted, order)).collect();
    // A server may discover a client's subscription later than the client discovers the server, and
    // feedback from before that does not reach the client.
    let mut number = 0;
    for one in &mut followed {
        eventually(|| {
            number += 1;
            say(&one.work, number);
            one.has_heard(1).then_some(()).ok_or(number)
        });
    }
    for number in number + 1..number + 50 {
        followed.iter().for_each(|one| say(&one.work, number));
        for one in &mut followed {
            feros_test_support::until("the feedback", || one.has_heard(number));
            assert_eq!(one.last, number);
        }
    }
    for (order, one) in (0..).zip(&mut followed) {
        let canceled = one.goal.cancel().unwrap().wait(WATCHDOG).unwrap();
        assert_eq!(canceled, [one.goal.goal_id()]);
        assert!(one.work.is_canceling());
        let result = one.goal.get_result().unwrap();
        one.work.canceled(Fibonacci_Result { sequence: vec![order] }).unwrap();
        let result = result.wait(WATCHDOG).unwrap();
        assert_eq!((result.status, result.result.sequence), (GoalStatus::Canceled, vec![order]));
        assert!(one.has_heard(number + 49) && one.feedback.try_iter().next().is_none());
    }
}

/// On either engine and on both, the command prints each feedback once, and Ctrl-C cancels.
#[test]
fn the_command_follows_a_goal_and_cancels_it() {
    let wires = Wires::new();
    let [_, _, on_both] = wires.nodes();
    let (_server, accepted) = serve(&on_both.node);
    for engine in [&**DDS, ZENOH, &**BOTH] {
        let line = ["action", "send_goal", "/reach", FIBONACCI, "{order: 4}", "-f"];
        let mut sending = wires.start(engine, &line);
        let work = Arc::new(accepted.recv_timeout(WATCHDOG).unwrap());
        let (said_by, mut number) = (work.clone(), 0);
        let saying = repeating(move || {
            say(&said_by, number);
            number += 1;
        });
        let mut printed: Vec<i32> = Vec::new();
        while printed.len() < 30 {
            let line = sending.line().unwrap();
            printed.extend(line.strip_prefix("- ").map(|number| number.parse::<i32>().unwrap()));
        }
        assert!(printed.is_sorted_by(|one, next| one < next), "{engine}: {printed:?}");
        drop(saying);
        sending.interrupt();
        feros_test_support::until("the cancel request", || work.is_canceling());
        work.canceled(Fibonacci_Result::default()).unwrap();
        let ended = sending.finish();
        assert_eq!(ended.code, Some(130), "{engine}: {ended:?}");
        assert!(ended.out.ends_with("Goal canceled.\n"), "{engine}: {ended:?}");
    }
}
