//! Failed components are restarted after pauses, according to the options of the container.

use feros_test_support::eventually;
use std::time::Duration;

use crate::support::{ALL, Container, PROCESS, SINGLE, WATCHDOG, named};

#[test]
fn a_failed_component_comes_back_under_its_number_and_name() {
    for binary in ALL {
        let container = Container::start(binary, &["--restart"]);
        let id = container.load(&named("faulty", "faulty::OnDemand", "phoenix"));
        for times in 1..=2 {
            container.provoke("/phoenix/panic");
            let text = format!("restarted {times} times");
            container.wait_for_state(id, |state| state.state == "running" && state.detail == text);
            assert!(container.trigger("/phoenix/ping", WATCHDOG).is_some());
        }
        assert_eq!(container.list(), [(id, "/phoenix".into())]);
        container.client.unload(id, WATCHDOG).unwrap();
        assert_eq!(container.list(), []);
    }
}

#[test]
fn a_process_that_died_is_started_again() {
    let container = Container::start(PROCESS, &["--restart"]);
    let id = container.load(&named("faulty", "faulty::OnDemand", "phoenix"));
    let before = container.trigger("/phoenix/ping", WATCHDOG);
    container.provoke("/phoenix/segfault");
    container.wait_for_state(id, |state| {
        state.state == "running" && state.detail == "restarted 1 times"
    });
    // A request may reach no server until the lease of the dead process ends.
    let ping = || container.trigger("/phoenix/ping", Duration::from_secs(2));
    let after = eventually(|| ping().ok_or("an answer of the new process"));
    assert_ne!(before.unwrap(), after, "it is another process");
}

#[test]
fn the_limit_holds() {
    let container = Container::start(SINGLE, &["--restart-limit", "1"]);
    let id = container.load(&named("faulty", "faulty::OnDemand", "phoenix"));
    container.provoke("/phoenix/panic");
    container.wait_for_state(id, |state| state.detail == "restarted 1 times");
    container.provoke("/phoenix/panic");
    container.wait_for_state(id, |state| state.state == "failed");
    container.wait_for_log("/phoenix (1) is not restarted");
}
