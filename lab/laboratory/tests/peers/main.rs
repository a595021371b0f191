//! Runs every installed peer for a short time in each role and placement that its manifest claims,
//! using only the contract.
//!
//! Peers that are not installed are reported as skipped. Peers that cargo builds are taken from the
//! folder of this test, where a test of the whole workspace has put them. Peers that are separate
//! workspaces take minutes to build, and peers with a `requirements.txt` download packages: these
//! are run only if the laboratory has built them before.
#![allow(clippy::unwrap_used)]

mod fixture;
mod program;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use feros_lab::contract::{Fill, MessageType, Placement, Reliability, Role, Topology};
use feros_lab::peer::{Peer, Peers, SystemRef};
use feros_lab_contract::now_nanos;

use fixture::{Built, Fixture, peers_folder};
use program::{Options, Program};

/// The text in the error of a program that does not support a role or placement.
const UNSUPPORTED: &str = "kind: Unsupported";

/// The number of peers that run at the same time.
const AT_ONCE: usize = 4;

#[test]
fn every_installed_peer_keeps_the_contract() {
    let peers = Peers::read(&peers_folder()).unwrap();
    assert!(
        peers.iter().any(|peer| peer.name == "feros"),
        "no peers in {}",
        peers_folder().display()
    );
    let waiting: Mutex<Vec<&Peer>> = Mutex::new(peers.iter().collect());
    let (failures, skipped) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(peer) = { waiting.lock().unwrap().pop() } {
                    let mut found = match fixture::build(peer) {
                        Built::Ready(out) => check(peer, &peers, out),
                        Built::Missing(reason) => {
                            skipped.lock().unwrap().extend(skip_of(peer, &reason));
                            continue;
                        }
                        Built::Failed(reason) => {
                            vec![format!("{}: its build failed: {reason}", peer.name)]
                        }
                    };
                    failures.lock().unwrap().append(&mut found);
                }
            });
        }
    });
    // The main thread of the test reports the results, since it has the test's name.
    let mut skipped = skipped.into_inner().unwrap();
    skipped.sort();
    skipped.iter().for_each(feros_test_support::skip);
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The reason why a peer is left out, and the command that installs it.
fn skip_of(peer: &Peer, reason: &str) -> Option<String> {
    let install = peer.manifest.install.iter().map(|command| format!("; install: {command}"));
    // `mock_absent` is never installed, as the laboratory's own tests need, so it is not reported.
    (peer.name != "mock_absent")
        .then(|| format!("{}: {reason}{}", peer.name, install.collect::<String>()))
}

/// Checks a peer whose programs are in `out`; returns the errors.
fn check(peer: &Peer, peers: &Peers, out: PathBuf) -> Vec<String> {
    let name = &peer.name;
    let mut fixture = Fixture::new(peer, out);
    let mut failures = Vec::new();
    let mut refused = 0;
    let mut note = |what: String, result: Result<(), String>| match result {
        Ok(()) => {}
        // A manifest lists values, not their combinations. A program may refuse a combination,
        // which the laboratory also reports.
        Err(error) if error.contains(UNSUPPORTED) => {
            refused += 1;
            println!("{what}: {error}");
        }
        Err(error) => failures.push(format!("{what}: {error}")),
    };
    let plain = peers.system(name).unwrap();
    let mut cells = cells(plain);
    note(format!("{name} with an unknown argument"), fixture.refuses(plain));
    for (role, placement) in &cells {
        note(
            format!("{name} as {role}, {placement}"),
            run_peer(&fixture, plain, *role, *placement),
        );
    }
    if plain.peer.manifest.fill.contains(&Fill::Each) && name != "mock" {
        for fill in [Fill::Each, Fill::None] {
            if let Some(role) = filling_role(plain) {
                let result = run_filled(&fixture, plain, role, fill);
                note(format!("{name} as {role}, `{fill}` filled"), result);
            }
        }
    }
    // The mock's variants are faults for the laboratory's own tests.
    for variant in peer.manifest.variant.iter().filter(|_| name != "mock") {
        let system = peers.system(&format!("{name}:{}", variant.name)).unwrap();
        if let Some((role, placement)) = self::cells(system).first().copied() {
            let what = format!("{name}:{} as {role}, {placement}", variant.name);
            note(what, run_peer(&fixture, system, role, placement));
            cells.push((role, placement));
        }
    }
    if refused * 2 > cells.len() {
        failures.push(format!(
            "{name} refuses {refused} of {} things that its manifest claims",
            cells.len()
        ));
    }
    failures.extend(fixture.ended_servers().into_iter().map(|server| format!("{name}: {server}")));
    // The laboratory also does this after each cell, since a program cannot prevent leftovers of
    // its engine, and a killed server cannot remove its own.
    let left = fixture.kill_servers();
    feros_lab::run::remove_shared_memory(&peer.manifest.shared_memory);
    for file in left.iter().filter(|file| file.exists()) {
        failures.push(format!("{name}: a killed server leaves {}", file.display()));
    }
    println!("{name}: {} runs, {refused} refused, {} failures", cells.len(), failures.len());
    failures
}

