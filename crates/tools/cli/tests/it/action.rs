//! Actions: listing them, sending goals, canceling them with Ctrl-C, and echoing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::{
    CancelResponse, Context, Executor, GoalId, GoalResponse, ServerGoalHandle,
    ServiceIntrospectionState,
};
use feros_test_support::until;
use rustix::process::Signal;

use crate::endings::together;
use crate::process::{Running, context, eventually, feros, has_line, spawn};

const FIBONACCI: &str = "example_interfaces/action/Fibonacci";

/// A server that is spun until it is dropped. It rejects negative orders, succeeds with even orders
/// after feedback, aborts odd orders, and leaves order 100 to be canceled; order 102 cannot be
/// canceled.
struct Server {
    context: Context,
    spinning: Option<std::thread::JoinHandle<()>>,
    /// The number of goals that were canceled.
    canceled: Arc<AtomicUsize>,
}

impl Server {
    fn start(action: &str) -> Self {
        let context = context();
        let node = context.create_node("a_server").unwrap();
        let canceled = Arc::<AtomicUsize>::default();
        let counted = canceled.clone();
        let callbacks = (
            |_: &GoalId, goal: &Fibonacci_Goal| {
                if goal.order < 0 { GoalResponse::Reject } else { GoalResponse::AcceptAndExecute }
            },
            |goal: &ServerGoalHandle<Fibonacci>| {
                let accepts = goal.goal().order != 102;
                if accepts { CancelResponse::Accept } else { CancelResponse::Reject }
            },
            move |goal: ServerGoalHandle<Fibonacci>| {
                let counted = counted.clone();
                drop(spawn("test-goal", move || reach(&goal, &counted)));
            },
        );
        let server = node.create_action_server::<Fibonacci, _>(action, callbacks).unwrap();
        let contents = ServiceIntrospectionState::Contents;
        server.configure_introspection(node.clock(), 10, contents).unwrap();
        let executor = Arc::new(Executor::new());
        executor.add_node(&node).unwrap();
        let spinning = spawn("test-server", move || {
            executor.spin().unwrap();
            drop(server);
        });
        Self { context, spinning: Some(spinning), canceled }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.context.shutdown();
        self.spinning.take().unwrap().join().unwrap();
    }
}

fn reach(goal: &ServerGoalHandle<Fibonacci>, canceled: &AtomicUsize) {
    let order = goal.goal().order;
    let result = || Fibonacci_Result { sequence: vec![order] };
    goal.publish_feedback(Fibonacci_Feedback { sequence: vec![0, 1] }).unwrap();
    while order >= 100 && goal.is_executing() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The server may have ended, which also ends the goal.
    let _ = match order {
        100.. => {
            let ended = goal.canceled(result());
            canceled.fetch_add(usize::from(ended.is_ok()), Ordering::Relaxed);
            ended
        }
        _ if order % 2 == 1 => goal.abort(result()),
        _ => goal.succeed(result()),
    };
}

#[test]
fn actions_are_listed_found_and_told_of() {
    let _server = Server::start("/a_list");
    let listed = eventually(
        || feros(&["action", "list", "-t"]).success(),
        |out| has_line(out, &format!("/a_list [{FIBONACCI}]")),
    );
    assert!(!listed.contains("_action"), "{listed}");
    assert!(has_line(&feros(&["action", "list"]).success(), "/a_list"));
    let count: usize = feros(&["action", "list", "-c"]).success().trim().parse().unwrap();
    assert!(count >= 1);
    assert_eq!(feros(&["action", "type", "/a_list"]).success(), format!("{FIBONACCI}\n"));
    assert!(has_line(&feros(&["action", "find", FIBONACCI]).success(), "/a_list"));
    assert_eq!(feros(&["action", "find", "a/action/B", "-c"]).success(), "0\n");
    let info = eventually(
        || feros(&["action", "info", "-t", "a_list"]).success(),
        |out| out.contains("/a_server"),
    );
    assert_eq!(
        info,
        format!(
            "Action: /a_list\nAction clients: 0\nAction servers: 1\n    /a_server [{FIBONACCI}]\n"
        )
    );
    let counted = feros(&["action", "info", "-c", "/a_list"]).success();
    assert_eq!(counted, "Action: /a_list\nAction clients: 0\nAction servers: 1\n");
    for verb in ["type", "info"] {
        let error = feros(&["action", verb, "/a_lits"]).failure(1);
        assert!(error.contains("there is no action /a_lits; did you mean /a_list?"), "{error}");
    }
}

