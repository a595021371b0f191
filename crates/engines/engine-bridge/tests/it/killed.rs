//! Tests that a second bridge takes over when a bridge is killed.

use std::io::Read as _;

use feros_engine::QosProfile;
use feros_engine_bridge::{Bridge, BridgeOptions};
use feros_test_support::{TestProcess, Watchdog, until};

use crate::ends::{Running, World, bridge_of, numbered, session};

/// The variable with the domains of a bridge in a separate process of this program.
const DOMAINS_VARIABLE: &str = "FEROS_TEST_BRIDGED_DOMAINS";
/// Sets the time after which a silent process is considered gone. The default of Cyclone DDS is ten
/// seconds.
const LEASE: &str = "<Domain><Discovery><LeaseDuration>2s</LeaseDuration></Discovery></Domain>";

/// The code of the bridge's process. In a normal test run, this test does nothing.
#[test]
fn bridge_process() {
    let Ok(domains) = std::env::var(DOMAINS_VARIABLE) else { return };
    let sessions: Vec<_> = domains.split(',').map(|id| session(id.parse().unwrap())).collect();
    let running = Running::start(bridge_of(&sessions, BridgeOptions::default()));
    println!("bridging");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap(); // returns when the parent process ends
    drop(running);
}

fn start_bridge(world: &World) -> TestProcess {
    let mut command = feros_test_support::this_program();
    command
        .env(DOMAINS_VARIABLE, format!("{},{}", world.domain_id(0), world.domain_id(1)))
        .env("CYCLONEDDS_URI", LEASE);
    let mut process = TestProcess::start(command, "killed::bridge_process");
    process.said("bridging");
    process
}

/// The second bridge takes over when the engine considers the first bridge gone. All messages that
/// are published after that arrive once.
#[test]
fn another_one_takes_over() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let talker = near.talker("/taken_over", QosProfile::default());
    let listener = far.listener("/taken_over", QosProfile::keep_last(100));
    let (server, caller) = (near.server("/asked"), far.caller("/asked"));
    let first = start_bridge(&world);
    listener.wait_for_matches(1);
    talker.wait_for_matches(1);
    caller.wait_for_server();
    let second = world.running();
    until("the first one is known", || second.look(Bridge::other_bridges) == 1);
    talker.say(&numbered(1));
    assert_eq!(listener.next_number(), 1);
    assert_eq!(second.bridged(), []);
    drop(first);
    until("the second one's turn", || second.bridged().len() == 2);
    listener.wait_for_matches(1);
    talker.wait_for_matches(1);
    caller.wait_for_server();
    for number in 2..20 {
        talker.say(&numbered(number));
        assert_eq!(listener.next_number(), number);
    }
    assert!(listener.has_nothing());
    let asked = caller.ask(7);
    let (request, _) = server.next();
    server.respond(&request, 8);
    assert_eq!(caller.next(), (asked, 8));
}
