#!/usr/bin/env python3
"""Measures the cost of messages in Python, for Feros and stock ROS 2 in turns in one process.

    .venv/bin/python scripts/measure_python_messages.py [ROUNDS]

It takes the wheel that scripts/test_python.sh or scripts/build_wheel.sh last put into target (build it
with `--profile release`), and prints the medians of the thread's processor time over all rounds.
"""

import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
wheels = sorted(ROOT.glob("target/wheels*/feros-*.whl"), key=lambda path: path.stat().st_mtime)
if not wheels:
    sys.exit("measure_python_messages: error: there is no wheel. Run scripts/build_wheel.sh.")
folder = tempfile.mkdtemp(prefix="feros-wheel-")
with zipfile.ZipFile(wheels[-1]) as wheel:
    wheel.extractall(folder)
sys.path.append(folder)

import numpy as np
from geometry_msgs.msg import Pose, PoseArray, TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Image

import feros
from feros.msgs.geometry_msgs import msg as our_geometry
from feros.msgs.sensor_msgs.msg import Image as OurImage

IMAGE = np.zeros(1_000_000, dtype=np.uint8)


def cases():
    transform, ours = TransformStamped(), our_geometry.TransformStamped()
    for message in (transform, ours):
        message.header.frame_id, message.child_frame_id = "map", "base_link"
    data = serialize_message(transform)
    yield ("decode TransformStamped", 200,
           lambda: deserialize_message(data, TransformStamped),
           lambda: feros.deserialize(data, our_geometry.TransformStamped))
    yield ("encode TransformStamped", 200,
           lambda: serialize_message(transform), lambda: feros.serialize(ours))
    poses = PoseArray(poses=[Pose() for _ in range(1000)])
    our_poses = our_geometry.PoseArray(poses=[our_geometry.Pose() for _ in range(1000)])
    many = serialize_message(poses)
    yield ("decode PoseArray(1000)", 1,
           lambda: deserialize_message(many, PoseArray),
           lambda: feros.deserialize(many, our_geometry.PoseArray))
    yield ("encode PoseArray(1000)", 1,
           lambda: serialize_message(poses), lambda: feros.serialize(our_poses))
    image, our_image = Image(), OurImage()
    yield ("Image.data = ndarray of 1 MB", 1,
           lambda: setattr(image, "data", IMAGE), lambda: setattr(our_image, "data", IMAGE))
    large = serialize_message(Image(data=IMAGE.tobytes()))
    yield ("decode Image of 1 MB", 1,
           lambda: deserialize_message(large, Image), lambda: feros.deserialize(large, OurImage))
    yield ("decode Image of 1 MB as a view", 1,
           lambda: deserialize_message(large, Image),
           lambda: OurImage._feros_type.decode(large, views=True))


def microseconds(function, count):
    began = time.thread_time_ns()
    for _ in range(count):
        function()
    return (time.thread_time_ns() - began) / count / 1000


def import_time(statement):
    program = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"}, check=True)
    return float(done.stdout) * 1000


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    print(f"{wheels[-1].name}, {wheels[-1].stat().st_size / 1e6:.1f} MB; medians of {rounds} rounds")
    print(f"{'':32} {'stock us':>10} {'feros us':>10} {'factor':>8}")
    for name, count, stock, ours in cases():
        measured = [(microseconds(stock, count), microseconds(ours, count)) for _ in range(rounds)]
        theirs, mine = (statistics.median(column) for column in zip(*measured))
        print(f"{name:32} {theirs:10.2f} {mine:10.2f} {theirs / mine:8.1f}")
    for statement in ("import feros", "import feros.msgs.sensor_msgs.msg"):
        times = [import_time(statement) for _ in range(5)]
        print(f"{statement}: {statistics.median(times):.1f} ms")


main()
