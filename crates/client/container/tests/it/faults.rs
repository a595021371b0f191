//! Faults are reported clearly, leave no component half loaded, and do not stop the other
//! components.

use feros_test_support::{command_of, eventually, until};
use std::path::Path;

use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros_component::install::register;
use feros_component::remote::RemoteError;
use feros_component::stamp::STAMP;
use rustix::process::Signal;

use crate::support::{
    ALL, Container, ISOLATED, PROCESS, SINGLE, WATCHDOG, library, named, parameter, request,
};

#[test]
fn the_help_needs_no_reader() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command_of(SINGLE).arg("--help").stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

/// Asserts that the container has only its first component, and that this component answers.
fn assert_only_the_first(container: &Container) {
    assert_eq!(container.list(), [(1, "/witness".into())]);
    assert!(container.trigger("/witness/ping", WATCHDOG).is_some(), "the rest keeps running");
    // The component's node existed while its constructor ran, and its end arrives later.
    eventually(|| {
        let nodes = container.node.node_names();
        let is_left = nodes.iter().any(|node| node.name().contains("constructor"));
        if is_left { Err(format!("something is half loaded: {nodes:?}")) } else { Ok(()) }
    });
}

fn with_witness(binary: &str, arguments: &[&str]) -> Container {
    let container = Container::start(binary, arguments);
    container.load(&named("faulty", "faulty::OnDemand", "witness"));
    container
}

#[test]
fn unknown_packages_plugins_and_arguments_are_refused_in_rclcpps_words() {
    for binary in ALL {
        let container = with_witness(binary, &[]);
        let refusal = |request| container.refusal(&request);
        let package = refusal(request("nothing", "a::B"));
        let words = "Could not find requested resource in ament index: ";
        assert!(package.starts_with(words) && package.contains("nothing"), "{package}");
        let class = refusal(request("demo", "demo::Nothing"));
        let words = "Failed to find class with the requested plugin name. package demo has no \
            component \"demo::Nothing\"; it has demo_components::Listener, demo_components::Talker; ";
        // What follows is about Python, where the component was searched last.
        let python = class.strip_prefix(words).expect(&class);
        assert!(python.contains("python"), "{python}");
        let argument = |name: &str, value: feros::ParameterValue| LoadNode_Request {
            extra_arguments: vec![parameter(name, value)],
            ..request("demo", "demo_components::Talker")
        };
        assert_eq!(
            refusal(argument("use_intra_process_comms", 1.into())),
            "Extra component argument 'use_intra_process_comms' must be a boolean"
        );
        let unknown = refusal(argument("use_magic", true.into()));
        assert!(unknown.contains("'use_magic' is not known"), "{unknown}");
        let rule = LoadNode_Request {
            remap_rules: vec!["no rule".into()],
            ..request("demo", "demo_components::Talker")
        };
        assert!(refusal(rule).contains("no rule"));
        let name = refusal(named("demo", "demo_components::Talker", "not a name"));
        assert!(name.contains("not a name"), "{name}");
        assert_only_the_first(&container);
    }
}

#[test]
fn a_constructor_that_fails_or_panics_leaves_nothing() {
    for binary in ALL {
        let container = with_witness(binary, &[]);
        let error = container.refusal(&request("faulty", "faulty::ErrorInConstructor"));
        assert!(error.starts_with("Component constructor threw an exception: "), "{error}");
        assert!(error.contains("not a name"), "{error}");
        let error = container.refusal(&request("faulty", "faulty::PanicInConstructor"));
        assert!(error.contains("it panicked: no camera at /panic_in_constructor"), "{error}");
        assert_only_the_first(&container);
    }
}

#[test]
fn a_name_that_is_taken_is_refused() {
    for binary in ALL {
        let container = with_witness(binary, &[]);
        let error = container.refusal(&named("faulty", "faulty::OnDemand", "witness"));
        assert!(
            error.contains("component 1 of this container already has the node name /witness"),
            "{error}"
        );
        assert_only_the_first(&container);
    }
}

#[test]
fn unloading_twice_is_said() {
    for binary in ALL {
        let container = with_witness(binary, &[]);
        let id = container.load(&request("demo", "demo_components::Talker"));
        container.client.unload(id, WATCHDOG).unwrap();
        for unknown in [id, 77, 0, u64::MAX] {
            let reason = format!("No node found with unique_id: {unknown}");
            assert_eq!(
                container.client.unload(unknown, WATCHDOG),
                Err(RemoteError::Refused { reason })
            );
        }
        assert_only_the_first(&container);
    }
}

