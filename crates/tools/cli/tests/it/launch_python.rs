//! Launch files in Python with the package `launch` of the wheel, from its sources.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::process::{Finished, Running};

/// The folder with the package feros, as it is installed.
const SITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/python");

/// A folder with launch files and a package `demo`.
struct Robot(tempfile::TempDir);

impl Robot {
    /// `None`, which is reported, if the host is missing.
    fn new() -> Option<Self> {
        if !Path::new(SITE).join("feros/_launch_host.py").is_file() {
            feros_test_support::skip("the Python package feros has no host for launch files");
            return None;
        }
        let robot = Self(tempfile::tempdir().unwrap());
        for executable in ["lib/demo/talker", "lib/feros_component/component_container"] {
            let script = "#!/bin/sh\necho \"$0\" \"$@\"\n";
            let path = robot.file(executable, script);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        robot.file("share/demo/package.xml", "<package/>");
        robot.file("share/demo/p.yaml", "/**: {ros__parameters: {gain: 2}}\n");
        Some(robot)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn launch(&self, words: &[&str]) -> Finished {
        let words: Vec<&str> = ["launch"].iter().chain(words).copied().collect();
        let finished = Running::start_with(&words, |command| {
            command.env("PYTHONPATH", SITE).env("FEROS_PREFIX_PATH", self.0.path());
            command.env("ROS_LOG_DIR", self.0.path().join("log"));
            command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("AMENT_PREFIX_PATH");
            command.env_remove("OVERRIDE_LAUNCH_PROCESS_OUTPUT").current_dir(self.0.path());
        });
        finished.finish()
    }

    /// The plan of a file, without positions, in which `W` stands for the folder.
    fn plan(&self, words: &[&str]) -> String {
        let words: Vec<&str> = words.iter().chain(&["--dry-run"]).copied().collect();
        let plan = self.launch(&words).success().replace(self.0.path().to_str().unwrap(), "W");
        let without_position = |line: &str| match line.rsplit_once("  (W/") {
            Some((line, _)) => line.to_owned(),
            None => line.to_owned(),
        };
        plan.lines().skip(1).map(|line| without_position(line) + "\n").collect()
    }
}

const PYTHON: &str = r#"
import os
from launch import LaunchDescription
from launch.actions import *
from launch.conditions import IfCondition, UnlessCondition, LaunchConfigurationEquals
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.descriptions import ComposableNode, ParameterFile
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    rate = LaunchConfiguration('rate')
    return LaunchDescription([
        DeclareLaunchArgument('rate', default_value='5', description='Hz', choices=['5', '6']),
        DeclareLaunchArgument('sim', default_value='true'),
        SetLaunchConfiguration('twice', [rate, rate]),
        SetEnvironmentVariable('MODE', ['m', rate]),
        LogInfo(msg=['twice ', LaunchConfiguration('twice'), ' ', LaunchConfiguration('x', default=7)]),
        GroupAction([
            PushRosNamespace('cell'),
            SetParameter('use_sim_time', True),
            SetRemap('in', 'out'),
            Node(
                package='demo', executable='talker', name='t', namespace='n',
                arguments=['two words', ['r', rate]], output='screen', respawn=True,
                respawn_delay=2.0,
                remappings=[('a', 'b')],
                parameters=[
                    {'rate': rate, 'label': '5', 'x': {'y': 1.5}, 'on': True, 'n': 3,
                     'list': [1, 2], 'text': ParameterValue(rate, value_type=str)},
                    PathJoinSubstitution([FindPackageShare('demo'), 'p.yaml']),
                ],
                condition=IfCondition(LaunchConfiguration('sim')),
            ),
        ]),
        Node(package='demo', executable='talker', condition=UnlessCondition('1')),
        ExecuteProcess(cmd=['echo', 'a b'], name='say', cwd='/', additional_env={'A': '1'},
                       condition=LaunchConfigurationEquals('rate', '5')),
        ComposableNodeContainer(
            package='rclcpp_components', executable='component_container', name='box', namespace='/',
            composable_node_descriptions=[
                ComposableNode(package='demo', plugin='demo::C', name='c', parameters=[{'k': 1.0}],
                               extra_arguments=[{'use_intra_process_comms': True}]),
            ]),
        LifecycleNode(package='demo', executable='talker', name='managed', namespace='/'),
        ExecuteProcess(cmd=['true'], on_exit=Shutdown()),
        TimerAction(period=2.5, actions=[LogInfo(msg='later')]),
        IncludeLaunchDescription(os.path.join(os.path.dirname(__file__), 'inner.launch.xml'),
                                 launch_arguments={'who': ['r', rate]}.items()),
    ])
"#;

const XML: &str = r#"<launch>
  <arg name="rate" default="5" description="Hz"><choice value="5"/><choice value="6"/></arg>
  <arg name="sim" default="true"/>
  <let name="twice" value="$(var rate)$(var rate)"/>
  <set_env name="MODE" value="m$(var rate)"/>
  <log message="twice $(var twice) $(var x 7)"/>
  <group>
    <push_ros_namespace namespace="cell"/>
    <set_parameter name="use_sim_time" value="true"/>
    <set_remap from="in" to="out"/>
    <node pkg="demo" exec="talker" name="t" namespace="n" args="'two words' r$(var rate)"
          output="screen" respawn="true" respawn_delay="2" if="$(var sim)">
      <param name="rate" value="$(var rate)"/>
      <param name="label" value="5" type="str"/>
      <param name="x"><param name="y" value="1.5"/></param>
      <param name="on" value="true"/>
      <param name="n" value="3"/>
      <param name="list" value="[1, 2]"/>
      <param name="text" value="$(var rate)" type="str"/>
      <param from="$(find-pkg-share demo)/p.yaml"/>
      <remap from="a" to="b"/>
    </node>
  </group>
  <executable cmd="echo 'a b'" name="say" cwd="/" if="$(equals $(var rate) 5)">
    <env name="A" value="1"/>
  </executable>
  <node_container pkg="rclcpp_components" exec="component_container" name="box" namespace="/">
    <composable_node pkg="demo" plugin="demo::C" name="c">
      <param name="k" value="1.0"/>
      <extra_arg name="use_intra_process_comms" value="true"/>
    </composable_node>
  </node_container>
  <lifecycle_node pkg="demo" exec="talker" name="managed" namespace="/"/>
  <executable cmd="true" on_exit="shutdown"/>
  <timer period="2.5"><log message="later"/></timer>
  <include file="$(dirname)/inner.launch.xml"><arg name="who" value="r$(var rate)"/></include>
</launch>
"#;

#[test]
fn both_languages_give_the_same_plan() {
    let Some(robot) = Robot::new() else { return };
    robot.file("inner.launch.xml", "<launch><arg name='who'/><log message='$(var who)'/></launch>");
    let python = robot.file("robot.launch.py", PYTHON);
    let xml = robot.file("robot.launch.xml", XML);
    for given in [&[][..], &["rate:=6", "sim:=false"]] {
        let words = |file| [file].into_iter().chain(given.iter().copied()).collect::<Vec<&str>>();
        assert_eq!(robot.plan(&words(&python)), robot.plan(&words(&xml)), "{given:?}");
    }
    let form = robot.launch(&[&python, "--to-xml"]).success();
    let form = robot.file("form.launch.xml", &form);
    assert_eq!(robot.plan(&[&form]), robot.plan(&[&python]));
    let arguments = robot.launch(&[&python, "--show-args"]).success();
    assert_eq!(arguments, robot.launch(&[&xml, "--show-args"]).success());
    assert!(
        arguments.contains("'rate':\n        Hz. Valid choices are: ['5', '6']"),
        "{arguments}"
    );
    let unknown = robot.launch(&[&python, "rat:=6"]).failure(2);
    assert!(unknown.contains("takes no argument `rat`; did you mean `rate`?"), "{unknown}");
    let choice = robot.launch(&[&python, "rate:=7"]).failure(1);
    assert!(choice.contains("robot.launch.py:16:"), "{choice}");
}

#[test]
fn a_file_in_python_runs() {
    let Some(robot) = Robot::new() else { return };
    let file = robot.file(
        "run.launch.py",
        r#"
import os
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from ament_index_python.packages import get_package_share_directory

SHARE = get_package_share_directory('demo')


def setup(context, *args, **kwargs):
    count = int(LaunchConfiguration('count').perform(context))
    assert os.path.isfile(os.path.join(SHARE, 'p.yaml'))
    print('plans', count)
    return [Node(package='demo', executable='talker', name=f'n{i}', output='screen',
                 arguments=[f'number {i}']) for i in range(count)]


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('count', default_value='2'),
        OpaqueFunction(function=setup),
    ])
"#,
    );
    let out = robot.launch(&[&file]).success();
    assert!(out.starts_with("plans 2\n"), "{out}");
    for number in 0..2 {
        let said = format!("talker number {number} --ros-args -r __node:=n{number}\n");
        assert!(out.contains(&said), "{said}: {out}");
    }
    let preview = robot.launch(&[&file, "--dry-run", "count:=1"]);
    assert!(preview.err.contains("plans 1\n"), "{preview:?}");
    assert!(preview.success().contains(": 1 process, 0 components\n"));
}

