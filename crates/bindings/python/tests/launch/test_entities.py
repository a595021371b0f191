"""Each class of launch files with each of its keywords gives the data of the protocol."""

import pytest

VAR = {"s": "var", "a": ["x"]}
X = "LaunchConfiguration('x')"
TRUTH = {"truth": [VAR]}


@pytest.mark.parametrize(("line", "data"), [
    (X, VAR),
    ("LaunchConfiguration(['a', 'b'], default=True)", {"s": "var", "a": ["ab", "True"]}),
    ("LaunchConfiguration('a', default=0.5)", {"s": "var", "a": ["a", "0.5"]}),
    ("LaunchConfiguration('a', default=['b', 1, LaunchConfiguration('x')])",
     {"s": "var", "a": ["a", ["b1", VAR]]}),
    ("EnvironmentVariable('A')", {"s": "env", "a": ["A"]}),
    ("EnvironmentVariable(name='A', default_value='b')", {"s": "env", "a": ["A", "b"]}),
    ("FindPackageShare('p')", {"s": "find-pkg-share", "a": ["p"]}),
    ("FindPackageShare(package=LaunchConfiguration('x'))", {"s": "find-pkg-share", "a": [[VAR]]}),
    ("FindPackagePrefix('p')", {"s": "find-pkg-prefix", "a": ["p"]}),
    ("ExecutableInPackage(package='p', executable='e')", {"s": "exec-in-pkg", "a": ["e", "p"]}),
    ("FindExecutable(name='ls')", {"s": "find-exec", "a": ["ls"]}),
    (f"PathJoinSubstitution(['a', {X}, ['b', {X}]])",
     {"s": "path-join", "a": ["a", [VAR], ["b", VAR]]}),
    (f"PathJoinSubstitution(['a']) / 'b' / ['c', {X}]",
     {"s": "path-join", "a": ["a", "b", ["c", VAR]]}),
    (f"PathSubstitution({X}) / 'b'", {"s": "path-join", "a": [[VAR], "b"]}),
    ("PathSubstitution(__import__('pathlib').Path('/a')) / 'b'",
     {"s": "path-join", "a": ["/a", "b"]}),
    ("ThisLaunchFile()", {"s": "filename", "a": []}),
    ("ThisLaunchFileDir()", {"s": "dirname", "a": []}),
    ("LaunchLogDir()", {"s": "launch_log_dir", "a": []}),
    ("FileContent('/a')", {"s": "file-content", "a": ["/a"]}),
    (f"Command(['xacro ', {X}])", {"s": "command", "a": [["xacro ", VAR], "fail"]}),
    ("Command('ls', on_stderr='warn')", {"s": "command", "a": ["ls", "warn"]}),
    ("AnonName('n')", {"s": "anon", "a": ["n"]}),
    (f"NotSubstitution({X})", {"s": "not", "a": [[VAR]]}),
    (f"AndSubstitution({X}, 'true')", {"s": "and", "a": [[VAR], "true"]}),
    ("OrSubstitution(left='1', right='0')", {"s": "or", "a": ["1", "0"]}),
    (f"AnySubstitution('0', {X}, '1')", {"s": "any", "a": ["0", [VAR], "1"]}),
    ("AllSubstitution()", {"s": "all", "a": []}),
    (f"EqualsSubstitution({X}, 1)", {"s": "equals", "a": [[VAR], "1"]}),
    ("NotEqualsSubstitution(None, True)", {"s": "not-equals", "a": ["", "True"]}),
    ("EqualsSubstitution([1, 2], {'a': 1})", {"s": "equals", "a": ["[1, 2]", "{'a': 1}"]}),
    ("IfElseSubstitution('1', 'a')", {"s": "if", "a": ["1", "a", ""]}),
    ("IfElseSubstitution('1', if_value='a', else_value='b')", {"s": "if", "a": ["1", "a", "b"]}),
    (f"StringJoinSubstitution(['a', [{X}, 'b']], delimiter=', ')",
     {"s": "string-join", "a": [", ", "a", [VAR, "b"]]}),
    (f"StringStripSubstitution({X})", {"s": "string-strip", "a": [[VAR]]}),
    ("IsEmptySubstitution('')", {"s": "is-empty", "a": [""]}),
    ("NotEmptySubstitution('')", {"s": "not-empty", "a": [""]}),
    ("ForLoopIndex('i')", {"s": "index", "a": ["i"]}),
    ("ForEachVar('name')", {"s": "for-var", "a": ["name"]}),
    ("ForEachVar('name', default_value='b')", {"s": "for-var", "a": ["name", "b"]}),
    ("__import__('launch_ros.substitutions').substitutions.Parameter('p')",
     {"s": "param", "a": ["p"]}),
    ("__import__('launch_ros.substitutions').substitutions.Parameter('p', default=1)",
     {"s": "param", "a": ["p", "1"]}),
    ("LocalSubstitution('event.pid')",
     {"py": 1, "describe": "LocalSubstitution('event.pid')"}),
    ("PythonExpression(['not ', LaunchConfiguration('x')])",
     {"s": "eval", "a": [["not ", VAR]], "py": 1}),
    ("PythonExpression('1', python_modules=['os', 'math'])",
     {"py": 1, "describe": "PythonExpression('1')"}),
])
def test_substitutions(entity, line, data):
    assert entity(f"LogInfo(msg={line})")["message"] == [data]


