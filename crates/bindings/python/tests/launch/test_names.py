"""The names of stock `launch` that launch files import, and the errors for other names."""

import json
import re
import subprocess
import sys

import pytest

MODULES = """
launch.launch_context LaunchContext
launch.launch_description LaunchDescription
launch.launch_description_entity LaunchDescriptionEntity
launch.launch_description_source LaunchDescriptionSource
launch.substitution Substitution
launch.some_substitutions_type SomeSubstitutionsType
launch.some_entities_type SomeEntitiesType
launch.action Action
launch.condition Condition
launch.event Event
launch.event_handler EventHandler
launch.substitutions.path_join_substitution PathJoinSubstitution
launch.substitutions.launch_configuration LaunchConfiguration
launch.substitutions.substitution_failure SubstitutionFailure
launch.actions.include_launch_description IncludeLaunchDescription
launch.actions.declare_launch_argument DeclareLaunchArgument
launch.actions.shutdown_action Shutdown
launch.conditions.if_condition IfCondition
launch.events.process ProcessExited
launch.events.process.process_exited ProcessExited
launch.event_handlers.on_process_exit OnProcessExit
launch.launch_description_sources.python_launch_description_source PythonLaunchDescriptionSource
launch.frontend expose_action
launch.frontend expose_substitution
launch.frontend Entity
launch.frontend Parser
launch.frontend.type_utils get_data_type_from_identifier
launch.utilities normalize_to_list_of_substitutions
launch.utilities perform_substitutions
launch.utilities.type_utils normalize_typed_substitution
launch.logging get_logger
launch LaunchService
launch LaunchIntrospector
launch logging
launch frontend
launch utilities
launch_ros.actions.node Node
launch_ros.actions.push_ros_namespace PushRosNamespace
launch_ros.parameter_descriptions ParameterValue
launch_ros.parameters_type SomeParameters
launch_ros.remap_rule_type SomeRemapRules
launch_ros.descriptions.composable_node ComposableNode
launch_ros.events matches_node_name
launch_ros.events.lifecycle ChangeState
launch_ros.event_handlers.on_state_transition OnStateTransition
launch_ros.substitutions.find_package FindPackageShare
launch_ros.utilities normalize_parameters
launch_ros.utilities.namespace_utils make_namespace_absolute
launch_xml.launch_description_sources XMLLaunchDescriptionSource
launch_yaml.launch_description_sources.yaml_launch_description_source YAMLLaunchDescriptionSource
"""


def test_modules_have_their_names(loaded):
    lines = [line.split() for line in MODULES.strip().splitlines()]
    imports = "\n".join(f"from {module} import {name}" for module, name in lines)
    loaded(f"{imports}\nfrom launch import LaunchDescription\n"
           "generate_launch_description = LaunchDescription\n")


def test_modules_are_reached_by_attributes(loaded):
    loaded("""
        import launch, launch_ros
        launch.actions.include_launch_description.IncludeLaunchDescription
        launch.substitutions, launch.conditions, launch.event_handlers, launch.events.process
        launch.launch_description_sources.python_launch_description_source
        launch.logging.get_logger('x').warning('a')
        launch_ros.actions.Node, launch_ros.substitutions, launch_ros.descriptions
        launch_ros.parameter_descriptions.ParameterValue, launch_ros.events.lifecycle
        launch.frontend.expose_action('a')(launch.Action)
        assert launch.utilities.is_a(1, int)
        generate_launch_description = launch.LaunchDescription
    """)


def test_from_star_gives_what_stock_gives(loaded):
    loaded("""
        from launch import *
        from launch.actions import *
        from launch_ros.actions import *
        LaunchDescription, Action, actions, DeclareLaunchArgument, Node, RosTimer
        generate_launch_description = LaunchDescription
    """)


@pytest.mark.parametrize(("line", "error"), [
    ("from launch import Launchdescription",
     "ImportError: `launch` has no `Launchdescription`; did you mean `LaunchDescription`?"),
    ("from launch import IncludeLaunchDescription",
     "ImportError: `launch` has no `IncludeLaunchDescription`: import it from `launch.actions`"),
    ("from launch.actions import Node",
     "ImportError: `launch.actions` has no `Node`: import it from `launch_ros.actions`"),
    ("from launch.substitutions import FindPackageShare", "ImportError: `launch.substitutions`"
     " has no `FindPackageShare`: import it from `launch_ros.substitutions`"),
    ("from launch_ros.actions import ComposableNode",
     "ImportError: `launch_ros.actions` has no `ComposableNode`: import it from"
     " `launch_ros.descriptions`"),
    ("from launch.launch_description_sources import XMLLaunchDescriptionSource",
     "ImportError: `launch.launch_description_sources` has no `XMLLaunchDescriptionSource`:"
     " import it from `launch_xml.launch_description_sources`"),
    ("import launch\nlaunch.actions.ExecuteProces",
     "AttributeError: `launch.actions` has no `ExecuteProces`; did you mean `ExecuteProcess`?"),
    ("import launch\nlaunch.LaunchService(argv=[])",
     "NotImplementedError: Feros has no LaunchService: give the file a function"),
    ("import launch_ros\nlaunch_ros.ros_adapters",
     "AttributeError: `launch_ros` has no `ros_adapters`: Feros does not need a node to launch"),
    ("import launch.absent", "ModuleNotFoundError: No module named 'launch.absent'"),
    ("import launch\nlaunch.LaunchContext().asyncio_loop",
     "NotImplementedError: `feros launch` has no event loop of asyncio"),
    ("import launch\nlaunch.LaunchContext().locals.event",
     "AttributeError: the local variables have no `event`"),
])
def test_what_is_missing_is_told_by_name(command, written, line, error):
    path = written(line)
    with pytest.raises(command.Failed) as failed:
        command.load(path)
    assert failed.value.error.startswith(error)
    assert failed.value.at[:2] == [str(path), line.count("\n") + 1]


