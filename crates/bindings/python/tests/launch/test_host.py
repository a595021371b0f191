"""The process of launch files: load, functions, state, ends."""

import json
import os
import signal

import pytest

HELLO = """
from launch import LaunchDescription
from launch.actions import LogInfo

def generate_launch_description():
    return LaunchDescription([LogInfo(msg='hello')])
"""


def test_a_file_gives_its_entities(command, written, column):
    path = written(HELLO)
    (entity,) = command.load(path)
    assert entity == {
        "do": "log", "id": 1, "at": [str(path), 5, column(31)], "level": "INFO",
        "message": "hello"}
    assert command.greeting["protocol"] == 1 and command.greeting["python"].count(".") == 2


def test_a_file_is_run_anew_and_paths_stay_as_they_are(command, written, tmp_path, column):
    written(HELLO)
    first, second = command.load("robot.launch.py"), command.load("robot.launch.py")
    assert first[0]["at"] == second[0]["at"] == ["robot.launch.py", 5, column(31)]
    assert first[0]["id"] != second[0]["id"]
    assert not list(tmp_path.glob("**/__pycache__"))


def test_columns_count_characters(loaded, column):
    (entity,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import LogInfo
        def generate_launch_description():
            return 'äöü' and LaunchDescription([LogInfo(msg='hello')])
    """)
    assert entity["at"][1:] == [4, column(41)]


def test_launch_files_do_not_see_the_socket(loaded, command):
    loaded("""
        import os, subprocess, sys
        from launch import LaunchDescription
        def generate_launch_description():
            assert sys.stdin.read() == ''
            print('seen', subprocess.run(['ls', '/proc/self/fd'], capture_output=True).stdout)
            assert os.path.samefile('/proc/self/fd/0', '/dev/null')
            return LaunchDescription()
    """)
    assert "seen" in command.output()


FUNCTIONS = """
import os
from launch import LaunchDescription, Substitution
from launch.actions import *
from launch.conditions import IfCondition
from launch.substitutions import *
from launch_ros.actions import Node

class Upper(Substitution):
    def __init__(self, inner):
        self.inner = inner
    def describe(self):
        return f'Upper({self.inner.describe()})'
    def perform(self, context):
        context.launch_configurations['by_upper'] = 'yes'
        return self.inner.perform(context).upper()

def setup(context, *arguments, more):
    rate = LaunchConfiguration('rate').perform(context)
    context.launch_configurations['set'] = rate + '!'
    del context.launch_configurations['gone']
    os.environ['MADE'] = 'here'
    os.environ.pop('REMOVED')
    assert LaunchConfiguration('set').perform(context) == rate + '!'
    assert Upper(LaunchConfiguration('set')).perform(context) == '5!'
    asked = PathJoinSubstitution(['a', Upper(TextSubstitution(text='b'))]).perform(context)
    assert asked == 'a/B', asked
    assert context.launch_configurations['by_upper'] == 'yes'
    twice = PythonExpression([LaunchConfiguration('rate'), '*2'])
    assert context.perform_substitution(twice) == '10'
    assert IfCondition('true').evaluate(context) and not IfCondition('0').evaluate(context)
    return [LogInfo(msg=[rate, *arguments, more])]

def generate_launch_description():
    return LaunchDescription([
        OpaqueFunction(function=setup, args=['a'], kwargs={'more': 'b'}),
        LogInfo(msg=[Upper(LaunchConfiguration('rate'))]),
    ])
"""


def test_a_function_reads_and_changes_the_state(start, written):
    command = start(environment={**os.environ, "REMOVED": "x", "KEPT": "y"})
    command.configurations = {"rate": "5", "gone": "x"}
    function, log = command.load(written(FUNCTIONS))
    assert function["do"] == "python" and function["name"] == "setup"
    (made,) = command.execute(function)
    assert made["message"] == "5ab"
    assert command.configurations == {"rate": "5", "set": "5!", "by_upper": "yes"}
    assert command.environment == {"MADE": "here", "REMOVED": None}
    assert command.read >= {"by_upper"}
    pending = [question for question in command.questions if question["ask"] == "configurations"]
    assert pending[0] == {
        "ask": "configurations", "set": {"set": "5!"}, "unset": ["gone"],
        "environment": {"MADE": "here", "REMOVED": None}}
    (part,) = log["message"]
    assert part["describe"] == "Upper(LaunchConfiguration('rate'))"
    assert command.request(ask="perform", id=part["py"])["text"] == "5"


def test_the_environment_is_that_of_the_request(command, loaded):
    (function,) = loaded("""
        import os
        from launch import LaunchDescription
        from launch.actions import *
        def seen(context):
            assert context.environment is os.environ
            assert 'HOME' not in os.environ
            return [LogInfo(msg=os.environ['NEW'])]
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=seen)])
    """)
    command.environment = {"NEW": "ä", "HOME": None}
    assert command.execute(function)[0]["message"] == "ä"
    command.environment = {"NEW": "other", "HOME": None}
    assert command.execute(function)[0]["message"] == "other"


DERIVED = """
from launch import Action, Condition, LaunchDescription
from launch.actions import *
from launch.substitutions import *
from launch_ros.actions import Node

