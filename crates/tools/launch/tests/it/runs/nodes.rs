//! Tests the work with running nodes: components are loaded, managed nodes are activated.

use rustix::process::Signal;

use crate::launcher::{Launch, has, launch};
use crate::workspace::Workspace;

/// A process that ends when a file appears.
const ENDS_WHEN_TOLD: &str = "#!/bin/sh\nuntil [ -e $W/end ]; do sleep 0.05; done\nrm $W/end\n";

#[test]
fn components_are_loaded_into_their_containers() {
    let workspace = Workspace::new();
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nexec sleep 1000\n");
    let container =
        "<composable_node_container pkg='rclcpp_components' exec='component_container' name='c'>
        <composable_node pkg='demo' plugin='first'/><composable_node pkg='demo' plugin='broken'/>
        <composable_node pkg='demo' plugin='lacking'/></composable_node_container>";
    let load = "<load_composable_node target='/c'><composable_node pkg='demo' plugin='third'/></load_composable_node>
        <load_composable_node target='/other'><composable_node pkg='demo' plugin='never'/></load_composable_node>";
    let mut running = Launch::start(&workspace, &launch(&[container.to_owned(), load.to_owned()]));
    running.wait_for("[INFO] [/c]: has loaded first as /c/first");
    running.wait_for("[ERROR] [/c]: broken is not loaded: it is broken");
    running.wait_for("[ERROR] [/c]: Python has no module eye_parts: source a ROS 2 that has it");
    running.wait_for("[INFO] [/c]: has loaded third as /c/third");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 1, "{lines:?}");

    // When a container dies, its pending requests fail. When it restarts, it loads its components
    // again.
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nsleep 0.2\n");
    let container = |more: &str, plugin: &str| {
        format!(
            "<composable_node_container pkg='rclcpp_components' exec='component_container' name='c' {more}>
             <composable_node pkg='demo' plugin='{plugin}'/></composable_node_container>"
        )
    };
    let (code, lines) = Launch::start(&workspace, &launch(&[container("", "never")])).end();
    assert_eq!(code, 1);
    assert!(has(&lines, "[ERROR] [/c]: never is not loaded: the container has ended"), "{lines:?}");
    workspace.file("lib/feros_component/component_container", ENDS_WHEN_TOLD);
    let again = container("respawn='true' respawn_delay='0' respawn_max_retries='1'", "first");
    let mut running = Launch::start(&workspace, &launch(&[again]));
    for _ in 0..2 {
        running.wait_for("[INFO] [/c]: has loaded first");
        workspace.file("end", "");
    }
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn components_are_loaded_later_into_a_container_that_runs() {
    let workspace = Workspace::new();
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nexec sleep 1000\n");
    let container = "<node_container pkg='rclcpp_components' exec='component_container' name='c'>
        <composable_node pkg='demo' plugin='first'/></node_container>";
    let load = "<timer period='0.3'><load_composable_node target='/c'>
        <composable_node pkg='demo' plugin='second'/></load_composable_node></timer>";
    let mut running = Launch::start(&workspace, &launch(&[container.into(), load.into()]));
    running.wait_for("[INFO] [/c]: has loaded first as /c/first");
    running.wait_for("[INFO] [/c]: has loaded second as /c/second");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("has loaded")).count(), 2, "{lines:?}");
}

#[test]
fn managed_nodes_are_activated_each_time_they_start() {
    let workspace = Workspace::new();
    workspace.file("lib/demo/talker", "#!/bin/sh\nexec sleep 1000\n");
    let managed = |name: &str, more: &str| {
        format!("<lifecycle_node pkg='demo' exec='talker' name='{name}' namespace='a' {more}/>")
    };
    let text = launch(&[
        managed("driver", "autostart='true'"),
        managed("idle", ""),
        managed("broken", "autostart='1'"),
    ]);
    let mut running = Launch::start(&workspace, &text);
    running.wait_for_all([
        "[INFO] [/a/driver]: is active",
        "[ERROR] [/a/broken]: is not active: it is broken",
    ]);
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 1, "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("/a/idle")), "{lines:?}");

    workspace.file("lib/demo/talker", ENDS_WHEN_TOLD);
    let again = "autostart='true' respawn='true' respawn_delay='0' respawn_max_retries='1'";
    let mut running = Launch::start(&workspace, &launch(&[managed("driver", again)]));
    for _ in 0..2 {
        running.wait_for("[INFO] [/a/driver]: is active");
        workspace.file("end", "");
    }
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    workspace.file("lib/demo/talker", "#!/bin/sh\nsleep 0.2\n");
    let never = launch(&[managed("never", "autostart='true'")]);
    let (code, lines) = Launch::start(&workspace, &never).end();
    assert_eq!(code, 1, "{lines:?}");
    let told = "[ERROR] [/a/never]: is not active: its process has ended";
    assert!(has(&lines, told), "{lines:?}");
}
