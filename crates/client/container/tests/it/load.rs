//! Loading, naming and listing, as in rclcpp's containers, in every kind of container.

use feros::ParameterValue;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::srv::{GetParameters, GetParameters_Request};
use feros::msgs::std_msgs::msg::String as Text;
use feros_test_support::eventually;
use rustix::process::Signal;

use crate::support::{
    ALL, Container, ISOLATED, MULTI, PROCESS, SINGLE, WATCHDOG, library, named, parameter, prefix,
    request, thread_names,
};

#[test]
fn components_are_loaded_listed_and_unloaded_in_every_container() {
    for binary in ALL {
        let mut container = Container::start(binary, &[]);
        assert_eq!(container.list(), []);
        assert_eq!(container.load(&request("demo", "demo_components::Talker")), 1, "{binary}");
        assert_eq!(container.load(&request("demo", "demo_components::Listener")), 2);
        assert_eq!(container.list(), [(1, "/talker".into()), (2, "/listener".into())]);
        let heard: Text = container.hear("/heard");
        assert!(heard.data.starts_with("Hello World: "), "{heard:?}");

        container.client.unload(1, WATCHDOG).unwrap();
        assert_eq!(container.list(), [(2, "/listener".into())]);
        assert_eq!(
            container.load(&request("demo", "demo_components::Talker")),
            3,
            "numbers are never used again"
        );
        assert!(container.end(Signal::INT).success(), "{binary} ends cleanly");
    }
}

#[test]
fn names_namespaces_and_remaps_are_those_of_the_request() {
    for binary in [SINGLE, PROCESS] {
        let container = Container::start(binary, &[]);
        let full = LoadNode_Request {
            node_name: "speaker".into(),
            node_namespace: "/robot/front".into(),
            remap_rules: vec!["chatter:=/said".into()],
            parameters: vec![parameter("text", "I say")],
            extra_arguments: vec![parameter("use_intra_process_comms", true)],
            log_level: 30,
            ..request("demo", "demo_components::Talker")
        };
        let loaded = container.client.load(&full, WATCHDOG).unwrap();
        assert_eq!((loaded.unique_id, loaded.full_node_name.as_str()), (1, "/robot/front/speaker"));
        let said: Text = container.hear("/said");
        assert!(said.data.starts_with("I say: "), "the request sets the parameter: {said:?}");
    }
}

#[test]
fn a_parameter_of_a_wrong_type_is_refused() {
    let container = Container::start(SINGLE, &[]);
    let wrong = LoadNode_Request {
        parameters: vec![parameter("text", 3)],
        ..request("demo", "demo_components::Talker")
    };
    let error = container.refusal(&wrong);
    assert!(
        error.starts_with("Component constructor threw an exception: ") && error.contains("text"),
        "{error}"
    );
    assert_eq!(container.list(), []);
}

#[test]
fn the_threads_of_a_multi_threaded_container_are_a_parameter() {
    let container = Container::start(MULTI, &["--ros-args", "-p", "thread_num:=1"]);
    let get =
        container.node.create_client::<GetParameters>("/ComponentManager/get_parameters").unwrap();
    get.wait_for_service(WATCHDOG).unwrap();
    let response = get
        .call_and_wait(&GetParameters_Request { names: vec!["thread_num".into()] }, WATCHDOG)
        .unwrap();
    assert_eq!(ParameterValue::from(response.values[0].clone()), ParameterValue::Integer(1));
}

#[test]
fn the_container_itself_is_renamed_by_its_own_arguments_and_its_components_are_not() {
    let container =
        Container::start(SINGLE, &["--ros-args", "-r", "chatter:=/wrong", "--log-level", "debug"]);
    container.load(&request("demo", "demo_components::Talker"));
    let _: Text = container.hear("/chatter");
}

