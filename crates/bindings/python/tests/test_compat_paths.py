"""The packages that a program finds: Feros's `rclpy` comes last on the path, but first with
`feros run`. Packages of two installations are not mixed."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import feros

COMPATIBLE = Path(feros.__file__).parent / "compat"
PACKAGES = [
    "message_filters", "rosidl_parser", "rosidl_runtime_py", "sensor_msgs_py", "std_msgs",
    "tf2_geometry_msgs", "tf2_py", "tf2_ros", "tf2_sensor_msgs",
]
# These need no rclpy, so they go with every rclpy.
OF_LAUNCH_FILES = ["ament_index_python", "launch", "launch_ros", "launch_xml", "launch_yaml"]
# Taken from ros2/examples, rclpy/topics/minimal_subscriber: a script that was not written for
# Feros.
LISTENER = """
import sys
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import String

class Listener(Node):
    def __init__(self):
        super().__init__("listener")
        self.create_subscription(String, "chatter", self.hear, 10)

    def hear(self, message):
        print(message.data, flush=True)
        raise SystemExit

def main(args=None):
    try:
        with rclpy.init(args=args):
            rclpy.spin(Listener())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass

print(rclpy.__file__, flush=True)
main()
"""
TALKER = """
import rclpy
from std_msgs.msg import String

with rclpy.init():
    node = rclpy.create_node("talker")
    publisher = node.create_publisher(String, "chatter", 10)
    node.create_timer(0.05, lambda: publisher.publish(String(data="Hello World")))
    rclpy.spin(node)
"""

TYPED = """
import message_filters
import rclpy
import tf2_geometry_msgs
import tf2_ros
from example_interfaces.action import Fibonacci
from geometry_msgs.msg import PointStamped, TransformStamped
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.time import Time
from rosidl_runtime_py.utilities import get_message
from sensor_msgs.msg import PointCloud2
from sensor_msgs_py import point_cloud2
from std_msgs.msg import String
from std_srvs.srv import SetBool


