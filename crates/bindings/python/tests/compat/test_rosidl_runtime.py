"""rosidl_runtime_py, rosidl_parser and ament_index_python of Feros behave like the stock
packages."""

import os

import ament_index_python
import numpy as np
import pytest
import rosidl_runtime_py
import yaml
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseArray, PoseStamped, TransformStamped
from rosidl_parser.definition import NamespacedType, UnboundedSequence
from rosidl_runtime_py import message_to_csv, message_to_ordereddict, message_to_yaml
from rosidl_runtime_py import set_message_fields
from rosidl_runtime_py.utilities import get_action, get_interface, get_message, get_service
from std_msgs.msg import ByteMultiArray, String
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci
from test_msgs.msg import Arrays, BasicTypes, BoundedSequences, Strings, UnboundedSequences


def test_interfaces_are_found_by_name():
    assert get_message("std_msgs/msg/String") is get_message("std_msgs/String") is String
    assert get_interface("std_srvs/srv/SetBool") is get_service("std_srvs/SetBool") is SetBool
    assert get_action("test_msgs/action/Fibonacci") is Fibonacci
    for wrong in ("std_srvs/srv/SetBool", "String", "test_msgs/action/Fibonacci"):
        with pytest.raises(ValueError, match=f"got '{wrong}'"):
            get_message(wrong)
    with pytest.raises(AttributeError, match="did you mean String"):
        get_message("std_msgs/msg/Strin")
    with pytest.raises(ModuleNotFoundError):
        get_message("no_msgs/msg/String")


