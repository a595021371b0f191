"""Errors of launch files: their texts, and their places in the user's file."""

import sys

import pytest

HELLO = """
from launch import LaunchDescription
from launch.actions import LogInfo

def generate_launch_description():
    return LaunchDescription([LogInfo(msg='hello')])
"""


@pytest.mark.parametrize(("text", "error", "line", "calls"), [
    ("def generate_launch_description():\n    return foo",
     "NameError: name 'foo' is not defined", [2, 12], []),
    ("x = [\n  1,\n)", "SyntaxError: closing parenthesis ')' does not match opening parenthesis"
     " '[' on line 1", [3, 1], []),
    ("import absent_package_of_a_test",
     "ModuleNotFoundError: No module named 'absent_package_of_a_test'", [1, 1], []),
    ("import sys\nsys.modules['yaml'] = None\ndel sys.modules['yaml']\nsys.path.clear()\nimport yaml",
     "ModuleNotFoundError: No module named 'yaml' (run"
     f" `{sys.executable} -m pip install pyyaml`)", [5, 1], []),
    ("from launch.actions import ExecuteProces",
     "ImportError: `launch.actions` has no `ExecuteProces`; did you mean `ExecuteProcess`?",
     [1, 1], []),
    ("def inner():\n    exit(3)\ndef generate_launch_description():\n    inner()",
     "SystemExit: 3 (a launch file returns its LaunchDescription, and does not exit)", [2, 5],
     [4]),
    ("x = 1", "there is no `generate_launch_description()`", [1, 1], []),
    ("x = 1\ndef generate_launch_description():\n    pass",
     "`generate_launch_description()` returns None: expected a LaunchDescription; is there a"
     " `return`?", [2, 1], []),
    ("from launch import LaunchDescription\nLaunchDescription(['a'])",
     "TypeError: 'a' of the type str is no action", [2, 1], []),
    ("from launch import LaunchDescription\nLaunchDescription([[]])",
     "TypeError: [] of the type list is no action: write `*` before the list", [2, 1], []),
    ("from launch_ros.actions import Node\nNode(package='a', node_executable='b')",
     "TypeError: `Node` takes no `node_executable` (stock ROS 2 dropped it in Galactic: write"
     " `executable`)", [2, 1], []),
    ("class E(Exception):\n    def __str__(self):\n        raise OSError\nraise E",
     "E: (its text raises OSError)", [4, 1], []),
    ("def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded", [2, 5], None),
    ("import json\njson.loads('{')", "json.decoder.JSONDecodeError: Expecting property name"
     " enclosed in double quotes: line 1 column 2 (char 1)", [2, 1], []),
    ("raise KeyboardInterrupt", "KeyboardInterrupt", [1, 1], []),
    ("raise ValueError('x' * 5000)", "ValueError: " + "x" * 1987 + "…", [1, 1], []),
])
def test_an_error_has_its_place_in_the_users_file(command, written, text, error, line, calls):
    path = written(text)
    with pytest.raises(command.Failed) as failed:
        command.load(path)
    told = failed.value
    assert told.error == error
    columns = hasattr(compile("", "", "exec"), "co_positions") or "SyntaxError" in error
    assert told.at == [str(path), line[0], line[1] if columns else 1]
    if calls is not None:
        assert [call[:2] for call in told.calls] == [[str(path), number] for number in calls]
    assert len(told.calls) <= 10
    assert command.load(written(HELLO)), "the process serves the next request"


def test_the_error_of_a_function_has_the_way_to_it(command, written, tmp_path):
    (tmp_path / "helper.py").write_text("def fail():\n    return 1 / 0\n")
    path = written("""
        import sys
        sys.path.insert(0, '.')
        import helper
        from launch import LaunchDescription
        from launch.actions import *
        def setup(context):
            context.launch_configurations['a'] = 'b'
            helper.fail()
        def wrong(context):
            return ['a']
        def generate_launch_description():
            return LaunchDescription([
                OpaqueFunction(function=setup),
                OpaqueFunction(function=wrong)])
    """)
    setup, wrong = command.load(path)
    with pytest.raises(command.Failed) as failed:
        command.execute(setup)
    told = failed.value
    assert told.error == "ZeroDivisionError: division by zero"
    assert told.at[0].endswith("helper.py") and told.at[1] == 2
    assert told.calls == [[str(path), 8, "setup"]]
    assert command.configurations == {"a": "b"}
    expected = "'a' of the type str stands where an action is expected"
    with pytest.raises(command.Failed, match=expected) as failed:
        command.execute(wrong)
    assert failed.value.at[:2] == [str(path), 14]