def test_missing_names_are_asked_for_without_an_error(loaded):
    loaded("""
        import launch.actions
        assert not hasattr(launch.actions, 'Foo') and getattr(launch.actions, 'Node', 1) == 1
        generate_launch_description = launch.LaunchDescription
    """)


def test_without_the_command_the_error_says_what_to_do(compatible):
    done = subprocess.run([sys.executable, "-c", f"""
import sys
sys.path.insert(0, {compatible!r})
from launch import LaunchContext
from launch.substitutions import LaunchConfiguration, TextSubstitution
assert TextSubstitution(text='a').perform(LaunchContext()) == 'a'
LaunchConfiguration('a').perform(LaunchContext())
"""], capture_output=True, text=True, timeout=120)
    assert "run `feros launch FILE`" in done.stderr


def test_properties_are_those_of_stock(loaded):
    loaded("""
        from launch import LaunchContext, LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        from launch.utilities import *
        from launch_ros.actions import *
        from launch_ros.descriptions import *
        from launch_ros.substitutions import FindPackageShare
        text = lambda parts: ''.join(part.text for part in parts)
        argument = DeclareLaunchArgument('a', default_value='1', choices=['1', '2'])
        assert (argument.name, text(argument.default_value)) == ('a', '1')
        assert argument.choices == ['1', '2'] and argument.description == "One of: ['1', '2']"
        node = Node(package='p', executable='e', name='n', namespace='/x', arguments=['-a'])
        assert text(node.node_package) == 'p' and text(node.node_executable) == 'e'
        assert node.node_name == '/x/n' and node.is_node_name_fully_specified()
        assert Node(executable='e').node_name.endswith(Node.UNSPECIFIED_NODE_NAME)
        assert len(node.cmd) == 2 and text(node.cmd[1]) == '-a'
        process = ExecuteProcess(cmd=['ls'], name='n', cwd='/', env={'A': 'b'}, shell=True)
        assert [text(word) for word in process.cmd] == ['ls'] and text(process.name) == 'n'
        assert process.shell and text(process.cwd) == '/' and text(process.env[0][1]) == 'b'
        included = IncludeLaunchDescription('/a.py', launch_arguments=[('a', 'b')])
        assert included.launch_arguments == [('a', 'b')]
        assert included.launch_description_source.location == '/a.py'
        component = ComposableNode(package='p', plugin='c', name='n')
        assert text(component.node_plugin) == 'c' and component.condition() is None
        assert text(LaunchConfiguration('a').variable_name) == 'a'
        assert text(FindPackageShare('p').package) == 'p'
        description = LaunchDescription([argument])
        description.add_action(GroupAction([DeclareLaunchArgument('b')]))
        description.add_entity(LogInfo(msg='a'))
        assert [one.name for one in description.get_launch_arguments()] == ['a', 'b']
        assert len(description.entities) == 3 and not description.deprecated
        context = LaunchContext(argv=['a'])
        context.extend_globals({'a': 1}), context.extend_locals({'b': 2})
        assert context.get_locals_as_dict() == {'a': 1, 'b': 2} and context.locals.a == 1
        assert text(normalize_to_list_of_substitutions(['a', 'b'])) == 'ab'
        ensure_argument_type(1, [int, str], 'a')
        assert normalize_to_list_of_entities([argument, [argument]]) == [argument, argument]
        generate_launch_description = LaunchDescription
    """)


