//! Runs each program of `programs/` on the stock rmw, on the rmw of Feros, and on both at once, in
//! both directions.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use feros_interop::Domain;
use feros_rmw_tests::{Kit, Running};

const EXECUTORS: [&str; 3] = ["single", "multi", "events"];

/// Runs one process, on each rmw and with each of these executors.
fn alone(name: &str, executors: &[&str]) {
    let Some(kit) = Kit::find(env!("CARGO_TARGET_TMPDIR")) else { return };
    let program = kit.compile(name, &[]);
    for rmw in kit.rmws() {
        for executor in executors {
            let domain = Domain::reserve_without_ros2();
            Running::start(&kit, &domain, &rmw, &program, "alone", executor).succeeds();
        }
    }
}

/// Runs two processes. With the first executor, they run on every pair of rmw implementations; with
/// the other executors, both run on the same rmw.
fn pair(name: &str, executors: &[&str]) {
    let Some(kit) = Kit::find(env!("CARGO_TARGET_TMPDIR")) else { return };
    let program = kit.compile(name, &[]);
    let rmws = kit.rmws();
    for serving in &rmws {
        for asking in &rmws {
            let executors = if serving == asking { executors } else { &executors[..1] };
            for executor in executors {
                let domain = Domain::reserve_without_ros2();
                let company = if serving == asking { "same" } else { "mixed" };
                let start = |rmw, role: &str| {
                    let arguments = [role, *executor, company];
                    Running::start_with(&kit, &domain, rmw, &program, &arguments, None)
                };
                let server = start(serving, "serve");
                start(asking, "ask").succeeds();
                server.succeeds();
            }
        }
    }
}

#[test]
fn messages() {
    pair("messages", &EXECUTORS);
}

#[test]
fn services() {
    pair("service", &EXECUTORS);
}

#[test]
fn actions() {
    pair("action", &EXECUTORS);
}

#[test]
fn managed_nodes() {
    pair("lifecycle", &EXECUTORS[..1]);
}

#[test]
fn parameters() {
    pair("parameters", &EXECUTORS[..1]);
}

#[test]
fn events_of_qos() {
    pair("qos_events", &EXECUTORS);
}

#[test]
fn loaned_messages() {
    pair("loaned", &EXECUTORS[..1]);
}

#[test]
fn the_graph() {
    pair("graph", &EXECUTORS[..1]);
}

#[test]
fn intra_process_communication() {
    alone("intra_process", &EXECUTORS);
}

#[test]
fn executors() {
    alone("executors", &EXECUTORS);
}

#[test]
fn wait_sets() {
    alone("wait_set", &EXECUTORS[..1]);
}

#[test]
fn contexts() {
    alone("contexts", &EXECUTORS[..1]);
}

/// Talkers and listeners are killed, and new talkers and listeners are started.
#[test]
fn processes_that_are_killed() {
    let Some(kit) = Kit::find(env!("CARGO_TARGET_TMPDIR")) else { return };
    let program = kit.compile("killed", &[]);
    let rmws = kit.rmws();
    for killed in &rmws {
        for survivor in &rmws {
            let domain = Domain::reserve_without_ros2();
            let start = |rmw, role| Running::start(&kit, &domain, rmw, &program, role, "single");
            let mut left = Vec::new();
            let mut listener = start(survivor, "listen");
            for _ in 0..2 {
                let talker = start(killed, "talk");
                listener.says("heard");
                left.push(talker.kill());
            }
            let talker = start(survivor, "talk");
            listener.says("heard");
            listener.succeeds();
            for _ in 0..2 {
                let mut listener = start(killed, "listen");
                listener.says("heard");
                left.push(listener.kill());
            }
            let mut listener = start(survivor, "hear");
            listener.says("heard");
            listener.succeeds();
            talker.succeeds();
        }
    }
}

/// Makes an installation with the component, in the layout of `ament`.
fn prefix_with_component(kit: &Kit) -> PathBuf {
    let library = kit.compile("component", &["-shared"]);
    let prefix = library.with_extension("prefix");
    let index = prefix.join("share/ament_index/resource_index");
    for (kind, content) in
        [("packages", ""), ("rclcpp_components", "rmw_tests::Echo;lib/libcomponent.so\n")]
    {
        std::fs::create_dir_all(index.join(kind)).unwrap();
        std::fs::write(index.join(kind).join("rmw_tests"), content).unwrap();
    }
    std::fs::create_dir_all(prefix.join("lib")).unwrap();
    std::fs::copy(library, prefix.join("lib/libcomponent.so")).unwrap();
    prefix
}

#[test]
fn components() {
    let Some(kit) = Kit::find(env!("CARGO_TARGET_TMPDIR")) else { return };
    let prefix = prefix_with_component(&kit);
    let program = kit.compile("components", &[]);
    let rmws = kit.rmws();
    for serving in &rmws {
        for asking in &rmws {
            let names = ["component_container", "component_container_mt"];
            for name in if serving == asking { &names[..] } else { &names[..1] } {
                let domain = Domain::reserve_without_ros2();
                let container = kit.container(name);
                let container =
                    Running::start_with(&kit, &domain, serving, &container, &[], Some(&prefix));
                Running::start(&kit, &domain, asking, &program, "ask", "single").succeeds();
                container.interrupt();
            }
        }
    }
}
