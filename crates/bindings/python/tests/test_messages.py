"""Message classes have the behavior of stock ROS 2, and its serialized form."""

import array
import copy
import importlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import feros
from feros.interfaces import get_interface, get_message
from feros.msgs.geometry_msgs.msg import Point, PoseArray, TransformStamped
from feros.msgs.sensor_msgs.msg import CameraInfo, Image, LaserScan
from feros.msgs.std_msgs.msg import Header, String

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from values import TYPES, fill


def resolve(package, namespace, name):
    return get_message(f"{package}/{namespace}/{name}")


def test_fields_have_their_defaults():
    defaults = get_message("test_msgs/msg/Defaults")()
    assert defaults.byte_value == b"2"
    assert defaults.float32_value == 1.125
    assert defaults.int64_value == -40000000
    arrays = get_message("test_msgs/msg/Arrays")()
    assert arrays.int8_values_default.tolist() == [0, 127, -128]
    assert arrays.int8_values_default.dtype == np.int8
    assert arrays.string_values_default == ["", "max value", "min value"]
    sequences = get_message("test_msgs/msg/UnboundedSequences")()
    assert sequences.float64_values_default == array.array("d", [3.1415, 0.0, -3.1415])
    assert sequences.basic_types_values == []


def test_two_messages_share_nothing_that_changes():
    one, other = CameraInfo(), CameraInfo()
    one.header.frame_id = "left"
    one.k[0] = 1.0
    one.d.append(2.0)
    assert other.header.frame_id == ""
    assert other.k[0] == 0.0
    assert len(other.d) == 0


def test_constants_are_of_the_class_and_of_instances_and_stay():
    constants = get_message("test_msgs/msg/Constants")
    assert constants.INT8_CONST == -50
    assert constants().BYTE_CONST == b"2"
    with pytest.raises(AttributeError):
        constants.INT8_CONST = 1


def test_the_form_is_that_of_stock():
    assert CameraInfo.get_fields_and_field_types()["k"] == "double[9]"
    assert LaserScan.get_fields_and_field_types()["ranges"] == "sequence<float>"
    assert String.__slots__ == ["_data", "_check_fields"]
    assert repr(String(data="a")) == "std_msgs.msg.String(data='a')"
    assert repr(LaserScan(ranges=[1.5])).endswith("ranges=[1.5], intensities=[])")
    assert type(Image().data) is array.array and Image().data.typecode == "B"
    assert type(CameraInfo().k) is np.ndarray
    header = Header(frame_id="map")
    assert header == Header(frame_id="map") != Header()
    assert copy.deepcopy(header) == header and pickle.loads(pickle.dumps(header)) == header
    header._frame_id = "odom"
    assert header.frame_id == "odom"


@pytest.mark.parametrize("value", [
    np.arange(6, dtype=np.uint8), bytes(range(6)), bytearray(range(6)), memoryview(bytes(range(6))),
    array.array("B", range(6)), list(range(6)), tuple(range(6)), np.arange(6), range(6),
    np.arange(12, dtype=np.uint8)[::2] // 2,
])
def test_a_setter_takes_whatever_holds_numbers(value):
    image = Image()
    image.data = value
    assert image.data == array.array("B", range(6))
    assert feros.deserialize(feros.serialize(image), Image).data == image.data


def test_a_setter_copies():
    values = np.zeros(4, dtype=np.uint8)
    image = Image(data=values)
    values[0] = 1
    assert image.data[0] == 0


@pytest.mark.parametrize("value, error", [
    (np.array([256]), OverflowError), ([-1], OverflowError), (np.array([0.5]), TypeError),
    ("text", TypeError), (["a"], TypeError), (3, TypeError),
])
def test_a_setter_refuses_what_are_no_numbers_of_the_type(value, error):
    with pytest.raises(error):
        Image().data = value


def test_checks_are_those_of_stock():
    point = Point(check_fields=True)
    with pytest.raises(AssertionError, match="The 'x' field must be of type 'float'"):
        point.x = 1
    with pytest.raises(AssertionError, match="Invalid arguments passed to constructor: w"):
        Point(w=1, check_fields=True)
    with pytest.raises(AssertionError, match="sub message of type 'Header'"):
        Image(header=Point(), check_fields=True)
    with pytest.raises(AssertionError, match=r"an unsigned integer in \[0, 4294967295\]"):
        Image(check_fields=True).height = -1
    Point().x = "anything goes unchecked, as with stock, until it is serialized"


