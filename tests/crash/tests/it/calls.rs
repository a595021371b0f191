//! Servers and clients of services are killed or restarted, or their memory is overwritten: the
//! surviving processes go on, every call reaches a live server if there is one, and nothing is left
//! behind.

use std::fs::OpenOptions;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Gone, Peer, Place, Random, count_of, memory_of_name, number, resources, rounds, scribble, until,
};

/// A limit on the growth of a process. Calls alone make a process grow less than this.
const MOST_GROWTH_KB: u64 = 16 << 10;
/// The size of the control words of a client's memory for calls, in bytes.
const CONTROL_BYTES: u64 = 36 << 10;

fn server(place: &Place, keeps: bool) -> Peer {
    let mut server = Peer::start(place, "server");
    server.ask("server", json!({"name": "srv", "service": "count", "keeps": keeps}));
    server
}

fn caller(place: &Place) -> Peer {
    let mut caller = Peer::start(place, "caller");
    caller.ask("caller", json!({"name": "cli", "service": "count"}));
    caller
}

fn is_ready(caller: &mut Peer) -> bool {
    caller.of("ready", "cli")["ready"] == true
}

fn call(caller: &mut Peer, times: u32) -> Value {
    caller.ask("call_times", json!({"name": "cli", "times": times, "timeout_ms": 20_000}))
}

/// Waits until calls take shared memory.
fn until_shared(caller: &mut Peer) {
    until("calls take shared memory", || is_ready(caller).then_some(()));
    caller.until_transport("cli", 1, "shared_memory");
}

#[test]
fn a_restarted_server_is_called_at_once_and_the_dead_one_never() {
    let place = Place::of_host();
    let mut caller = caller(&place);
    let mut slowest = Duration::ZERO;
    let mut first = server(&place, false);
    until_shared(&mut caller);
    for _ in 0..rounds(10) {
        assert_eq!(number(&call(&mut caller, 5), "/answered"), 5);
        let by_shared_memory = number(&caller.of("counts", "cli"), "/host");
        assert!(by_shared_memory > 0, "{by_shared_memory}");
        first.kill();
        assert!(!is_ready(&mut caller), "a killed server stops counting as a server at once");
        let began = Instant::now();
        let second = server(&place, false);
        until("the new server is there", || is_ready(&mut caller).then_some(()));
        let answered = call(&mut caller, 1);
        assert_eq!(number(&answered, "/answered"), 1, "{answered}");
        let by = answered["last"].as_str().unwrap().to_owned();
        assert_eq!(by, format!("{} 1", second.pid()));
        slowest = slowest.max(began.elapsed());
        until_shared(&mut caller);
        first = second;
    }
    println!("slowest from the start of a successor to its first response: {slowest:?}");
    first.end();
    caller.end();
    place.must_be_swept();
}

/// A call to a killed server ends with an error, long before the engine notices the death or the
/// call times out.
#[test]
fn a_call_ends_when_its_server_is_killed() {
    let place = Place::of_host();
    let mut caller = caller(&place);
    let mut slowest = Duration::ZERO;
    for round in 0..rounds(6) {
        let mut keeping = server(&place, true);
        until_shared(&mut caller);
        let request = json!({
            "name": "cli", "times": 1, "timeout_ms": 100_000, "awaited": round % 2 == 1,
        });
        caller.send("call_times", request);
        until("the request is there", || {
            (number(&keeping.of("kept", "srv"), "/kept") == 1).then_some(())
        });
        let began = Instant::now();
        keeping.kill();
        let outcome = caller.take_answer();
        slowest = slowest.max(began.elapsed());
        assert_eq!(number(&outcome, "/answered"), 0);
        let error = outcome["errors"][0].as_str().unwrap();
        assert!(error.contains("no longer has a server that could respond"), "{error}");
    }
    println!("slowest from the kill to the error: {slowest:?}");
    caller.end();
    place.must_be_swept();
}

#[test]
fn a_server_goes_on_while_clients_are_killed_during_calls() {
    let place = Place::of_host();
    let mut server = server(&place, false);
    let mut survivor = caller(&place);
    until_shared(&mut survivor);
    call(&mut survivor, 100);
    let before = resources(&server, &place);
    let mut random = Random::new();
    for _ in 0..rounds(12) {
        let mut doomed = caller(&place);
        until_shared(&mut doomed);
        doomed.send("call_times", json!({"name": "cli", "times": 100_000, "timeout_ms": 20_000}));
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        doomed.kill();
        let outcome = call(&mut survivor, 50);
        assert_eq!(number(&outcome, "/answered"), 50, "{outcome}");
    }
    until("the server has let go of the killed clients", || {
        (server.transports("srv").len() == 1).then_some(())
    });
    let after = resources(&server, &place);
    println!("the server before and after: {before:?}, {after:?}");
    assert!(after.memory_kb < before.memory_kb + MOST_GROWTH_KB);
    assert!(after.descriptors <= before.descriptors + 4);
    server.end();
    survivor.end();
    place.must_be_swept();
}

/// Every process of the same user can write to this memory.
#[test]
fn scribbling_over_the_memory_of_calls_ends_no_process() {
    let place = Place::of_host();
    let scribbles = count_of("FEROS_CRASH_SCRIBBLES", 200);
    let mut random = Random::new();
    let mut server = server(&place, false);
    let mut done = 0;
    let mut answered = 0;
    while done < scribbles {
        let mut caller = caller(&place);
        until_shared(&mut caller);
        let memory = memory_of_name(&caller, "feros-calls").expect("a client has memory for calls");
        let file = OpenOptions::new().read(true).write(true).open(memory).unwrap();
        for _ in 0..8 {
            caller.send("call_times", json!({"name": "cli", "times": 20, "timeout_ms": 20}));
            for _ in 0..5 {
                scribble(&file, (0, CONTROL_BYTES), &mut random);
                done += 1;
            }
            answered += number(&caller.take_answer(), "/answered");
        }
        // An overwritten client is no longer served; another client is served as before.
        caller.end();
        let mut next = self::caller(&place);
        until("another client is served", || is_ready(&mut next).then_some(()));
        let outcome = call(&mut next, 5);
        assert_eq!(number(&outcome, "/answered"), 5, "{outcome}");
        next.end();
    }
    println!("{done} times scribbled, {answered} calls were answered all the same");
    assert!(!matches!(server.try_ask("counts", json!({"name": "srv"})), Err(Gone::Silent)));
    server.end();
    place.must_be_swept();
}