@pytest.mark.parametrize(("line", "data"), [
    ("'a'", "a"), ("['a', 'b']", "ab"), ("[]", ""),
    ("TextSubstitution(text='$(var x)')", "$(var x)"),
    ("('a', TextSubstitution(text='b'))", "ab"), ("(one for one in ['a', 'b'])", "ab"),
])
def test_texts_are_joined(entity, line, data):
    assert entity(f"LogInfo(msg={line})")["message"] == data


@pytest.mark.parametrize(("line", "data"), [
    (f"IfCondition({X})", TRUTH),
    (f"UnlessCondition(['', {X}])", {"truth": ["", VAR], "negated": True}),
    ("LaunchConfigurationEquals('a', 'b')", {"configuration": "a", "expected": "b"}),
    (f"LaunchConfigurationEquals(launch_configuration_name='a', expected_value={X})",
     {"configuration": "a", "expected": [VAR]}),
    ("LaunchConfigurationNotEquals('a', None)",
     {"configuration": "a", "expected": None, "negated": True}),
    ("Condition(predicate=lambda context: True)", {"py": 1}),
])
def test_conditions(entity, line, data):
    assert entity(f"LogInfo(msg='a', condition={line})")["if"] == data


@pytest.mark.parametrize(("line", "data"), [
    ("DeclareLaunchArgument('a')", {"do": "declare", "name": "a"}),
    (f"DeclareLaunchArgument(name='a', default_value=['1', {X}], description='of a',"
     f" choices=['1', '2'], condition=IfCondition({X}))",
     {"do": "declare", "name": "a", "default": ["1", VAR], "description": "of a",
      "choices": ["1", "2"], "if": TRUTH}),
    ("DeclareBooleanLaunchArgument('a', default_value=True)",
     {"do": "declare", "name": "a", "default": "True",
      "choices": ["true", "false", "True", "False", "TRUE", "FALSE"]}),
    (f"SetLaunchConfiguration(name='a', value={X})",
     {"do": "set", "name": "a", "value": [VAR]}),
    ("UnsetLaunchConfiguration('a')", {"do": "unset", "name": "a"}),
    ("PushLaunchConfigurations()", {"do": "push_configurations"}),
    ("PopLaunchConfigurations()", {"do": "pop_configurations"}),
    (f"ResetLaunchConfigurations({{'a': {X}}})",
     {"do": "reset_configurations", "keep": [["a", [VAR]]]}),
    ("ResetLaunchConfigurations()", {"do": "reset_configurations", "keep": []}),
    ("SetEnvironmentVariable(name='A', value='b')",
     {"do": "set_environment", "name": "A", "value": "b"}),
    ("UnsetEnvironmentVariable('A')", {"do": "unset_environment", "name": "A"}),
    ("AppendEnvironmentVariable('A', 'b')",
     {"do": "append_environment", "name": "A", "value": "b", "prepend": False,
      "separator": ":"}),
    (f"AppendEnvironmentVariable(name='A', value='b', prepend={X}, separator=' ')",
     {"do": "append_environment", "name": "A", "value": "b", "prepend": [VAR],
      "separator": " "}),
    ("PushEnvironment()", {"do": "push_environment"}),
    ("PopEnvironment()", {"do": "pop_environment"}),
    ("ResetEnvironment()", {"do": "reset_environment"}),
    ("PushRosNamespace('n')", {"do": "push_namespace", "namespace": "n"}),
    (f"PushROSNamespace(namespace={X}, condition=IfCondition({X}))",
     {"do": "push_namespace", "namespace": [VAR], "if": TRUTH}),
    ("SetParameter('use_sim_time', True)",
     {"do": "set_parameter", "name": "use_sim_time", "value": {"is": True}}),
    (f"SetParameter(name='a', value={X})",
     {"do": "set_parameter", "name": "a", "value": {"text": [VAR]}}),
    ("SetParametersFromFile(filename='/a')",
     {"do": "set_parameters_from_file", "file": "/a"}),
    ("SetRemap(src='a', dst='b')", {"do": "set_remap", "from": "a", "to": "b"}),
    ("SetUseSimTime(True)", {"do": "set_use_sim_time", "value": True}),
    ("SetROSLogDir('/a')", {"do": "set_ros_log_dir", "folder": "/a"}),
    ("LogInfo(msg='a')", {"do": "log", "level": "INFO", "message": "a"}),
    ("LogDebug(msg='a')", {"do": "log", "level": "DEBUG", "message": "a"}),
    ("LogWarning(msg='a')", {"do": "log", "level": "WARNING", "message": "a"}),
    ("LogError(msg='a')", {"do": "log", "level": "ERROR", "message": "a"}),
    (f"Log(msg='a', level={X})", {"do": "log", "level": [VAR], "message": "a"}),
    ("Shutdown()", {"do": "shutdown", "reason": "reason not given"}),
    (f"Shutdown(reason='over', condition=IfCondition({X}))",
     {"do": "shutdown", "reason": "over", "if": TRUTH}),
    ("EmitEvent(event=__import__('launch').events.Shutdown(reason='over'))",
     {"do": "shutdown", "reason": "over"}),
    (f"OpaqueFunction(function=print, condition=IfCondition({X}))",
     {"do": "python", "name": "print", "if": TRUTH}),
    ("OpaqueFunction(function=__import__('functools').partial(print, 1))",
     {"do": "python", "name": "print"}),
    (f"ForEach({X}, function=print)", {"do": "for_each", "values": [VAR], "py": 1}),
    ("ForLoop(3, function=print, name='n')",
     {"do": "for", "length": "3", "name": "n", "py": 1}),
    ("IncludeLaunchDescription('/a.xml', launch_arguments={'a': 'b'}.items())",
     {"do": "include", "file": "/a.xml", "arguments": [["a", "b"]]}),
    (f"IncludeLaunchDescription(PythonLaunchDescriptionSource(['/a/', {X}]),"
     f" launch_arguments=[('a', {X})], condition=IfCondition({X}))",
     {"do": "include", "file": ["/a/", VAR], "language": "python", "arguments": [["a", [VAR]]],
      "if": TRUTH}),
    ("IncludeLaunchDescription(launch_description_source=AnyLaunchDescriptionSource('/a'))",
     {"do": "include", "file": "/a", "arguments": []}),
    ("IncludeLaunchDescription(__import__('launch_xml.launch_description_sources')"
     ".launch_description_sources.XMLLaunchDescriptionSource('/a'))",
     {"do": "include", "file": "/a", "language": "xml", "arguments": []}),
    ("IncludeLaunchDescription(__import__('launch_yaml.launch_description_sources')"
     ".launch_description_sources.YAMLLaunchDescriptionSource('/a'))",
     {"do": "include", "file": "/a", "language": "yaml", "arguments": []}),
    ("IncludeLaunchDescription(FrontendLaunchDescriptionSource('/a'))",
     {"do": "include", "file": "/a", "arguments": []}),
    ("IncludeLaunchDescription(LaunchDescriptionSource(LaunchDescription()))",
     {"do": "include", "entities": [], "arguments": []}),
])
def test_actions(entity, line, data):
    assert entity(line) == data


