"""The plugin as pytest loads it: reports of failures, parallel runs, and the book's page."""

import importlib.metadata
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[5] / "docs/book/pages/testing.md"
IS_INSTALLED = any(
    point.name == "feros" for point in importlib.metadata.entry_points(group="pytest11"))
# In the source tree there is no entry point.
PLUGIN = () if IS_INSTALLED else ("-p", "feros.pytest_plugin")


def run_pytest(folder, *arguments):
    """Runs the tests of a folder, as in an activated environment; returns the exit code and the
    output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, *arguments],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def write_tests(folder, text):
    (folder / "test_it.py").write_text(textwrap.dedent(text))


def test_a_failure_shows_the_output_of_its_launches(tmp_path):
    write_tests(tmp_path, """
        import sys
        from launch.actions import ExecuteProcess

        def test_fails(ros):
            launch = ros.launch([ExecuteProcess(cmd=[sys.executable, "-c", "print('in ' + 'vain')"],
                                                name="tries")])
            launch.wait_for_output("success")

        def test_passes(ros):
            launch = ros.launch([ExecuteProcess(cmd=[sys.executable, "-c", "print('un' + 'seen')"])])
            launch.wait_for_output("unseen")
        """)
    code, output = run_pytest(tmp_path)
    assert code == 1 and "1 failed, 1 passed" in output, output
    assert "Output of launch description of test_it.py" in output
    assert "[tries-1] in vain\n" in output
    assert "no process wrote 'success' before the end" in output
    assert "unseen\n" not in output


def test_an_exception_in_a_callback_fails_a_test_that_waits_for_nothing(tmp_path):
    write_tests(tmp_path, """
        import threading

        def test_it(ros):
            called = threading.Event()

            def at_time():
                called.set()
                raise RuntimeError("of the timer")

            ros.create_node("node").create_wall_timer(0.001, at_time)
            assert called.wait(60)
        """)
    code, output = run_pytest(tmp_path)
    assert code == 1 and "RuntimeError: of the timer" in output, output


def test_the_test_of_a_created_package_stays_in_a_domain_of_its_own(tmp_path):
    command = Path(sys.executable).parent / "feros"
    subprocess.run(
        [command, "pkg", "create", "hello", "--build-type", "ament_python", "--tests",
         "--destination-directory", tmp_path], check=True)
    (tmp_path / "hello/conftest.py").write_text(textwrap.dedent("""
        import os

        import pytest
        import rclpy

        @pytest.fixture(autouse=True)
        def told(monkeypatch):
            init = rclpy.init

            def init_and_tell(**options):
                print("init with", options, os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"])
                init(**options)

            monkeypatch.setattr(rclpy, "init", init_and_tell)
        """))
    code, output = run_pytest(tmp_path / "hello", "-s")
    assert code == 0 and "1 passed" in output, output
    assert "init with {} LOCALHOST" in output, output


def test_parallel_runs_do_not_hear_each_other(tmp_path):
    write_tests(tmp_path, """
        import os

        import pytest

        import feros
        from feros.msgs.std_msgs.msg import String

        @pytest.mark.parametrize("number", range(5))
        def test_only_own_messages_come(ros, number):
            text = f"{os.getpid()} {number}"
            publisher = ros.create_node("talker").create_publisher(String, "same")
            ros.create_node("other").create_wall_timer(
                0.005, lambda: publisher.publish(String(data=text)))
            for _ in range(20):
                assert ros.expect_message("same", String).data == text
        """)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN]
    runs = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True)
        for _ in range(3)]
    for run in runs:
        output, _ = run.communicate()
        assert run.returncode == 0 and "5 passed" in output, output


def test_the_plugin_costs_a_run_without_it_little():
    program = "import sys, feros.pytest_plugin; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "feros.pytest_plugin" in loaded
    assert not {"feros.testing._harness", "launch", "numpy", "subprocess"} & (
        set(loaded) - modules_of_pytest())


def modules_of_pytest():
    return set(subprocess.run(
        [sys.executable, "-c", "import sys, pytest; print(*sorted(sys.modules))"],
        capture_output=True, text=True, check=True).stdout.split())


def files_of_the_page():
    """The files of the page: a block whose first line is a comment with a name."""
    blocks = re.findall(r"^```(?:python,pytest|xml)\n(?:# |<!-- )(\S+)(?: -->)?\n(.*?)^```",
                        PAGE.read_text(), re.M | re.S)
    return dict(blocks)


def test_the_examples_of_the_book_pass(tmp_path):
    files = files_of_the_page()
    assert "talker.py" in files and sum(name.startswith("test_") for name in files) >= 3
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code, output = run_pytest(tmp_path)
    passed = sum(len(re.findall(r"^def test_", text, re.M)) for text in files.values())
    assert code == 0 and f"{passed} passed" in output, output


def test_the_page_has_no_other_blocks_for_pytest():
    count = PAGE.read_text().count("\n```python,pytest\n")
    assert count == sum(name.endswith(".py") for name in files_of_the_page())
    assert "```python\n" not in PAGE.read_text()


@pytest.mark.skipif(not IS_INSTALLED, reason="feros is not installed from a wheel")
def test_the_fixture_is_documented_by_pytest(tmp_path):
    code, output = run_pytest(tmp_path, "--fixtures")
    assert "A ROS domain for this test" in output, output
    assert code in (0, 5)
