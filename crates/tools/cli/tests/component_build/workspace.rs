//! `feros build`: the packages of `examples/bringup` in a temporary folder become one prefix, in
//! which everything finds everything through FEROS_PREFIX_PATH.

mod launched;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use feros_interop::{interop_is_skipped, python_with_ros2};

use crate::home::{Home, repository, said};

const ALL: &str = "my_talker\nrobot_config\nrobot_description\nrobot_lidar\nrobot_msgs\nrobot_base\n\
                   robot_odometry\nrobot_report_msgs\nrobot_report\nrobot_safety\nrobot_bringup\n";

struct Robot {
    home: Home,
    folder: PathBuf,
}

#[test]
fn a_folder_of_packages_becomes_one_prefix() {
    let home = Home::new();
    let folder = home.copy_of_bringup();
    let create = ["pkg", "create", "my_talker", "--tests", "--feros-path", &repository()];
    let at = ["--destination-directory", folder.to_str().unwrap()];
    home.feros(&[&create[..], &at].concat());
    let robot = Robot { home, folder };

    robot.tells_all_faults_and_builds_the_rest();
    robot.tells_python_that_cannot_run();
    robot.compiles_only_what_changed_and_runs_tests();
    robot.the_variable_suffices_for_commands();
    robot.stock_tools_find_the_packages();
    robot.stock_tools_start_what_the_command_contains();
    robot.the_launch_files_start_the_robot();
}

impl Robot {
    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn package(&self, name: &str, build_type: &str, depends: &str) {
        let text = format!(
            "<package><name>{name}</name><version>1.0.0</version><depend>{depends}</depend>\
             <export><build_type>{build_type}</build_type></export></package>"
        );
        self.write(&format!("{name}/package.xml"), &text);
    }

    fn prefix(&self, name: &str) -> PathBuf {
        self.folder.join("install").join(name)
    }

    fn build(&self, more: &[&str]) -> std::process::Output {
        self.home.run(&[&["build", self.folder.to_str().unwrap()], more].concat())
    }

