//! `feros launch` and `feros run`: launch files that start Feros nodes, packages with executables.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::process::{Running, context, feros};

const FEROS: &str = env!("CARGO_BIN_EXE_feros");

/// A folder of this test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("feros_cli_{name}_{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn two_nodes_of_a_launch_file_hear_each_other() {
    let folder = Folder::new("launch");
    let xml = format!(
        r#"<launch>
             <arg name="topic" default="/chatter"/>
             <set_env name="ROS_LOG_DIR" value="{folder}"/>
             <executable cmd="{FEROS} topic pub $(var topic) std_msgs/msg/String '{{data: hello}}' -r 20" name="talker"/>
             <executable cmd="{FEROS} topic echo $(var topic) --once --timeout 50" name="listener" output="screen" on_exit="shutdown"/>
           </launch>"#,
        folder = folder.0.display()
    );
    let file = folder.file("pair.launch.xml", &xml);
    let out = feros(&["launch", &file, "topic:=/launched"]).success();
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines.contains(&"[listener-2] data: hello"), "{out}");
    assert!(lines.contains(&"[INFO] [launch]: listener-2 ended: the whole launch ends"), "{out}");
    assert!(lines.iter().any(|line| line.starts_with("[INFO] [talker-1]: ended")), "{out}");
}

/// The services that the nodes of `launch` itself announce.
fn services_of_launch(context: &feros::Context) -> impl Fn() -> Vec<String> + use<> {
    let context = context.clone();
    move || {
        let graph = context.graph();
        let services = graph.endpoints.iter().filter(|endpoint| {
            endpoint.kind == feros::engine::EndpointKind::Service
                && endpoint.name.starts_with("/_feros_launch")
        });
        services.map(|service| service.name.clone()).collect()
    }
}

#[test]
fn components_are_asked_for_with_all_that_the_file_says() {
    use feros::msgs::composition_interfaces::srv::{
        ListNodes, ListNodes_Request, ListNodes_Response, LoadNode, LoadNode_Request,
        LoadNode_Response, UnloadNode, UnloadNode_Request, UnloadNode_Response,
    };
    use feros::{Executor, NodeOptions};
    let folder = Folder::new("compose");
    let parameters = folder.file(
        "p.yaml",
        "/cell/camera: {ros__parameters: {gain: 1.5, fps: 1}}\n/x: {ros__parameters: {no: 1}}\n",
    );
    let file = folder.file(
        "compose.launch.yaml",
        &format!(
            "launch:
- push_ros_namespace: {{namespace: cell}}
- load_composable_node:
    target: /cell/box
    composable_node:
      - pkg: demo
        plugin: demo::Camera
        name: camera
        param: [{{from: {parameters}}}, {{name: fps, value: 30}}]
        remap: [{{from: image, to: raw}}]
        extra_arg: [{{name: use_intra_process_comms, value: true}}]
      - {{pkg: demo, plugin: 'demo::Broken'}}
"
        ),
    );
    let context = context();
    let node = context.create_node_with(NodeOptions::new("box").namespace("/cell")).unwrap();
    let (sender, requests) = std::sync::mpsc::sync_channel(8);
    let of_launch = services_of_launch(&context);
    let _service = node
        .create_service::<LoadNode, _>(
            "~/_container/load_node",
            move |request: LoadNode_Request| {
                // The node of the launch is not spun, so a service of that node would make clients
                // that ask all nodes wait.
                assert_eq!(of_launch(), [""; 0]);
                let success = request.plugin_name == "demo::Camera";
                sender.send(request).unwrap();
                let error_message =
                    if success { String::new() } else { "no such plugin".to_owned() };
                LoadNode_Response {
                    success,
                    error_message,
                    full_node_name: "/cell/camera".into(),
                    unique_id: 1,
                }
            },
        )
        .unwrap();
    // A container exists once all of its services do.
    let _unload = node
        .create_service::<UnloadNode, _>("~/_container/unload_node", |_: UnloadNode_Request| {
            UnloadNode_Response::default()
        })
        .unwrap();
    let _list = node
        .create_service::<ListNodes, _>("~/_container/list_nodes", |_: ListNodes_Request| {
            ListNodes_Response::default()
        })
        .unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    let mut launch = Running::start(&["launch", &file]);
    let requests: Vec<_> = std::iter::from_fn(|| {
        executor.spin_once(Some(std::time::Duration::from_millis(100))).unwrap();
        Some(requests.try_recv().ok())
    })
    .flatten()
    .take(2)
    .collect();
    let camera = &requests[0];
    assert_eq!((camera.package_name.as_str(), camera.node_name.as_str()), ("demo", "camera"));
    assert_eq!(camera.node_namespace, "/cell");
    assert_eq!(camera.remap_rules, ["image:=raw"]);
    let parameter =
        |name: &str| camera.parameters.iter().find(|p| p.name == name).unwrap().value.clone();
    assert_eq!((parameter("fps").integer_value, parameter("gain").double_value), (30, 1.5));
    assert_eq!(camera.parameters.len(), 2);
    assert!(camera.extra_arguments[0].value.bool_value);
    assert_eq!(
        launch.line().unwrap(),
        "[INFO] [/cell/box]: has loaded demo::Camera as /cell/camera"
    );
    assert_eq!(
        launch.line().unwrap(),
        "[ERROR] [/cell/box]: demo::Broken is not loaded: no such plugin"
    );
    assert_eq!(launch.finish().code, Some(1));
}