@pytest.mark.parametrize("wrong, error, text", [
    (lambda: Point(x="a"), TypeError, r"Point\.x: expected a number that fits float64, not str"),
    (lambda: Image(height=-1), OverflowError, r"Image\.height: -1 is not a number"),
    (lambda: Image(height=2**32), OverflowError, r"Image\.height"),
    (lambda: String(data=b"a"), TypeError, r"String\.data: expected a str, not bytes"),
    (lambda: String(data="a\0b"), ValueError, "NUL"),
    (lambda: String(data="\ud800"), UnicodeEncodeError, r"surrogates not allowed, in .*String\.data"),
    (lambda: Image(header=Point()), TypeError,
     r"Image\.header: expected a message of std_msgs/msg/Header"),
    (lambda: PoseArray(poses=[1]), TypeError, r"PoseArray\.poses\[0\]"),
    (lambda: CameraInfo(k=[1.0]), ValueError,
     r"CameraInfo\.k: expected 9 elements, but there are 1"),
])
def test_errors_of_serializing_name_place_and_reason(wrong, error, text):
    with pytest.raises(error, match=text):
        feros.serialize(wrong())


def test_another_class_is_refused():
    with pytest.raises(TypeError, match="not a message class"):
        feros.deserialize(b"", int)


def test_bytes_that_are_no_message_are_refused_wherever_they_end():
    data = feros.serialize(fill(get_message("test_msgs/msg/MultiNested"), 1, resolve))
    for size in range(0, len(data) - 8, 7):
        with pytest.raises(feros.DecodeError):
            feros.deserialize(data[:size], get_message("test_msgs/msg/MultiNested"))
    hostile = b"\0\1\0\0" + b"\xff" * 64
    for name in ("PoseArray", "PolygonStamped"):
        with pytest.raises(feros.DecodeError):
            feros.deserialize(hostile, get_message(f"geometry_msgs/msg/{name}"))
    with pytest.raises(feros.DecodeError, match="header"):
        feros.deserialize(b"\0", String)


def test_big_endian_is_read():
    data = b"\0\0\0\0" + b"\0\0\0\2" + b"\0\1" + b"\xff\xff"
    layout = b"\0\0\0\0" + b"\0\0\0\0" + b"\0\0\0\0"  # an empty MultiArrayLayout
    message = feros.deserialize(
        data[:4] + layout[:8] + data[4:], get_message("std_msgs/msg/Int16MultiArray")
    )
    assert list(message.data) == [1, -1]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_message_comes_back(name, seed):
    cls = get_message(f"test_msgs/{name}")
    message = fill(cls, seed, resolve)
    assert repr(feros.deserialize(feros.serialize(message), cls)) == repr(message)


def test_arrays_are_read_where_they_lie():
    image = Image(data=np.arange(100_000, dtype=np.uint8))
    data = feros.serialize(image)
    viewed = Image._feros_type.decode(data, views=True)
    assert isinstance(viewed.data, np.ndarray) and not viewed.data.flags.writeable
    assert np.shares_memory(viewed.data, np.frombuffer(data, np.uint8))
    assert viewed == image
    assert feros.serialize(viewed) == data
    with pytest.raises(ValueError):
        viewed.data[0] = 1


def test_a_view_outlives_all_else():
    data = feros.serialize(LaserScan(ranges=np.arange(5_000, dtype=np.float32)))
    ranges = LaserScan._feros_type.decode(bytes(data), views=True).ranges
    del data
    assert ranges[4_999] == 4_999.0


def test_every_shipped_type_has_a_class():
    from feros import _messages
    from feros.interfaces import packages

    for package in packages():
        for namespace in ("msg", "srv", "action"):
            for name in _messages.interfaces().names(package, namespace):
                cls = get_interface(f"{package}/{namespace}/{name}")
                if namespace == "msg":
                    message = cls()
                    assert repr(feros.deserialize(feros.serialize(message), cls)) == repr(message)


