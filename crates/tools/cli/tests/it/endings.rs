//! The orderly end of every verb that has something to complete. Terminals and launchers may send
//! two signals at once, and a session that closes sends SIGHUP; the end is the same as after
//! Ctrl-C.
//!
//! `bag record` and `action send_goal` are tested in [`crate::bag`] and [`crate::action`], and
//! `lab` in `tests/lab`.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use feros_interop::Domain;
use feros_process::ignores_hangup;
use feros_test_support::{Watchdog, processes_with, until};
use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use crate::bag::bag_of;
use crate::component::Place;
use crate::process::{Finished, Running};

/// Groups of signals that arrive together.
pub(crate) fn together() -> impl Iterator<Item = &'static [Signal]> {
    const ALL: [&[Signal]; 2] = [&[Signal::INT, Signal::TERM], &[Signal::HUP]];
    ALL.into_iter().filter(|signals| end_a_verb(signals))
}

/// Whether these signals end a verb. SIGHUP alone does not if the tests run under `nohup`, because
/// their children ignore it too.
pub(crate) fn end_a_verb(signals: &[Signal]) -> bool {
    !ignores_hangup() || signals.iter().any(|signal| *signal != Signal::HUP)
}

/// The processes of one round are recognized by this variable, which children inherit.
const MARK: &str = "FEROS_TEST_ENDING";

const FEROS: &str = env!("CARGO_BIN_EXE_feros");

/// Sends signals together to a command that `start` has started, with the given value of [`MARK`],
/// and checks its end. No process may be left.
fn each_end(
    verb: &str,
    mut start: impl FnMut(&str) -> Running,
    mut check: impl FnMut(&str, Finished),
) {
    for (round, signals) in together().enumerate() {
        let _watchdog = Watchdog::start();
        let mark = format!("{verb}_{round}_{}", std::process::id());
        let running = start(&mark);
        signals.iter().for_each(|signal| running.signal(*signal));
        check(&mark, running.finish());
        until("its processes have ended", || processes_with(MARK, &mark).is_empty());
    }
}

fn start(mark: &str, arguments: &[&str]) -> Running {
    Running::start_with(arguments, |command| {
        command.env(MARK, mark);
    })
}

/// Starts a command that uses the components of `place`.
fn start_at(place: &Place, mark: &str, arguments: &[&str]) -> Running {
    Running::start_with_in(&place.domain, arguments, |command| {
        command.env(MARK, mark).env("FEROS_PREFIX_PATH", &place.prefix);
    })
}

/// Reads lines of the output until one begins with this text.
fn until_it_says(running: &mut Running, beginning: &str) {
    while !running.line().unwrap().starts_with(beginning) {}
}

#[test]
fn publishers_and_listeners_end_with_success() {
    let topic = "/t_endings/heard";
    let publish = ["topic", "pub", topic, "std_msgs/msg/Int32", "{data: 1}", "--rate=100"];
    let publisher = |mark: &str| {
        let mut publisher = start(mark, &publish);
        until_it_says(&mut publisher, "publisher: beginning loop");
        publisher
    };
    each_end("pub", publisher, |_, finished| drop(finished.success()));
    let _publisher = Running::start(&[&publish[..], &["--print=0"]].concat());
    for verb in ["echo", "hz", "bw"] {
        let listener = |mark: &str| {
            let mut listener = start(mark, &["topic", verb, topic]);
            listener.line().unwrap();
            listener
        };
        each_end(verb, listener, |_, finished| drop(finished.success()));
    }
}

#[test]
fn a_player_says_how_much_it_played() {
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("bag");
    let topic = "/t_endings/played";
    bag_of(&bag, topic, &[1, 2000]);
    let player = |mark: &str| {
        let line = ["topic", "echo", topic, "std_msgs/msg/Int32", "--csv", "--once"];
        let echo = Running::start(&[&line[..], &["--qos-reliability", "reliable"]].concat());
        let line = ["bag", "play", bag.to_str().unwrap(), "--wait-for-subscriptions"];
        let player = start(mark, &line);
        assert_eq!(echo.finish().success(), "1\n");
        player
    };
    each_end("play", player, |_, finished| {
        let said = finished.success();
        assert!(said.contains("1 messages played"), "{said}");
    });
}

#[test]
fn a_bridge_says_what_went_over_it() {
    let sides = [(); 2].map(|()| Domain::reserve_without_ros2());
    let domains = sides.each_ref().map(|domain| domain.id().to_string()).join(",");
    let bridge = |mark: &str| {
        let mut bridge = start(mark, &["bridge", "--domains", &domains]);
        bridge.error_with("Ctrl-C ends the bridge");
        bridge
    };
    each_end("bridge", bridge, |_, finished| {
        let said = finished.success();
        assert!(said.ends_with("nothing went over the bridge\n"), "{said}");
    });
}

