//! Tests of services: which server responds, and what happens when the server leaves.

use feros_engine::EndpointKind;
use feros_test_support::{Watchdog, until};

use crate::ends::{World, number_in};

#[test]
fn calls_are_answered_from_the_other_side() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let server = near.server("/switch");
    let callers = [(); 2].map(|()| far.caller("/switch"));
    callers.iter().for_each(|caller| caller.wait_for_server());
    for number in 0..20 {
        let caller = &callers[number as usize % 2];
        let asked = caller.ask(number);
        let (request, question) = server.next();
        assert_eq!(number_in(&question.payload), number);
        server.respond(&request, number + 100);
        assert_eq!(caller.next(), (asked, number + 100));
    }
    until("the count", || bridge.counts(0, 1).calls == 20);
    assert_eq!(bridge.counts(0, 1).failed, 0);
}

/// The responses of overlapping calls reach their callers, no matter in which order they are sent.
#[test]
fn responses_find_their_calls_in_any_order() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let _bridge = world.running();
    let server = near.server("/slow");
    let callers = [(); 3].map(|()| far.caller("/slow"));
    callers.iter().for_each(|caller| caller.wait_for_server());
    let asked: Vec<_> =
        (0..9).map(|number| (number, callers[number as usize % 3].ask(number))).collect();
    let mut requests: Vec<_> = (0..9).map(|_| server.next()).collect();
    requests.reverse();
    for (request, question) in &requests {
        server.respond(request, number_in(&question.payload) + 100);
    }
    for caller in 0..3_u32 {
        let mut expected: Vec<_> = asked.iter().filter(|(n, _)| n % 3 == caller).collect();
        expected.reverse();
        for (number, asked) in expected {
            assert_eq!(callers[caller as usize].next(), (*asked, number + 100));
        }
    }
}

#[test]
fn a_server_may_come_again_and_one_of_ones_own_is_preferred() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let caller = far.caller("/restarts");
    for number in 0..3 {
        let server = near.server("/restarts");
        caller.wait_for_server();
        let asked = caller.ask(number);
        let (request, _) = server.next();
        server.respond(&request, number);
        assert_eq!(caller.next(), (asked, number));
        drop(server);
        until("the end", || !caller.0.service_is_available());
    }
    let _own = far.server("/restarts");
    let _other = near.server("/restarts");
    caller.wait_for_server();
    until("both servers", || {
        near.session.graph().count(EndpointKind::Service, "/restarts") == 1
            && far.session.graph().count(EndpointKind::Service, "/restarts") == 1
    });
    until("the end of the bridge's server", || bridge.bridged().is_empty());
}