class Own(Action):
    def execute(self, context):
        return [LogInfo(msg='own')]

class MyNode(Node):
    def __init__(self, **kwargs):
        super().__init__(package='demo', **kwargs)
    def execute(self, context):
        context.launch_configurations['before'] = 'yes'
        return super().execute(context)

class Careless(MyNode):
    def execute(self, context):
        super().execute(context)

class Group(GroupAction):
    def execute(self, context):
        return [LogInfo(msg='first'), *super().execute(context)]

class Plain(Node):
    '''Has no execute of its own.'''

class Visited(Action):
    def visit(self, context):
        return [LogInfo(msg='visited')]

class Boolean(DeclareLaunchArgument):
    def __init__(self, name, **kwargs):
        super().__init__(name, choices=['true', 'false'], **kwargs)

class Never(Condition):
    def __init__(self):
        super().__init__(predicate=lambda context: False)

def generate_launch_description():
    return LaunchDescription([
        Own(condition=Never()), MyNode(executable='talker'), Careless(executable='talker'),
        Group([LogInfo(msg='second')]), Plain(package='demo', executable='talker'), Visited(),
        Boolean('flag', default_value='true'),
    ])
"""


def test_classes_of_the_user_decide_what_is_done(command, loaded):
    own, node, careless, group, plain, visited, boolean = loaded(DERIVED)
    assert [own["do"], own["name"]] == ["python", "Own"]
    assert command.request(ask="holds", id=own["if"]["py"])["holds"] is False
    assert [entity["message"] for entity in command.execute(own)] == ["own"]
    for entity in (node, careless):
        (made,) = command.execute(entity)
        assert (made["do"], made["id"], made["package"]) == ("node", entity["id"], "demo")
        assert "if" not in made and made["at"] == entity["at"]
    assert command.configurations == {"before": "yes"}
    first, made = command.execute(group)
    assert (first["message"], made["actions"][0]["message"]) == ("first", "second")
    assert (plain["do"], boolean["do"]) == ("node", "declare")
    assert boolean["choices"] == ["true", "false"]
    assert command.execute(visited)[0]["message"] == "visited"


def test_actions_that_a_function_executes_come_before_its_entities(command, loaded):
    (function,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        def setup(context):
            DeclareLaunchArgument('rate', default_value='7').execute(context)
            SetLaunchConfiguration('a', [LaunchConfiguration('rate'), '1']).execute(context)
            SetEnvironmentVariable('E', LaunchConfiguration('a')).execute(context)
            LogInfo(msg='first').execute(context)
            return [LogInfo(msg='second')]
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    assert [entity["message"] for entity in command.execute(function)] == ["first", "second"]
    assert command.configurations == {"rate": "7", "a": "71"}
    assert command.environment == {"E": "71"}


def test_a_context_of_the_file_has_its_own_variables(command, loaded):
    command.configurations = {"rate": "5"}
    (log,) = loaded("""
        from launch import LaunchContext, LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        def generate_launch_description():
            context = LaunchContext()
            context.launch_configurations['name'] = 'own'
            texts = [LaunchConfiguration('rate', default='?'), LaunchConfiguration('name')]
            return LaunchDescription([LogInfo(msg=[one.perform(context) for one in texts])])
    """)
    assert log["message"] == "?own" and command.configurations == {"rate": "5"}


def test_loops_call_their_function(command, loaded):
    each, loop = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        def one(name, id=3, size=0.0):
            return [LogInfo(msg=f'{name} {id!r} {size!r}')]
        def generate_launch_description():
            return LaunchDescription([
                ForEach('{name: a}', function=one),
                ForLoop('2', function=lambda i: [LogInfo(msg=f'{i!r}')]),
            ])
    """)
    values = [["name", "a"], ["id", {"int": "9" * 30}], ["size", {"float": "inf"}]]
    (made,) = command.request(ask="iterate", id=each["py"], values=values)["entities"]
    assert made["message"] == f"a {'9' * 30} inf"
    (made,) = command.request(ask="iterate", id=loop["py"], index=1)["entities"]
    assert made["message"] == "1" and loop["name"] == "i"