@pytest.mark.parametrize(("keywords", "data"), [
    ("", {}),
    ("scoped=False, forwarding=False", {"scoped": False, "forwarding": False}),
    (f"launch_configurations={{'a': {X}}}", {"configurations": [["a", [VAR]]]}),
    (f"condition=IfCondition({X})", {"if": TRUTH}),
])
def test_groups(entity, keywords, data):
    made = entity(f"GroupAction([LogInfo(msg='a')], {keywords})")
    (action,) = made.pop("actions")
    assert action["message"] == "a"
    assert made == {
        "do": "group", "scoped": True, "forwarding": True, "configurations": [], **data}


@pytest.mark.parametrize(("line", "data"), [
    ("TimerAction(period=1.5, actions=[LogInfo(msg='a')])", {"ros": False, "period": "1.5"}),
    (f"TimerAction(period={X}, actions=[LogInfo(msg='a')], cancel_on_shutdown=False)",
     {"ros": False, "period": [VAR], "cancel_on_shutdown": False}),
    ("RosTimer(period=2, actions=[LogInfo(msg='a')])", {"ros": True, "period": "2"}),
])
def test_timers(entity, line, data):
    made = entity(line)
    assert made.pop("actions")[0]["message"] == "a"
    assert made == {"do": "timer", "cancel_on_shutdown": True, **data}