#[test]
fn mistakes_in_python_name_their_place() {
    let Some(robot) = Robot::new() else { return };
    let head = "from launch import LaunchDescription\nfrom launch_ros.actions import Node\n\
                from launch.actions import OpaqueFunction\n\
                from launch.substitutions import LaunchConfiguration\n\
                def setup(context):\n    return LaunchConfiguration('none').perform(context)\n\
                def generate_launch_description():\n";
    for (body, expected) in [
        ("    return LaunchDescription([foo])", ":8:31: NameError: name 'foo' is not defined"),
        ("    return LaunchDescription([Node(", ":8:"),
        (
            "    return LaunchDescription([\n        Node(package='demo', executable='talkr')])",
            ":9:9: there is no executable `talkr` in the package `demo`; did you mean `talker`?",
        ),
        ("    exit(3)", ":8:5: SystemExit: 3"),
        (
            "    return LaunchDescription([OpaqueFunction(function=setup)])",
            ":6:12: there is no argument or variable `none`",
        ),
    ] {
        let file = robot.file("wrong.launch.py", &format!("{head}{body}\n"));
        let error = robot.launch(&[&file, "--dry-run"]).failure(1);
        assert!(error.contains(&format!("wrong.launch.py{expected}")), "{body}: {error}");
        assert!(!error.contains("_launch_host") && !error.contains("compat/launch"), "{error}");
    }
}