    /// A command that knows the prefix by one variable.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        for variable in ["AMENT_PREFIX_PATH", "PYTHONPATH"] {
            command.env_remove(variable);
        }
        command.env("FEROS_PREFIX_PATH", self.prefix("")).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn feros(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn tells_all_faults_and_builds_the_rest(&self) {
        self.package("bad_msgs", "ament_cmake", "std_msgs");
        self.write("bad_msgs/msg/Bad.msg", "int33 number\n");
        self.package("waiting", "", "bad_msgs");
        self.package("bad_gui", "ament_python", "rclpy");
        self.write("bad_gui/setup.py", "raise ValueError('no gui')\n");
        self.package("bad_setup", "ament_python", "rclpy");
        self.write("bad_setup/setup.py", "from setuptools import setup\nsetup(name='x',\n");
        self.package("bad_driver", "ament_cmake", "rclcpp");
        self.write("bad_driver/CMakeLists.txt", "project(bad_driver)\nadd_executable(d d.cpp)\n");
        self.package("hen", "", "egg");
        self.package("egg", "", "hen");
        self.package("bad_node", "ament_cargo", "robot_msgs");
        let manifest = fs::read_to_string(self.folder.join("my_talker/Cargo.toml")).unwrap();
        self.write("bad_node/Cargo.toml", &manifest.replace("my_talker", "bad_node"));
        self.write("bad_node/src/bad_node.rs", "fn main() { missing() }\n");

        let output = self.build(&[]);
        let errors = said(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        for words in [
            "bad_msgs: ",
            "Bad.msg:1",
            "waiting: it depends on bad_msgs",
            "bad_gui: ",
            "ValueError: no gui",
            "bad_setup: ",
            "setup.py:2: '(' was never closed",
            "bad_driver/CMakeLists.txt:2: `add_executable`",
            "egg -> hen -> egg",
            "bad_node: cargo could not compile it",
            "cannot find function `missing`",
        ] {
            assert!(errors.contains(words), "{words:?} is not in {errors}");
        }
        assert_eq!(String::from_utf8_lossy(&output.stdout), ALL, "{errors}");
        for name in
            ["bad_msgs", "waiting", "bad_gui", "bad_setup", "bad_driver", "hen", "egg", "bad_node"]
        {
            assert!(!self.prefix("share").join(name).exists(), "{name}");
            fs::remove_dir_all(self.folder.join(name)).unwrap();
        }
    }

    fn tells_python_that_cannot_run(&self) {
        self.package("odd_nodes", "ament_python", "rclpy");
        self.write(
            "odd_nodes/setup.py",
            "from setuptools import setup\nsetup(name='odd_nodes', version='1.0.0', \
             packages=['odd_nodes'],\n entry_points={'console_scripts': [\n\
             'talk = odd_nodes.talk:main',\n'gone = odd_nodes.gone:main',\n\
             'other = odd_nodes.talk:start',\n'far = json.tool:main'],\n\
             'rclpy_components': ['odd::Talk = odd_nodes.talk:main',\n\
             'odd::Gone = odd_nodes.talk:Gone']})\n",
        );
        self.write("odd_nodes/odd_nodes/__init__.py", "");
        self.write("odd_nodes/odd_nodes/talk.py", "def main():\n    pass\n");
        self.write("odd_nodes/odd_nodes/broken.py", "def main(:\n    pass\n");
        // The second build finds the package unchanged, and tells the same.
        for _ in 0..2 {
            let output = self.build(&["-p", "odd_nodes"]);
            let told = said(&output);
            assert!(output.status.success(), "{told}");
            for words in [
                "warning: odd_nodes: odd_nodes/broken.py:1: ",
                "the executable gone cannot start: there is no module odd_nodes.gone",
                "the executable other cannot start: odd_nodes.talk has no start",
                "the component odd::Gone cannot be loaded: odd_nodes.talk has no Gone",
            ] {
                assert!(told.contains(words), "{words:?} is not in {told}");
            }
            assert_eq!(told.matches("warning: ").count(), 4, "{told}");
        }
        fs::remove_dir_all(self.folder.join("odd_nodes")).unwrap();
    }

    fn compiles_only_what_changed_and_runs_tests(&self) {
        let marker = self.prefix("share/ament_index/resource_index/packages/robot_base");
        let program = self.prefix("lib/my_talker/my_talker");
        let time = || program.metadata().unwrap().modified().unwrap();
        let before = time();
        let config = "robot_config/config/robot.yaml";
        fs::remove_file(self.prefix("share").join(config)).unwrap();
        self.write("robot_config/config/more.yaml", "");
        // Tests find what they start in any environment, since each has a domain of its own.
        let folder = self.folder.to_str().unwrap();
        let mut build = self.home.command(&["build", folder, "--test"]);
        build.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF");
        let output = build.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let errors = said(&output);
        // Feros is compiled once, for nodes, components and tests.
        assert!(!errors.contains("Compiling feros v"), "{errors}");
        for words in ["wheels_that_turn_against_each_other", "the_node_says_hello ... ok"] {
            assert!(errors.contains(words), "{words:?} is not in {errors}");
        }
        assert_eq!(time(), before, "an unchanged program is left alone");
        assert!(marker.is_file() && self.prefix("share").join(config).is_file());
        assert!(self.prefix("share/robot_config/config/more.yaml").is_file());

        fs::remove_file(self.folder.join("robot_config/config/more.yaml")).unwrap();
        fs::remove_dir_all(self.folder.join("my_talker")).unwrap();
        let output = self.build(&[]);
        assert!(output.status.success(), "{}", said(&output));
        assert!(!self.prefix("share/robot_config/config/more.yaml").exists());
        assert!(!program.exists(), "{}", said(&output));
    }

    fn the_variable_suffices_for_commands(&self) {
        let executables = self.feros(&["pkg", "executables"]);
        for line in ["robot_odometry odometer", "robot_safety limiter", "robot_report places"] {
            assert!(executables.lines().any(|it| it == line), "{executables}");
        }
        assert_eq!(self.feros(&["pkg", "xml", "robot_base", "-t", "version"]), "0.1.0\n");
        let shown = self.feros(&["interface", "show", "robot_report_msgs/msg/Trip"]);
        assert!(shown.contains("robot_msgs/WheelSpeeds fastest"), "{shown}");
        assert!(shown.contains("float64 left"), "{shown}");
        let types = self.feros(&["component", "types", "robot_base"]);
        assert!(types.contains("robot_base::Wheels"), "{types}");
    }

    /// The packages of stock ROS 2 know nothing of FEROS_PREFIX_PATH.
    fn stock_tools_find_the_packages(&self) {
        if interop_is_skipped() {
            return;
        }
        let python = python_with_ros2();
        let share = self.prefix("share/robot_description");
        let mut command = self.command(&["run", "robot_report", "places", "robot_description"]);
        let path = std::env::join_paths([
            python.parent().unwrap(),
            Path::new("/usr/bin"),
            Path::new("/bin"),
        ]);
        let path = path.unwrap();
        let output = command.env("PATH", &path).output().unwrap();
        let places = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(places, format!("robot_description {}\n", share.display()), "{}", said(&output));

        let program = "import ament_index_python as a, robot_report.places as p; \
                       print(a.__file__, p.__file__, sorted(a.get_packages_with_prefixes()), \
                       a.get_resource('rosidl_interfaces', 'robot_msgs')[0])";
        let line = format!("source {}; python3 -c \"$0\"", self.prefix("setup.bash").display());
        let mut bash = Command::new("bash");
        bash.args(["-c", &line, program]).env("PATH", &path).env("PYTHONDONTWRITEBYTECODE", "1");
        for variable in ["AMENT_PREFIX_PATH", "FEROS_PREFIX_PATH", "PYTHONPATH"] {
            bash.env_remove(variable);
        }
        let output = bash.output().unwrap();
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        let module = self.prefix("lib/python3/site-packages/robot_report/places.py");
        for words in [
            "/site-packages/ament_index_python/__init__.py",
            module.to_str().unwrap(),
            "'robot_base'",
            "'robot_msgs'",
            "msg/WheelSpeeds.msg",
        ] {
            assert!(found.contains(words), "{words:?} is not in {found}: {}", said(&output));
        }
        assert!(!found.contains("feros/compat"), "{found}");
    }

    /// Programs in the prefix start the nodes that the command contains, for stock ROS 2. A sourced
    /// ROS comes before them.
    fn stock_tools_start_what_the_command_contains(&self) {
        let bin = self.home.folder().join("bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_feros"), bin.join("feros")).unwrap();
        let shipped = self.prefix("lib/feros/shipped");
        let index = shipped.join("share/ament_index/resource_index/packages");
        for package in ["joint_state_publisher", "robot_state_publisher", "rclcpp_components"] {
            assert!(index.join(package).is_file(), "{package}");
            assert!(shipped.join("share").join(package).join("package.xml").is_file(), "{package}");
        }
        let setup = self.prefix("setup.bash");
        let sourced = |line: &str, path: &str| {
            let mut bash = self.home.confined("bash");
            bash.args(["-c", &format!("source {}; {line}", setup.display())]);
            bash.env("PATH", path).env("AMENT_PREFIX_PATH", "/opt/ros");
            bash
        };
        let output = sourced("echo $AMENT_PREFIX_PATH", "/usr/bin:/bin").output().unwrap();
        let expected = format!("{}:/opt/ros:{}\n", self.prefix("").display(), shipped.display());
        let expected = expected.replacen("install/:", "install:", 1);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{}", said(&output));

        let publisher = shipped.join("lib/tf2_ros/static_transform_publisher");
        let line = format!("exec {} --frame-id here --child-frame-id there", publisher.display());
        let output = sourced(&line, "/usr/bin:/bin").output().unwrap();
        assert_eq!(output.status.code(), Some(127), "{}", said(&output));
        assert!(said(&output).contains("the command feros, which is not on PATH"));
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let started = Home::start_command(sourced(&line, &path));
        let heard = self.feros(&["topic", "echo", "/tf_static", "--once"]);
        assert!(heard.contains("child_frame_id: there"), "{heard}");
        started.interrupt();
    }
}