PROCESS = [
    ("cwd='/a'", {"cwd": "/a"}),
    (f"env={{'A': 'b', {X}: {X}}}", {"env": [["A", "b"], [[VAR], [VAR]]]}),
    ("additional_env={'A': 'b'}", {"additional_env": [["A", "b"]]}),
    ("prefix=['gdb ', '--args']", {"prefix": "gdb --args"}),
    ("output='screen'", {"output": "screen"}),
    (f"output={X}", {"output": [VAR]}),
    ("output={'stdout': 'screen', 'stderr': {'screen', 'log'}, 'both': ['own_log']}",
     {"output": {"stdout": ["screen"], "stderr": ["log", "screen"], "both": ["own_log"]}}),
    ("respawn=True, respawn_delay=2.0, respawn_max_retries=3",
     {"respawn": True, "respawn_delay": "2.0", "respawn_max_retries": "3"}),
    (f"respawn={X}", {"respawn": [VAR]}),
    (f"sigterm_timeout='5', sigkill_timeout={X}",
     {"sigterm_timeout": "5", "sigkill_timeout": [VAR]}),
    ("emulate_tty=True", {"emulate_tty": True}),
    ("on_exit=print", {"on_exit": {"py": 1, "name": "print"}}),
    ("cached_output=True, output_format='a', log_cmd=True", {}),
    (f"condition=UnlessCondition({X})", {"if": {**TRUTH, "negated": True}}),
    ("shell=True", {"shell": True}),
]


@pytest.mark.parametrize(("keywords", "data"), [*PROCESS, ("name='n'", {"name": "n"})])
def test_processes(entity, keywords, data):
    made = entity(f"ExecuteProcess(cmd=['ls', ['-', {X}], {X}], {keywords})")
    assert made == {
        "do": "execute", "cmd": ["ls", ["-", VAR], [VAR]], "respawn": False, "shell": False,
        **data}