#[test]
fn missing_packages_and_modules_are_told_with_where_they_can_be_had() {
    let Some(robot) = Robot::new() else { return };
    robot.file("src/arm/package.xml", "<package><name>arm_parts</name></package>");
    let info = "lib/python3/site-packages/eye_parts-1.dist-info";
    robot.file(&format!("{info}/METADATA"), "Metadata-Version: 2.1\nName: eye-parts\nVersion: 1\n");
    robot.file(&format!("{info}/entry_points.txt"), "[rclpy_components]\nEye = eye:Eye\n");
    robot.file("inner.launch.py", "import os\nimport nav2_common\n");
    let file = robot.file(
        "missing.launch.py",
        r#"
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch_ros.actions import ComposableNodeContainer, LoadComposableNodes, Node
from launch_ros.descriptions import ComposableNode


def part(package):
    return ComposableNode(package=package, plugin='Part')


def load(name, *packages):
    return LoadComposableNodes(
        target_container=name,
        composable_node_descriptions=[part(package) for package in packages])


def container(name, *packages, **more):
    return ComposableNodeContainer(
        name=name, namespace='', package='rclcpp_components', executable='component_container',
        composable_node_descriptions=[part(package) for package in packages], **more)


def generate_launch_description():
    return LaunchDescription([
        container('box', 'arm_parts', 'demo', 'tf2_ros', 'eye_parts', 'nav2_costmap_2d'),
        container('own', 'known_there', additional_env={'AMENT_PREFIX_PATH': '/own'}),
        load('box', 'depth_parts', 'demo'),
        load('own', 'known_there'),
        load('of_another_launch', 'known_there'),
        IncludeLaunchDescription('inner.launch.py'),
        Node(package='nav2_bringup', executable='bringup'),
    ])
"#,
    );
    let told = robot.launch(&[&file, "--dry-run"]).failure(1);
    let lines: Vec<&str> = told.lines().collect();
    let expected = [
        ("missing.launch.py:9:", "there is no package `arm_parts`", "src/arm: build it with feros"),
        ("missing.launch.py:9:", "`nav2_costmap_2d`", "(apt install ros-DISTRO-nav2-costmap-2d)"),
        ("inner.launch.py:2:", "named 'nav2_common': source a", "install it with pip"),
        ("missing.launch.py:32:", "`nav2_bringup`", "(apt install ros-DISTRO-nav2-bringup)"),
        ("missing.launch.py:9:", "`depth_parts`", "(apt install ros-DISTRO-depth-parts)"),
    ];
    assert_eq!(lines.len(), expected.len(), "{told}");
    for (line, (at, what, cure)) in lines.iter().zip(expected) {
        assert!(line.contains(at) && line.contains(what) && line.contains(cure), "{at}: {told}");
    }
}

