//! The robot of `examples/bringup` as its launch files start it, and its graph.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use feros_test_support::{eventually, skip};
use serde_json::{Value, json};

use super::Robot;
use crate::home::{Home, said};

/// The folder with the Python package feros, as it is installed.
const SITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/python");

const NODES: &str = "\
/robot/battery
/robot/drives
/robot/joint_state_publisher
/robot/lidar
/robot/lidar_mount
/robot/limiter
/robot/odometer
/robot/robot_state_publisher
/robot/trip_meter
/robot/wheels
";

/// The topics below the namespace with their types, and with the numbers of publishers and
/// subscriptions: remapped topics have both, and the launch itself hears transitions.
const TOPICS: &[(&str, &str, u64, u64)] = &[
    ("/robot/battery/transition_event", "lifecycle_msgs/msg/TransitionEvent", 1, 1),
    ("/robot/battery_state", "sensor_msgs/msg/BatteryState", 1, 0),
    ("/robot/front/scan", "sensor_msgs/msg/LaserScan", 1, 0),
    ("/robot/odom", "nav_msgs/msg/Odometry", 1, 1),
    ("/robot/robot_description", "std_msgs/msg/String", 1, 1),
    ("/robot/trip", "robot_report_msgs/msg/Trip", 1, 0),
    ("/robot/wheel_speeds", "robot_msgs/msg/WheelSpeeds", 1, 3),
    ("/robot/wheel_states", "sensor_msgs/msg/JointState", 1, 1),
];

impl Robot {
    /// Starts the robot, by the files that its bring-up has.
    pub(super) fn the_launch_files_start_the_robot(&self) {
        let Some(site) = site_with_extension(self.home.folder()) else { return };
        self.the_base_drives(&site);
        self.everything_starts(&site);
    }

    /// A launch of the bring-up, with a Python that has Feros.
    fn launch(&self, site: &Path, arguments: &[&str]) -> Command {
        let mut command = self.command(&[&["launch", "robot_bringup"], arguments].concat());
        // The wheel puts the second folder last, for `import rclpy`.
        let folders = [site.to_owned(), site.join("feros/compat")];
        command.env("PYTHONPATH", env::join_paths(folders).unwrap());
        command
    }

    /// The file in XML alone.
    fn the_base_drives(&self, site: &Path) {
        let launched = Home::start_command(self.launch(site, &["base.launch.xml"]));
        let way = ["topic", "echo", "/odom", "--once", "--field", "pose.pose.position.x"];
        self.eventually(&way, is_positive);
        let call = ["service", "call", "/set_limit", "robot_msgs/srv/SetLimit", "{limit: 1.0}"];
        let answer = self.feros(&call);
        assert!(answer.contains("inf"), "{answer}");
        launched.interrupt();
    }

    /// The file in Python, which includes the others.
    fn everything_starts(&self, site: &Path) {
        let launch = |more: &[&str]| self.launch(site, &[&["robot.launch.py"], more].concat());
        self.conditions_and_events_are_planned(launch(&["--dry-run", "lidar:=false"]));
        let output = launch(&[]).env("PATH", "/usr/bin:/bin").output().unwrap();
        let errors = said(&output);
        if errors.contains("pip install xacro") {
            assert_eq!(output.status.code(), Some(1), "{errors}");
        } else {
            skip("xacro is installed for everyone, so its absence is not tested");
        }
        let Some(path) = path_with_xacro(self.home.folder()) else {
            return skip("xacro is missing: pip install xacro");
        };
        let mut command = launch(&["track:=0.5"]);
        command.env("PATH", path);
        let launched = Home::start_command(command);
        self.the_graph_is_whole();
        self.the_robot_works();
        launched.interrupt();
    }

    fn conditions_and_events_are_planned(&self, mut launch: Command) {
        let output = launch.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let plan = String::from_utf8(output.stdout).unwrap();
        for words in [
            "lib/robot_safety/limiter",
            "lib/robot_odometry/odometer",
            "/robot",
            "robot_base::Wheels",
            "robot_report::TripMeter",
            "when /robot/battery changes from configuring to inactive",
        ] {
            assert!(plan.contains(words), "{words:?} is not in {plan}");
        }
        assert!(!plan.contains("lidar"), "{plan}");
    }

    /// Waits until a command prints what is wanted.
    fn eventually(&self, arguments: &[&str], is_wanted: impl Fn(&str) -> bool) {
        eventually(|| {
            let output = self.command(arguments).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if is_wanted(&text) { Ok(()) } else { Err(text + &said(&output)) }
        });
    }