@pytest.mark.parametrize("line", [b"", b"{", b"[1,2", b'{"ask":"load"'])
def test_the_process_ends_with_a_line_that_is_cut(start, line):
    command = start()
    command.send_line(line)
    assert command.close() == 0, command.output()


def test_it_ends_with_the_command_during_a_function(command, loaded):
    (function,) = loaded("""
        import atexit
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        atexit.register(print, 'at exit')
        def setup(context):
            try:
                LaunchConfiguration('rate').perform(context)
            except Exception:
                print('wrong')
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    command.send({"ask": "execute", "id": function["id"]})
    assert command.receive()["ask"] == "text"
    assert command.close() == 0
    output = (command.log.name and open(command.log.name).read())
    assert "at exit" in output and "wrong" not in output


def test_ctrl_c_is_the_commands_affair(command, written):
    command.process.send_signal(signal.SIGINT)
    assert command.load(written(HELLO))


def test_text_that_no_json_can_have(loaded):
    (log,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import LogInfo
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg='a\\udc80b')])
    """)
    assert log["message"] == "a\ufffdb"


def test_packages_of_the_prefixes_are_imported(start, written, tmp_path):
    import sys

    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for folder, name in (("lib/{}/site-packages", "first"), ("local/lib/{}/dist-packages", "last")):
        path = tmp_path / "ws" / folder.format(version)
        path.mkdir(parents=True)
        (path / f"of_{name}.py").write_text(f"NAME = '{name}'\n")
    command = start(prefixes=[str(tmp_path / "ws"), "/absent"])
    assert command.load(written("""
        import of_first, of_last
        from launch import LaunchDescription
        from launch.actions import LogInfo
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg=of_first.NAME + of_last.NAME)])
    """))[0]["message"] == "firstlast"


def test_the_command_finds_packages(start, written):
    environment = {name: text for name, text in os.environ.items() if "PREFIX_PATH" not in name}
    command = start(environment=environment)
    command.packages = {"demo": "/ws", "other": "/opt"}
    command.load(written("""
        import warnings
        from ament_index_python import *
        from ament_index_python.packages import *
        from launch import LaunchDescription
        warnings.simplefilter('ignore')
        assert get_package_prefix('demo') == '/ws'
        assert get_package_share_directory('demo') == '/ws/share/demo'
        assert str(get_package_share_path('other')) == '/opt/share/other'
        assert get_packages_with_prefixes() == {'demo': '/ws', 'other': '/opt'}
        assert has_resource('packages', 'demo') == '/ws'
        assert not has_resource('packages', 'absent') and not has_resource('other', 'demo')
        assert get_search_paths() == []
        for name in ('a', 'de mo', '../demo'):
            try:
                get_package_share_directory(name)
            except ValueError:
                continue
            raise AssertionError(name)
        generate_launch_description = LaunchDescription
    """))


def test_launch_files_see_the_arguments_of_the_launch(start, written):
    words = ["/bin/feros", "launch", "robot.launch.py", "rate:=5"]
    (log,) = start(argv=words).load(written("""
        import sys
        from launch import LaunchDescription
        from launch.actions import LogInfo
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg=' '.join(sys.argv))])
    """))
    assert log["message"] == " ".join(words)


def test_importing_needs_nothing_but_the_library(start, written):
    (log,) = start().load(written("""
        import sys
        from launch import LaunchDescription
        from launch.actions import LogInfo
        import launch_ros.actions, launch_xml, launch_yaml
        def generate_launch_description():
            heavy = {'feros', 'rclpy', 'yaml', 'logging', 'asyncio', 'lark'} & set(sys.modules)
            return LaunchDescription([LogInfo(msg=repr(heavy))])
    """))
    assert log["message"] == "set()"


def test_lines_are_json_without_spaces(command, written):
    command.send({"ask": "load", "path": str(written(HELLO))})
    line = command.reader.readline()
    assert b": " not in line and json.loads(line)["done"]["entities"]