def test_typed_values(command, loaded):
    command.configurations = {"a": "5", "b": "[1, 2]"}
    (function,) = loaded("""
        from typing import List
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        from launch.utilities.type_utils import *
        from launch_ros.descriptions import *
        from launch_ros.utilities import *
        def setup(context):
            a, b = LaunchConfiguration('a'), LaunchConfiguration('b')
            def typed(value, kind=None):
                return perform_typed_substitution(
                    context, normalize_typed_substitution(value, kind), kind)
            assert typed(a) == 5 and typed(a, str) == '5' and typed(b, List[int]) == [1, 2]
            assert typed(3.5, float) == 3.5 and typed([1, 2]) == [1, 2]
            assert ParameterValue(a, value_type=str).evaluate(context) == '5'
            assert Parameter('p', a).evaluate(context) == ('p', 5)
            assert str(ParameterFile(['x', a]).evaluate(context)) == 'x5'
            assert coerce_to_type('7', int) == 7 and get_typed_value(['1', '2']) == [1, 2]
            normalized = normalize_parameters([{'a': a, 'b': {'c': 1}}])
            assert evaluate_parameters(context, normalized) == ({'a': 5, 'b.c': 1},)
            assert is_substitution(['a', a]) and not is_substitution(['a'])
            return [LogInfo(msg='done')]
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    assert command.execute(function)[0]["message"] == "done"


def test_a_deprecated_description_warns(loaded):
    log, = loaded("""
        from launch import LaunchDescription
        def generate_launch_description():
            return LaunchDescription(deprecated_reason='use the other')
    """)
    assert (log["level"], "use the other" in log["message"]) == ("WARNING", True)


def test_sources_of_the_user_are_loaded_in_python(command, loaded):
    derived, direct = loaded("""
        from launch import LaunchDescription, LaunchDescriptionSource
        from launch.actions import *
        from launch.launch_description_sources import *
        class Own(LaunchDescriptionSource):
            def _get_launch_description(self, location):
                return LaunchDescription([LogInfo(msg=location)])
        def setup(context):
            source = PythonLaunchDescriptionSource(__file__)
            assert len(source.get_launch_description(context).entities) == 2
            module = load_python_launch_file_as_module(__file__)
            return module.generate_launch_description().entities[:1]
        def generate_launch_description():
            return LaunchDescription([
                IncludeLaunchDescription(Own(location='/x'), launch_arguments=[('a', 'b')]),
                OpaqueFunction(function=setup)])
    """)
    assert derived["do"] == "python"
    variable, log = command.execute(derived)
    assert (variable["do"], variable["name"], log["message"]) == ("set", "a", "/x")
    (again,) = command.execute(direct)
    assert again["do"] == "python"


def test_descriptions_are_shown(loaded):
    loaded("""
        from launch import LaunchDescription, LaunchIntrospector
        from launch.actions import *
        from launch.conditions import *
        from launch.event_handlers import *
        from launch.substitutions import *
        description = LaunchDescription([
            GroupAction([LogInfo(msg='a')]), LogInfo(msg='b', condition=IfCondition('1')),
            RegisterEventHandler(OnShutdown(on_shutdown=[LogInfo(msg='c')])),
            TimerAction(period=1.0, actions=[LogInfo(msg='d')])])
        text = LaunchIntrospector().format_launch_description(description)
        assert text.count('LogInfo') == 6, text
        assert AndSubstitution('a', LaunchConfiguration('b')).describe() == (
            "AndSubstitution('a', LaunchConfiguration('b'))")
        generate_launch_description = LaunchDescription
    """)


def test_the_page_of_the_book_has_all_names(loaded, repository):
    page = (repository / "docs/book/pages/from_launch_py.md").read_text()
    (log,) = loaded("""
        import importlib
        from launch import LaunchDescription
        from launch.actions import LogInfo
        names = [name for module in (
            'launch.actions', 'launch.conditions', 'launch.event_handlers', 'launch.substitutions',
            'launch_ros.actions', 'launch_ros.descriptions', 'launch_ros.substitutions')
            for name in importlib.import_module(module).__all__]
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg=' '.join(names))])
    """)
    not_for_files = {
        "InvalidConditionExpressionError", "OnActionEventBase", "OnIncludeLaunchDescription",
        "SubstitutionFailure", "event_named"}
    names = set(log["message"].split())
    assert len(names) > 80
    assert [name for name in sorted(names - not_for_files) if f"`{name}`" not in page] == []


def test_the_page_of_the_book_has_what_is_not_supported(loaded, repository):
    page = (repository / "docs/book/pages/from_launch_py.md").read_text()
    (log,) = loaded("""
        import importlib, json
        from launch import LaunchDescription
        from launch._unsupported import UNSUPPORTED, UNSUPPORTED_KEYWORDS
        from launch.actions import ExecuteProcess, LogInfo
        for name in UNSUPPORTED:
            one, *parts = name.split('.')
            one = importlib.import_module(one)
            for part in parts:
                one = getattr(one, part)
        for name in UNSUPPORTED_KEYWORDS:
            ExecuteProcess(cmd=['ls'], **{name: 'x'})
        names = [*(name.rpartition('.')[2] for name in UNSUPPORTED), *UNSUPPORTED_KEYWORDS]
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg=json.dumps(names))])
    """)
    names = json.loads(log["message"])
    assert len(names) > 10
    assert [name for name in names if not re.search(rf"`[\w.]*\b{name}\b", page)] == []