    fn the_graph_is_whole(&self) {
        self.eventually(&["lifecycle", "get", "/robot/battery"], |text| text.starts_with("active"));
        let loaded = "/robot/drives\n  1  /robot/wheels\n  2  /robot/trip_meter\n";
        self.eventually(&["component", "list"], |text| text == loaded);
        self.eventually(&["node", "list"], |text| text == NODES);
        let wanted = TOPICS.iter().map(|(name, of, publishers, subscriptions)| {
            json!({
                "name": name, "types": [of], "publishers": publishers,
                "subscriptions": subscriptions,
            })
        });
        let wanted: Vec<Value> = wanted.collect();
        self.eventually(&["topic", "list", "--json"], |text| {
            let all: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
            let name = |topic: &Value| topic["name"].as_str().unwrap_or("").to_owned();
            all.into_iter().filter(|it| name(it).starts_with("/robot/")).collect::<Vec<_>>()
                == wanted
        });
    }

    /// What the nodes say shows parameters, remaps, and that they hear each other.
    fn the_robot_works(&self) {
        let echo = |topic: &str| self.feros(&["topic", "echo", topic, "--once", "--full-length"]);
        let description = echo("/robot/robot_description");
        for words in ["<robot name=", "left_wheel_joint", "0 0.25 0", "0 -0.25 0"] {
            assert!(description.contains(words), "{words:?} is not in {description}");
        }
        assert!(echo("/robot/battery_state").contains("percentage: 0."));
        assert!(echo("/robot/front/scan").contains("frame_id: lidar"));
        // The limiter has the parameter `limit`, and the wheels had `speed` before.
        let speed = ["topic", "echo", "/robot/wheel_speeds", "--once", "--field", "left"];
        self.eventually(&speed, |text| text.starts_with("1.5"));
        self.eventually(&["topic", "echo", "/robot/trip", "--once", "--field", "way"], is_positive);
        // From the odometer to the lidar's static transform, and to a wheel by the description.
        let pose = |of: &str, at: &str| self.feros(&["tf", "echo", of, at, "--once"]);
        assert!(pose("odom", "lidar").contains(", 0.000, 0.100]"));
        assert!(pose("base_link", "left_wheel").contains("[0.000, 0.250, 0.000]"));
    }
}

/// Whether the first line of a text is a positive number.
fn is_positive(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| line.parse::<f64>().ok());
    first.is_some_and(|number| number > 0.0)
}

/// The folders of programs with xacro, but without a Python that has stock ROS 2, whose rclpy knows
/// nothing of the messages of the robot.
fn path_with_xacro(folder: &Path) -> Option<OsString> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let xacro = folders.iter().map(|it| it.join("xacro")).find(|file| file.is_file())?;
    let tools = folder.join("tools");
    fs::create_dir_all(&tools).unwrap();
    symlink(xacro, tools.join("xacro")).unwrap();
    let has_rclpy = |folder: &PathBuf| {
        let mut python = Command::new(folder.join("python3"));
        python.args(["-I", "-c", "import rclpy"]);
        python.output().is_ok_and(|output| output.status.success())
    };
    let others = folders.into_iter().filter(|folder| !has_rclpy(folder));
    Some(env::join_paths([tools].into_iter().chain(others)).unwrap())
}

/// A folder with the Python package feros and its extension, which cargo has built; `None`, which
/// is reported, if something is missing.
fn site_with_extension(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(SITE).join("feros");
    let built = Path::new(env!("CARGO_BIN_EXE_feros")).with_file_name("lib_feros.so");
    for (file, what) in [
        (source.join("_launch_host.py"), "the Python package feros has no host for launch files"),
        (source.join("compat/lifecycle_msgs"), "the Python package feros has no messages"),
        (built.clone(), "the extension of the Python package feros is not built"),
    ] {
        if !file.exists() {
            skip(what);
            return None;
        }
    }
    let package = folder.join("site/feros");
    fs::create_dir_all(&package).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let (path, copy) = (entry.path().canonicalize().unwrap(), package.join(entry.file_name()));
        if path.is_dir() {
            symlink(path, copy).unwrap();
        } else if !entry.file_name().to_string_lossy().starts_with("_feros.") {
            // Python puts the folder that a link leads to at the front of its path.
            fs::copy(path, copy).unwrap();
        }
    }
    symlink(built, package.join("_feros.abi3.so")).unwrap();
    Some(folder.join("site"))
}
