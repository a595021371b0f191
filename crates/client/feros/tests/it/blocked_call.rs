//! Calls inside callbacks. Calls that could never end fail immediately; all other calls are
//! answered.

use std::sync::mpsc::sync_channel;

use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{
    CallError, CallbackGroupKind, Executor, Node, Service, ServiceOptions, Shared, TimerOptions,
};
use std::time::Duration;

use crate::support::{WATCHDOG, context, spinning, spinning_node};

fn trigger(node: &Node, options: ServiceOptions) -> Service<Trigger> {
    let answer = |_: Trigger_Request| Trigger_Response { success: true, ..Default::default() };
    node.create_service_with::<Trigger, _>("trigger", options, answer).unwrap()
}

fn every_millisecond() -> TimerOptions {
    TimerOptions::wall(Duration::from_millis(1))
}

type Answer = Result<Trigger_Response, CallError>;

/// Calls the service once inside the callback of a timer of `caller`, while `executor` spins;
/// returns the outcome of the call.
fn call_inside(
    caller: &Node,
    executor: Executor,
    options: TimerOptions,
    in_two_steps: bool,
) -> Answer {
    let client = caller.create_client::<Trigger>("trigger").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let (answers, answered) = sync_channel(1);
    let mut has_called = false;
    let call = move || {
        // The service is called only once: a second call could begin while the executor ends, and
        // would then wait until its timeout.
        if std::mem::replace(&mut has_called, true) {
            return;
        }
        let request = Trigger_Request::default();
        let answer = if in_two_steps {
            client.call(&request).unwrap().wait(WATCHDOG)
        } else {
            client.call_and_wait(&request, WATCHDOG)
        };
        drop(answers.try_send(answer));
    };
    let _timer = caller.create_timer_with(options, call).unwrap();
    let _spinning = spinning(executor);
    answered.recv_timeout(2 * WATCHDOG).expect("the watchdog bit")
}

fn executor(threads: usize, nodes: &[&Node]) -> Executor {
    let executor = Executor::builder().threads(threads).name("planning").build();
    nodes.iter().for_each(|node| executor.add_node(node).unwrap());
    executor
}

fn shared(answer: Answer) -> Shared {
    let error = answer.unwrap_err();
    let text = error.to_string();
    let CallError::ServerBlocked { obstacle, .. } = error else { panic!("{text}") };
    assert!(
        text.contains("/trigger") && text.contains("/caller") && text.contains("`planning`"),
        "{text}"
    );
    obstacle.shared
}

#[test]
fn a_call_that_only_its_own_thread_could_answer_is_refused() {
    for in_two_steps in [false, true] {
        let context = context();
        let (caller, server) =
            (context.create_node("caller").unwrap(), context.create_node("server").unwrap());
        let _service = trigger(&server, ServiceOptions::default());
        let executor = executor(1, &[&caller, &server]);
        let answer = call_inside(&caller, executor, every_millisecond(), in_two_steps);
        assert_eq!(shared(answer), Shared::Thread);
    }
}

#[test]
fn a_call_into_the_own_exclusive_group_is_refused() {
    let caller = context().create_node("caller").unwrap();
    let _service = trigger(&caller, ServiceOptions::default());
    let answer = call_inside(&caller, executor(3, &[&caller]), every_millisecond(), false);
    assert_eq!(shared(answer), Shared::Group);
}

#[test]
fn calls_that_another_thread_or_group_answers_are_answered() {
    // The server is in another group, of either kind, of the same node, and the executor has
    // several threads.
    for kind in [CallbackGroupKind::MutuallyExclusive, CallbackGroupKind::Reentrant] {
        let caller = context().create_node("caller").unwrap();
        let group = caller.create_callback_group(kind);
        let _service = trigger(&caller, ServiceOptions::default().callback_group(&group));
        let executor = executor(2, &[&caller]);
        call_inside(&caller, executor, every_millisecond(), false).unwrap();
    }
    let caller = context().create_node("caller").unwrap();
    let group = caller.create_callback_group(CallbackGroupKind::Reentrant);
    let _service = trigger(&caller, ServiceOptions::default().callback_group(&group));
    let options = every_millisecond().callback_group(&group);
    call_inside(&caller, executor(2, &[&caller]), options, true).unwrap();

    // The caller and the server are on two executors, with one thread each.
    let context = context();
    let (caller, server) =
        (context.create_node("caller").unwrap(), context.create_node("server").unwrap());
    let _service = trigger(&server, ServiceOptions::default());
    let _spinning = spinning_node(&server);
    call_inside(&caller, executor(1, &[&caller]), every_millisecond(), true).unwrap();
}