def test_errors_of_the_command_become_exceptions(command, written):
    path = written("""
        from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        from launch_ros.substitutions import FindPackageShare
        def setup(context):
            try:
                LaunchConfiguration('absent').perform(context)
            except SubstitutionFailure as failure:
                print('caught', failure)
            try:
                FindPackageShare('dmo').find('dmo')
            except PackageNotFoundError as error:
                print('caught', error)
            assert FindPackageShare('demo').find('demo') == '/ws/share/demo'
            LaunchConfiguration('absent').perform(context)
        def generate_launch_description():
            assert get_package_share_directory('demo') == '/ws/share/demo'
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    command.packages = {"demo": "/ws"}
    (function,) = command.load(path)
    with pytest.raises(command.Failed) as failed:
        command.execute(function)
    assert failed.value.error == "there is no argument or variable `absent`"
    assert failed.value.at[:2] == [str(path), 16]
    assert command.output().count("caught") == 2


def test_all_packages_that_are_missing_are_told(command, written):
    path = written("""
        from ament_index_python.packages import get_package_share_directory as share
        from ament_index_python.packages import get_package_share_directory
        from launch_ros.actions import Node
        from launch_ros.substitutions import FindPackageShare
        def generate_launch_description():
            get_package_share_directory('first')
            get_package_share_directory('second')
            FindPackageShare('third'), FindPackageShare(package='demo'), FindPackageShare('demo')
            Node(package='fourth', executable='a'), Node(package='demo', executable='talker')
            Node(package='fifth', executable='a', condition=None), Node(package=str(6))
    """)
    command.packages = {"demo": "/ws"}
    with pytest.raises(command.Failed) as failed:
        command.load(path)
    assert failed.value.error == "there is no package `first`"
    assert failed.value.at == [str(path), 6, failed.value.at[2]]
    assert failed.value.told["others"] == [
        {"at": [str(path), 7, 5], "error": "there is no package `second`"},
        {"at": [str(path), 8, 5], "error": "there is no package `third`"},
        {"at": [str(path), 9, 5], "error": "there is no package `fourth`"}]


def test_a_function_tells_all_its_packages_that_are_missing(command, loaded, tmp_path):
    (function,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch_ros.actions import Node
        from launch_ros.substitutions import FindPackageShare
        from ament_index_python.packages import get_package_share_directory
        def setup(context):
            context.launch_configurations.get('rate')
            folder = get_package_share_directory('first')
            return [Node(package='second', executable='a', parameters=[folder])]
        def generate_launch_description():
            Node(package='not_in_the_function', executable='a')
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    with pytest.raises(command.Failed) as failed:
        command.execute(function)
    assert failed.value.error == "there is no package `first`"
    assert [other["error"] for other in failed.value.told["others"]] == [
        "there is no package `second`"]
    assert "rate" in failed.value.told["read"], "the command knows what a failure may follow from"


def test_all_modules_that_are_missing_are_told(command, written):
    path = written("""
        import os
        import absent_a.sub
        from absent_b.sub import x
        try:
            import absent_c
        except ImportError:
            pass
        from launch_ros.substitutions import FindPackageShare
        def generate_launch_description():
            import absent_d, absent_a
            FindPackageShare('first')
    """)
    with pytest.raises(command.Failed, match="No module named 'absent_a'") as failed:
        command.load(path)
    name = "ModuleNotFoundError: No module named 'absent_{}'".format
    assert failed.value.told["others"] == [
        {"at": [str(path), 3, 1], "error": name("b")},
        {"at": [str(path), 10, 5], "error": name("d")},
        {"at": [str(path), 11, 5], "error": "there is no package `first`"}]


def test_what_may_not_run_is_not_told(command, written):
    path = written("""
        from contextlib import suppress
        from ament_index_python.packages import get_package_share_directory as first
        from ament_index_python.packages import get_package_share_directory
        from launch.actions import *
        from launch_ros.actions import Node
        def generate_launch_description():
            'éé', get_package_share_directory(package_name='told')
            first('raised')
            try:
                get_package_share_directory('handled')
            except LookupError:
                pass
            with suppress(ImportError):
                import absent_a
            if False:
                get_package_share_directory('in_a_branch')
            get_package_share_directory('in_an_operand') if False else None
            GroupAction([Node(package='in_a_group', executable='a')], condition=None)
            lambda: get_package_share_directory('in_a_function')
    """)
    with pytest.raises(command.Failed, match="there is no package `told`"):
        command.load(path)
    command.packages = {"told": "/ws"}
    with pytest.raises(command.Failed, match="there is no package `raised`") as failed:
        command.load(path)
    assert failed.value.told["others"] == []
    command.packages = {"raised": "/ws"}
    with pytest.raises(command.Failed) as failed:
        command.load(path)
    assert failed.value.at == [str(path), 7, 11], "a column of characters"


def test_what_a_lambda_lacks_is_told_alone(command, loaded):
    (function,) = loaded("""
        from ament_index_python.packages import get_package_share_directory
        from launch import LaunchDescription
        from launch.actions import *
        def other():
            get_package_share_directory('second')
        def generate_launch_description():
            function = lambda context: get_package_share_directory('first')
            return LaunchDescription([OpaqueFunction(function=function)])
    """)
    with pytest.raises(command.Failed, match="there is no package `first`") as failed:
        command.execute(function)
    assert failed.value.told["others"] == []


def test_wrong_numbers_and_requests_are_answered(command):
    for request in ({"ask": "execute", "id": 99}, {"ask": "perform", "id": None},
                    {"ask": "other"}, {"ask": "holds", "id": True}, {"ask": "iterate"}):
        with pytest.raises(command.Failed):
            command.request(**request)


def test_a_signal_answer_ends_the_function(command, loaded):
    (function,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        def setup(context):
            while True:
                try:
                    LaunchConfiguration('rate').perform(context)
                except Exception:
                    pass
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    command.send({"ask": "execute", "id": function["id"]})
    assert command.receive()["ask"] == "text"
    command.send({"error": "the launch ends", "kind": "signal"})
    assert "the launch ends" in command.receive()["failed"]["error"]


def test_a_signal_answer_does_not_hide_the_first_error(command, written):
    path = written("""
        from launch_ros.substitutions import FindPackageShare
        from ament_index_python.packages import get_package_share_directory
        get_package_share_directory('first'), FindPackageShare('second')
    """)
    command.send({"ask": "load", "path": str(path)})
    assert command.receive()["package"] == "first"
    command.send({"error": "there is no package `first`", "kind": "package"})
    assert command.receive()["ask"] == "share"
    command.send({"error": "the launch ends", "kind": "signal"})
    failed = command.receive()["failed"]
    assert (failed["error"], failed["others"]) == ("there is no package `first`", [])


@pytest.mark.parametrize("line", [
    "GroupAction([x])", "NotSubstitution(x)", "RegisterEventHandler(OnShutdown(on_shutdown=x))",
    "LaunchDescription([x])",
])
def test_what_is_nested_too_deeply_is_an_error(command, written, line):
    path = written(f"""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.event_handlers import *
        from launch.substitutions import *
        def generate_launch_description():
            x = {"'true'" if "Substitution" in line else "LogInfo(msg='a')"}
            for _ in range(1000):
                x = {line}
            return LaunchDescription([{"LogInfo(msg=x)" if "Substitution" in line else "x"}])
    """)
    with pytest.raises(command.Failed, match="ValueError: the launch description is nested too"):
        command.load(path)
    assert command.load(written(HELLO)), "the process serves the next request"


def test_a_description_that_is_too_large_is_an_error(command, written):
    path = written("""
        from launch import LaunchDescription
        from launch.actions import *
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg='a' * 1000000) for _ in range(17)])
    """)
    expected = "ValueError: the launch description takes 17.* bytes, at most"
    with pytest.raises(command.Failed, match=expected):
        command.load(path)
    assert command.load(written(HELLO))


@pytest.mark.parametrize("line", [
    "sys.stdout.close()", "sys.stdout = sys.stderr = None", "os.close(0), os.close(1)",
    "sys.path.clear()", "os.environ.clear()", "os.chdir('/')",
    "sys.argv.clear()", "sys.setrecursionlimit(200)", "gc.disable()", "print('x' * 100000)",
    "signal.signal(signal.SIGINT, signal.SIG_DFL)",
])
def test_files_that_change_their_process(command, written, line):
    path = written(f"""
        import gc, os, signal, sys
        from launch import LaunchDescription
        from launch.actions import LogInfo
        def generate_launch_description():
            description = LaunchDescription([LogInfo(msg='a')])
            {line}
            return description
    """)
    assert command.load(path)[0]["message"] == "a"
    assert command.load(written(HELLO, "hello.launch.py"))


def test_exit_does_not_spoil_the_files_that_follow(command, written):
    with pytest.raises(command.Failed, match="SystemExit: 1"):
        command.load(written("exit(1)"))
    command.load(written("""
        import sys
        from launch import LaunchDescription
        assert sys.stdin.read() == ''
        generate_launch_description = LaunchDescription
    """))


def test_other_threads_cannot_ask(command, loaded):
    (function,) = loaded("""
        import threading
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        def setup(context):
            told = []
            def ask():
                try:
                    LaunchConfiguration('a').perform(context)
                except RuntimeError as error:
                    told.append(str(error))
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            return [LogInfo(msg=told)]
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    assert "only the main thread" in command.execute(function)[0]["message"]
    assert command.questions == []


def test_objects_that_fail_to_describe_themselves(command, loaded):
    (log,) = loaded("""
        from launch import LaunchDescription, Substitution
        from launch.actions import *
        class Own(Substitution):
            def describe(self):
                raise ValueError
            def perform(self, context):
                return 5
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg=Own())])
    """)
    (part,) = log["message"]
    assert part["describe"] == "Own"
    with pytest.raises(command.Failed, match="`Own.perform` returns 5: expected a str") as failed:
        command.request(ask="perform", id=part["py"])
    assert failed.value.at == part["at"]


def test_a_wrong_argument_of_an_include_is_an_error_when_it_is_visited(command, loaded):
    (included,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        def generate_launch_description():
            return LaunchDescription([IncludeLaunchDescription(
                '/a.launch.py', launch_arguments={'a': 'b', 'c': None}.items())])
    """)
    assert included["arguments"][0] == ["a", "b"]
    name, (part,) = included["arguments"][1]
    expected = "the argument 'c': None of the type NoneType stands where a text is expected"
    with pytest.raises(command.Failed, match=expected) as failed:
        command.request(ask="perform", id=part["py"])
    assert failed.value.at[:2] == included["at"][:2]