#[test]
fn managed_nodes_are_configured_and_activated() {
    use feros::lifecycle::{CallbackReturn, LifecycleCallbacks, State};
    use feros::{Error, Executor, LifecycleNode, NodeOptions};

    struct Stubborn;

    impl LifecycleCallbacks for Stubborn {
        fn on_activate(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
            Ok(CallbackReturn::Failure)
        }
    }

    let folder = Folder::new("managed");
    // The nodes live in this process; the processes that the launch starts only have to stay.
    let idle = folder.file("idle", "#!/bin/sh\nexec sleep 1000\n");
    fs::set_permissions(&idle, fs::Permissions::from_mode(0o755)).unwrap();
    let managed = |name: &str| {
        format!("<lifecycle_node exec='{idle}' name='{name}' namespace='lf' autostart='true'/>")
    };
    let text = format!("<launch>{}{}</launch>", managed("willing"), managed("stubborn"));
    let file = folder.file("managed.launch.xml", &text);
    let context = context();
    let options = |name: &str| NodeOptions::new(name).namespace("/lf");
    let willing = context.create_lifecycle_node_with(options("willing"), ()).unwrap();
    let stubborn = context.create_lifecycle_node_with(options("stubborn"), Stubborn).unwrap();
    let executor = Executor::new();
    executor.add_node(&willing).unwrap();
    executor.add_node(&stubborn).unwrap();
    let stopper = executor.stopper();
    let _spinning = feros_test_support::Background::start(
        "managed",
        move || executor.spin().unwrap(),
        move || stopper.stop(),
    );
    let mut launch = Running::start(&["launch", &file]);
    let mut seen = Vec::new();
    let expected = [
        "[INFO] [/lf/willing]: is active",
        "[ERROR] [/lf/stubborn]: is not active: it did not activate: see its log, and its state with `feros lifecycle \
         get /lf/stubborn`",
    ];
    while !expected.iter().all(|line| seen.iter().any(|each| each == line)) {
        seen.push(launch.line().unwrap_or_else(|| panic!("{seen:?}")));
    }
    assert_eq!(
        (willing.current_state(), stubborn.current_state()),
        (State::Active, State::Inactive)
    );
    launch.interrupt();
    assert_eq!(launch.finish().code, Some(1));
}