def test_an_executable_starts_too(entity):
    made = entity("ExecuteLocal(process_description=__import__('launch.descriptions').descriptions"
                  ".Executable(cmd=['ls'], arguments=['-l'], name='n', prefix='p'))")
    assert made == {"do": "execute", "cmd": ["ls", "-l"], "name": "n", "prefix": "p",
                    "respawn": False, "shell": False}


NODE = [
    ("package='p'", {"package": "p"}),
    (f"package={X}, name=['a', {X}], namespace='/n'",
     {"package": [VAR], "name": ["a", VAR], "namespace": "/n"}),
    ("exec_name='label'", {"exec_name": "label"}),
    (f"arguments=['-a', [{X}, 'b']], ros_arguments=['--log-level', 'debug']",
     {"arguments": ["-a", [VAR, "b"]], "ros_arguments": ["--log-level", "debug"]}),
    (f"remappings=[('a', 'b'), ({X}, ['c', {X}])]",
     {"remappings": [["a", "b"], [[VAR], ["c", VAR]]]}),
    ("remappings={('a', 'b')}", {"remappings": [["a", "b"]]}),
]


@pytest.mark.parametrize(("keywords", "data"), PROCESS + NODE)
def test_nodes(entity, keywords, data):
    assert entity(f"Node(executable='talker', {keywords})") == {
        "do": "node", "executable": "talker", "parameters": [], "remappings": [],
        "arguments": [], "ros_arguments": [], "respawn": False, **data}


def test_other_kinds_of_nodes(entity):
    node = {"package": "p", "executable": "e", "name": "n", "namespace": "", "parameters": [],
            "remappings": [], "arguments": [], "ros_arguments": [], "respawn": False}
    of = "package='p', executable='e', name='n', namespace=''"
    assert entity(f"LifecycleNode({of})") == {**node, "do": "lifecycle_node", "autostart": False}
    assert entity(f"LifecycleNode({of}, autostart={X})")["autostart"] == [VAR]
    assert entity(f"ComposableNodeContainer({of})") == {
        **node, "do": "container", "components": []}
    assert entity("LifecycleTransition(lifecycle_node_names=['a'], transition_ids=[1, '3'])") == {
        "do": "lifecycle_transition", "nodes": ["a"], "transitions": ["1", "3"]}


def test_components(entity, loaded, column):
    component = (
        "ComposableNode(package='p', plugin='p::C', name='c', namespace='n',"
        f" parameters=[{{'a': 1}}], remappings=[('a', 'b')], condition=IfCondition({X}),"
        " extra_arguments=[{'use_intra_process_comms': True}])")
    data = {
        "package": "p", "plugin": "p::C", "name": "c", "namespace": "n", "if": TRUTH,
        "parameters": [{"map": [["a", {"is": 1}]]}], "remappings": [["a", "b"]],
        "extra_arguments": [{"map": [["use_intra_process_comms", {"is": True}]]}]}
    made = entity(f"ComposableNodeContainer(package='p', executable='e', name='n', namespace='',"
                  f" composable_node_descriptions=[{component}])")
    assert made["components"] == [data]
    made = entity(f"LoadComposableNodes(target_container={X},"
                  f" composable_node_descriptions=[{component}])")
    assert made == {"do": "load_components", "target": [VAR], "components": [data]}
    container, load = loaded("""
        from launch import LaunchDescription
        from launch_ros.actions import *
        from launch_ros.descriptions import ComposableNode
        def generate_launch_description():
            container = ComposableNodeContainer(package='p', executable='e', name='n', namespace='')
            return LaunchDescription([container, LoadComposableNodes(
                target_container=container,
                composable_node_descriptions=[ComposableNode(package='p', plugin='C')])])
    """)
    assert load["target"] == {"container": container["id"]}
    assert load["components"][0]["at"][1:] == [8, column(39)]