/// Copies a library with changed bytes, and registers the copy as package `changed`.
fn register_changed(prefix: &Path, from: &str, to: &str) {
    let mut bytes = std::fs::read(library("demo_components_library")).unwrap();
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|&place| &bytes[place..place + from.len()] == from.as_bytes())
        .collect();
    assert!(!places.is_empty(), "{from} is in the library");
    for place in places {
        bytes[place..place + from.len()].copy_from_slice(to.as_bytes());
    }
    let changed = prefix.join("libchanged.so");
    std::fs::write(&changed, bytes).unwrap();
    register(&changed, "changed", prefix).unwrap();
}

#[test]
fn a_library_of_another_build_is_refused_before_it_runs() {
    let compiler = STAMP.lines().find(|line| line.starts_with("rustc ")).unwrap();
    let build = STAMP.lines().find(|line| line.starts_with("build ")).unwrap();
    let target = STAMP.lines().find(|line| line.starts_with("target ")).unwrap();
    let crates = STAMP.lines().find(|line| line.starts_with("crates ")).unwrap();
    for binary in [SINGLE, PROCESS] {
        let container = with_witness(binary, &[]);
        for (line, expected) in [
            (compiler, "built with the compiler"),
            (build, "built with build 0000000000000000 of Feros"),
            (target, "built with target"),
            (crates, "have other versions, other features or other settings there"),
        ] {
            let (name, value) = line.split_once(' ').unwrap();
            let other = format!("{name} {}", "0".repeat(value.len()));
            register_changed(container.prefix.path(), line, &other);
            let error = container.refusal(&request("changed", "demo_components::Talker"));
            assert!(error.starts_with("Failed to load library: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        assert_only_the_first(&container);
    }
}

#[test]
fn a_library_whose_symbols_are_not_there_is_refused_before_it_runs() {
    let container = with_witness(SINGLE, &[]);
    // The stamps are equal, so only the system's loader can find that the library needs a function
    // of another Feros.
    register_changed(container.prefix.path(), "create_node_with", "create_node_w1th");
    let error = container.refusal(&request("changed", "demo_components::Talker"));
    assert!(
        error.starts_with("Failed to load library: ")
            && error.contains("needs a symbol that is not in this container's Feros (_")
            && error.contains("other versions or features there"),
        "{error}"
    );
    assert_only_the_first(&container);
}

#[test]
fn a_library_that_brings_another_shared_feros_is_refused_before_it_runs() {
    for binary in [SINGLE, PROCESS] {
        let container = with_witness(binary, &[]);
        let prefix = container.prefix.path();
        register_changed(prefix, "libferos_shared.so\0", "libferos_shared.2o\0");
        // The system's loader would find the other library here.
        let shared = library("feros_shared");
        std::os::unix::fs::symlink(shared, prefix.join("libferos_shared.2o")).unwrap();
        let error = container.refusal(&request("changed", "demo_components::Talker"));
        assert!(
            error.contains(
                "was linked with libferos_shared.2o, but this container with libferos_shared.so"
            ),
            "{error}"
        );
        assert_only_the_first(&container);
    }
}

#[test]
fn files_that_are_no_component_library_are_refused() {
    for binary in [SINGLE, PROCESS] {
        let container = with_witness(binary, &[]);
        let prefix = container.prefix.path();
        let whole = std::fs::read(library("demo_components_library")).unwrap();
        let resource = prefix.join("share/ament_index/resource_index/feros_components/broken");
        std::fs::write(&resource, "demo_components::Talker;lib/libbroken.so\n").unwrap();
        let broken = prefix.join("lib/libbroken.so");
        let of = |wanted: &str| {
            let error = container.refusal(&request("broken", "demo_components::Talker"));
            assert!(
                error.starts_with("Failed to load library: ") && error.contains(wanted),
                "{error}"
            );
        };
        of("No such file");
        std::fs::write(&broken, "hello").unwrap();
        of("is not a shared library");
        std::fs::write(&broken, &whole[..whole.len() / 3]).unwrap();
        of("libbroken.so");
        let mut scribbled = whole.clone();
        scribbled[64..4096].fill(0xa5);
        std::fs::write(&broken, scribbled).unwrap();
        of("libbroken.so");
        std::fs::copy("/proc/self/exe", &broken).unwrap();
        of("no Feros component");
        std::fs::write(&resource, "a::B\n").unwrap();
        let error = container.refusal(&request("broken", "demo_components::Talker"));
        let entry = resource.display().to_string();
        assert!(error.starts_with("Invalid resource entry: ") && error.contains(&entry), "{error}");
        assert_only_the_first(&container);
    }
}

#[test]
fn a_package_of_rclcpp_is_told_from_an_unknown_one() {
    let container = with_witness(SINGLE, &[]);
    let folder = container.prefix.path().join("share/ament_index/resource_index/rclcpp_components");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("composition"), "composition::Talker;lib/libtalker_component.so\n")
        .unwrap();
    let error = container.refusal(&request("composition", "composition::Talker"));
    assert!(error.contains("C++ plugins"), "{error}");
}

#[test]
fn a_callback_that_panics_fails_only_its_component() {
    for binary in ALL {
        let container = with_witness(binary, &[]);
        let id = container.load(&named("faulty", "faulty::OnDemand", "victim"));
        container.provoke("/victim/panic");
        let state = container.wait_for_state(id, |state| state.state == "failed");
        assert!(state.detail.contains("a callback panicked: asked to panic"), "{state:?}");
        container.wait_for_log("component /victim (2) failed: a callback panicked: asked to panic");
        assert_eq!(
            container.list(),
            [(1, "/witness".into()), (id, "/victim".into())],
            "it can still be unloaded"
        );
        container.client.unload(id, WATCHDOG).unwrap();
        assert_only_the_first(&container);
        assert_eq!(container.load(&named("faulty", "faulty::OnDemand", "victim")), id + 1);
        assert!(container.trigger("/victim/ping", WATCHDOG).is_some());
    }
}

#[test]
fn a_component_that_panics_while_it_is_dropped_is_unloaded() {
    for binary in ALL {
        let container = with_witness(binary, &[]);
        let id = container.load(&request("faulty", "faulty::PanicInDrop"));
        container.client.unload(id, WATCHDOG).unwrap();
        container.wait_for_log("it does not want to go");
        assert_only_the_first(&container);
    }
}

#[test]
fn a_process_that_dies_ends_only_its_component() {
    let mut container = with_witness(PROCESS, &[]);
    // Each component has a different name: a killed process does not announce that it leaves, so
    // its services stay in the graph for a while.
    for (fault, signal) in [("abort", "SIGABRT"), ("segfault", "SIGSEGV")] {
        let victim = format!("victim_of_{fault}");
        let id = container.load(&named("faulty", "faulty::OnDemand", &victim));
        container.provoke(&format!("/{victim}/{fault}"));
        let state = container.wait_for_state(id, |state| state.state == "failed");
        assert!(state.detail.contains(&format!("was ended by {signal}")), "{state:?}");
        container.wait_for_log(&format!(
            "component /{victim} ({id}) failed: its process was ended by {signal}"
        ));
        container.client.unload(id, WATCHDOG).unwrap();
    }
    let error = container.refusal(&request("faulty", "faulty::AbortInConstructor"));
    assert!(error.contains("was ended by SIGABRT"), "{error}");
    assert_only_the_first(&container);
    assert!(container.end(Signal::TERM).success());
}

#[test]
fn processes_end_with_a_container_that_is_killed() {
    let mut container = with_witness(PROCESS, &[]);
    let child: u32 = container.trigger("/witness/ping", WATCHDOG).unwrap().parse().unwrap();
    assert_ne!(child, container.pid());
    container.end(Signal::KILL);
    // A zombie counts as ended too: the system reaps it.
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    until("the end of the container's process", || !lives());
}

#[test]
fn a_component_that_hangs_does_not_keep_an_isolated_container_from_answering() {
    for binary in [ISOLATED, PROCESS] {
        let container = with_witness(binary, &[]);
        container.load(&named("faulty", "faulty::OnDemand", "sleeper"));
        container.provoke("/sleeper/sleep");
        assert!(container.trigger("/witness/ping", WATCHDOG).is_some());
        assert_eq!(container.list().len(), 2);
    }
}