/// The timer of more than a day ends within a moment; with any other clock the test would not end.
#[test]
fn a_timer_of_ros_time_follows_the_clock() {
    use feros::msgs::builtin_interfaces::msg::Time;
    use feros::msgs::rosgraph_msgs::msg::Clock;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let folder = Folder::new("clock");
    let xml = "<launch><set_use_sim_time value='true'/>
        <ros_timer period='100000'><shutdown reason='a day is over'/></ros_timer></launch>";
    let file = folder.file("clock.launch.xml", xml);
    let node = context().create_node("simulator").unwrap();
    let publisher = node.create_publisher::<Clock>("/clock", 10).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let tell = move || {
        let mut sec = 1_000;
        while !is_over.load(Ordering::Relaxed) {
            publisher.publish(&Clock { clock: Time { sec, nanosec: 0 } }).unwrap();
            sec += 1_000;
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    let _simulator = feros_test_support::Background::start("simulator", tell, move || {
        ends.store(true, Ordering::Relaxed);
    });
    let out = feros(&["launch", &file]).success();
    assert_eq!(out, "[INFO] [launch]: shutdown (a day is over): the whole launch ends\n");
}

#[test]
fn a_plan_is_printed_and_arguments_are_listed() {
    let folder = Folder::new("plan");
    let file = folder.file(
        "plan.launch.yaml",
        "launch:
- arg: {name: n, default: '3', description: how many}
- arg: {name: must}
- executable: {cmd: echo $(var n) $(var must)}
",
    );
    let plan = feros(&["launch", &file, "--dry-run", "must:=a b"]).success();
    assert!(
        plan.contains("1 process, 0 components") && plan.contains("  command: echo 3 'a b'\n"),
        "{plan}"
    );
    assert_eq!(
        feros(&["launch", &file, "--show-args"]).success(),
        "Arguments (pass arguments as '<name>:=<value>'):\n\n    'n':\n        how many\n        (default: '3')\n\n    \
         'must':\n        no description given\n"
    );
    let missing = feros(&["launch", &file]).failure(1);
    assert!(
        missing.contains("plan.launch.yaml:3:3: the argument `must` is not given"),
        "{missing}"
    );
    let unknown = feros(&["launch", &file, "mst:=1"]).failure(2);
    assert!(unknown.contains("takes no argument `mst`; did you mean `must`?"), "{unknown}");
    let none = feros(&["launch", "nothing_here"]).failure(2);
    assert!(none.contains("there is no file nothing_here"), "{none}");
}

#[test]
fn python_scripts_get_the_packages_of_feros_first() {
    let folder = Folder::new("script");
    folder.file("site/feros/__init__.py", "raise ImportError('it is not to be imported')");
    folder.file("site/feros/compat/rclpy.py", "whose = 'ours'");
    folder.file("foreign/rclpy.py", "whose = 'foreign'");
    let script = folder
        .file("say.py", "import sys, rclpy\nprint(rclpy.whose, *sys.argv[1:])\nsys.exit(7)\n");
    let of = |name: &str| folder.0.join(name).display().to_string();
    let run = |words: &[&str], path: &str| {
        Running::start_with(words, |command| {
            command.env("PYTHONPATH", path);
        })
        .finish()
    };
    let both = format!("{}:{}", of("foreign"), of("site"));
    let said = run(&["run", &script, "--ros-args", "-r", "a b"], &both);
    assert_eq!((said.code, said.out.as_str()), (Some(7), "ours --ros-args -r a b\n"), "{said:?}");
    let wrapped = run(&["run", "--prefix", "env", &script], &both);
    assert_eq!((wrapped.code, wrapped.out.as_str()), (Some(7), "ours\n"), "{wrapped:?}");
    let alone = run(&["run", &script], &of("foreign")).failure(1);
    assert!(alone.contains("has no package feros. Install its wheel there"), "{alone}");
    assert!(run(&["run", "none.py"], &both).failure(2).contains("there is no script none.py"));
    assert!(run(&["run", "demo"], &both).failure(2).contains("name an executable of `demo`"));
}

#[test]
fn executables_of_packages_are_run() {
    let folder = Folder::new("run");
    let script = folder.file("lib/demo/speak", "#!/bin/sh\necho \"$@\"\nexit 7\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    folder.file(
        "share/demo/launch/all.launch.xml",
        "<launch><node pkg='demo' exec='speak' args='twice' output='screen'/></launch>",
    );
    let prefix = folder.0.to_str().unwrap();
    let run = |words: &[&str]| {
        Running::start_with(words, |command| {
            command.env("FEROS_PREFIX_PATH", prefix);
        })
        .finish()
    };
    let spoken = run(&["run", "demo", "speak", "--loud", "a b"]);
    assert_eq!((spoken.code, spoken.out.as_str()), (Some(7), "--loud a b\n"));
    let wrapped = run(&["run", "--prefix", "env -u HOME sh -c 'echo $0 $1'", "demo", "speak", "x"]);
    assert_eq!(wrapped.success(), format!("{script} x\n"));
    let wrong = run(&["run", "demo", "speek"]).failure(2);
    assert!(
        wrong.contains(
            "there is no executable `speek` in the package `demo`; did you mean `speak`?"
        ),
        "{wrong}"
    );
    assert!(run(&["run", "demmo", "speak"]).failure(2).contains("did you mean `demo`?"));
    let launched = run(&["launch", "demo", "all.launch.xml"]).success();
    assert!(launched.contains("[speak-1] twice\n"), "{launched}");
    folder.file("demo", "an executable of the package's name\n");
    let beside = Running::start_with(&["launch", "demo", "all.launch.xml"], |command| {
        command.env("FEROS_PREFIX_PATH", prefix).current_dir(&folder.0);
    });
    assert!(beside.finish().success().contains("[speak-1] twice\n"));
    let misspelled = Running::start_with(&["launch", "demo", "al.launch.xml"], |command| {
        command.env("FEROS_PREFIX_PATH", prefix).current_dir(&folder.0);
    });
    let wrong = misspelled.finish().failure(2);
    assert!(wrong.contains("did you mean `all.launch.xml`?"), "{wrong}");
    assert!(
        run(&["launch", "demo", "al.launch.xml"])
            .failure(2)
            .contains("did you mean `all.launch.xml`?")
    );
}

#[test]
fn options_of_ros2_launch_are_taken() {
    let folder = Folder::new("options");
    let xml = r#"<launch><executable cmd="echo quiet words" name="quiet" output="log"/>
        <timer period="0.1"><executable cmd="echo late words" name="late" output="log"/></timer>
        </launch>"#;
    let file = folder.file("quiet.launch.xml", xml);
    let log = folder.0.to_str().unwrap().to_owned();
    let launch = |more: &[&str]| {
        let set = |command: &mut std::process::Command| {
            command.env("ROS_LOG_DIR", &log);
        };
        Running::start_with(&[&["launch", file.as_str()], more].concat(), set).finish().success()
    };
    assert!(!launch(&["--noninteractive"]).contains("quiet words"));
    let refused = Running::start(&["launch", &file, "-n"]).finish().failure(2);
    assert!(refused.contains("-p prints") && refused.contains("--noninteractive"), "{refused}");
    let all = launch(&["-a"]);
    assert!(all.contains("[quiet-1] quiet words") && all.contains("[late-2] late words"), "{all}");
    let prefixed = launch(&["--print", "--launch-prefix", "nice -n 5"]);
    assert!(prefixed.contains("nice -n 5 echo quiet words"), "{prefixed}");
    let other = ["-p", "--launch-prefix", "nice -n 5", "--launch-prefix-filter", "cat"];
    assert!(!launch(&other).contains("nice"), "{}", launch(&other));
}
