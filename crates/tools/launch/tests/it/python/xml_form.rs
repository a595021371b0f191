//! Launch files in Python as XML, which gives the same plan.

use std::fs;
use std::path::Path;

use feros_launch::{Planner, PythonHost, PythonOptions};

use super::Scripts;
use crate::workspace::Workspace;

const IMPORTS: &str = "
from launch import *
from launch.actions import *
from launch.conditions import *
from launch.event_handlers import *
from launch.launch_description_sources import *
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.descriptions import *
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import *
from launch_xml.launch_description_sources import *
";

/// Texts with characters that have a meaning in XML, YAML, command lines or substitutions.
const TEXTS: &str = r#"
HARD = [r'a\b', "it's", '"q" <&>', '$(var x)', '\\$(', 'two  words', 'line\nbreak\t', 'ä', '', '#', "'5'",
        '5', 'true', ' a ', '~', 'a: b', '[1, 2]', '$', '$$', ';', '-1', '*', '1e3', 'null']

def generate_launch_description():
    x = LaunchConfiguration('x')
    return LaunchDescription([
        DeclareLaunchArgument('x', default_value=HARD[1] + HARD[2], description=' '.join(HARD)),
        DeclareLaunchArgument('mode', default_value='sim', choices=['sim', 'true', '5', r'\$(']),
        *(LogInfo(msg=text) for text in HARD),
        *(LogInfo(msg=['<', text, x, text, '>']) for text in HARD),
        *(LogInfo(msg=LaunchConfiguration('none', default=['d', text, x])) for text in HARD),
        *(SetEnvironmentVariable(f'E{i}', text) for i, text in enumerate(HARD)),
        ExecuteProcess(cmd=['echo', *HARD], name='words'),
        ExecuteProcess(cmd=[['echo', text, x, text] for text in HARD], name='parts'),
        ExecuteProcess(cmd=['echo "$HOME"', x, '|', r'tr a \\b'], shell=True, name='line'),
        Node(package='demo', executable='talker', arguments=HARD, ros_arguments=['--log-level', 'debug'],
             parameters=[{f'p{i}': text for i, text in enumerate(HARD)},
                         {f'q{i}': [text, 'b'] for i, text in enumerate(HARD)},
                         {f'r{i}': ParameterValue(['a', text, x], value_type=str)
                          for i, text in enumerate(HARD)}]),
        *(LogInfo(msg=word, condition=LaunchConfigurationEquals('mode', word))
          for word in ('sim', 'true', '5', 'True')),
        *(LogInfo(msg=word, condition=LaunchConfigurationNotEquals('mode', word))
          for word in ('sim', 'true')),
    ])
"#;

