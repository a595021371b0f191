"""The installed package: the command, the time of the import, and its types."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest


def run(*command, **environment):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_is_there():
    command = Path(sysconfig.get_path("scripts")) / "feros"
    if not command.is_file():
        pytest.skip("not installed from a wheel")
    assert "feros" in run(str(command), "--version")
    assert "string data" in run(str(command), "interface", "show", "std_msgs/msg/String")


def test_importing_loads_little():
    """`import feros` loads no slow modules. The import time itself cannot be tested reliably."""
    program = "import sys, feros; print(*sorted(sys.modules))"
    loaded = set(run(sys.executable, "-c", program).split())
    assert not loaded & {"numpy", "asyncio", "dataclasses", "logging", "rclpy", "typing_extensions"}


def test_it_works_without_numpy():
    program = """
import sys
sys.modules["numpy"] = None
import feros
from feros.msgs.sensor_msgs.msg import CameraInfo, Image
info = CameraInfo(k=[1.0] * 9)
assert feros.deserialize(feros.serialize(info), CameraInfo) == info
image = Image(data=bytes(5000))
viewed = Image._feros_type.decode(feros.serialize(image), views=True)
assert type(viewed.data) is memoryview and viewed.data.readonly
print(len(viewed.data))
"""
    assert run(sys.executable, "-c", program).strip() == "5000"


def test_types_are_checked_strictly(tmp_path):
    if shutil.which("mypy") is None and subprocess.run(
        [sys.executable, "-c", "import mypy"], capture_output=True
    ).returncode:
        pytest.skip("mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text('''
import asyncio

import feros
from feros import lifecycle, tf2
from feros.msgs.geometry_msgs.msg import PointStamped
from feros.msgs.sensor_msgs.msg import Image
from feros.msgs.std_msgs.msg import String
from feros.msgs.std_srvs.srv import SetBool


class Managed(lifecycle.LifecycleNode):
    def on_configure(self, previous: lifecycle.State) -> lifecycle.CallbackReturn:
        self.chatter = self.create_lifecycle_publisher(String, "chatter")
        return lifecycle.CallbackReturn.SUCCESS


def hear(message: String) -> None:
    print(message.data.upper())


def answer(request: SetBool.Request) -> SetBool.Response:
    return SetBool.Response(success=request.data, message="done")


async def main() -> None:
    async with feros.Context([]) as context:
        node = context.create_node("typed", namespace="/ns")
        publisher = node.create_publisher(Image, "image", feros.QoSProfile.sensor_data())
        node.create_subscription(String, "chatter", hear)
        node.create_service(SetBool, "set", answer)
        with publisher.loan({"data": 10}) as loan:
            loan.height = 1
        client = node.create_client(SetBool, "set")
        response = await client.call(SetBool.Request(data=True))
        print(response.message)
        buffer = tf2.Buffer()
        tf2.TransformListener(buffer, node)
        transform = await buffer.wait_for_transform("map", "base")
        print(transform.child_frame_id, buffer.transform(PointStamped(), "map").point.x)
        managed = Managed("managed", context=context)
        print(managed.configure().label, managed.chatter.is_activated)
        jumps = node.clock.on_jump(lambda jump: print(jump.delta))
        jumps.remove()
        async for message in node.subscribe(String, "chatter"):
            text: str = message.data
            print(text)
            break


asyncio.run(main())
''')
    run(sys.executable, "-m", "mypy", "--strict", str(program), MYPY_CACHE_DIR=str(tmp_path))
    program.write_text("from feros.msgs.std_msgs.msg import String\nString(data=1)\n")
    wrong = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True,
        env={**os.environ, "MYPY_CACHE_DIR": str(tmp_path)},
    )
    assert "incompatible type" in wrong.stdout
