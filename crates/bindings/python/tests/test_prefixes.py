"""What Python finds through FEROS_PREFIX_PATH alone."""

import importlib.util
import os
import pathlib
import site
import subprocess
import sys

import pytest

FEROS = pathlib.Path(importlib.util.find_spec("feros").origin).parent
SITE = FEROS.parent
FILE = FEROS / "compat/ament_index_python/_prefixes.py"

PROGRAM = """
import json, os, sys
import arm_tools, arm_msgs.msg
folders = [arm_tools.__file__, arm_msgs.msg.__file__]
print(json.dumps([folders, os.environ["AMENT_PREFIX_PATH"]]))
"""


@pytest.fixture
def prefix(tmp_path):
    """A prefix with a module, and with the module of a package of interfaces."""
    for name in ("lib/python3/site-packages/arm_tools.py", "lib/feros/python/arm_msgs/msg.py",
                 "lib/feros/python/arm_msgs/__init__.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def output_of(prefix, start, folder):
    """The output of the program, in a Python that begins with `start`."""
    environment = {name: text for name, text in os.environ.items() if "PYTHON" not in name}
    environment |= {"FEROS_PREFIX_PATH": str(prefix), "AMENT_PREFIX_PATH": "/opt/ros"}
    command = [sys.executable, "-c", start + PROGRAM]
    return subprocess.run(
        command, env=environment, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_modules_and_the_index_are_found(prefix, tmp_path):
    start = f"exec(open({str(FILE)!r}).read(), {{'__name__': '__main__'}})"
    output = output_of(prefix, start, tmp_path)
    assert f"{prefix}/lib/python3/site-packages/arm_tools.py" in output
    assert f"{prefix}/lib/feros/python/arm_msgs/msg.py" in output
    assert f'"{prefix}:/opt/ros"' in output


def test_the_wheel_does_so_when_python_starts(prefix, tmp_path):
    if not (SITE / "feros_prefixes.pth").is_file():
        pytest.skip("the package is not installed from a wheel")
    assert str(SITE) in site.getsitepackages() + [site.getusersitepackages()]
    output = output_of(prefix, "", tmp_path)
    assert f"{prefix}/lib/python3/site-packages/arm_tools.py" in output
    assert f'"{prefix}:/opt/ros"' in output


def test_definitions_without_modules_are_found_even_before_rclpy_is_imported(tmp_path):
    definition = tmp_path / "share/my_robot/msg/Arm.msg"
    definition.parent.mkdir(parents=True)
    definition.write_text("int32 joints 6\n")
    program = f"""
import sys
sys.path += {[str(SITE), str(SITE / "feros/compat")]!r}
exec(open({str(FILE)!r}).read(), {{"__name__": "__main__"}})
try:
    import no_robot
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'no_robot'"
assert "feros" not in sys.modules
from my_robot.msg import Arm
import rclpy
print(Arm())
"""
    told = subprocess.run(
        [sys.executable, "-S", "-c", program], env=os.environ | {"FEROS_PREFIX_PATH": str(tmp_path)},
        cwd=tmp_path, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, "my_robot.msg.Arm(joints=6)\n"), told.stderr