const STRUCTURE: &str = r#"
def generate_launch_description():
    x = LaunchConfiguration('x')
    box = ComposableNodeContainer(package='rclcpp_components', executable='component_container',
                                  name='box', namespace='in', output={'both': {'screen', 'log'}})
    other = ComposableNodeContainer(package='rclcpp_components', executable='component_container',
                                    name=['b', x], namespace='/abs', composable_node_descriptions=[])
    return LaunchDescription([
        DeclareBooleanLaunchArgument('on', default_value=True),
        DeclareLaunchArgument('x', default_value='3'),
        PushRosNamespace(['n', x]),
        GroupAction(scoped=False, condition=IfCondition(LaunchConfiguration('on')),
                    actions=[SetLaunchConfiguration('y', ['y', x]), UnsetEnvironmentVariable('A')]),
        GroupAction([PushRosNamespace('cell'), box, LoadComposableNodes(
            target_container=box, composable_node_descriptions=[ComposableNode(
                package='demo', plugin='d::C', name='c', condition=IfCondition(LaunchConfiguration('on')),
                parameters=[{'a': {'b': [1, 2]}, 'c': [x, x]}], remappings=[('a', x)],
                extra_arguments=[{'use_intra_process_comms': True, 'text': '5'}])])],
            launch_configurations={'kept': x}),
        other,
        LoadComposableNodes(target_container=other, composable_node_descriptions=[
            ComposableNode(package='demo', plugin='d::E')]),
        IncludeLaunchDescription(
            LaunchDescriptionSource(LaunchDescription([
                LogInfo(msg=LaunchConfiguration('who')), LogWarning(msg='second')])),
            launch_arguments={'who': x}.items(), condition=UnlessCondition('false')),
        IncludeLaunchDescription(
            XMLLaunchDescriptionSource([ThisLaunchFileDir(), '/inner.launch.xml']),
            launch_arguments=[('who', ['a', x])]),
        IncludeLaunchDescription(PythonLaunchDescriptionSource(
            PathJoinSubstitution([ThisLaunchFileDir(), 'part.launch.py']))),
        SetParameter('text', '5'), SetParameter('numbers', [1, 2]), SetParameter('flag', x),
        SetRemap(x, 'to'), SetUseSimTime(True),
        AppendEnvironmentVariable('PATHS', 'new', prepend=True, separator=';'),
        Node(package='demo', executable='talker', name='all', exec_name='label', prefix='nice -n 1',
             parameters=[{'nan': float('nan'), 'big': 1e300, 'one': 1.0, 'none': [], 'neg': -5,
                          'bools': [True, False], 'texts': ['true', 'b'], 'doubles': [1.5, 2.0]},
                         ParameterFile([ThisLaunchFileDir(), '/share/demo/p.yaml'], allow_substs=True)],
             respawn=True, respawn_delay=1.5, respawn_max_retries=2, emulate_tty=True,
             sigterm_timeout='7', additional_env={'A': x}, on_exit=Shutdown(), cwd='/',
             condition=IfCondition(AndSubstitution(
                 LaunchConfiguration('on'), EqualsSubstitution(x, '3')))),
        LifecycleNode(package='demo', executable='talker', name='m', namespace='', autostart=True),
        TimerAction(period=x, actions=[LogError(msg='later'), Node(package='demo', executable='talker')]),
        LogInfo(msg=[PythonExpression([x, ' * 2 if ', x, " > 1 else 'no'"]), ' ',
                     IfElseSubstitution(LaunchConfiguration('on'), 'yes', x), ' ',
                     EnvironmentVariable('NONE', default_value=['d', x])]),
        ResetLaunchConfigurations({'left': '1'}), UnsetLaunchConfiguration('left'),
    ])
"#;

/// The example of the page on launch files in Python.
fn example_of_the_book() -> String {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/book/pages/from_launch_py.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```py\n").expect("the page has an example");
    rest.split_once("```").expect("it ends").0.to_owned()
}

/// Plans of launch files with the package `launch` of Feros.
struct Robot {
    workspace: Workspace,
    planner: Planner,
}

impl Robot {
    /// `None`, which is reported, if there is no Python.
    fn new() -> Option<Self> {
        let Scripts { workspace, .. } = Scripts::new()?;
        let host = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../bindings/python/python/feros/_launch_host.py");
        let command = ["python3", "-B", host.to_str().unwrap()].map(str::to_owned).to_vec();
        let planner = workspace.planner().python(PythonOptions {
            host: PythonHost::Command(command),
            arguments: Vec::new(),
            prints_to_standard_error: true,
            notice: None,
        });
        Some(Self { workspace, planner })
    }

    /// The plan of a file, without positions, in which `W` stands for the folder.
    fn plan(&self, file: &Path, given: &[(&str, &str)]) -> String {
        let given: Vec<_> =
            given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let plan = self.planner.preview(file, &given).unwrap().to_string();
        let plan = plan.replace(self.workspace.path().to_str().unwrap(), "W");
        let without_position = |line: &str| match line.rsplit_once("  (W/") {
            Some((line, _)) => line.to_owned(),
            None => line.to_owned(),
        };
        plan.lines().skip(1).map(|line| without_position(line) + "\n").collect()
    }

    /// The arguments of a file, without their positions.
    fn arguments(&self, file: &Path) -> String {
        let arguments = self.planner.arguments(file, &[]).unwrap().into_iter();
        let told = arguments.map(|argument| {
            format!(
                "{:?}",
                (argument.name, argument.default, argument.description, argument.choices)
            )
        });
        told.collect::<Vec<_>>().join("\n")
    }
}

/// The first line in which two texts differ.
fn difference(left: &str, right: &str) -> Option<(String, String)> {
    let (mut left, mut right) = (left.lines(), right.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => {
                return Some((one.unwrap_or("").to_owned(), other.unwrap_or("").to_owned()));
            }
        }
    }
}

type Given<'a> = &'a [(&'a str, &'a str)];

