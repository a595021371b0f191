#!/usr/bin/env python3
"""Measures the cost of recording: the processor time of a recorder, compared with that of an rclpy subscription that writes
serialized messages.

    scripts/measure_recording.py FEROS CAMERA [--rounds N] [--seconds S] [--bytes B] [--hertz H]

FEROS is the command, CAMERA the example of crates/tools/bag (both built with --release). Each round runs, one after the other:
`feros bag record` with a camera of Feros, and a subscription of rclpy with raw=True that writes all messages to a file, with
a camera of rclpy, as `ros2 bag record` does except for chunks and their checksums. Processor time is that of the
receiving process alone, between the first and the last image, as /proc shows it. Run it with the Python of
scripts/setup.sh.
"""
import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SUBSCRIPTION = """
import os, rclpy, sys
from sensor_msgs.msg import Image
rclpy.init(); node = rclpy.create_node('listener'); count = 0
file = open(sys.argv[2], 'wb', buffering=0)
def heard(raw):
    global count
    count += 1
    file.write(raw)
subscription = node.create_subscription(Image, sys.argv[1], heard, 10, raw=True)
try:
    rclpy.spin(node)
except BaseException:
    pass
print(count, flush=True); os._exit(0)
"""
PUBLISHER = """
import rclpy, sys, time, array
from sensor_msgs.msg import Image
rclpy.init(); node = rclpy.create_node('camera')
topic, size, hertz, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
publisher = node.create_publisher(Image, topic, 10)
while publisher.get_subscription_count() == 0:
    time.sleep(0.01)
time.sleep(1)
image = Image(data=array.array('B', bytes(size))); began = time.monotonic(); count = 0
while time.monotonic() - began < seconds:
    publisher.publish(image); count += 1
    time.sleep(max(0, began + count / hertz - time.monotonic()))
print(count, flush=True); time.sleep(1)
"""
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(receiver, camera, environment):
    """Returns the processor time of the receiver while the camera runs, and the output of both."""
    receiving = subprocess.Popen(receiver, env=environment, stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    before = processor_seconds(receiving.pid)
    said = subprocess.run(camera, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    spent = processor_seconds(receiving.pid) - before
    receiving.send_signal(signal.SIGINT)
    try:
        out, _ = receiving.communicate(timeout=60)
    finally:
        receiving.kill()  # a receiver that ignores the signal must not stay
    return spent, said.strip(), out.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("feros")
    parser.add_argument("camera")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    parser.add_argument("--hertz", type=float, default=30)
    arguments = parser.parse_args()
    environment = os.environ | {"ROS_DOMAIN_ID": "97", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    camera = ["/camera", str(arguments.bytes), str(arguments.hertz), str(arguments.seconds)]
    times = {"feros bag record": [], "rclpy raw": []}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for round_number in range(arguments.rounds):
            bag = f"{folder}/bag_{round_number}"
            record = [arguments.feros, "bag", "record", "--topics", "/camera", "-o", bag]
            spent, said, out = measure(record, [arguments.camera, *camera], environment)
            times["feros bag record"].append(spent)
            print(f"round {round_number}: feros bag record {spent:.2f} s; {said.split(',')[0]}; {out}", flush=True)
            subprocess.run(["rm", "-r", bag], check=True)
            listen = [sys.executable, "-c", SUBSCRIPTION, "/camera", f"{folder}/raw"]
            spent, said, out = measure(listen, [sys.executable, "-c", PUBLISHER, *camera], environment)
            times["rclpy raw"].append(spent)
            os.remove(f"{folder}/raw")
            print(f"round {round_number}: rclpy raw {spent:.2f} s; {said} images; {out} received", flush=True)
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    ratio = medians["feros bag record"] / medians["rclpy raw"]
    for name, median in medians.items():
        print(f"{name}: median {median:.2f} s of processor time in {arguments.seconds:.0f} s, {arguments.rounds} rounds")
    print(f"ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