@pytest.mark.parametrize(("value", "data"), [
    ("1", {"is": 1}), ("1.0", {"is": 1.0}), ("True", {"is": True}), ("'1'", {"is": "1"}),
    ("''", {"is": ""}), ("-2**63", {"is": -2**63}), ("2**63", {"is": {"int": str(2**63)}}),
    ("float('nan')", {"is": {"float": "nan"}}), ("-float('inf')", {"is": {"float": "-inf"}}),
    ("[1, 2]", {"is": [1, 2]}), ("[1, 2.5]", {"is": [1.0, 2.5]}), ("(True, False)",
                                                                {"is": [True, False]}),
    ("['a', '1']", {"is": ["a", "1"]}), ("[]", {"is": []}),
    (X, {"text": [VAR]}),
    (f"['a', {X}]", {"text": ["a", VAR]}),
    (f"[['a', {X}], 'b']", {"list": [{"text": ["a", VAR]}, {"is": "b"}]}),
    (f"[[{X}], [{X}]]", {"list": [{"text": [VAR]}, {"text": [VAR]}]}),
    (f"[1, {X}]", {"list": [{"is": 1}, {"text": [VAR]}]}),
    (f"ParameterValue({X})", {"text": [VAR]}),
    (f"ParameterValue({X}, value_type=str)", {"text": [VAR], "type": "str"}),
    (f"ParameterValue(['a', {X}], value_type=float)", {"text": ["a", VAR], "type": "float"}),
    ("ParameterValue(1.5, value_type=float)", {"is": 1.5, "type": "float"}),
    ("ParameterValue('1')", {"is": "1"}),
    ("ParameterValue([1, 2], value_type=__import__('typing').List[int])",
     {"is": [1, 2], "type": "list_of_int"}),
    (f"ParameterValue([[{X}], 'b'], value_type=list[str])",
     {"list": [{"text": [VAR]}, {"is": "b"}], "type": "list_of_str"}),
])
def test_parameters(entity, value, data):
    made = entity(f"Node(executable='e', parameters=[{{'p': {value}}}])")["parameters"]
    assert made == [{"map": [["p", data]]}]
    assert type(made[0]["map"][0][1].get("is")) is type(data.get("is"))


@pytest.mark.parametrize(("source", "data"), [
    ("'/a.yaml'", {"file": "/a.yaml", "substitute": False}),
    ("__import__('pathlib').Path('/a.yaml')", {"file": "/a.yaml", "substitute": False}),
    (f"['/a/', {X}]", {"file": ["/a/", VAR], "substitute": False}),
    ("ParameterFile('/a')", {"file": "/a", "substitute": False}),
    (f"ParameterFile(param_file={X}, allow_substs=True)", {"file": [VAR], "substitute": True}),
    (f"ParameterFile(param_file={X}, allow_substs={X})", {"file": [VAR], "substitute": [VAR]}),
    ("Parameter('a', 1)", {"map": [["a", {"is": 1}]]}),
    (f"Parameter(['a', {X}], {X}, value_type=int)",
     {"map": [[["a", VAR], {"text": [VAR], "type": "int"}]]}),
    (f"{{'a': 1, 'b': {{'c': 2, {X}: {{'d': 3}}}}, ({X}, 'e'): 4}}",
     {"map": [["a", {"is": 1}], ["b.c", {"is": 2}], [["b.", VAR, ".d"], {"is": 3}],
              [[VAR, "e"], {"is": 4}]]}),
    ("{}", {"map": []}),
])
def test_sources_of_parameters(entity, source, data):
    assert entity(f"Node(executable='e', parameters=[{source}])")["parameters"] == [data]