def test_interfaces_are_listed_without_an_installation(monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    assert rosidl_runtime_py.get_interface_packages()["std_msgs"] == ""
    found = rosidl_runtime_py.get_interfaces(["std_srvs", "test_msgs"])
    assert found["std_srvs"] == ["srv/Empty", "srv/SetBool", "srv/Trigger"]
    assert "action/Fibonacci" in found["test_msgs"]
    assert "std_srvs" not in rosidl_runtime_py.get_message_interfaces()
    assert rosidl_runtime_py.get_action_interfaces(["std_srvs"]) == {"std_srvs": []}
    with pytest.raises(LookupError, match="no_msgs"):
        rosidl_runtime_py.get_interfaces(["no_msgs"])
    with pytest.raises(LookupError, match="feros interface show"):
        rosidl_runtime_py.get_interface_path("std_msgs/msg/String")
    with pytest.raises(ValueError, match="two parts"):
        rosidl_runtime_py.get_interface_path("std_msgs")


def test_messages_are_filled_from_dictionaries():
    message = PoseArray()
    stamps = set_message_fields(message, yaml.safe_load(
        "{header: auto, poses: [{position: {x: 1.5}}, {orientation: {w: 0.5}}]}"),
        expand_header_auto=True)
    stamps[0](Time(sec=3))
    assert message.header.stamp.sec == 3
    assert [pose.position.x for pose in message.poses] == [1.5, 0.0]
    assert message.poses[1].orientation.w == 0.5
    stamped = PoseStamped()
    stamps = set_message_fields(stamped, {"header": {"stamp": "now"}}, expand_time_now=True)
    stamps[0](Time(sec=4))
    assert stamped.header.stamp.sec == 4
    arrays = Arrays()
    set_message_fields(arrays, {"int32_values": [1, 2, 3], "string_values": ["a", "b", "c"]})
    assert arrays.int32_values.dtype == np.int32 and arrays.int32_values.tolist() == [1, 2, 3]
    sequences = UnboundedSequences()
    set_message_fields(sequences, {"uint8_values": [7], "bool_values": [True]})
    assert sequences.uint8_values.tolist() == [7] and sequences.bool_values == [True]
    for error, values in (
        (AttributeError, {"no_field": 1}), (ValueError, {"int32_value": "text"}),
        (TypeError, "no dictionary"),
    ):
        with pytest.raises(error):
            set_message_fields(BasicTypes(), values)
    with pytest.raises(TypeError, match="'auto' is expected to be a dictionary but is a str"):
        set_message_fields(PoseArray(), {"header": "auto"})


def test_messages_become_texts():
    transform = TransformStamped(child_frame_id="base")
    transform.header.frame_id = "ö: map"
    text = message_to_yaml(transform)
    assert text.startswith("header:\n  stamp:\n    sec: 0\n    nanosec: 0\n  frame_id: 'ö: map'\n")
    again = TransformStamped()
    set_message_fields(again, yaml.safe_load(text))
    assert again == transform
    assert message_to_csv(transform) == "0,0,ö: map,base,0.0,0.0,0.0,0.0,0.0,0.0,1.0"
    assert "{" in message_to_yaml(transform, flow_style=True)
    strings = Strings(string_value="abcdef")
    assert message_to_ordereddict(strings, truncate_length=3)["string_value"] == "abc..."
    assert "<string length: <6>>" in message_to_csv(strings, no_str=True)
    several = UnboundedSequences(int32_values=[1, 2, 3])
    assert message_to_ordereddict(several, truncate_length=2)["int32_values"] == [1, 2, "..."]
    assert message_to_csv(several, truncate_length=1).count("1,...") == 1
    listed = message_to_ordereddict(several, no_arr=True)
    assert listed["int32_values"] == "<sequence type: int32, length: 3>"
    assert listed["basic_types_values"] == (
        "<sequence type: test_msgs/msg/BasicTypes, length: 0>")
    assert message_to_ordereddict(Arrays(), no_arr=True)["bool_values"] == (
        "<array type: boolean[3]>")
    bounded = message_to_ordereddict(BoundedSequences(), no_arr=True)["string_values"]
    assert bounded == "<sequence type: string[3], length: 0>"
    assert message_to_ordereddict(ByteMultiArray(data=[b"\xe4"]))["data"] == ["ä"]
    assert message_to_ordereddict(b"\x01")["bytes"] == b"\x01"
    types = rosidl_runtime_py.get_message_slot_types(PoseArray())
    assert types["poses"] == UnboundedSequence(NamespacedType(["geometry_msgs", "msg"], "Pose"))


@pytest.fixture
def prefixes(tmp_path, monkeypatch):
    """Two prefixes: both have the package `both`, only the first has `one`."""
    for prefix, packages in (("first", ["both", "one"]), ("second", ["both"])):
        index = tmp_path / prefix / "share/ament_index/resource_index/packages"
        index.mkdir(parents=True)
        (index / ".hidden").touch()
        (index / "folder").mkdir()
        for package in packages:
            (index / package).write_text(f"of {prefix}")
    (tmp_path / "first/share/one").mkdir()
    monkeypatch.setenv(
        "AMENT_PREFIX_PATH",
        os.pathsep.join(str(tmp_path / name) for name in ("missing", "first", "second")))
    return tmp_path


def test_packages_are_found_under_their_prefixes(prefixes):
    first, second = str(prefixes / "first"), str(prefixes / "second")
    assert ament_index_python.get_search_paths() == [first, second]
    assert ament_index_python.get_packages_with_prefixes() == {"both": first, "one": first}
    assert ament_index_python.get_resource("packages", "both") == ("of first", first)
    assert ament_index_python.get_resource_types() == {"packages"}
    assert ament_index_python.has_resource("packages", "none") is False
    assert ament_index_python.get_package_share_directory("one") == f"{first}/share/one"
    with pytest.warns(UserWarning, match="does not exist"):
        ament_index_python.get_package_share_path("both")
    with pytest.raises(ament_index_python.PackageNotFoundError, match="'none' not found"):
        ament_index_python.get_package_prefix("none")
    for name in ("", "a", "../one", "_one"):
        with pytest.raises(ValueError, match="not a valid package name"):
            ament_index_python.get_package_prefix(name)
    with pytest.raises(LookupError):
        ament_index_python.get_resource("packages", "none")
    with pytest.raises(ament_index_python.InvalidResourceTypeNameError):
        ament_index_python.get_resources("../packages")
    with pytest.raises(ament_index_python.InvalidResourceNameError):
        ament_index_python.has_resource("packages", "a/b")


def test_the_index_is_printed(prefixes, capsys):
    from ament_index_python.cli import main, resource_name_completer, resource_type_completer

    first = prefixes / "first"
    assert main([]) is None and capsys.readouterr().out == "packages\n"
    main(["packages"])
    assert capsys.readouterr().out == f"both\t{first}\none\t{first}\n"
    main(["packages", "one"])
    assert capsys.readouterr().out == f"{first}\n<<<\nof first\n>>>\n"
    assert "'none' of type 'packages'" in main(["packages", "none"])
    assert resource_type_completer("pa") == ["packages"]
    given = type("Given", (), {"resource_type": "packages"})
    assert resource_name_completer("o", given) == ["one"]
    assert resource_name_completer("o", None) == []


def test_prefixes_of_feros_go_first(prefixes, monkeypatch):
    monkeypatch.setenv("FEROS_PREFIX_PATH", str(prefixes / "second"))
    assert ament_index_python.get_package_prefix("both") == str(prefixes / "second")
    monkeypatch.delenv("FEROS_PREFIX_PATH")
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    with pytest.raises(OSError, match="AMENT_PREFIX_PATH"):
        ament_index_python.get_packages_with_prefixes()