#[test]
fn the_xml_form_of_a_file_gives_the_same_plan() {
    let Some(robot) = Robot::new() else { return };
    let workspace = &robot.workspace;
    for program in ["lib/demo/driver", "lib/demo/camera"] {
        workspace.script(program, "");
    }
    workspace.file("share/demo/p.yaml", "/**: {ros__parameters: {gain: $(var x)}}\n");
    workspace.file("share/demo/config/driver.yaml", "/**: {ros__parameters: {gain: 2}}\n");
    let inner = "<launch><arg name='who'/><log message='$(var who)'/></launch>";
    workspace.file("inner.launch.xml", inner);
    workspace.file(
        "part.launch.py",
        "from launch import LaunchDescription\nfrom launch.actions import LogInfo\n\
         def generate_launch_description():\n    return LaunchDescription([LogInfo(msg='part')])\n",
    );
    let book = example_of_the_book();
    let (texts, structure) = (format!("{IMPORTS}{TEXTS}"), format!("{IMPORTS}{STRUCTURE}"));
    let robots: [(&str, &str, &[Given<'_>]); 3] = [
        ("book", &book, &[&[], &[("rate", "2.5"), ("camera", "false")]]),
        ("texts", &texts, &[&[], &[("mode", "true")], &[("mode", "5"), ("x", "a b")]]),
        ("structure", &structure, &[&[], &[("on", "false"), ("x", "1")]]),
    ];
    for (name, text, all_given) in robots {
        let python = workspace.file(&format!("{name}.launch.py"), text);
        let form = robot.planner.to_xml(&python).unwrap();
        let xml = workspace.file(&format!("{name}.form.launch.xml"), &form);
        for given in all_given {
            let (expected, plan) = (robot.plan(&python, given), robot.plan(&xml, given));
            assert_eq!(difference(&plan, &expected), None, "{name} {given:?}");
            assert!(plan.lines().count() > 3, "{plan}");
        }
        assert_eq!(robot.arguments(&xml), robot.arguments(&python), "{name}");
        let again = robot.planner.to_xml(&xml).unwrap();
        assert_eq!(difference(&again, &form), None, "{name}: its own form");
    }
}

#[test]
fn what_only_python_can_do_is_refused_by_name() {
    let Some(robot) = Robot::new() else { return };
    let body = r#"
class Own(Substitution):
    def describe(self): return 'Own()'

def setup(context): return []

def generate_launch_description():
    process = ExecuteProcess(cmd=['true'])
    return LaunchDescription([
        OpaqueFunction(function=setup),
        process,
        RegisterEventHandler(OnProcessExit(target_action=process, on_exit=[])),
        LogInfo(msg=Own()),
        LogInfo(msg='a', condition=Condition(predicate=lambda context: True)),
        ExecuteProcess(cmd=['true'], on_exit=[LogInfo(msg='over')]),
        ExecuteProcess(cmd=['true'], env={'A': '1'}),
        GroupAction([PushLaunchConfigurations(), ForLoop('2', function=lambda i: [])]),
        LogInfo(msg=PythonExpression('len("abc")')),
        Node(package='demo', executable='talker', output={'stdout': 'screen', 'stderr': 'own_log'}),
        LogInfo(msg='a', condition=LaunchConfigurationEquals('a', None)),
    ])
"#;
    let first = IMPORTS.lines().count()
        + body.lines().position(|line| line.contains("Opaque")).unwrap()
        + 1;
    let file = robot.workspace.file("python.launch.py", &format!("{IMPORTS}{body}"));
    let error = robot.planner.to_xml(&file).unwrap_err().to_string();
    for (line, expected) in [
        (0, "the function or class `setup` has no XML form: keep the file in Python"),
        (2, "`OnProcessExit` has no XML form: keep the file in Python"),
        (3, "Own() has no XML form: Python evaluates it; use a substitution of"),
        (4, "the condition has no XML form: Python evaluates it; write `IfCondition`"),
        (5, "the reaction `on_exit` has no XML form: only `on_exit=Shutdown()` has"),
        (6, "`env`, which replaces the environment, has no XML form: write `additional_env`"),
        (7, "`PushLaunchConfigurations` has no XML form: write a `GroupAction` around"),
        (7, "`ForLoop` with a function has no XML form"),
        (8, "the expression `len(\"abc\")` has no XML form: only Python can evaluate it"),
        (9, "this combination of places in `output` has no XML form: write one of"),
        (10, "the comparison of `LaunchConfigurationEquals` has no XML form: write"),
    ] {
        let place = format!("python.launch.py:{}:", first + line);
        let told = error.lines().any(|told| told.contains(&place) && told.contains(expected));
        assert!(told, "{place} {expected}: {error}");
    }
    assert_eq!(error.matches("has no XML form").count(), 11, "{error}");
}
