"""Components in Python, in containers that the command of the wheel has in itself."""

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest

import feros
from feros.msgs.composition_interfaces.srv import ListNodes, LoadNode, UnloadNode
from feros.msgs.rcl_interfaces.msg import Parameter, ParameterValue
from feros.msgs.std_msgs.msg import String
from feros.msgs.std_srvs.srv import Trigger

PARTS = '''
import os
import threading
import time

import feros
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from std_msgs.msg import String


class Talker(Node):
    """As for stock ROS 2: it takes no arguments."""

    def __init__(self):
        super().__init__("talker")
        self.declare_parameter("text", "hello")
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.create_timer(0.05, self.say)

    def say(self):
        text = self.get_parameter("text").value
        self.publisher.publish(String(data=f"{text} {os.getpid()} {threading.get_ident()}"))


class Named(Node):
    """As the public proposals for rclpy make components: with a name and options."""

    def __init__(self, node_name, **options):
        super().__init__(node_name, **options)


class Native(feros.Node):
    """Of the native API."""

    def __init__(self, *, context):
        super().__init__("native", context=context, parameter_overrides={"text": "own"})
        text = self.parameters.declare("text", "none")
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.timer = self.create_wall_timer(0.05, lambda: self.publisher.publish(String(data=text)))


class Managed(LifecycleNode):
    def __init__(self):
        super().__init__("managed")


class Faulty(Node):
    def __init__(self):
        super().__init__("faulty")
        self.create_subscription(String, "fail", self.fail, 10)

    def fail(self, message):
        if message.data == "raise":
            raise ValueError("no camera")
        if message.data == "exit":
            raise SystemExit(3)
        if message.data == "wait":
            time.sleep(1000)
        os.abort()


class Broken(Node):
    def __init__(self):
        super().__init__("broken")
        self.helper = Node("helper")
        raise OSError("no such device")


def no_node():
    return 3
'''
METADATA = "Metadata-Version: 2.1\nName: python-parts\nVersion: 1.0\n"
ENTRY_POINTS = """
[rclpy_components]
python_parts::Talker = python_parts:Talker
python_parts::Named = python_parts:Named
python_parts::Native = python_parts:Native
python_parts::Faulty = python_parts:Faulty
python_parts::Broken = python_parts:Broken
python_parts::Missing = python_parts:Missing
python_parts::Module = python_part:Talker
python_parts::Typo = python_parts:Talkr
python_parts::no_node = python_parts:no_node
Managed = python_parts:Managed
"""
PACKAGE = "python_parts"
KINDS = ["", "_mt", "_isolated", "_process"]
SECONDS = 120  # a limit for a container that hangs, not a measure


def command():
    found = Path(sysconfig.get_path("scripts")) / "feros"
    if not found.is_file():
        pytest.skip("not installed from a wheel")
    return str(found)