#[test]
fn containers_end_with_their_components() {
    for kind in [&["container"][..], &["container", "--isolated"], &["container", "--process"]] {
        let place = Place::new("endings");
        let container = |mark: &str| {
            let container = start_at(&place, mark, kind);
            place.shows(&["component", "list", "--containers-only"], "/ComponentManager\n");
            let load =
                ["component", "load", "/ComponentManager", "demo", "demo_components::Talker"];
            place.feros(&load);
            container
        };
        each_end("container", container, |_, finished| drop(finished.success()));
    }
}

#[test]
fn a_standalone_component_ends_with_its_container() {
    let place = Place::new("endings_alone");
    let standalone = |mark: &str| {
        let line = ["component", "standalone", "demo", "demo_components::Talker"];
        let running = start_at(&place, mark, &[&line[..], &["-r", "chatter:=/said"]].concat());
        place.feros(&["topic", "echo", "/said", "--once", "--timeout", "50"]);
        running
    };
    each_end("standalone", standalone, |_, finished| drop(finished.success()));
}

#[test]
fn a_view_ends() {
    let view = |mark: &str| {
        let mut view = start(mark, &["view", "--port", "0", "--no-open"]);
        until_it_says(&mut view, "http://");
        view
    };
    each_end("view", view, |_, finished| drop(finished.success()));
}

/// The command to trace, which says when it has begun.
const TRACED: [&str; 7] =
    [FEROS, "topic", "pub", "/t_endings/traced", "std_msgs/msg/Int32", "{data: 1}", "--rate=100"];

#[test]
fn a_traced_command_ends_and_its_trace_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let traced = |mark: &str| {
        let out = folder.path().join(mark);
        let line = ["trace", "run", "--out", out.to_str().unwrap(), "--"];
        let mut running = start(mark, &[&line[..], &TRACED].concat());
        until_it_says(&mut running, "publisher: beginning loop");
        running
    };
    each_end("trace", traced, |mark, finished| {
        assert!(!finished.err.contains("was killed"), "{finished:?}");
        assert!(finished.err.contains(mark), "{finished:?}");
        assert!(finished.success().contains("no message was traced"));
    });
}

/// A supervisor sends a signal to the verb alone, and not to the command as a terminal does.
#[test]
fn a_signal_to_the_verb_alone_ends_a_traced_command() {
    let folder = tempfile::tempdir().unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        if !end_a_verb(&[signal]) {
            continue;
        }
        let _watchdog = Watchdog::start();
        let mark = format!("supervised_{}_{}", signal.as_raw(), std::process::id());
        let out = folder.path().join(&mark);
        let line = ["trace", "run", "--out", out.to_str().unwrap(), "--"];
        let mut running = start(&mark, &[&line[..], &TRACED].concat());
        until_it_says(&mut running, "publisher: beginning loop");
        running.signal(signal);
        assert!(running.finish().success().contains("no message was traced"), "{signal:?}");
        until("its processes have ended", || processes_with(MARK, &mark).is_empty());
    }
}

#[cfg(feature = "zenoh")]
#[test]
fn a_router_ends() {
    let router = |mark: &str| {
        let mut router = Running::start_with(&["zenoh", "router"], |command| {
            let elsewhere = "listen/endpoints=[\"tcp/127.0.0.1:0\"]";
            command.env(MARK, mark).env("ZENOH_CONFIG_OVERRIDE", elsewhere);
        });
        until_it_says(&mut router, "Routing at ");
        router
    };
    each_end("router", router, |_, finished| drop(finished.success()));
}

/// Starts the program that waits, sends a signal when it runs, and checks the exit code. No process
/// may be left.
fn ends_with_its_program(name: &str, folder: &Path, mut start: impl FnMut(&str, &Path) -> Running) {
    let program = folder.join("program");
    let ready = folder.join("ready");
    let waiting = "sleep 600 & : > $FEROS_TEST_READY; wait";
    let deaf = "trap '' INT TERM HUP; : > $FEROS_TEST_READY; while :; do sleep 0.1; done";
    for (number, script) in [waiting, deaf].into_iter().enumerate() {
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            if !end_a_verb(&[signal]) {
                continue;
            }
            let _watchdog = Watchdog::start();
            let mark = format!("{name}_{number}_{}_{}", signal.as_raw(), std::process::id());
            let running = start(&mark, &program);
            until("the program runs", || ready.exists());
            std::fs::remove_file(&ready).unwrap();
            running.signal(signal);
            let finished = running.finish();
            assert_eq!(finished.code, Some(128 + signal.as_raw()), "{script}: {finished:?}");
            until("its processes have ended", || processes_with(MARK, &mark).is_empty());
        }
    }
}