#[test]
fn a_goal_is_sent_and_followed() {
    let _server = Server::start("/a_send");
    let send = |more: &[&str]| {
        let line = ["action", "send_goal", "/a_send", FIBONACCI];
        feros(&[&line[..], more].concat())
    };
    let out = send(&["{order: 4}", "-f", "--timeout", "50"]).success();
    let (before, after) = out.split_once("Goal accepted with ID: ").unwrap();
    assert_eq!(
        before,
        "Waiting for an action server to become available...\nSending goal:\n     order: 4\n\n"
    );
    let (id, after) = after.split_once('\n').unwrap();
    assert_eq!((id.len(), id.chars().all(|c| c.is_ascii_hexdigit())), (32, true), "{id}");
    let feedback = "Feedback:\n    sequence:\n- 0\n- 1\n\n";
    assert_eq!(
        after.replacen(feedback, "", 1),
        "\nResult:\n    sequence:\n- 4\n\nGoal finished with status: SUCCEEDED\n"
    );
    let json = send(&["{order: 6}", "--json"]).json();
    assert_eq!((&json["status"], &json["result"]["sequence"][0]), (&"SUCCEEDED".into(), &6.into()));

    let aborted = send(&["{order: 3}"]);
    assert_eq!(aborted.code, Some(1));
    assert!(aborted.out.ends_with("Goal finished with status: ABORTED\n"), "{aborted:?}");
    let rejected = send(&["{order: -1}"]);
    assert_eq!((rejected.code, rejected.out.ends_with("Goal was rejected.\n")), (Some(1), true));
    assert!(send(&["{ordr: 1}"]).failure(2).contains("`order`"));
}

#[test]
fn a_goal_that_is_reached_at_once_loses_nothing() {
    let _server = Server::start("/a_quick");
    // Statuses follow each other faster than a client reads them, so only the last one counts.
    for goal in 0..20 {
        let line = ["action", "send_goal", "/a_quick", FIBONACCI, "{order: 2}", "-f"];
        let sent = feros(&line);
        assert_eq!((sent.code, sent.err.as_str()), (Some(0), ""), "goal {goal}: {sent:?}");
    }
}

#[test]
fn a_goal_is_canceled_by_the_user_and_by_the_clock() {
    const ONE: &[Signal] = &[Signal::INT];
    let server = Server::start("/a_cancel");
    let line = ["action", "send_goal", "/a_cancel", FIBONACCI, "{order: 100}"];
    let start = || {
        let mut sending = Running::start(&line);
        while !sending.line().unwrap().starts_with("Goal accepted with ID") {}
        sending
    };
    let mut count = 0;
    for signals in std::iter::once(ONE).chain(together()) {
        count += 1;
        let sending = start();
        signals.iter().for_each(|signal| sending.signal(*signal));
        let ended = sending.finish();
        assert_eq!(ended.code, Some(130), "{ended:?}");
        assert!(ended.out.ends_with("Canceling goal...\nGoal canceled.\n"), "{ended:?}");
    }

    // The goal is canceled even if nobody reads the output any longer.
    let canceled = |goals: usize| {
        until("the goals are canceled", || server.canceled.load(Ordering::Relaxed) == goals);
    };
    canceled(count);
    let mut sending = start();
    sending.close_output();
    sending.signal(Signal::TERM);
    sending.finish();
    canceled(count + 1);

    let late = feros(&[&line[..], &["--timeout", "3"]].concat());
    assert!(late.out.ends_with("Canceling goal...\nGoal canceled.\n"), "{late:?}");
    let error = late.failure(1);
    assert!(error.contains("had not ended after 3 s and was canceled"), "{error}");

    let stubborn =
        ["action", "send_goal", "/a_cancel", FIBONACCI, "{order: 102}", "--timeout", "3"];
    let error = feros(&stubborn).failure(1);
    assert!(error.contains("failed to cancel goal: ") && error.contains("rejected"), "{error}");
}

