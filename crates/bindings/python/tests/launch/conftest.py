"""A stand-in for `feros launch`: it speaks the protocol with the real process of launch files.

It evaluates the substitutions that the tests use. The tests of the command itself are in
crates/tools/launch.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

# Finding the package does not import it, as the command does it.
FEROS = Path(importlib.util.find_spec("feros").submodule_search_locations[0])
HOST = FEROS / "_launch_host.py"
COMPATIBLE = FEROS / "compat"

# The code of CPython 3.11 and later has columns.
HAS_COLUMNS = sys.version_info >= (3, 11)

SECONDS = 120  # a limit for a process that hangs, not a measure


class Failed(Exception):
    """The process answers that a launch file failed."""

    def __init__(self, told):
        super().__init__(told["error"])
        self.told = told
        self.error, self.at, self.calls = told["error"], told["at"], told["calls"]


class Command:
    """The other end of the socket."""

    Failed = Failed

    def __init__(self, folder, prefixes=(), environment=None, **greeting):
        ours, theirs = socket.socketpair()
        ours.settimeout(SECONDS)
        self.log = open(folder / "output.txt", "wb+")
        self.process = subprocess.Popen(
            [sys.executable, str(HOST)], stdin=theirs, stdout=self.log, stderr=self.log,
            cwd=folder, env=environment)
        theirs.close()
        self.socket, self.reader = ours, ours.makefile("rb")
        self.configurations, self.environment, self.locals = {}, {}, {}
        self.packages, self.warnings, self.questions, self.read = {}, [], [], set()
        self.send({"protocol": 1, "prefixes": list(prefixes), **greeting})
        self.greeting = self.receive()

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def send_line(self, line):
        self.socket.sendall(line)

    def receive(self):
        line = self.reader.readline()
        assert line.endswith(b"\n"), f"the process ended: {self.output()}"
        return json.loads(line)

    def request(self, **request):
        """Sends a request, answers the questions, and returns what is done."""
        self.send({
            **request, "configurations": self.configurations, "environment": self.environment,
            "locals": self.locals})
        while True:
            message = self.receive()
            reply = message.get("done") or message.get("failed")
            if "ask" not in message:
                self.take(reply)
                if "failed" in message:
                    raise Failed(reply)
                return reply
            self.questions.append(message)
            self.send(self.answer(message))

    def take(self, changes):
        """Takes the changes of a reply or question."""
        self.configurations.update(changes.get("set", {}))
        for name in changes.get("unset", ()):
            del self.configurations[name]
        self.environment.update(changes.get("environment", {}))
        self.read.update(changes.get("read", ()))

    def load(self, path):
        return self.request(ask="load", path=str(path))["entities"]

    def execute(self, entity, **more):
        return self.request(ask="execute", id=entity["id"], **more)["entities"]

    def answer(self, question):
        try:
            return {"answer": getattr(self, "ask_" + question["ask"])(question)}
        except LookupError as error:
            kind = "package" if question["ask"] in ("share", "prefix", "program") else "substitution"
            return {"error": str(error.args[0]), "kind": kind}

    def ask_text(self, question):
        return self.text(question["template"], question.get("configurations"))

    def ask_condition(self, question):
        condition = question["condition"]
        if "configuration" in condition:
            expected = condition.get("expected")
            expected = None if expected is None else self.text(expected)
            holds = self.configurations.get(condition["configuration"]) == expected
        else:
            holds = self.text(condition["truth"]).lower() in ("true", "1")
        return holds != condition.get("negated", False)

    def ask_value(self, question):
        value = question["value"]
        if "text" in value:
            text = self.text(value["text"])
            return {"is": text if value.get("type") == "str" else json.loads(text)}
        return {"is": value["is"]}

    def ask_share(self, question):
        return self.ask_prefix(question) + "/share/" + question["package"]

    def ask_prefix(self, question):
        name = question["package"]
        if name not in self.packages:
            raise LookupError(f"there is no package `{name}`")
        return self.packages[name]

    def ask_program(self, question):
        return [self.ask_prefix(question) + "/lib/" + question["executable"]]

    def ask_packages(self, question):
        return [[name, prefix] for name, prefix in self.packages.items()]

    def ask_configurations(self, question):
        self.take(question)

    def ask_warn(self, question):
        self.warnings.append(question["text"])

    def text(self, template, configurations=None):
        if not isinstance(template, list):
            return str(template)
        return "".join(
            part if isinstance(part, str) else self.call(part, configurations)
            for part in template)

    def call(self, part, configurations):
        if "s" not in part:
            return self.request(ask="perform", id=part["py"])["text"]
        arguments = [self.text(argument, configurations) for argument in part["a"]]
        kind = part["s"]
        if kind == "var":
            values = self.configurations if configurations is None else configurations
            if arguments[0] not in values and len(arguments) == 1:
                raise LookupError(f"there is no argument or variable `{arguments[0]}`")
            return values.get(arguments[0], arguments[-1])
        if kind == "path-join":
            return os.path.join(*arguments)
        if kind == "find-pkg-share":
            return self.ask_share({"package": arguments[0]})
        if kind == "eval":
            return self.request(ask="perform", id=part["py"])["text"]
        if kind == "dirname":
            return "/launch"
        raise LookupError(f"the stand-in lacks `{kind}`")

    def output(self):
        self.log.flush()
        return Path(self.log.name).read_text(errors="replace")

    def close(self):
        """Closes the socket; the process must end with code 0."""
        self.reader.close()
        self.socket.close()
        try:
            return self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self.log.close()


@pytest.fixture
def start(tmp_path):
    """Starts processes, and checks that each ends with its command."""
    started = []

    def starting(**options):
        started.append(Command(tmp_path, **options))
        return started[-1]

    yield starting
    for command in started:
        assert command.close() == 0 or command.process.returncode < 0, command.output()


@pytest.fixture
def command(start):
    """A process without launch files."""
    return start()


@pytest.fixture
def column():
    """The column that the process tells for a column."""
    return lambda number: number if HAS_COLUMNS else 1


@pytest.fixture
def repository():
    """The folder of the repository."""
    return Path(__file__).parents[5]


@pytest.fixture
def compatible():
    """The folder with the packages that have names of stock ROS 2."""
    return str(COMPATIBLE)


@pytest.fixture
def written(tmp_path):
    """Writes a launch file; returns its path."""
    def write(text, name="robot.launch.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return write


@pytest.fixture
def loaded(command, written):
    """Loads a text as a launch file; returns its entities."""
    return lambda text: command.load(written(text))


IMPORTS = """
from launch import *
from launch.actions import *
from launch.conditions import *
from launch.event_handlers import *
from launch.launch_description_sources import *
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.descriptions import *
from launch_ros.event_handlers import *
from launch_ros.substitutions import ExecutableInPackage, FindPackagePrefix, FindPackageShare
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One process for many small files, with the path of the file."""
    folder = tmp_path_factory.mktemp("launch")
    command = Command(folder)
    yield command, folder / "line.launch.py"
    assert command.close() == 0, command.output()


@pytest.fixture
def entity(shared):
    """The data of one action, without the keys that all actions have."""
    command, path = shared

    def of(line):
        path.write_text(f"{IMPORTS}\ndef generate_launch_description():\n"
                        f"    return LaunchDescription([{line}])\n")
        (data,) = command.load(path)
        assert isinstance(data.pop("id"), int)
        assert data.pop("at") == [str(path), 14, 31 if HAS_COLUMNS else 1]
        return without_positions(data)

    return of


@pytest.fixture
def refused(shared):
    """The error of a line of a launch file, which must name that line."""
    command, path = shared

    def of(line, kind):
        path.write_text(f"{IMPORTS}\n{line}\n")
        with pytest.raises(Failed) as failed:
            command.load(path)
        assert failed.value.at[:2] == [str(path), 13]
        assert failed.value.error.startswith(kind)
        return failed.value.error

    return of


def without_positions(data):
    """The data without the positions of its parts; all numbers of functions are 1."""
    if isinstance(data, list):
        return [without_positions(item) for item in data]
    if isinstance(data, dict):
        return {
            key: 1 if key == "py" else without_positions(value)
            for key, value in data.items() if key != "at"}
    return data