class Typed(Node):
    def __init__(self) -> None:
        super().__init__("typed")
        self.chatter = self.create_publisher(String, "chatter", QoSProfile(depth=10))
        self.create_subscription(String, "words", self.hear, 10)
        self.create_service(SetBool, "switch", self.switch)
        self.create_timer(1.0, self.tell)
        self.buffer = tf2_ros.Buffer(Duration(seconds=5.0))
        self.listener = tf2_ros.TransformListener(self.buffer, self)
        pair = [message_filters.Subscriber(self, PointStamped, name) for name in ("a", "b")]
        message_filters.ApproximateTimeSynchronizer(pair, 10, 0.1)
        self.goals = ActionClient(self, Fibonacci, "count")
        self.create_subscription(get_message("std_msgs/msg/String"), "more", print, 10)

    def hear(self, message: String) -> None:
        self.get_logger().info(message.data.upper())

    def switch(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success = request.data
        return response

    def tell(self) -> None:
        found: TransformStamped = self.buffer.lookup_transform("map", "base", Time())
        moved = tf2_geometry_msgs.do_transform_point(PointStamped(), found)
        count: int = point_cloud2.read_points(PointCloud2()).size
        self.chatter.publish(String(data=f"{moved.point.x} {count}"))


with rclpy.init():
    rclpy.spin(Typed())
"""


def python(*arguments, path=(), code=0):
    """The output of an interpreter without other packages on its path."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    if path:
        environment["PYTHONPATH"] = os.pathsep.join(map(str, path))
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_an_installed_package_of_a_robot_comes_first(tmp_path):
    line = "from nav2_msgs.action import NavigateToPose; print(NavigateToPose.__module__)"
    assert python("-c", line) == "nav2_msgs.action._navigate_to_pose\n"
    theirs = tmp_path / "nav2_msgs"
    theirs.mkdir()
    (theirs / "__init__.py").touch()
    (theirs / "action.py").write_text("class NavigateToPose: ...\n")
    assert python("-c", line, path=[tmp_path]) == "nav2_msgs.action\n"


@pytest.fixture
def workspace(stock, tmp_path):
    """A prefix of a stock workspace, with the definition of `my_robot/msg/String` and what the
    generator of stock ROS 2 makes of it; returns the prefix and the folder for Python's path."""
    (site,) = Path(stock).parents[1].glob("lib/python3*/site-packages")
    generated = (site / "std_msgs/msg/_string.py").read_text().replace("std_msgs", "my_robot")
    for name, text in (
        ("share/my_robot/msg/String.msg", "string data\n"),
        ("python/my_robot/__init__.py", ""),
        ("python/my_robot/msg/__init__.py", "from my_robot.msg._string import String  # noqa\n"),
        ("python/my_robot/msg/_string.py", generated),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path, tmp_path / "python"


def test_types_that_a_stock_workspace_has_generated_are_replaced(workspace, monkeypatch):
    prefix, path = workspace
    lines = (
        "import rclpy; from my_robot.msg import String; import my_robot.msg._string as part\n"
        "rclpy.init(); node = rclpy.create_node('own')\n"
        "node.create_publisher(String, 'words', 1).publish(String(data='x'))\n"
        "print(part.String is String)"
    )
    told = python("-c", lines, path=[path], code=1)
    assert "String of my_robot.msg._string works only with the rclpy of stock ROS 2" in told
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(prefix))
    assert python("-c", lines, path=[path]) == "True\n"
    # With another rclpy, what its generator made stays.
    (path / "rclpy.py").touch()
    lines = "import feros.msgs, rclpy, importlib.util as u; print(u.find_spec('my_robot.msg').origin)"
    assert python("-c", lines, path=[path]) == f"{path}/my_robot/msg/__init__.py\n"


@pytest.mark.parametrize("package", PACKAGES + OF_LAUNCH_FILES)
def test_an_installed_package_comes_first(package, command, tmp_path):
    line = f"import {package}; print({package}.__file__)"
    assert Path(python("-c", line).strip()).is_relative_to(COMPATIBLE)
    theirs = tmp_path / package / "__init__.py"
    theirs.parent.mkdir()
    theirs.touch()
    assert python("-c", line, path=[tmp_path]).strip() == str(theirs)


@pytest.mark.parametrize("package", OF_LAUNCH_FILES)
def test_packages_for_launch_files_go_with_every_rclpy(package, foreign):
    path = [foreign, COMPATIBLE, COMPATIBLE.parent.parent]
    line = f"import {package}; print({package}.__file__)"
    assert Path(python("-c", line, path=path).strip()).is_relative_to(COMPATIBLE)


@pytest.fixture
def foreign(tmp_path):
    """A folder with an rclpy of another installation."""
    (tmp_path / "foreign/rclpy").mkdir(parents=True)
    (tmp_path / "foreign/rclpy/__init__.py").write_text("whose = 'foreign'")
    return tmp_path / "foreign"


@pytest.fixture
def command():
    found = Path(sysconfig.get_path("scripts")) / "feros"
    if not found.is_file():
        pytest.skip("not installed from a wheel")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_refuse_to_go_with_a_foreign_rclpy(package, foreign):
    path = [foreign, COMPATIBLE, COMPATIBLE.parent.parent]
    said = python("-c", f"import {package}", path=path, code=1)
    assert f"{package} of Feros was found, but this program uses another rclpy" in said
    assert "feros run" in said and str(foreign) in said
    python("-c", f"import {package}", path=path[1:])


def test_packages_that_are_already_imported_decide(foreign):
    program = f"import sys, rclpy; sys.path.insert(0, {str(COMPATIBLE)!r}); import std_msgs"
    said = python("-c", program, path=[foreign, COMPATIBLE.parent.parent], code=1)
    assert "the two cannot be mixed" in said


def test_the_wheel_puts_its_packages_last(command, foreign):
    last = "import sys, rclpy; print(sys.path[-1], rclpy.__file__)"
    folder, rclpy = python("-c", last).split()
    assert Path(folder) == COMPATIBLE and Path(rclpy).is_relative_to(COMPATIBLE)
    # Every interpreter executes, at its start, a line that begins with `import`. Only the line for
    # FEROS_PREFIX_PATH has to be of this kind (test_prefixes.py).
    path_files = Path(sysconfig.get_path("platlib")).glob("*feros*.pth")
    texts = {file.name: file.read_text() for file in path_files}
    assert texts.keys() == {"feros_prefixes.pth", "zz_feros.pth"}
    assert texts["zz_feros.pth"] == "feros/compat\n"
    assert python("-c", "import rclpy; print(rclpy.whose)", path=[foreign]).strip() == "foreign"


def test_scripts_of_stock_run_as_they_are(command, foreign, tmp_path):
    listener, talker = tmp_path / "listener.py", tmp_path / "talker.py"
    listener.write_text(LISTENER)
    talker.write_text(TALKER)
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen([sys.executable, str(talker)], env=environment) as talking:
        try:
            # Once with only the wheel, and once with Feros first on the path and another rclpy
            # after it.
            alone = [sys.executable, str(listener)]
            first = [str(command), "run", str(listener), "--ros-args", "--log-level", "warn"]
            for words, path in ((alone, ""), (first, str(foreign))):
                done = subprocess.run(
                    words, capture_output=True, text=True, timeout=120,
                    env={**environment, "PYTHONPATH": path})
                assert done.returncode == 0, done.stderr
                rclpy, heard = done.stdout.splitlines()
                assert Path(rclpy).is_relative_to(COMPATIBLE) and heard == "Hello World"
        finally:
            talking.terminate()
            talking.wait(60)


def test_programs_of_rclpy_are_checked_strictly(command, tmp_path):
    program = tmp_path / "typed.py"
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["MYPY_CACHE_DIR"] = str(tmp_path / "cache")

    def check(text):
        program.write_text(text)
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True,
            text=True, env=environment)

    checked = check(TYPED)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "incompatible type" in check("from std_msgs.msg import String\nString(data=1)\n").stdout


