//! The completions that a shell gets: words, and names of the running system.

use std::sync::Arc;

use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Executor, NodeOptions};
use feros_interop::Domain;

use crate::process::{Finished, Running, context_in, eventually, spawn};

/// The completions that bash gets for the last of the words.
fn offered(domain: &Domain, words: &[&str]) -> Finished {
    let line = [&["--", "feros"], words].concat();
    let set = |command: &mut std::process::Command| {
        let index = words.len().to_string();
        command.env("FEROS_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index);
        command.env("_CLAP_IFS", "\n").env_remove("FEROS_PREFIX_PATH");
    };
    Running::start_with_in(domain, &line, set).finish()
}

fn offers(domain: &Domain, words: &[&str], wanted: &[&str]) {
    let has_all = |finished: &Finished| {
        let lines: Vec<&str> = finished.out.lines().collect();
        finished.code == Some(0) && wanted.iter().all(|wanted| lines.contains(wanted))
    };
    let finished = eventually(|| offered(domain, words), has_all);
    assert_eq!(finished.err, "", "{words:?}");
}

#[test]
fn names_of_the_running_system_are_offered() {
    let domain = Domain::reserve_without_ros2();
    let context = context_in(&domain);
    let node = context.create_node_with(NodeOptions::new("camera").namespace("/front")).unwrap();
    let _publisher = node.create_publisher::<Text>("/words", 10).unwrap();
    let service = node
        .create_service::<SetBool, _>("enable", |_: SetBool_Request| SetBool_Response::default())
        .unwrap();
    let _rate = node.declare_parameter("rate", 30).unwrap();
    let executor = Arc::new(Executor::new());
    executor.add_node(&node).unwrap();
    let spinning = spawn("test-camera", move || executor.spin().unwrap());

    offers(&domain, &["topic", "echo", "/w"], &["/words"]);
    offers(&domain, &["topic", "hz", "/words", ""], &["/words"]);
    offers(&domain, &["topic", "pub", "/words", ""], &["std_msgs/msg/String"]);
    offers(&domain, &["node", "info", ""], &["/front/camera"]);
    offers(&domain, &["service", "call", "/front/en"], &["/front/enable"]);
    offers(&domain, &["service", "call", "/front/enable", ""], &["std_srvs/srv/SetBool"]);
    offers(&domain, &["param", "get", "/front/camera", ""], &["rate", "use_sim_time"]);
    offers(&domain, &["param", "get", "/front/camera", "ra"], &["rate"]);
    // The topic already has a type, so no other type is offered.
    let type_of_words = || offered(&domain, &["topic", "pub", "/words", "std_"]);
    eventually(type_of_words, |finished| finished.out == "std_msgs/msg/String");

    context.shutdown();
    spinning.join().unwrap();
    drop(service);
}

#[test]
fn where_nothing_runs_nothing_is_said() {
    let domain = Domain::reserve_without_ros2();
    for line in [
        &["topic", "echo", "/"][..],
        &["node", "info", "/"],
        &["param", "get", "/camera", "r"],
        &["run", "pa"],
        &["component", "load", "/"],
    ] {
        let finished = offered(&domain, line);
        assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""), "{line:?} {finished:?}");
        assert_eq!(finished.out, "", "{line:?}");
    }
    // Words that need no running system are offered nevertheless.
    offers(&domain, &["topic", ""], &["echo", "pub", "hz"]);
    offers(&domain, &["interface", "show", "geometry_msgs/msg/Tw"], &["geometry_msgs/msg/Twist"]);
    offers(&domain, &["interface", "package", "sensor"], &["sensor_msgs"]);
    offers(&domain, &["topic", "pub", "/x", "std_msgs/msg/Str"], &["std_msgs/msg/String"]);
}

#[test]
fn scripts_are_for_each_shell() {
    for (shell, word) in [("bash", "complete "), ("zsh", "#compdef feros"), ("fish", "complete ")] {
        let script = crate::process::feros(&["completion", shell]).success();
        assert!(script.contains("FEROS_COMPLETE") && script.contains(word), "{shell}: {script}");
    }
    assert_eq!(crate::process::feros(&["completion", "tcsh"]).code, Some(2));
}

#[test]
fn bash_completes_a_line_with_the_script() {
    let domain = Domain::reserve_without_ros2();
    let context = context_in(&domain);
    let node = context.create_node("in_bash").unwrap();
    let _publisher = node.create_publisher::<Text>("/said_in_bash", 10).unwrap();
    // This is what bash does when the user presses the tab key after /said.
    let script = r#"
        source <(feros completion bash)
        COMP_WORDS=(feros topic echo /said)
        COMP_CWORD=3
        _clap_complete_feros feros /said echo
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_feros"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let complete = || {
        let mut bash = std::process::Command::new("bash");
        domain.confine(bash.args(["--norc", "-c", script]).env("PATH", &path));
        bash.output().unwrap()
    };
    let output = eventually(complete, |output| output.stdout == b"/said_in_bash\n");
    assert!(output.status.success(), "{output:?}");
}
