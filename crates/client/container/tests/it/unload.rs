//! Unloading frees the resources that loading has allocated. `FEROS_SOAK=1000` loads and unloads a
//! thousand times.

use feros_test_support::eventually;

use crate::support::{
    Container, ISOLATED, PROCESS, SINGLE, Usage, WATCHDOG, request, shared_memory_files,
};

/// The number of rounds of loading and unloading.
fn rounds() -> u32 {
    std::env::var("FEROS_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// The limit on memory that remains allocated after any number of rounds: allocators keep pages,
/// and the engine remembers for a while the participants that have left. Measured growth: up to 0.9
/// MB after 500 and after 1500 rounds on one executor, 2.6 MB after 100 and after 400 rounds in
/// processes.
const ALLOWED_KIB: u64 = 4096;

fn soak(binary: &str) {
    let container = Container::start(binary, &[]);
    let round = || {
        let talker = container.load(&request("demo", "demo_components::Talker"));
        let listener = container.load(&request("demo", "demo_components::Listener"));
        container.client.unload(talker, WATCHDOG).unwrap();
        container.client.unload(listener, WATCHDOG).unwrap();
    };
    // The first rounds make the resources that are made once and stay: libraries, the segment, the
    // engine's threads and pools, and the services of the container that have been called.
    (0..10).for_each(|_| round());
    // The graph from the point of view of another node. A few removed endpoints may still count; a
    // leak would add up to more.
    let graph = || {
        let graph = container.node.context().graph();
        (graph.nodes.len(), graph.endpoints.len())
    };
    let graph_before = graph();
    let (before, files) = (Usage::of(container.pid()), shared_memory_files());
    (0..rounds()).for_each(|_| round());
    let new_files: Vec<_> = shared_memory_files().difference(&files).cloned().collect();
    let settled = |usage: Usage| usage.threads <= before.threads && usage.files <= before.files;
    let started = std::time::Instant::now();
    let mut after = Usage::of(container.pid());
    while !settled(after) && started.elapsed() < WATCHDOG {
        std::thread::sleep(std::time::Duration::from_millis(50)); // the threads are about to end
        after = Usage::of(container.pid());
    }
    eprintln!("{} rounds in {binary}: {before:?} -> {after:?}", rounds());
    assert!(settled(after), "{before:?} -> {after:?}");
    assert!(after.own_kib <= before.own_kib + ALLOWED_KIB, "{before:?} -> {after:?}");
    // Other programs of this machine make files there too, and remove them after a while. Leftovers
    // of each round stay.
    eventually(|| {
        let left = new_files.iter().filter(|file| file.exists()).count();
        if left < rounds() as usize { Ok(()) } else { Err(format!("{left} files are left")) }
    });
    assert_eq!(container.list(), []);
    eventually(|| {
        let (nodes, endpoints) = graph();
        let is_as_before = nodes <= graph_before.0 && endpoints <= graph_before.1;
        if is_as_before { Ok(()) } else { Err(format!("{graph_before:?} -> {:?}", graph())) }
    });
}

#[test]
fn a_container_does_not_grow() {
    soak(SINGLE);
}

#[test]
fn an_isolated_container_does_not_grow() {
    soak(ISOLATED);
}

#[test]
fn a_container_of_processes_does_not_grow() {
    soak(PROCESS);
}