#[test]
fn one_run_tells_all_packages_that_are_missing() {
    let Some(robot) = Robot::new() else { return };
    robot.file(
        "inner.launch.py",
        r#"
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch_ros.actions import Node

FOLDER = get_package_share_directory('share_one')


def generate_launch_description():
    return LaunchDescription([Node(package='node_one', executable='a', parameters=[FOLDER])])
"#,
    );
    let file = robot.file(
        "all.launch.py",
        r#"
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import *
from launch.conditions import IfCondition
from launch.substitutions import *
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def setup(context):
    open(LaunchConfiguration('map').perform(context))


def generate_launch_description():
    share = lambda name: PathJoinSubstitution([FindPackageShare(name), 'a.yaml'])
    return LaunchDescription([
        DeclareLaunchArgument('map', default_value=share('maps')),
        DeclareLaunchArgument('params', default_value=share('settings')),
        AppendEnvironmentVariable('MODELS', share('models')),
        OpaqueFunction(function=setup),
        Node(package='follows', executable='a', condition=IfCondition(LaunchConfiguration('map'))),
        Node(package='planner', executable='a', parameters=[LaunchConfiguration('params'), share('more')]),
        IncludeLaunchDescription('inner.launch.py', launch_arguments={'x': share('given')}.items()),
        IncludeLaunchDescription(share('not_read')),
        IncludeLaunchDescription('all.launch.py'),
        Node(package='controller', executable='a'),
    ])
"#,
    );
    let told = robot.launch(&[&file, "--dry-run"]).failure(1);
    let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with("  called at ")).collect();
    let expected = [
        "`maps`",
        "`settings`",
        "`models`",
        "`more`",
        "`planner`",
        "`share_one`",
        "`node_one`",
        "`given`",
        "`not_read`",
        "a launch file includes itself: ",
        "`controller`",
    ];
    assert_eq!(lines.len(), expected.len(), "{told}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn a_node_that_lacks_a_module_dies_with_the_cure() {
    let Some(robot) = Robot::new() else { return };
    for (name, module) in [("planner", "nav2_simple_commander"), ("asked", "json.absent")] {
        let text = format!("#!/usr/bin/env python3\nimport {module}\n");
        let path = robot.file(&format!("lib/demo/{name}"), &text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    robot.file("share/json/package.xml", "<package/>");
    let node = |name: &str| format!("<node pkg='demo' exec='{name}'/>");
    let text = format!("<launch>{}{}</launch>", node("planner"), node("asked"));
    let out = robot.launch(&[&robot.file("dies.launch.xml", &text)]).success();
    let cure = "[ERROR] [planner-1]: Python has no module nav2_simple_commander: source a ROS 2 that \
                has it (apt install ros-DISTRO-nav2-simple-commander), or build its workspace";
    assert!(out.contains(cure), "{out}");
    assert_eq!(out.matches("Python has no module").count(), 1, "{out}");
}

#[test]
fn without_the_wheel_the_refusal_names_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.launch.py");
    fs::write(&file, "").unwrap();
    let finished = Running::start_with(&["launch", file.to_str().unwrap()], |command| {
        command.env("PYTHONPATH", folder.path()).env("PYTHONNOUSERSITE", "1");
    });
    let error = finished.finish();
    if !error.err.contains("has no package feros") {
        return feros_test_support::skip("the first python3 has the package feros, or is missing");
    }
    let error = error.failure(1);
    assert!(error.contains("a.launch.py:1:1: it is a Python program"), "{error}");
    assert!(error.contains("install Feros's wheel there with `pip install`"), "{error}");
}

#[test]
fn a_chain_of_reactions_runs_to_its_end() {
    let Some(robot) = Robot::new() else { return };
    let file = robot.file(
        "chain.launch.py",
        r#"
from launch import LaunchDescription
from launch.actions import *
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events import Shutdown as ShutdownEvent
from launch.substitutions import LocalSubstitution
from launch_ros.actions import Node


def ended(event, context):
    return [LogInfo(msg=f'{event.process_name} ended with {event.returncode}')]


def generate_launch_description():
    spawner = Node(package='demo', executable='talker', name='spawner')
    second = ExecuteProcess(cmd=['sh', '-c', 'exit 3'], name='second')
    third = ExecuteProcess(cmd=['sleep', '1000'], name='third', on_exit=[LogInfo(msg='over')])
    return LaunchDescription([
        spawner,
        RegisterEventHandler(OnProcessExit(target_action=spawner, on_exit=[second])),
        RegisterEventHandler(OnProcessExit(target_action=second, on_exit=ended)),
        RegisterEventHandler(OnProcessExit(target_action=second, on_exit=third)),
        RegisterEventHandler(OnProcessStart(
            target_action=third, on_start=[EmitEvent(event=ShutdownEvent(reason='enough'))])),
        RegisterEventHandler(OnShutdown(on_shutdown=[LogInfo(msg='bye')])),
        RegisterEventHandler(OnShutdown(on_shutdown=[
            LogInfo(msg=['because of ', LocalSubstitution('event.reason')])])),
    ])
"#,
    );
    let out = robot.launch(&[&file]).success();
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("{text}: {out}"));
    let order = [
        at("[INFO] [talker-1]: ended"),
        at("[ERROR] [second-2]: died with exit code 3"),
        at("[INFO] [launch]: second-2 ended with 3"),
        at("[INFO] [launch]: shutdown (enough): the whole launch ends"),
        at("[INFO] [launch]: because of enough"),
        at("[INFO] [launch]: bye"),
    ];
    // The newest handler of the end of the second process reacts first.
    assert!(order.is_sorted() && out.contains("[INFO] [third-3]: started"), "{out}");
    let plan = robot.launch(&[&file, "--dry-run"]).success();
    for shown in [
        "\nwhen talker-1 ends:  (",
        "\n  start [second-2]  (",
        "\nwhen second-2 ends:  (",
        "  calls ended (",
        "  end the launch: enough\n",
        "\nwhen the launch ends:  (",
        "\n  an action that depends on the event  (",
    ] {
        assert!(plan.contains(shown), "{shown:?}: {plan}");
    }
}
