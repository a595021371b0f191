"""Launches of tests: what they start, what it writes, and that it ends."""

import os
import re
import signal
import sys
import textwrap

import pytest

from feros.msgs.std_msgs.msg import String
from feros.testing import Harness, LaunchFailed, NotInTime
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, RegisterEventHandler,
    SetEnvironmentVariable, Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration

TALKER = """
import sys
import feros
from feros.msgs.std_msgs.msg import String
with feros.Context() as context:
    node = context.create_node("talker")
    publisher = node.create_publisher(String, "chatter")
    node.create_timer(0.05, lambda: publisher.publish(String(data=" ".join(sys.argv[1:]))))
    print("ready", flush=True)
    feros.spin(node)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "talker.py").write_text(TALKER)
    return tmp_path


def python(code, **options):
    return ExecuteProcess(cmd=[sys.executable, "-u", "-c", textwrap.dedent(code)], **options)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("language", ["xml", "yaml", "py"])
def test_a_launch_file_of_each_language_runs_beside_the_test(folder, language):
    command = f"{sys.executable} $(dirname)/talker.py"
    (folder / "talker.launch.xml").write_text(
        f'<launch><arg name="text" default="hello"/><executable name="talker"'
        f' cmd="{command} $(var text)"/></launch>')
    (folder / "talker.launch.yaml").write_text(
        "launch:\n- arg: {name: text, default: hello}\n"
        f"- executable: {{name: talker, cmd: '{command} $(var text)'}}\n")
    (folder / "talker.launch.py").write_text(
        "from launch_xml.launch_description_sources import XMLLaunchDescriptionSource\n"
        "from launch import LaunchDescription\n"
        "from launch.actions import IncludeLaunchDescription\n"
        "def generate_launch_description():\n"
        "    return LaunchDescription([IncludeLaunchDescription(\n"
        f"        XMLLaunchDescriptionSource('{folder}/talker.launch.xml'))])\n")
    with Harness(folder / "test.py") as ros:  # relative paths begin beside the test
        launch = ros.launch(f"talker.launch.{language}", text="good morning")
        assert launch.wait_for_output("ready", "talker") == "ready"
        assert ros.expect_message("chatter", String).data == "good morning"
        talker = launch.processes["talker-1"]
        assert is_alive(talker.pid) and launch.is_running
    assert not is_alive(talker.pid)
    assert launch.processes["talker-1"].was_asked and not launch.is_running


def test_a_description_of_the_test_refers_to_its_objects(ros):
    greeting = ["hello"]
    seen = []

    def more(context):
        greeting.append(LaunchConfiguration("name").perform(context))
        return [python("import os, sys; print(os.environ['GREETING'], *sys.argv[1:])", name="two",
                       prefix=None)]

    one = python("import time; print('one is ready'); time.sleep(600)", name="one")
    launch = ros.launch(LaunchDescription([
        DeclareLaunchArgument("name"),
        SetEnvironmentVariable("GREETING", greeting[0]),
        one,
        OpaqueFunction(function=more),
        RegisterEventHandler(OnProcessExit(
            target_action=one, on_exit=lambda event, context: [
                python(f"print('one ended with', {event.returncode})", name="three")])),
        OpaqueFunction(function=lambda context: seen.append("in the other process")),
    ]), name="world")
    assert launch.wait_for_output("one is", one) == "one is ready"
    assert launch.wait_for_output(re.compile("^hel+o$"), "two") == "hello"
    assert launch.wait_for_end("two") == 0
    launch.signal(one, signal.SIGKILL)
    assert launch.wait_for_end(one) == -signal.SIGKILL
    assert launch.wait_for_output("one ended") == "one ended with -9"
    assert launch.wait_for_end() == 0
    assert launch.output("one-1") == "one is ready\n"
    assert "[three-3] one ended with -9\n" in launch.output()
    assert greeting == ["hello"] and seen == [], "functions run in a copy of the test's process"


def test_a_script_runs_with_its_arguments_and_variables(folder):
    with Harness(folder / "test.py") as ros:
        odd = "a $(var b) 'c' \"d\" \\ <&> %"
        ros.run("talker.py", odd, "e f")
        assert ros.expect_message("chatter", String).data == f"{odd} e f"
    (folder / "show.py").write_text("import os\nprint(os.environ['WORD'], os.environ['ROS_DOMAIN_ID'])\n")
    with Harness(folder / "test.py") as ros:
        launch = ros.run(folder / "show.py", WORD="$(env 'x')")
        assert launch.wait_for_output("x") == f"$(env 'x') {ros.domain_id}"
        assert launch.wait_for_end("show") == 0


def test_a_program_runs_by_its_path(folder):
    program = folder / "driver"
    program.write_text("#!/bin/sh\necho $ROS_DOMAIN_ID $1\n")
    program.chmod(0o755)
    with Harness(folder / "test.py") as ros:
        for path in (program, "./driver"):
            launch = ros.run(path, "a b")
            assert launch.wait_for_output("a b") == f"{ros.domain_id} a b"
            assert launch.wait_for_end("driver") == 0


def test_all_ends_by_the_signals_of_a_launch(ros):
    stubborn = python(
        """
        import signal, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print('ready')
        time.sleep(600)
        """, name="stubborn", sigterm_timeout="0.1")
    polite = python(
        """
        import time
        print('ready')
        try:
            time.sleep(600)
        except KeyboardInterrupt:
            print('bye')
        """, name="polite")
    launch = ros.launch([stubborn, polite])
    launch.wait_for_output("ready", stubborn)
    launch.wait_for_output("ready", polite)
    assert launch.end() == {"stubborn-1": -signal.SIGTERM, "polite-2": 0}
    assert launch.end() == launch.end()
    assert launch.output(polite) == "ready\nbye\n"


def test_output_that_cannot_come_any_more_is_not_awaited(ros):
    dies = python("import sys; print('so far'); sys.exit(3)", name="dies")
    stays = python("import time; time.sleep(600)", name="stays")
    launch = ros.launch([dies, stays])
    with pytest.raises(LaunchFailed, match="dies-1 never wrote 'further' before the end"):
        launch.wait_for_output("further", dies)
    with pytest.raises(NotInTime, match="no process wrote 'further'"):
        launch.wait_for_output("further", timeout=0.05)
    with pytest.raises(NotInTime, match="stays-2 did not end"):
        launch.wait_for_end(stays, timeout=0.05)
    with pytest.raises(NotInTime, match=r"has no publisher \(waited .*\); dies-1 ended with 3"):
        ros.expect_message("chatter", String, timeout=0.05)
    with pytest.raises(LookupError, match="has not started other; it has started: dies-1, stays-2"):
        launch.output("other")


@pytest.mark.parametrize(("text", "reason"), [
    ("<launch><nod/></launch>", "did you mean `node`"),
    ("<launch><arg name='a'/><log message='$(var a)'/></launch>", "`a`"),
])
def test_a_file_that_cannot_be_launched_is_refused_with_the_reason(ros, tmp_path, text, reason):
    file = tmp_path / "wrong.launch.xml"
    file.write_text(text)
    with pytest.raises(LaunchFailed, match="cannot be launched") as error:
        ros.launch(file)
    assert reason in str(error.value)


def test_mistakes_in_a_description_are_raised(ros):
    with pytest.raises(TypeError, match="no action"):
        ros.launch(["not an action"])
    with pytest.raises(TypeError, match="a list of actions"):
        ros.launch(LaunchDescription([]), LaunchDescription([]))
    with pytest.raises(TypeError, match="needs a launch file"):
        ros.launch()

    def broken(context):
        raise ZeroDivisionError("of the test")

    with pytest.raises(LaunchFailed, match="ZeroDivisionError: of the test") as error:
        ros.launch([OpaqueFunction(function=broken)])
    assert "test_launch.py" in str(error.value)


def test_a_failure_of_the_launch_fails_the_next_wait(ros):
    ros.launch([python("import sys; sys.exit(1)", name="needed", on_exit=Shutdown())])
    with pytest.raises(LaunchFailed, match="a part of the launch has failed") as error:
        ros.expect_message("chatter", String)
    assert "needed-1" in str(error.value)


def test_launches_end_when_the_test_process_is_killed(ros, tmp_path):
    program = tmp_path / "killed.py"
    program.write_text(textwrap.dedent(f"""
        import sys, time
        from feros.testing import Harness
        from launch.actions import ExecuteProcess
        ros = Harness().__enter__()
        sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
        ros.context
        first = ros.launch([ExecuteProcess(cmd=sleeper)])
        second = ros.launch([ExecuteProcess(cmd=sleeper)])
        ros.wait_until(lambda: first.processes and second.processes)
        pids = [one.pid for launch in (first, second) for one in launch.processes.values()]
        print(*pids, flush=True)
        time.sleep(600)
        """))
    killed = ros.launch([ExecuteProcess(cmd=[sys.executable, str(program)], name="killed")])
    pids = [int(word) for word in killed.wait_for_output(re.compile(r"^\d+ \d+$")).split()]
    assert all(is_alive(pid) for pid in pids)
    killed.signal("killed", signal.SIGKILL)
    ros.wait_until(lambda: not any(is_alive(pid) for pid in pids), "the end", timeout=60)
