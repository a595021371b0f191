//! `feros component` and `feros container`, with the containers that are built beside the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use feros::msgs::composition_interfaces::srv::{
    ListNodes, ListNodes_Request, ListNodes_Response, LoadNode, LoadNode_Request,
    LoadNode_Response, UnloadNode, UnloadNode_Request, UnloadNode_Response,
};
use feros::{Executor, Node, Responder, Service};
use feros_interop::Domain;

use crate::process::{eventually, spawn};

const FEROS: &str = env!("CARGO_BIN_EXE_feros");

/// The folder with the command, the containers and the demonstration's library.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| feros_test_support::built(&["feros-container", "demo_components_library"]))
}

/// The domain and the prefix of one test.
pub(crate) struct Place {
    pub(crate) domain: Domain,
    pub(crate) prefix: PathBuf,
}

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let prefix = std::env::temp_dir().join(format!("feros_cli_{name}_{}", std::process::id()));
        let place = Self { domain: Domain::reserve_without_ros2(), prefix };
        let library = built().join("libdemo_components_library.so");
        let prefix = place.prefix.to_str().unwrap();
        place.feros(&[
            "component",
            "register",
            library.to_str().unwrap(),
            "--package",
            "demo",
            "--prefix",
            prefix,
        ]);
        place
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(FEROS);
        command.args(arguments).env("FEROS_PREFIX_PATH", &self.prefix);
        self.domain.confine(&mut command);
        command
    }

    /// The output of a command that must succeed.
    pub(crate) fn feros(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The error of a command that must fail.
    fn error(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Repeats the command until it shows this: each command waits for a second, in which a busy
    /// machine may not discover everything.
    pub(crate) fn shows(&self, arguments: &[&str], wanted: &str) {
        eventually(|| self.feros(arguments), |shown| shown == wanted);
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The result of the test matters more than a folder that cannot be removed.
        drop(std::fs::remove_dir_all(&self.prefix));
    }
}

/// A command that runs until it is interrupted.
struct Running(Child);

impl Running {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        Self(place.command(arguments).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Sends the signal of Ctrl-C; the command must succeed.
    fn interrupt(mut self) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let status = feros_test_support::eventually(|| self.0.try_wait().unwrap().ok_or("its end"));
        assert!(status.success(), "{status}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.try_wait().ok().flatten().is_none() {
            drop(self.0.kill());
            drop(self.0.wait());
        }
    }
}

/// Without installed containers, the command is a container itself. It then has a Feros of its own,
/// and loads no library.
#[test]
fn the_command_alone_is_a_container_of_shipped_components() {
    let place = Place::new("alone");
    let alone = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let command = alone.path().join("feros"); // no container is beside it
    std::fs::hard_link(FEROS, &command).unwrap();
    for kind in ["component_container", "component_container_mt", "component_container_process"] {
        let mut container = Command::new(&command);
        container.args(["run", "rclcpp_components", kind]).env("FEROS_PREFIX_PATH", &place.prefix);
        place.domain.confine(&mut container);
        let container = Running(container.stdout(Stdio::null()).spawn().unwrap());
        place.shows(&["component", "list", "--containers-only"], "/ComponentManager\n");
        let load = ["component", "load", "/ComponentManager"];
        let shipped = ["tf2_ros", "tf2_ros::StaticTransformBroadcasterNode", "-n", "still"];
        assert_eq!(
            place.feros(&[&load[..], &shipped].concat()),
            "Loaded component 1 into '/ComponentManager' container node as '/still'\n"
        );
        let refused = place.error(&[&load[..], &["demo", "demo_components::Talker"]].concat());
        assert!(refused.contains("libdemo_components_library.so is a library, and "), "{refused}");
        assert!(refused.contains("`feros component build`"), "{refused}");
        container.interrupt();
        place.shows(&["component", "list", "--containers-only"], "");
    }
}

#[test]
fn components_are_loaded_listed_and_unloaded() {
    // No more threads than processors, as in rclcpp.
    let threads =
        std::thread::available_parallelism().map_or(1, |count| count.get().min(2)).to_string();
    for kind in [
        &["container"][..],
        &["container", "--threads", &threads],
        &["container", "--process", "--restart"],
    ] {
        let place = Place::new("component");
        let container = Running::start(&place, kind);
        // Commands wait for a container as long as `ros2 component` does, which may be shorter than
        // a container takes to start.
        place.shows(&["component", "list", "--containers-only"], "/ComponentManager\n");
        let load = ["component", "load", "/ComponentManager", "demo", "demo_components::Talker"];
        assert_eq!(
            place.feros(&load),
            "Loaded component 1 into '/ComponentManager' container node as '/talker'\n"
        );
        let other = [
            "-n",
            "speaker",
            "--node-namespace",
            "/robot",
            "-r",
            "chatter:=/said",
            "-p",
            "text:=Ahoy",
        ];
        assert_eq!(
            place
                .feros(&[&load[..], &other[..], &["-e", "use_intra_process_comms:=true"]].concat()),
            "Loaded component 2 into '/ComponentManager' container node as '/robot/speaker'\n"
        );
        assert!(
            place
                .feros(&["topic", "echo", "/said", "--once", "--field", "data", "--timeout", "50"])
                .contains("Ahoy: ")
        );
        place.shows(
            &["component", "list"],
            "/ComponentManager\n  1  /talker\n  2  /robot/speaker\n",
        );
        place.shows(&["component", "list", "--containers-only"], "/ComponentManager\n");
        let unloaded = "Unloaded component 1 from '/ComponentManager' container node\n";
        assert_eq!(place.feros(&["component", "unload", "/ComponentManager", "1"]), unloaded);
        assert_eq!(place.feros(&["component", "list", "/ComponentManager"]), "2  /robot/speaker\n");
        let again = place.error(&["component", "unload", "/ComponentManager", "1"]);
        assert!(again.contains("No node found with unique_id: 1"), "{again}");
        let quiet = place.feros(&[&load[..], &["--quiet", "--spin-time", "50"]].concat());
        assert_eq!(quiet, "3  /talker\n");
        let unknown = place.error(&[&load[..4], &["demo::Nothing"]].concat());
        let words =
            "Failed to load component: Failed to find class with the requested plugin name.";
        assert!(unknown.contains(words), "{unknown}");
        container.interrupt();
    }
}

#[test]
fn the_index_and_what_is_not_there_are_told() {
    let place = Place::new("index");
    let both = "demo_components::Listener\ndemo_components::Talker\n";
    assert_eq!(place.feros(&["component", "types", "demo"]), both);
    let all = "demo\n  demo_components::Listener\n  demo_components::Talker\n";
    assert_eq!(place.feros(&["component", "types"]), all);
    assert!(place.error(&["component", "types", "nothing"]).contains("FEROS_PREFIX_PATH"));
    let nobody = place.error(&["component", "load", "/nobody", "demo", "demo_components::Talker"]);
    assert!(nobody.contains("Unable to find container node '/nobody'"), "{nobody}");
    let prefix = place.prefix.to_str().unwrap();
    let text = place.error(&[
        "component",
        "register",
        "/etc/passwd",
        "--package",
        "x",
        "--prefix",
        prefix,
    ]);
    assert!(text.contains("is not a shared library"), "{text}");
    assert_eq!(place.feros(&["component", "list"]), "");
}

#[test]
fn settings_of_threads_and_memory_reach_the_container() {
    let place = Place::new("realtime");
    let error = place.error(&["container", "--cpus", "1023"]);
    assert!(error.contains("processors [1023] was refused"), "{error}");
    let refused = place.run(&["container", "--priority", "100"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let help = ["--priority", "80", "--lock-memory", "--cpus", "0", "--", "--help"];
    let shown = place.feros(&[&["container"][..], &help].concat());
    assert!(shown.contains("SCHED_FIFO") && shown.contains("--lock-memory"), "{shown}");
}

#[test]
fn a_component_stands_alone() {
    let place = Place::new("standalone");
    let alone =
        ["component", "standalone", "demo", "demo_components::Talker", "-r", "chatter:=/alone"];
    let running = Running::start(&place, &alone);
    assert!(
        place
            .feros(&["topic", "echo", "/alone", "--once", "--field", "data", "--timeout", "50"])
            .contains("Hello World: ")
    );
    running.interrupt();
    let error = place.error(&["component", "standalone", "demo", "demo::Nothing"]);
    assert!(
        error.contains("Failed to find class") && error.contains("terminating container"),
        "{error}"
    );
    assert_eq!(place.feros(&["component", "list"]), "", "nothing stays");
}

/// A faulty package is reported before any compiler is called.
#[test]
fn faulty_packages_are_reported_before_the_build() {
    let place = Place::new("build");
    let folder = place.prefix.join("sources");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let build = |more: &[&str]| {
        let line = ["component", "build", folder.to_str().unwrap()];
        let cache = place.prefix.join("cache");
        place.error(&[&line[..], more, &["--build-dir", cache.to_str().unwrap()]].concat())
    };
    assert!(build(&[]).contains("Cargo.toml: name the folder of a package with components"));
    let manifest =
        "[package]\nname = \"plain\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/lib.rs"), "").unwrap();
    assert!(build(&[]).contains("depends on feros-component: `cargo add feros feros-component`"));
    std::fs::write(folder.join("Cargo.toml"), "[package\n").unwrap();
    let error = build(&[]);
    assert!(error.contains("cargo metadata ended with exit status: "), "{error}");
    assert!(error.contains("see its output above"), "{error}");
    // Cargo would wait for a pipe without end.
    std::fs::remove_file(folder.join("Cargo.toml")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("Cargo.toml")).status();
    assert!(made.unwrap().success());
    let error = build(&[]);
    assert!(error.contains("Cargo.toml: it is not a regular file"), "{error}");
}

/// A node that has the services of a container, and one component of this name.
fn container_that_answers(
    node: &Node,
    list: impl FnMut(ListNodes_Request, Responder<ListNodes>) + Send + 'static,
) -> (Service<LoadNode>, Service<UnloadNode>, Service<ListNodes>) {
    let load = |_: LoadNode_Request| LoadNode_Response::default();
    let unload = |_: UnloadNode_Request| UnloadNode_Response::default();
    (
        node.create_service("~/_container/load_node", load).unwrap(),
        node.create_service("~/_container/unload_node", unload).unwrap(),
        node.create_service("~/_container/list_nodes", list).unwrap(),
    )
}

/// The requests that wait for their answers, and the containers that they are for.
type Asked = Arc<Mutex<Vec<(usize, Responder<ListNodes>)>>>;

#[test]
fn containers_are_asked_at_once_and_listed_by_name() {
    const CONTAINERS: usize = 4;
    let context = crate::process::context();
    let executor = Executor::new();
    let asked: Asked = Arc::default();
    let mut services = Vec::new();
    for number in 0..CONTAINERS {
        let node = context.create_node(&format!("c_asked_{number}")).unwrap();
        let asked = asked.clone();
        let list = move |_: ListNodes_Request, responder| {
            let mut asked = asked.lock().unwrap();
            asked.push((number, responder));
            // No request is answered before all containers are asked.
            if asked.len() == CONTAINERS {
                for (number, responder) in asked.drain(..) {
                    let answer = ListNodes_Response {
                        full_node_names: vec![format!("/component_{number}")],
                        unique_ids: vec![1],
                    };
                    responder.send(&answer).unwrap();
                }
            }
        };
        services.push(container_that_answers(&node, list));
        executor.add_node(&node).unwrap();
    }
    let stopper = executor.stopper();
    let spinning = spawn("test-containers", move || executor.spin().unwrap());
    let lines = (0..CONTAINERS).map(|n| format!("/c_asked_{n}\n  1  /component_{n}\n"));
    let line = ["component", "list", "--spin-time", "3"];
    assert_eq!(crate::process::feros(&line).success(), lines.collect::<String>());
    stopper.stop();
    spinning.join().unwrap();
}

/// Distributions below a prefix name components in Python.
#[test]
fn components_in_python_are_listed_with_their_language() {
    let place = Place::new("python_types");
    let site = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/python");
    let written = |folder: &str, name: &str, entries: &str| {
        let info = place.prefix.join(folder).join(format!("{name}-1.0.0.dist-info"));
        fs::create_dir_all(&info).unwrap();
        let name = name.replace('_', "-");
        fs::write(
            info.join("METADATA"),
            format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"),
        )
        .unwrap();
        fs::write(info.join("entry_points.txt"), format!("[rclpy_components]\n{entries}")).unwrap();
    };
    let folder = "lib/python3/site-packages";
    written(
        folder,
        "far_camera",
        "far_camera::Detector = far.detector:Detector\nEye = far.eye:Eye\n",
    );
    written(folder, "demo", "demo::Speaker = demo.speaker:Speaker\n");
    for (module, text) in [
        ("far/detector", "if True:\n    from elsewhere import Detector\n"),
        ("far/eye", "def __getattr__(name):\n    return 1\n"),
        ("demo/speaker", "class Speaker:\n    pass\nraise OSError('it is not to be run')\n"),
        ("demo/__init__", "raise OSError('it is not to be run')\n"),
    ] {
        let file = place.prefix.join(folder).join(format!("{module}.py"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let types = |more: &[&str]| {
        let mut command = place.command(&[&["component", "types"], more].concat());
        command.env("PYTHONPATH", site);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let of_demo = "demo_components::Listener\ndemo_components::Talker\ndemo::Speaker (Python)\n";
    assert_eq!(types(&["demo"]), of_demo);
    assert_eq!(types(&["far_camera"]), "Eye (Python)\nfar_camera::Detector (Python)\n");
    let all = types(&[]);
    assert!(all.contains("\n  demo::Speaker (Python)\nfar_camera\n  Eye (Python)\n"), "{all}");
    let json: serde_json::Value = serde_json::from_str(&types(&["far_camera", "--json"])).unwrap();
    assert_eq!((&json[0]["kind"], &json[0]["library"]), (&"python".into(), &"far.eye:Eye".into()));
    // The command warns of entry points without a module or class, and does not list them.
    let wrong = "Class = far.detector:Detectr\nModule = far.detectr:Detector\nEye = far.eye:Eye\n";
    written(folder, "far_camera", wrong);
    assert_eq!(types(&["far_camera"]), "Eye (Python)\n");
    let mut command = place.command(&["component", "types", "far_camera"]);
    let told = command.env("PYTHONPATH", site).output().unwrap().stderr;
    let told = String::from_utf8(told).unwrap();
    let class = "the entry point `Class = far.detector:Detectr` of the package far_camera names no \
                 class: the module far.detector (";
    assert!(told.contains(class) && told.contains("detector.py) has no Detectr\n"), "{told}");
    let module = "`Module = far.detectr:Detector` of the package far_camera names no class: there is \
                  no module far.detectr\n";
    assert!(told.contains(module), "{told}");
}