#[test]
fn a_launch_that_is_planned_ends_with_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let (file, started) = (folder.path().join("one.launch.xml"), folder.path().join("started"));
    ends_with_its_program("planned", folder.path(), |mark, program| {
        // A second command must not run, and neither must the executable.
        let xml = format!(
            "<launch><let name='a' value=\"$(command '{}')\"/>\
             <let name='b' value=\"$(command 'touch {1}')\"/><executable cmd='touch {1}'/></launch>",
            program.display(),
            started.display()
        );
        std::fs::write(&file, xml).unwrap();
        Running::start_with(&["launch", file.to_str().unwrap()], |command| {
            command.env(MARK, mark).env("FEROS_TEST_READY", folder.path().join("ready"));
        })
    });
    assert!(!started.exists());
}

#[test]
fn a_build_ends_with_cargo() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    ends_with_its_program("built", folder.path(), |mark, program| {
        let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
        let (package, prefix, build) = (path(""), path("prefix"), path("build"));
        let line = ["component", "build", &package, "--prefix", &prefix, "--build-dir", &build];
        Running::start_with(&line, |command| {
            command.env(MARK, mark).env("FEROS_TEST_READY", path("ready"));
            // The first question of a build is for the compiler.
            command.env("RUSTC", program);
        })
    });
}

/// Another cargo may hold a lock for as long as it builds.
#[test]
fn a_build_ends_while_cargo_waits_for_a_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    let [package, home] = [path("package"), path("home")];
    std::fs::create_dir_all(format!("{package}/src")).unwrap();
    std::fs::create_dir(&home).unwrap();
    let manifest = "[package]\nname = 'waits'\nedition = '2021'\n[workspace]\n";
    std::fs::write(format!("{package}/Cargo.toml"), manifest).unwrap();
    std::fs::write(format!("{package}/src/lib.rs"), "").unwrap();
    let lock = File::create(format!("{home}/.package-cache")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let waits = |mark: &str| {
        let waiting = std::fs::read_to_string("/proc/locks").unwrap();
        let waiting: Vec<_> = waiting.lines().filter(|line| line.contains("->")).collect();
        let waits = |id: &u32| waiting.iter().any(|line| line.contains(&format!(" {id} ")));
        processes_with(MARK, mark).iter().any(waits)
    };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        if !end_a_verb(&[signal]) {
            continue;
        }
        let _watchdog = Watchdog::start();
        let mark = format!("locked_{}_{}", signal.as_raw(), std::process::id());
        let (prefix, build) = (path("prefix"), path("build"));
        let line = ["component", "build", &package, "--prefix", &prefix, "--build-dir", &build];
        let running = Running::start_with(&line, |command| {
            command.env(MARK, &mark).env("CARGO_HOME", &home);
        });
        until("cargo waits for the lock", || waits(&mark));
        running.signal(signal);
        let finished = running.finish();
        assert_eq!(finished.code, Some(128 + signal.as_raw()), "{finished:?}");
        until("its processes have ended", || processes_with(MARK, &mark).is_empty());
    }
}

/// `nohup` starts programs that ignore SIGHUP, so that they outlive their terminal.
#[test]
fn verbs_that_nohup_started_go_on_after_sighup() {
    let folder = tempfile::tempdir().unwrap();
    let launch = folder.path().join("one.launch.xml");
    let xml = format!(
        "<launch><set_env name=\"ROS_LOG_DIR\" value=\"{}\"/><executable cmd=\"sleep 600\"/></launch>",
        folder.path().display()
    );
    std::fs::write(&launch, xml).unwrap();
    let [launch, trace] = [launch, folder.path().join("trace")]
        .map(|path| path.into_os_string().into_string().unwrap());
    let trace = [&["trace", "run", "--out", &trace, "--"][..], &TRACED].concat();
    let view = ["view", "--port", "0", "--no-open"];
    for line in [&view[..], &trace, &["launch", &launch]] {
        let _watchdog = Watchdog::start();
        let script = ["-c", "trap '' HUP; exec \"$0\" \"$@\"", FEROS];
        let arguments = [&script[..], line].concat().into_iter().map(str::to_owned);
        let running = Running::start_program("sh", &arguments.collect::<Vec<_>>());
        until("it handles signals", || has_signal(&running, "SigCgt:", Signal::TERM));
        running.signal(Signal::HUP);
        assert!(has_signal(&running, "SigIgn:", Signal::HUP), "{line:?}");
        running.signal(Signal::TERM);
        running.finish();
    }
}

/// Whether a set of signals in the status of a process contains this signal.
fn has_signal(running: &Running, set: &str, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let set = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    u64::from_str_radix(set.trim(), 16).unwrap() & 1 << (signal.as_raw() - 1) != 0
}