def test_help_tells_meaning_and_units():
    told = LaserScan.__doc__
    assert told.startswith("Message class 'LaserScan'.\n\nOne sweep of a range finder")
    assert "\nFields:\n    header (std_msgs/Header): Time of the first range" in told
    assert "\n    angle_min (float): Angle of the first range, in rad.\n" in told
    constants = get_message("sensor_msgs/msg/Range").__doc__
    assert "\nConstants:\n    ULTRASOUND: The sensor uses sound.\n" in constants
    assert get_message("test_msgs/msg/Arrays").__doc__ == "Message class 'Arrays'."
    assert get_interface("std_srvs/srv/SetBool").Request.__doc__.startswith(
        "Message class 'SetBool_Request'.\n\nSwitches something on or off.\n")


def test_help_of_services_and_actions_has_the_words_about_their_parts():
    told = get_interface("nav2_msgs/action/NavigateToPose").__doc__
    assert told.startswith(
        "Action class 'NavigateToPose'.\n\nDrives a robot to a pose.\n\nGoal:\n    pose ("
        "geometry_msgs/PoseStamped): Where to go, and with which heading.\n")
    assert "\n\nResult: How the drive ended.\n    error_code (uint16): " in told
    assert "\n    NONE: No error.\n" in told
    assert "\n\nFeedback: State of the drive.\n    current_pose (" in told
    told = get_interface("std_srvs/srv/SetBool").__doc__
    assert told.startswith(
        "Service class 'SetBool'.\n\nSwitches something on or off.\n\nRequest:\n    data (boolean): ")
    assert "\n\nResponse:" in told
    assert get_interface("test_msgs/srv/Empty").__doc__ == "Service class 'Empty'."


@pytest.mark.parametrize("distribution, has", [("jazzy", "False"), ("kilted", "True")])
def test_packages_of_robots_are_those_of_the_named_distribution(distribution, has):
    told = run("from feros.msgs.control_msgs.action import FollowJointTrajectory as f;"
               " print(hasattr(f.Feedback(), 'multi_dof_index'))", FEROS_ROS_DISTRO=distribution)
    assert (told.returncode, told.stdout) == (0, f"{has}\n"), told.stderr


def test_comments_of_own_types_are_in_the_help(tmp_path):
    folder = tmp_path / "my_help" / "msg"
    folder.mkdir(parents=True)
    (folder / "Leg.msg").write_text(
        "# A leg.\n# It is long.\n\n# How many\n# joints.\nuint8 joints\nint8 other\n"
        "uint8 LEFT=1 # a side\n")
    assert feros.interfaces.add_folder(tmp_path) == ["my_help"]
    assert get_message("my_help/msg/Leg").__doc__ == (
        "Message class 'Leg'.\n\nA leg. It is long.\n\n"
        "Fields:\n    joints (uint8): How many joints.\n\nConstants:\n    LEFT: a side")


def test_services_and_actions_have_their_parts():
    from feros.msgs.example_interfaces.action import Fibonacci
    from feros.msgs.std_srvs.srv import SetBool, SetBool_Request

    assert SetBool.Request is SetBool_Request
    assert Fibonacci.Impl.SendGoalService.Request().goal.order == 0
    with pytest.raises(NotImplementedError):
        SetBool()


def test_an_unknown_type_has_neighbours():
    messages = importlib.import_module("feros.msgs.std_msgs.msg")
    with pytest.raises(AttributeError, match=r"no type 'Strin' \(did you mean String\?\)"):
        messages.Strin
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("feros.msgs.no_such_package")
    with pytest.raises(feros.UnknownTypeError, match="did you mean"):
        get_message("std_msgs/msg/Strin")


def test_private_modules_resolve():
    from feros.msgs.std_srvs.srv._set_bool import SetBool, SetBool_Response

    assert SetBool.Response is SetBool_Response


def test_own_types_need_no_build(tmp_path):
    folder = tmp_path / "my_robot" / "msg"
    folder.mkdir(parents=True)
    (folder / "Arm.msg").write_text("float64[] joints\nstd_msgs/Header header\nuint8 LEFT=1\n")
    assert feros.interfaces.add_folder(tmp_path) == ["my_robot"]
    from feros.msgs.my_robot.msg import Arm

    arm = Arm(joints=[1.0, 2.0])
    assert feros.deserialize(feros.serialize(arm), Arm) == arm
    assert Arm.LEFT == 1
    with pytest.raises(feros.FerosError, match="no interface package"):
        feros.interfaces.add_folder(tmp_path / "my_robot" / "msg")


