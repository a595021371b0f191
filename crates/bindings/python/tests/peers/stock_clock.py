"""Publishes the given times as simulated time, with stock ROS 2."""

import sys
import time

import rclpy
from rosgraph_msgs.msg import Clock


def main():
    rclpy.init()
    node = rclpy.create_node("stock_clock")
    publisher = node.create_publisher(Clock, "/clock", 10)
    print("ready", flush=True)
    for line in sys.stdin:
        message = Clock()
        message.clock.sec = int(line)
        publisher.publish(message)
        time.sleep(0.05)
        print("said", flush=True)
    rclpy.try_shutdown()


main()
