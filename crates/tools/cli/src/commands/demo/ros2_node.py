"""The stock ROS 2 node of `feros demo`: talks and listens on /chatter with rclpy, and reports its events as lines of JSON.

Its input is one line, `go COUNT LISTENERS RATE`; the end of its input ends the node.
"""

import json
import sys
import threading
import time

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from std_msgs.msg import String

NAME = "ros2_node"
LISTENERS_LIMIT_SECONDS = 20


def tell(event, **fields):
    # One write per line, because both threads report.
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def heard(message, info):
    now = time.time_ns()
    if message.data.endswith(f" from {NAME}"):
        return
    sent = info["source_timestamp"]
    tell("heard", text=message.data, latency_us=(now - sent) / 1000 if sent > 0 else None)


def talk(publisher, count, listeners, rate_hz, ended):
    deadline = time.monotonic() + LISTENERS_LIMIT_SECONDS
    while publisher.get_subscription_count() < listeners and time.monotonic() < deadline:
        if ended.wait(0.02):
            return
    number = 0
    while not ended.wait(1 / rate_hz):
        number += 1
        text = f"Hello {number} from {NAME}"
        tell("said", text=text)
        publisher.publish(String(data=text))
        if number == count:
            break
    tell("done")


def spin(executor):
    try:
        executor.spin()
    except ExternalShutdownException:
        pass


def main():
    rclpy.init(args=[])
    node = rclpy.create_node(NAME)
    node.create_subscription(String, "chatter", heard, 10)
    publisher = node.create_publisher(String, "chatter", 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    threads = [threading.Thread(target=spin, args=(executor,))]
    threads[0].start()
    ended = threading.Event()
    tell("ready")
    for line in sys.stdin:
        count, listeners, rate_hz = line.removeprefix("go ").split()
        talker = threading.Thread(target=talk, args=(publisher, int(count), int(listeners), float(rate_hz), ended))
        talker.start()
        threads.append(talker)
    ended.set()
    rclpy.try_shutdown()
    for thread in threads:
        thread.join()


main()