/// The roles and placements that a system claims to support and that need no link.
fn cells(system: SystemRef<'_>) -> Vec<(Role, Placement)> {
    let mut found = Vec::new();
    let has = |placement: Placement| system.placements().contains(&placement);
    for role in system.roles() {
        match role {
            Role::Talker | Role::Relay | Role::Client | Role::Member if has(Placement::Local) => {
                found.push((*role, Placement::Local))
            }
            Role::Nodes | Role::Graph => {
                let either = [Placement::Local, Placement::Composed];
                found.extend(either.into_iter().filter(|it| has(*it)).map(|it| (*role, it)));
            }
            Role::Pair | Role::Chain | Role::Calls => {
                let within = [Placement::Composed, Placement::Intra];
                found.extend(within.into_iter().filter(|it| has(*it)).map(|it| (*role, it)));
            }
            Role::Executor => found.push((*role, Placement::Local)),
            _ => {}
        }
    }
    found
}

/// The role in which a system's payloads go from program to program, or within a program.
fn filling_role(system: SystemRef<'_>) -> Option<Role> {
    let has = |role, placement| {
        system.roles().contains(&role) && system.placements().contains(&placement)
    };
    if has(Role::Talker, Placement::Local) {
        return Some(Role::Talker);
    }
    has(Role::Pair, Placement::Intra).then_some(Role::Pair)
}

/// Runs a listener that expects filled payloads. If the talker fills its payloads, the listener
/// must receive them; otherwise, the listener must report an error.
fn run_filled(
    fixture: &Fixture<'_>,
    system: SystemRef<'_>,
    role: Role,
    fill: Fill,
) -> Result<(), String> {
    if role == Role::Pair {
        let options = Options { role, placement: Placement::Intra, fill, ..Options::default() };
        return fixture.start(system, &options)?.finish()?.check_received(0, 1);
    }
    let topic = fixture.topic();
    let options = |role, fill| Options { role, fill, topic: topic.clone(), ..Options::default() };
    let mut listener = fixture.start(system, &options(Role::Listener, Fill::Each))?;
    listener.wait_ready()?;
    let mut talker = fixture.start(system, &options(role, fill))?;
    let received = listener.finish().and_then(|said| said.check_received(0, 1));
    talker.close_input();
    match (fill, received) {
        (Fill::Each, received) => received,
        (Fill::None, Err(error)) if error.contains("last byte") => Ok(()),
        (Fill::None, other) => Err(format!("unfilled payloads are accepted: {other:?}")),
    }
}

/// Like [`run`], but with a second attempt: on a busy machine, an engine may hang in its
/// destructors, or two processes may never find each other. This test checks behaviour that
/// repeats.
fn run_peer(
    fixture: &Fixture<'_>,
    system: SystemRef<'_>,
    role: Role,
    placement: Placement,
) -> Result<(), String> {
    let is_ours =
        system.peer.name.starts_with("feros") || ["mock", "floors"].contains(&&*system.peer.name);
    match run(fixture, system, role, placement) {
        Err(error) if !is_ours && !error.contains(UNSUPPORTED) => {
            println!("{} as {role}, {placement}: once more, {error}", system.peer.name);
            run(fixture, system, role, placement)
        }
        result => result,
    }
}