def test_types_of_every_package_are_checked_strictly(tmp_path):
    # Errors in installed packages are not reported, so copies are checked.
    stubs, lines = tmp_path / "stubs", []
    for stub in sorted(COMPATIBLE.glob("*/*/__init__.pyi")):
        package, namespace = stub.parts[-3:-1]
        if namespace in ("msg", "srv", "action"):
            shutil.copytree(stub.parent, stubs / package / namespace)
            shutil.copy(stub.parents[1] / "__init__.pyi", stubs / package)
            lines.append(f"import {package}.{namespace}\n")
    assert "import nav2_msgs.action\n" in lines and len(lines) > 60, lines
    program = tmp_path / "every.py"
    program.write_text("".join(lines))
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["MYPYPATH"] = str(stubs)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)],
        capture_output=True, text=True, env=environment)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_own_messages_are_imported_by_their_own_names(command, tmp_path, monkeypatch):
    interfaces, modules = tmp_path / "my_robot", tmp_path / "modules"
    (interfaces / "msg").mkdir(parents=True)
    (interfaces / "msg/Arm.msg").write_text("geometry_msgs/Point tip\n")
    words = ["interface", "stubs", modules, "--modules", "--interfaces", interfaces]
    subprocess.run([command, *words], check=True, capture_output=True)
    monkeypatch.setenv("FEROS_INTERFACES", str(interfaces))
    program = "import rclpy; from my_robot.msg import Arm; print(Arm().tip.x, Arm.__module__)"
    assert python("-c", program, path=[modules]) == "0.0 my_robot.msg._arm\n"