#[test]
fn a_goal_without_a_server_or_of_another_type_is_refused() {
    let _server = Server::start("/a_types");
    let error = feros(&["action", "send_goal", "/a_type", FIBONACCI, "--timeout", "5"]).failure(1);
    assert!(
        error.contains("no server of the action /a_type appeared within")
            && error.contains("/a_types"),
        "{error}"
    );
    let other = "test_msgs/action/Fibonacci";
    let error = feros(&["action", "send_goal", "/a_types", other, "--timeout", "50"]).failure(1);
    assert!(error.contains(&format!("has type {FIBONACCI}, not {other}")), "{error}");
    let error = feros(&["action", "send_goal", "/a_types", "std_srvs/srv/SetBool"]).failure(2);
    assert!(error.contains("is not an action type"), "{error}");
    let mut waiting = Running::start(&["action", "send_goal", "/a_nobody", FIBONACCI]);
    assert!(waiting.line().unwrap().starts_with("Waiting for an action server"));
    waiting.interrupt();
    assert_eq!(waiting.finish().code, Some(130));
}

#[test]
fn messages_of_an_action_are_echoed() {
    let _server = Server::start("/a_echo");
    let parts = "FEEDBACK_TOPIC|status_topic|GOAL_SERVICE|RESULT_SERVICE";
    let mut echo = Running::start(&["action", "echo", "/a_echo", FIBONACCI, "-i", parts, "--json"]);
    // A client does not know when the echo listens: goals are sent until the echo has printed one.
    let goals = spawn("goals", || {
        for _ in 0..5 {
            feros(&["action", "send_goal", "/a_echo", FIBONACCI, "{order: 2}"]).success();
        }
    });
    let mut heard = [false; 4];
    while heard != [true; 4] {
        let line: serde_json::Value = serde_json::from_str(&echo.line().unwrap()).unwrap();
        let message = &line["message"];
        match line["interface"].as_str().unwrap() {
            "FEEDBACK_TOPIC" => {
                assert_eq!(message["feedback"]["sequence"], serde_json::json!([0, 1]));
                heard[0] = true;
            }
            "STATUS_TOPIC" => heard[1] |= message["status_list"][0]["status"] == 4,
            "GOAL_SERVICE" => heard[2] |= message["request"][0]["goal"]["order"] == 2,
            "RESULT_SERVICE" => heard[3] |= message["response"][0]["status"] == 4,
            other => panic!("{other} was not asked for"),
        }
    }
    goals.join().unwrap();
    echo.interrupt();
    assert_eq!(echo.finish().code, Some(0));
    let error = feros(&["action", "echo", "/a_echo", "-i", "FEEDBACK"]).code;
    assert_eq!(error, Some(2));
}

#[test]
fn feedback_of_a_type_that_only_its_server_knows_is_echoed() {
    const FEEDBACK: &str = "robot_msgs/action/Count_FeedbackMessage";
    let action = "int32 target\n---\nint32 reached\n---\nint32 now\n";
    let action = feros_interface::parse_action("robot_msgs", "Count", action).unwrap();
    let mut set = feros_interface::shipped().clone();
    set.insert(feros_interface::Interface::Action(action)).unwrap();
    let name = FEEDBACK.parse().unwrap();
    let ty = feros_message::dynamic::DynamicType::resolve(&set, &name).unwrap();
    let hash = Some(feros::engine::TypeHash(ty.type_hash().0));
    let identity = feros::TypeIdentity { name: FEEDBACK.to_owned(), hash };
    let bytes = feros_message::dynamic::DynamicMessage::from_yaml(&ty, "{feedback: {now: 7}}");
    let bytes = bytes.unwrap().to_cdr().unwrap();

    let context = context();
    let node = context.create_node("a_counter").unwrap();
    node.describe_type(set.type_description(&name).unwrap());
    let topic = "/a_count/_action/feedback";
    let publisher = node.create_generic_publisher(topic, &identity, 10).unwrap();
    let publish = move || publisher.publish_serialized(&bytes).unwrap();
    let timer = node.create_wall_timer(Duration::from_millis(20), publish).unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    let spinning = spawn("test-counter", move || {
        executor.spin().unwrap();
        drop(timer);
    });
    let mut echo = Running::start(&["action", "echo", "/a_count", "--json", "--spin-time", "2"]);
    let line: serde_json::Value = serde_json::from_str(&echo.line().unwrap()).unwrap();
    assert_eq!(line["interface"], "FEEDBACK_TOPIC");
    assert_eq!(line["message"]["feedback"], serde_json::json!({"now": 7}));
    echo.interrupt();
    assert_eq!(echo.finish().code, Some(0));
    context.shutdown();
    spinning.join().unwrap();
}