@pytest.mark.parametrize(("line", "error"), [
    ("LogInfo()", "LogInfo.__init__() missing 1 required keyword-only argument: 'msg'"),
    ("LogInfo(msg=1)", "1 of the type int stands where a text is expected: write a str, a"
     " substitution, or a list of these"),
    ("LogInfo(msg=None)", "None of the type NoneType stands where a text is expected"),
    ("LogInfo(msg=[['a']])", "['a'] of the type list stands where a text is expected"),
    ("LogInfo(msg='a', condition='true')", "`condition` of `LogInfo` is 'true': write IfCondition"),
    ("LogInfo(msg='a', mgs='b')", "`LogInfo` takes no `mgs`; did you mean `msg`?"),
    ("Node(executable='e', paramters=[])",
     "`Node` takes no `paramters`; did you mean `parameters`?"),
    ("Node(package='p')", "`Node` lacks `executable`"),
    ("Node(package='p', executabl='e')", "`Node` takes no `executabl`; did you mean `executable`?"),
    ("Node(package='p', node_executable='e')", "`Node` takes no `node_executable` (stock"),
    ("Node(executable='e', node_name='n')", "`Node` takes no `node_name` (stock ROS 2 dropped it"),
    ("ComposableNode(package='p', node_plugin='C')", "`ComposableNode` takes no `node_plugin`"),
    ("ComposableNode(package='p', plugin='C', nam='C')", "takes no `nam`; did you mean `name`?"),
    ("Node(executable='e', parameters={'a': 1})",
     "`parameters` is {'a': 1}: expected a list, of which each item is a dict or the path of a"
     " file; write `[...]` around it"),
    ("Node(executable='e', parameters='/a.yaml')", "`parameters` is '/a.yaml': expected a list"),
    ("Node(executable='e', parameters=[None])", "None of the type NoneType stands where a text"),
    ("Node(executable='e', parameters=[{'a': None}])",
     "the parameter `a` is None of the type NoneType: expected a boolean, a number"),
    ("Node(executable='e', parameters=[{'a': [None]}])", "None of the type NoneType is an item"),
    ("Node(executable='e', parameters=[{1: 2}])", "1 is no name of a parameter: expected a str"),
    ("Node(executable='e', parameters=[ParameterValue(1)])",
     "a ParameterValue stands where a dict or the path of a file is expected"),
    ("ParameterValue(1, value_type=str)", "1 is not of the type str"),
    ("ParameterValue([1, 'a'])", "[1, 'a'] has items of different types"),
    ("Node(executable='e', remappings=['a'])", "'a' is no remapping: expected a pair"),
    ("Node(executable='e', remappings={'a': 'b'})", "`remappings` is a dict: expected a list of"),
    ("Node(executable='e', arguments='-a')",
     "`arguments` is '-a': expected a list, of which each item is one word"),
    ("Node(executable='e', on_exit='shutdown')", "`on_exit` is 'shutdown': expected actions"),
    ("ExecuteProcess(cmd='ls -l')", "`cmd` is 'ls -l': expected a list, of which each item is one"),
    ("ExecuteProcess(cmd=['ls'], env=['a'])", "`env` is ['a']: expected a dict"),
    ("OpaqueFunction(function='f')", "`function` of `OpaqueFunction` is 'f': expected a function"),
    ("OpaqueFunction(function=print, args=1)", "`args` of `OpaqueFunction` is 1: expected a list"),
    ("OpaqueFunction(function=print, kwargs=[])", "`kwargs` of `OpaqueFunction` is []"),
    ("GroupAction(LogInfo(msg='a'))", "`actions` of `GroupAction` is <launch"),
    ("GroupAction(['a'])", "`actions` of `GroupAction` has 'a' where an action is expected"),
    ("IncludeLaunchDescription('/a', launch_arguments={'a': 'b'}.keys())",
     "`launch_arguments` has 'a' where a name and a value are expected"),
    ("IncludeLaunchDescription(LaunchDescription())",
     "`IncludeLaunchDescription` gets a LaunchDescription"),
    ("EmitEvent(event='shutdown')", "`event` of `EmitEvent` is 'shutdown', no event"),
    ("RegisterEventHandler(print)", "`event_handler` of `RegisterEventHandler` is <built-in"),
    ("OnProcessExit(target_action='talker', on_exit=[])",
     "the target of `OnProcessExit` is 'talker': expected an action of the type ExecuteLocal"),
    ("OnProcessExit(on_exit=['a'])", "`on_exit` has 'a' where an action is expected"),
    ("OnProcessIO(on_stdout=[])", "`on_stdout` is []: expected a function that takes the event"),
    ("OnStateTransition(entities=[], target_lifecycle_node='a')",
     "`target_lifecycle_node` is 'a': expected a LifecycleNode"),
    ("LoadComposableNodes(target_container=Node(executable='e'), composable_node_descriptions=[])",
     "`target_container` of `LoadComposableNodes` is a Node"),
    ("LoadComposableNodes(target_container='a', composable_node_descriptions=['a'])",
     "`composable_node_descriptions` of `LoadComposableNodes` has 'a'"),
    ("DeclareLaunchArgument(LaunchConfiguration('a'))", "the name of an argument is <launch"),
    ("SetParameter('a', {'b': 1})", "`value` of `SetParameter` is a dict"),
    ("TextSubstitution(text=1)", "TextSubstitution takes a str as its text, not int: 1"),
    ("LaunchDescription(LogInfo(msg='a'))", "LaunchDescription takes a list of actions: write"
     " `[LogInfo(...)]`"),
])
def test_wrong_types_are_told_at_once(refused, line, error):
    assert error in refused(line, "TypeError: ")