fn run(
    fixture: &Fixture<'_>,
    system: SystemRef<'_>,
    role: Role,
    placement: Placement,
) -> Result<(), String> {
    let is_reliable = system.qos().reliability.contains(&Reliability::Reliable);
    let options = |role| Options { role, placement, is_reliable, ..Options::default() };
    match role {
        Role::Talker => {
            let topic = fixture.topic();
            let listeners = [0, 1].map(|index| {
                fixture.start(
                    system,
                    &Options { index, topic: topic.clone(), ..options(Role::Listener) },
                )
            });
            let mut listeners = listeners.into_iter().collect::<Result<Vec<Program>, String>>()?;
            for listener in &mut listeners {
                listener.wait_ready()?;
            }
            let mut talker =
                fixture.start(system, &Options { matched: 2, topic, ..options(role) })?;
            talker.finish()?.check_published()?;
            for (index, mut listener) in listeners.into_iter().enumerate() {
                listener.finish()?.check_received(index, 1)?;
            }
        }
        Role::Relay => {
            let (from, to) = (fixture.topic(), fixture.topic());
            let mut listener =
                fixture.start(system, &Options { topic: to.clone(), ..options(Role::Listener) })?;
            listener.wait_ready()?;
            let mut relay =
                fixture.start(system, &Options { topic: from.clone(), to, ..options(role) })?;
            relay.wait_ready()?;
            let mut talker =
                fixture.start(system, &Options { topic: from, ..options(Role::Talker) })?;
            talker.finish()?.check_published()?;
            relay.finish()?.check_relayed()?;
            listener.finish()?.check_received(0, 1)?;
        }
        Role::Pair | Role::Chain => {
            let subscriptions = if role == Role::Pair { 3 } else { 1 };
            let types = &system.peer.manifest.types;
            let is_text = role == Role::Pair && types.contains(&MessageType::String);
            let mut program = fixture
                .start(system, &Options { subscriptions, is_text, nodes: 4, ..options(role) })?;
            let said = program.finish()?;
            said.check_published()?;
            for index in 0..subscriptions {
                said.check_received(index, subscriptions)?;
            }
        }
        Role::Nodes | Role::Graph => {
            // Each node has a separate process, or all share one process.
            let nodes = if placement == Placement::Local { 1 } else { 2 };
            let graph = system.peer.manifest.graphs.last().cloned().unwrap_or_default();
            let mut program = fixture.start(system, &Options { nodes, graph, ..options(role) })?;
            program.wait_ready()?;
            program.close_input();
            let said = program.finish()?;
            if role == Role::Graph { said.check_graph()? } else { said.check_silent()? }
        }
        Role::Member => {
            for topology in [Topology::Ring, Topology::OneTopic] {
                robot(fixture, system, topology)?;
            }
        }
        Role::Executor => fixture.start(system, &options(role))?.finish()?.check_events()?,
        Role::Client => {
            let topic = fixture.topic();
            let options = |role| Options { is_text: true, topic: topic.clone(), ..options(role) };
            let mut server = fixture.start(system, &options(Role::Server))?;
            server.wait_ready()?;
            let mut client = fixture.start(system, &options(role))?;
            let said = client.finish()?;
            said.check_published()?;
            said.check_received(0, 1)?;
            server.close_input();
            server.finish()?.check_silent()?;
        }
        Role::Calls => {
            let mut program = fixture.start(system, &Options { is_text: true, ..options(role) })?;
            let said = program.finish()?;
            said.check_published()?;
            said.check_received(0, 1)?;
        }
        Role::Listener | Role::Listeners | Role::Server | Role::Newcomer => {}
    }
    Ok(())
}

/// Runs three members that find each other, and a newcomer; two members end by SIGINT, and one by
/// the end of its input.
fn robot(fixture: &Fixture<'_>, system: SystemRef<'_>, topology: Topology) -> Result<(), String> {
    let (topic, began) = (fixture.topic(), now_nanos());
    let options = |role, index| Options {
        role,
        index,
        topology,
        nodes: 3,
        topic: topic.clone(),
        ..Options::default()
    };
    let members = [0, 1, 2].map(|index| fixture.start(system, &options(Role::Member, index)));
    let mut members = members.into_iter().collect::<Result<Vec<Program>, String>>()?;
    for member in &mut members {
        member.wait_settled()?;
    }
    let mut newcomer = fixture.start(system, &options(Role::Newcomer, 0))?;
    newcomer.finish()?.check_settled(began, now_nanos())?;
    members[0].interrupt();
    members[1].close_input();
    members[2].interrupt();
    for member in &mut members {
        member.finish()?.check_settled(began, now_nanos())?;
    }
    Ok(())
}