def test_values_and_bytes_are_those_of_stock(start, stock, in_stock):
    peer = start("stock_values.py", python=stock)
    for name in filter(in_stock, TYPES):
        cls = get_message(f"test_msgs/{name}")
        for seed in (1, 2, 3):
            ours = fill(cls, seed, resolve)
            task = {"type": f"test_msgs/{name}", "seed": seed, "cdr": feros.serialize(ours).hex()}
            peer.say(json.dumps(task))
            answer = json.loads(peer.hear())
            theirs = feros.deserialize(bytes.fromhex(answer["cdr"]), cls)
            assert repr(ours) == answer["repr"]
            assert repr(cls()) == answer["default"]
            assert answer["decoded"] == answer["repr"], "what stock reads of our bytes"
            assert repr(theirs) == answer["repr"], "what we read of the bytes of stock"
            assert cls.get_fields_and_field_types() == answer["types"]
            slot_types = [
                [type(t).__name__, getattr(t, "size", None), getattr(t, "maximum_size", None)]
                for t in cls.SLOT_TYPES
            ]
            assert slot_types == answer["slot_types"]
            fields = cls.get_fields_and_field_types()
            assert [type(getattr(ours, f)).__name__ for f in fields] == answer["containers"]


def test_a_long_transform_is_as_long_as_it_says():
    transform = TransformStamped(child_frame_id="x" * 100_000)
    assert len(feros.serialize(transform)) > 100_000


def test_floats_are_written_alike_whatever_stands_for_them():
    from feros.msgs.geometry_msgs.msg import Point, Point32, Polygon, Pose, PoseArray, Quaternion

    def poses(x, orientation):
        return PoseArray(poses=[
            Pose(position=Point(x=x, y=-2.5, z=1e300), orientation=orientation) for _ in range(3)])

    class Turned(Quaternion):
        __slots__ = ()

    class Exact(float):
        pass

    expected = feros.serialize(poses(3.0, Quaternion(x=0.5, w=-1.0)))
    assert feros.serialize(poses(3, Quaternion(x=0.5, w=-1.0))) == expected
    assert feros.serialize(poses(Exact(3.0), Quaternion(x=0.5, w=-1.0))) == expected
    assert feros.serialize(poses(np.float64(3.0), Quaternion(x=0.5, w=-1.0))) == expected
    turned = Turned(x=0.5, w=-1.0)
    assert feros.serialize(poses(3.0, turned)) == expected
    back = feros.deserialize(expected, PoseArray)
    assert [pose.position.z for pose in back.poses] == [1e300] * 3
    small = Polygon(points=[Point32(x=0.1, y=float("nan"), z=1e300)])
    point = feros.deserialize(feros.serialize(small), Polygon).points[0]
    assert point.x == np.float32(0.1) and np.isnan(point.y) and np.isinf(point.z)
    broken = poses(3.0, Quaternion())
    broken.poses[1].position._x = "three"
    with pytest.raises(TypeError, match=r"poses\[1\]\.position\.x"):
        feros.serialize(broken)


@pytest.mark.parametrize("variable, below", [
    ("FEROS_PREFIX_PATH", "share"), ("AMENT_PREFIX_PATH", "share"),
    ("XDG_DATA_HOME", "feros/share"), ("FEROS_INTERFACES", ""),
])
def test_own_types_are_found_wherever_the_environment_names_them(tmp_path, variable, below):
    package = tmp_path / below / "my_robot"
    (package / "msg").mkdir(parents=True)
    (package / "msg/Arm.msg").write_text("int32 joints 6\n")
    told = run("from feros.msgs.my_robot.msg import Arm; print(Arm().joints)",
               **{variable: str(tmp_path)})
    assert (told.returncode, told.stdout) == (0, "6\n"), told.stderr


