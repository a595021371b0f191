//! A failure that occurs with each request or message is logged the first time, and then each time
//! the count doubles, so that a client that calls forever does not fill the disk.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use feros::lifecycle::LifecycleCallbacks;
use feros::message::{Action, Service as ServiceType};
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_SendGoal_Request};
use feros::msgs::lifecycle_msgs::srv::{ChangeState, ChangeState_Request};
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Client, Executor, Node, Outcome, Responder, ServerGoalHandle};
use feros_test_support::log_lines;

use crate::support::{WATCHDOG, context};

/// The number of calls that fail. The 1st, 2nd, 4th, 8th, 16th, 32nd and 64th failures are logged.
const CALLS: usize = 100;
const SAID: usize = 7;

/// Makes the calls, and returns the log lines of the server's thread. For requests that get no
/// response, `seen` counts the requests that have arrived.
fn lines_of_calls<S: ServiceType>(
    server: &Node,
    service: &str,
    request: &S::Request,
    seen: Option<&AtomicUsize>,
) -> Vec<String> {
    let there = context();
    let caller = there.create_node("f_caller").unwrap();
    let client: Client<S> = caller.create_client(service).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let executor = Executor::new();
    executor.add_node(server).unwrap();
    log_lines(|| {
        for number in 1..=CALLS {
            let call = client.call(request).unwrap();
            if let Some(seen) = seen {
                let is_seen = || seen.load(Ordering::SeqCst) == number;
                executor.spin_until(Some(WATCHDOG), is_seen).unwrap();
            } else {
                let answer = executor.spin_until_complete(Some(WATCHDOG), call).unwrap();
                assert!(matches!(answer, Outcome::Completed(Ok(_))), "the watchdog bit");
            }
        }
    })
}

fn said(lines: &[String], text: &str) -> usize {
    let said = lines.iter().filter(|line| line.contains(text));
    assert!(lines.iter().any(|line| line.ends_with("(64 so far)")), "{lines:?}");
    said.count()
}

fn counted() -> (Arc<AtomicUsize>, impl Fn() + Clone) {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    (seen, move || {
        count.fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn responses_that_cannot_be_sent() {
    let context = context();
    let node = context.create_node("f_refused").unwrap();
    let (seen, count) = counted();
    let answer = move |_: SetBool_Request| {
        count();
        SetBool_Response { success: true, message: "no text has\0a NUL".into() }
    };
    let _service = node.create_service::<SetBool, _>("/f_refused", answer).unwrap();
    let lines =
        lines_of_calls::<SetBool>(&node, "/f_refused", &SetBool_Request::default(), Some(&seen));
    assert_eq!(said(&lines, "/f_refused"), SAID, "{lines:?}");
}

#[test]
fn requests_that_are_dropped() {
    let context = context();
    let node = context.create_node("f_dropped").unwrap();
    let (seen, count) = counted();
    let drop_it = move |_: SetBool_Request, responder: Responder<SetBool>| {
        drop(responder);
        count();
    };
    let _service = node.create_service::<SetBool, _>("/f_dropped", drop_it).unwrap();
    let lines =
        lines_of_calls::<SetBool>(&node, "/f_dropped", &SetBool_Request::default(), Some(&seen));
    assert_eq!(said(&lines, "was dropped without a response"), SAID, "{lines:?}");
}

#[test]
fn goals_of_an_id_that_is_known() {
    let context = context();
    let node = context.create_node("f_goals").unwrap();
    let goals = Arc::new(Mutex::new(Vec::new()));
    let keep = {
        let goals = goals.clone();
        move |goal: ServerGoalHandle<Fibonacci>| goals.lock().unwrap().push(goal)
    };
    let _server = node.create_action_server::<Fibonacci, _>("/f_goals", keep).unwrap();
    let request = Fibonacci_SendGoal_Request::default();
    type Goals = <Fibonacci as Action>::SendGoal;
    let service = "/f_goals/_action/send_goal";
    // The first goal is accepted.
    let lines = lines_of_calls::<Goals>(&node, service, &request, None);
    assert_eq!(goals.lock().unwrap().len(), 1);
    assert_eq!(said(&lines, "is rejected: a goal with this id already exists"), SAID, "{lines:?}");
}

#[test]
fn transitions_that_are_refused() {
    struct Still;
    impl LifecycleCallbacks for Still {}
    let context = context();
    let node = context.create_lifecycle_node("f_managed", Still).unwrap();
    let mut request = ChangeState_Request::default();
    request.transition.id = 99;
    let service = format!("{}/change_state", node.name());
    let lines = lines_of_calls::<ChangeState>(&node, &service, &request, None);
    assert_eq!(said(&lines, "99"), SAID, "{lines:?}");
}
