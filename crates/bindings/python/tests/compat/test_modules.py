"""Modules that stock rclpy has in addition to its classes: namespaces as attributes, messages for
tests, and names of the binding."""

import importlib
import json
import os
import subprocess
import sys

import pytest
from test_msgs.message_fixtures import get_test_msg

FIXTURES = """
import json
from test_msgs import message_fixtures
names = {names}
print(json.dumps([[repr(one) for one in message_fixtures.get_test_msg(name)] for name in names]))
"""
NAMES = (
    "Builtins", "Empty", "BasicTypes", "Constants", "Defaults", "Strings", "Nested", "Arrays",
    "BoundedPlainSequences", "BoundedSequences", "UnboundedSequences", "MultiNested", "WStrings",
    "KeyedLong", "KeyedString", "NonKeyedWithNestedKey", "ComplexNestedKey",
)


@pytest.mark.parametrize("line", [
    "import std_msgs; std_msgs.msg.Bool()",
    "import std_msgs, std_srvs; std_srvs.srv.SetBool.Request()",
    "import feros.msgs.std_msgs as std_msgs; std_msgs.msg.Bool()",
])
def test_namespaces_are_imported_when_they_are_asked_for(line):
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", f"{line}\nassert not hasattr(std_msgs, 'srv')"],
        capture_output=True, text=True, timeout=300, env=dict(os.environ, PYTHONPATH=path))
    assert done.returncode == 0, done.stderr


def test_messages_for_tests_are_those_of_stock(stock, in_stock):
    names = [name for name in NAMES if in_stock(f"msg/{name}")]
    told = subprocess.run(
        [stock, "-c", FIXTURES.format(names=names)], capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    for name, expected in zip(names, json.loads(told.stdout), strict=True):
        assert [repr(one) for one in get_test_msg(name)] == expected, name
    with pytest.raises(NotImplementedError):
        get_test_msg("Other")


def test_the_binding_says_what_the_middleware_is():
    import rclpy
    from rclpy.impl.implementation_singleton import rclpy_implementation

    told = rclpy_implementation.rclpy_get_rmw_implementation_identifier()
    assert told == rclpy.get_rmw_implementation_identifier()


MODULES_WITH_BINDING = """
import importlib, json, pkgutil, warnings
warnings.simplefilter("ignore")
import rclpy
modules = (importlib.import_module(one.name)
           for one in pkgutil.walk_packages(rclpy.__path__, "rclpy.") if "._" not in one.name)
print(json.dumps([module.__name__ for module in modules if hasattr(module, "_rclpy")]))
"""


def test_modules_have_the_binding_where_stock_has_it(stock):
    from rclpy import _rclpy_pybind11 as binding
    from rclpy.impl.implementation_singleton import rclpy_implementation

    assert rclpy_implementation is binding
    told = subprocess.run(
        [stock, "-c", MODULES_WITH_BINDING], capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    modules = json.loads(told.stdout)
    assert "rclpy.node" in modules and "rclpy.lifecycle" in modules
    without = [
        name for name in modules
        if getattr(importlib.import_module(name), "_rclpy", None) is not binding]
    assert without == []


def test_a_name_that_the_binding_lacks_is_an_error():
    from rclpy.node import _rclpy

    with pytest.raises(AttributeError, match="'rclpy._rclpy_pybind11' has no attribute 'rclpy_a'"):
        _rclpy.rclpy_a
    from rclpy._rclpy_pybind11 import RCLError

    assert RCLError is _rclpy.RCLError
