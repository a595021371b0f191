"""A node in another process, which prints the messages that it receives; a line of input ends
it."""

import sys

import feros
from feros.msgs.sensor_msgs.msg import Image
from feros.msgs.std_msgs.msg import String


def main():
    with feros.Context([]) as context:
        node = context.create_node("echo")
        back = node.create_publisher(String, "back", 100)
        images = node.create_publisher(Image, "images_back", 5)
        node.create_subscription(String, "there", lambda m: back.publish(String(data=m.data)), 100)
        node.create_subscription(
            String, "seldom", lambda m: back.publish(String(data=m.data)),
            feros.QoSProfile.sensor_data(),
        )
        node.create_subscription(Image, "images", images.publish, 5)
        context.spin_in_background(node)
        print("ready", flush=True)
        sys.stdin.readline()


main()