@pytest.mark.parametrize(("line", "error"), [
    ("DeclareLaunchArgument('a', choices=[])", "RuntimeError: the argument `a` has an empty list"),
    ("DeclareLaunchArgument('a', default_value='3', choices=['1', '2'])",
     "RuntimeError: the default `3` of the argument `a` is not one of its choices 1, 2"),
    ("IfElseSubstitution('true')", "RuntimeError: IfElseSubstitution needs `if_value` or"),
    ("Node(executable='e', output={'stdin': 'log'})", "ValueError: `output` has 'stdin'"),
    ("Node(executable='e', output={'stdout': 'file'})", "ValueError: `output` has 'file'"),
    ("OpaqueCoroutine(coroutine=print)", "NotImplementedError: `feros launch` has no event loop"),
    ("ParameterValue(1, value_type=dict)", "ValueError: <class 'dict'> is no type of a value"),
])
def test_wrong_values_are_told_at_once(refused, line, error):
    assert error in refused(line, "")


@pytest.mark.parametrize(("parameters", "given"), [
    ("context, description", "args=[description]"),
    ("context, description", "kwargs={'description': description}"),
    ("context", ""),
])
def test_functions_may_add_to_their_description(command, loaded, parameters, given):
    function, last, added = loaded(f"""
        from launch import LaunchDescription
        from launch.actions import *
        def generate_launch_description():
            description = LaunchDescription()
            def more(context):
                description.add_action(LogInfo(msg='second'))
            def setup({parameters}):
                description.add_action(LogInfo(msg='first'))
                description.add_action(OpaqueFunction(function=more))
            description.add_action(OpaqueFunction(function=setup, {given}))
            description.add_action(LogInfo(msg='in the file'))
            return description
    """)
    assert last["message"] == "in the file"
    assert command.execute(function) == []
    first, more, again = command.execute(added)
    assert first["message"] == "first"
    assert command.execute(more) == []
    second, again = command.execute(again)
    assert second["message"] == "second"
    assert command.execute(again) == []


def test_a_global_description_may_grow_too(command, loaded):
    function, added = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        def setup(context):
            description.add_action(LogInfo(msg='first'))
        description = LaunchDescription([OpaqueFunction(function=setup)])
        def generate_launch_description():
            return description
    """)
    assert command.execute(function) == []
    assert command.execute(added)[0]["message"] == "first"


def test_functions_in_groups_may_add_to_their_description(command, loaded):
    group, added = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        def generate_launch_description():
            description = LaunchDescription()
            def setup(context):
                description.add_action(LogInfo(msg='first'))
            description.add_action(GroupAction([GroupAction([OpaqueFunction(function=setup)])]))
            return description
    """)
    function, = group["actions"][0]["actions"]
    assert command.execute(function) == []
    assert command.execute(added)[0]["message"] == "first"