#[test]
fn components_of_one_container_need_no_more_threads_than_one() {
    // Threads that shared memory needs in each process. They come when they are needed for the
    // first time: the first calls may take the network transport.
    const OF_SHARED_MEMORY: [&str; 2] = ["feros-links", "feros-peers"];
    let container = Container::start(SINGLE, &[]);
    let others = || {
        let mut names = thread_names(container.pid());
        names.retain(|name| !OF_SHARED_MEMORY.contains(&name.as_str()));
        names
    };
    container.load(&named("demo", "demo_components::Talker", "first"));
    let with_one = others();
    for number in 0..19 {
        container.load(&named("demo", "demo_components::Listener", &format!("listener{number}")));
    }
    // A thread that has just begun has not set its name yet.
    eventually(|| {
        let now = others();
        if now.len() <= with_one.len() {
            Ok(())
        } else {
            Err(format!("{with_one:?}, then {now:?}"))
        }
    });
}

#[test]
fn isolated_components_have_threads_of_their_names() {
    let container = Container::start(ISOLATED, &[]);
    container.load(&named("demo", "demo_components::Talker", "talker_seven"));
    // A new thread sets its name itself.
    eventually(|| {
        let names = thread_names(container.pid());
        if names.iter().any(|name| name == "talker_seven") { Ok(()) } else { Err(names.join(", ")) }
    });
}

#[test]
fn a_request_reaches_only_libraries_of_indexed_packages() {
    const COMPONENTS: &str = "share/ament_index/resource_index/feros_components";
    const TALKER: &str = "demo_components::Talker";
    // This library is as usable as the container's own libraries, but lies in none of the
    // container's prefixes.
    let outside = prefix();
    let index = outside.path().join(COMPONENTS).join("demo");
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let way_there = format!("../../../../../{name}/{COMPONENTS}/demo");
    let file = library("demo_components_library");
    for binary in [SINGLE, PROCESS] {
        let container = Container::start(binary, &[]);
        let folder = container.prefix.path().join(COMPONENTS);
        assert!(folder.join(&index).is_file() && folder.join(&way_there).is_file());
        let absolute = index.to_str().unwrap();
        for package in [absolute, &way_there, "../feros_components/demo", "./demo", "demo/", "."] {
            let error = container.refusal(&request(package, TALKER));
            let refused = error.starts_with("Could not find requested resource in ament index");
            assert!(refused, "{package} came to {error}");
        }
        for plugin in [file.to_str().unwrap(), "../../demo_components::Talker", ""] {
            let error = container.refusal(&request("demo", plugin));
            let refused = error.starts_with("Failed to find class with the requested plugin name.");
            assert!(refused, "{plugin} came to {error}");
        }
        assert_eq!(container.list(), []);
        container.load(&request("demo", TALKER));
    }
}

#[test]
fn an_index_that_leads_out_of_its_prefix_is_refused() {
    const TALKER: &str = "demo_components::Talker";
    let outside = library("demo_components_library");
    let name = outside.file_name().unwrap().to_str().unwrap();
    for binary in [SINGLE, PROCESS] {
        let container = Container::start(binary, &[]);
        let prefix = container.prefix.path();
        let entry = prefix.join("share/ament_index/resource_index/feros_components/away");
        let link = prefix.join("lib/libaway.so");
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let folder = prefix.join("lib/folder");
        std::os::unix::fs::symlink(outside.parent().unwrap(), &folder).unwrap();
        for line in ["lib/libaway.so", outside.to_str().unwrap(), &format!("lib/folder/{name}")] {
            std::fs::write(&entry, format!("{TALKER};{line}\n")).unwrap();
            let error = container.refusal(&request("away", TALKER));
            assert!(error.contains("which lies outside of the prefix"), "{line} came to {error}");
        }
        assert_eq!(container.list(), []);
        // A link within the prefix works like a file.
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(prefix.join("lib").join(name), &link).unwrap();
        std::fs::write(&entry, format!("{TALKER};lib/libaway.so\n")).unwrap();
        container.load(&request("away", TALKER));
    }
}