@pytest.fixture
def definitions(tmp_path):
    """A prefix with `my_robot/msg/Arm.msg` and `my_robot/srv/Reach.srv`, but no modules of them."""
    for name, text in (("msg/Arm.msg", "int32 joints 6\n"), ("srv/Reach.srv", "---\nbool ok\n")):
        path = tmp_path / "share/my_robot" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize("folder, lines, shown", [
    ("", "from my_robot.msg import Arm; print(Arm())", "my_robot.msg.Arm(joints=6)"),
    ("", "import my_robot.msg; print(my_robot.msg.Arm().joints)", "6"),
    ("", "from my_robot import srv; print(srv.Reach.Response().ok)", "False"),
    ("", "from my_robot.srv._reach import Reach, Reach_Response as a;"
     " print(Reach.Response is a)", "True"),
    ("", "from feros.msgs.my_robot.msg import Arm as a; from my_robot.msg import Arm;"
     " print(a is Arm)", "True"),
    # In the folder `share`, Python takes the folders `my_robot` and `msg` for packages.
    ("share", "from my_robot.msg import Arm; print(Arm())", "my_robot.msg.Arm(joints=6)"),
    ("share", "from my_robot.srv import Reach_Response; print(Reach_Response().ok)", "False"),
])
def test_scripts_import_own_types_that_have_no_modules(definitions, folder, lines, shown):
    program = f"import os, rclpy; os.chdir({str(definitions / folder)!r}); {lines}"
    told = run(program, AMENT_PREFIX_PATH=str(definitions))
    assert (told.returncode, told.stdout) == (0, f"{shown}\n"), told.stderr


def test_an_import_of_own_types_that_fails_says_why(definitions, foreign):
    def error(lines, where=definitions, **variables):
        program = f"import os; os.chdir({str(where)!r}); {lines}"
        told = run(program, **variables)
        assert told.returncode == 1, told.stdout
        return told.stderr.strip().splitlines()[-1]

    prefix = {"AMENT_PREFIX_PATH": str(definitions)}
    for where in (definitions, definitions / "share"):
        wrong = error("import rclpy; from my_robot.msg import Arn", where, **prefix)
        assert "'my_robot.msg' has no type 'Arn' (did you mean Arm?)" in wrong, wrong
    nowhere = error("import rclpy; from my_robot.msg import Arm")
    assert nowhere == "ModuleNotFoundError: No module named 'my_robot'"
    source = error("import rclpy; from my_robot.msg import Arm", definitions / "share")
    assert "my_robot/msg has the definition of Arm, but the package my_robot is not" in source
    assert f"(`feros build`), or name {definitions}/share/my_robot in FEROS_INTERFACES;" in source
    other = error("import rclpy; from my_robot.action import Dock", **prefix)
    assert other == "ModuleNotFoundError: No module named 'my_robot.action'"
    mixed = error("import feros.msgs, rclpy; from my_robot.msg import Arm", PYTHONPATH=str(foreign),
                  **prefix)
    assert "my_robot of Feros was found, but this program uses another rclpy" in mixed, mixed


@pytest.fixture
def foreign(tmp_path_factory):
    """A folder with an `rclpy` that is not that of Feros."""
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "rclpy.py").touch()
    return folder


def test_private_modules_resolve_under_the_names_of_stock():
    told = run("from std_msgs.msg._string import String; import std_msgs.msg as m;"
               " import std_msgs.msg._string as s; print(m.String is s.String is String)")
    assert (told.returncode, told.stdout) == (0, "True\n"), told.stderr


NO_TYPE = "has no type 'Strin' (did you mean String?)"
NO_PACKAGE = "there is no interface package 'std_msg' (did you mean std_msgs"


@pytest.mark.parametrize("line, hint", [
    ("from feros.msgs.std_msgs.msg import Strin", NO_TYPE),
    ("from std_msgs.msg import Strin", NO_TYPE),
    ("import std_msgs.msg.Strin", NO_TYPE),
    ("from feros.msgs.std_msg.msg import String", NO_PACKAGE),
    ("from feros.msgs import std_msg", NO_PACKAGE),
    ("import feros.msgs.std_msg", NO_PACKAGE),
    ("from feros.msgs.std_msgs.srv import String", "'std_msgs' has no services (srv)"),
])
def test_an_import_that_fails_says_where_types_are_found(line, hint):
    told = run(line)
    assert told.returncode == 1
    error = told.stderr.strip().splitlines()[-1]
    assert error.startswith("ModuleNotFoundError: ") and hint in error
    assert "FEROS_PREFIX_PATH" in error and "FEROS_INTERFACES" in error


def run(program, **variables):
    """Runs a program with additional environment variables."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
        env=dict(os.environ, **variables),
    )