@pytest.fixture
def prefix(tmp_path):
    """A prefix with the package `python_parts`, as `pip install --prefix` makes it."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = tmp_path / "prefix/lib" / version / "site-packages"
    (folder / "python_parts-1.0.dist-info").mkdir(parents=True)
    (folder / "python_parts.py").write_text(PARTS)
    (folder / "python_parts-1.0.dist-info/METADATA").write_text(METADATA)
    (folder / "python_parts-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINTS)
    return tmp_path / "prefix"


class Process:
    """A command with its output."""

    def __init__(self, prefix, *words):
        self.process = subprocess.Popen(
            [command(), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=prefix, env={**os.environ, "FEROS_PREFIX_PATH": str(prefix)})
        self.output = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.output += line

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._reader.join(SECONDS)
            self.process.stdout.close()
            print(self.output)


@pytest.fixture
def start(prefix):
    """Starts commands, and ends them like Ctrl-C."""
    started = []

    def begin(*words):
        started.append(Process(prefix, *words))
        return started[-1]

    yield begin
    for process in started:
        process.end()


class Client:
    """Asks the container /ComponentManager."""

    def __init__(self, context, node):
        self.context, self.node = context, node
        name = "/ComponentManager/_container"
        self._clients = {
            "load": node.create_client(LoadNode, f"{name}/load_node"),
            "unload": node.create_client(UnloadNode, f"{name}/unload_node"),
            "list": node.create_client(ListNodes, f"{name}/list_nodes"),
            "states": node.create_client(Trigger, f"{name}/component_states"),
        }
        context.spin_in_background(node)
        for client in self._clients.values():
            assert client.wait_for_service(SECONDS)

    def _call(self, kind, request):
        return self._clients[kind].call(request).wait(SECONDS)

    def load(self, plugin, package=PACKAGE, **fields):
        request = LoadNode.Request(package_name=package, plugin_name=plugin, **fields)
        return self._call("load", request)

    def refusal(self, plugin, **fields):
        answer = self.load(plugin, **fields)
        assert not answer.success
        return answer.error_message

    def unload(self, number):
        answer = self._call("unload", UnloadNode.Request(unique_id=number))
        assert answer.success, answer.error_message

    def names(self):
        answer = self._call("list", ListNodes.Request())
        return dict(zip(answer.unique_ids, answer.full_node_names))

    def state(self, number):
        lines = self._call("states", Trigger.Request()).message.splitlines()
        return next(line for line in lines if line.split()[0] == str(number))


@pytest.fixture
def client(context):
    """Makes the client; a container must be starting."""
    return lambda: Client(context, context.create_node("tests"))


@pytest.fixture
def hear(context, eventually):
    """Waits for a message of a topic that fits."""

    def wait(topic, fits=lambda text: True):
        heard = []
        node = context.create_node("listener")
        node.create_subscription(String, topic, lambda message: heard.append(message.data), 10)
        context.spin_in_background(node)
        eventually(lambda: any(map(fits, heard)))
        node.destroy()
        return next(filter(fits, heard))

    return wait


@pytest.fixture
def say(context):
    """Publishes a text on a topic to one subscription."""

    def publish(topic, text):
        node = context.create_node("speaker")
        publisher = node.create_publisher(String, topic, 10)
        publisher.wait_for_subscriptions(1, SECONDS)
        publisher.publish(String(data=text))
        return node

    return publish


def text(name, value):
    return Parameter(name=name, value=ParameterValue(type=4, string_value=value))


def truth(name, value):
    return Parameter(name=name, value=ParameterValue(type=1, bool_value=value))


@pytest.mark.parametrize("kind", KINDS)
def test_the_options_of_a_request_reach_the_node(kind, start, client, hear, eventually):
    container = start("run", "rclcpp_components", f"component_container{kind}")
    container_of = client()
    options = {
        "node_name": "speaker", "node_namespace": "/robot", "remap_rules": ["chatter:=/said"],
        "parameters": [text("text", "Guten Tag")],
        "extra_arguments": [truth("start_parameter_services", False)],
    }
    loaded = container_of.load("python_parts::Talker", **options)
    assert (loaded.success, loaded.full_node_name) == (True, "/robot/speaker"), loaded
    said = hear("/said", lambda heard: heard.startswith("Guten Tag "))
    services = container_of.node.service_names_and_types()
    assert "/robot/speaker/get_parameters" not in services
    # The plugin may be named without the package, and the process is not the container's.
    second = container_of.load("Talker")
    assert second.full_node_name == "/talker"
    other = hear("/chatter", lambda heard: heard.startswith("hello "))
    is_shared = said.split()[-2] == other.split()[-2]
    assert is_shared == (kind != "_process")
    assert str(container.process.pid) not in (said.split()[-2], other.split()[-2])
    assert container_of.names() == {1: "/robot/speaker", 2: "/talker"}
    twice = container_of.refusal("Talker")
    assert "already has the node name /talker" in twice
    container_of.unload(1)
    container_of.unload(2)
    assert container_of.names() == {}
    eventually(lambda: "/talker" not in str(container_of.node.node_names()))


def test_every_form_of_a_class_is_a_component(start, client, hear):
    start("container")
    container = client()
    assert container.load("Named").full_node_name == "/named"
    assert container.load("Named", node_name="given").full_node_name == "/given"
    assert container.load("Managed").full_node_name == "/managed"
    assert container.load("Native", parameters=[text("text", "ours")]).success
    assert hear("/chatter") == "ours"
    renamed = container.load("Native", node_name="other", remap_rules=["chatter:=else"])
    assert renamed.full_node_name == "/other"
    assert hear("/else") == "own"
    container.unload(renamed.unique_id)


def test_what_cannot_be_loaded_is_said(start, client, eventually):
    process = start("container")
    container = client()
    unknown = container.refusal("python_parts::Nothing")
    assert unknown.startswith("Failed to find class with the requested plugin name. " + sys.prefix)
    assert "has no entry point 'python_parts::Nothing' of the package python_parts" in unknown
    assert "it has Managed, python_parts::Broken" in unknown
    assert "FEROS_PREFIX_PATH" not in unknown, "the package is there"
    absent = container.refusal("absent_parts::Part", package="absent_parts")
    assert absent.startswith("Could not find requested resource in ament index: ")
    assert "set FEROS_PREFIX_PATH" in absent and "of the package absent_parts in" in absent
    broken = container.refusal("Broken")
    assert "Component constructor threw an exception: OSError: no such device (" in broken
    assert "python_parts.py, line " in broken
    missing = container.refusal("Missing")
    assert missing.startswith("Failed to find class with the requested plugin name. the entry point"
                              " `python_parts::Missing = python_parts:Missing` names no class: the"
                              " module python_parts (")
    assert missing.endswith("python_parts.py) has no Missing")
    assert container.refusal("Typo").endswith(" has no Talkr; did you mean Talker?")
    assert container.refusal("Module").endswith(": there is no module python_part")
    assert "makes int, which is no node" in container.refusal("no_node")
    wrong = container.refusal("Talker", extra_arguments=[truth("unknown_argument", True)])
    assert "Extra component argument 'unknown_argument' is not known" in wrong
    assert "'text'" in container.refusal("Talker", extra_arguments=[text("text", "x")])
    assert container.names() == {}
    assert container.load("Managed").success  # so that the process goes on
    eventually(lambda: ("managed", "/") in container.node.node_names())
    eventually(lambda: not {"broken", "helper"} & {name for name, _ in container.node.node_names()})
    process.end()
    assert "the component python_parts::Broken was not made:\nTraceback" in process.output
    assert 'raise OSError("no such device")' in process.output
    assert "_component_host.py" not in process.output


@pytest.mark.parametrize("kind", ["", "_process"])
@pytest.mark.parametrize("how, told", [("raise", "ValueError: no camera"), ("exit", "SystemExit: 3")])
def test_an_exception_ends_its_component_alone(
    kind, how, told, start, client, hear, say, eventually
):
    process = start("run", "feros_component", f"component_container{kind}", "--restart-limit", "1")
    container = client()
    assert container.load("Talker").success
    before = hear("/chatter")
    number = container.load("Faulty").unique_id
    say("/fail", how)
    eventually(lambda: f"failed: a callback raised {told}" in process.output)
    eventually(lambda: "running" in container.state(number))
    assert hear("/chatter") == before, "the other component still runs on its thread"
    say("/fail", how)
    eventually(lambda: "failed" in container.state(number))
    assert told in container.state(number)
    container.unload(number)
    assert hear("/chatter") == before
    assert "Traceback (most recent call last):" in process.output
    if how == "raise":
        assert 'raise ValueError("no camera")' in process.output
    assert "_component_host.py" not in process.output


@pytest.mark.parametrize("kind", ["", "_process"])
def test_a_crash_of_the_interpreter_ends_no_container(kind, start, client, hear, say, eventually):
    process = start("run", "feros_component", f"component_container{kind}", "--restart")
    container = client()
    assert container.load("Talker").success
    before = hear("/chatter")
    number = container.load("Faulty").unique_id
    say("/fail", "abort")
    eventually(lambda: f"({number}) failed: the Python process was ended by SIGABRT" in process.output)
    eventually(lambda: "restarted 1 times" in container.state(number))
    if kind:
        assert hear("/chatter") == before, "it has a process of its own"
    else:
        assert hear("/chatter", lambda heard: heard != before).startswith("hello ")
    assert process.process.poll() is None


def test_a_component_that_does_not_end_hinders_no_end(start, client, say, eventually):
    process = start("container")
    container = client()
    number = container.load("Faulty").unique_id
    pids = children(process.process.pid)
    assert pids
    say("/fail", "wait")
    container.unload(number)
    eventually(lambda: not any(map(is_alive, pids)))


def test_the_interpreter_ends_with_its_last_component_and_with_the_container(
    start, client, eventually
):
    process = start("container")
    container = client()
    pid = process.process.pid
    assert children(pid) == []
    first = container.load("Talker").unique_id
    (interpreter,) = children(pid)
    container.unload(first)
    eventually(lambda: children(pid) == [])
    assert not is_alive(interpreter)
    container.refusal("Nothing")
    eventually(lambda: children(pid) == [])
    container.load("Talker")
    (interpreter,) = children(pid)
    process.process.kill()
    eventually(lambda: not is_alive(interpreter))


def children(pid):
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in listed for child in each.read_text().split()]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


LAUNCH_PY = '''
from launch import LaunchDescription
from launch_ros.actions import ComposableNodeContainer
from launch_ros.descriptions import ComposableNode


def generate_launch_description():
    return LaunchDescription([ComposableNodeContainer(
        name="box", namespace="/n", package="rclcpp_components", executable="component_container",
        output="screen",
        composable_node_descriptions=[
            ComposableNode(
                package="python_parts", plugin="python_parts::Talker", name="speaker",
                parameters=[{"text": "launched"}], remappings=[("chatter", "/said")]),
            ComposableNode(
                package="tf2_ros", plugin="tf2_ros::StaticTransformBroadcasterNode", name="still",
                parameters=[{"frame_id": "map", "child_frame_id": "base"}]),
        ])])
'''
LAUNCH_XML = '''
<launch>
  <node_container pkg="rclcpp_components" exec="component_container" name="box" namespace="/n"
      output="screen">
    <composable_node pkg="python_parts" plugin="python_parts::Talker" name="speaker">
      <param name="text" value="launched"/>
      <remap from="chatter" to="/said"/>
    </composable_node>
    <composable_node pkg="tf2_ros" plugin="tf2_ros::StaticTransformBroadcasterNode" name="still">
      <param name="frame_id" value="map"/>
      <param name="child_frame_id" value="base"/>
    </composable_node>
  </node_container>
</launch>
'''
LAUNCH_YAML = '''
launch:
  - node_container:
      pkg: rclcpp_components
      exec: component_container
      name: box
      namespace: /n
      output: screen
      composable_node:
        - pkg: python_parts
          plugin: python_parts::Talker
          name: speaker
          param: [{name: text, value: launched}]
          remap: [{from: chatter, to: /said}]
        - pkg: tf2_ros
          plugin: tf2_ros::StaticTransformBroadcasterNode
          name: still
          param: [{name: frame_id, value: map}, {name: child_frame_id, value: base}]
'''


@pytest.mark.parametrize("name, code", [
    ("mixed.launch.py", LAUNCH_PY), ("mixed.launch.xml", LAUNCH_XML),
    ("mixed.launch.yaml", LAUNCH_YAML)])
def test_a_launch_file_mixes_languages(name, code, prefix, start, context, hear, eventually):
    (prefix / name).write_text(code)
    start("launch", name)
    assert hear("/said").startswith("launched ")
    node = context.create_node("graph")
    wanted = {("box", "/n"), ("speaker", "/"), ("still", "/")}
    eventually(lambda: wanted <= set(map(tuple, node.node_names())))


def test_a_stock_client_loads_them(stock, start, prefix, hear):
    if subprocess.run([stock, "-c", "import composition_interfaces"], capture_output=True).returncode:
        pytest.skip("this stock ROS 2 has no composition_interfaces")
    container = start("container", "--isolated")
    peer = Path(__file__).parent / "peers/stock_loader.py"
    done = subprocess.run(
        [stock, str(peer), PACKAGE, "python_parts::Talker"], capture_output=True, text=True,
        timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "loaded /robot/speaker 1", "heard Guten Tag", "listed ['/robot/speaker']", "unloaded True"]
    assert container.process.poll() is None
