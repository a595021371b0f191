"""The other process for a program of the book: it offers services, publishes, and prints each
distinct message that it receives once. A line of input names an action or a managed node to call;
an empty line ends the process."""

import sys

import feros
from feros import tf2
from feros.lifecycle import LifecycleClient
from feros.msgs.example_interfaces.action import Fibonacci
from feros.msgs.geometry_msgs.msg import TransformStamped
from feros.msgs.sensor_msgs.msg import Image
from feros.msgs.std_msgs.msg import String
from feros.msgs.std_srvs.srv import SetBool


def main():
    told = set()

    def tell(line):
        if line not in told:
            told.add(line)
            print(line, flush=True)

    with feros.Context([]) as context:
        node = context.create_node("other")
        node.create_service(SetBool, "enable", lambda request: SetBool.Response(message="enabled"))
        node.create_action_server(
            Fibonacci, "count", lambda goal: Fibonacci.Result(sequence=[0, 1, 1])
        )
        talker = node.create_publisher(String, "chatter")
        node.create_wall_timer(0.02, lambda: talker.publish(String(data="from elsewhere")))
        node.create_subscription(
            String, "chatter", lambda message: tell(message.data), ignore_local_publications=True
        )
        node.create_subscription(
            Image, "image",
            lambda image: tell(f"{image.height} {image.header.frame_id} {image.data[-1]}"),
        )
        there = TransformStamped(child_frame_id="base_link")
        there.header.frame_id, there.transform.translation.x = "map", 7.5
        tf2.StaticTransformBroadcaster(node).send_transform(there)
        context.spin_in_background(node)
        print("ready", flush=True)
        while name := sys.stdin.readline().strip():
            if name == "fibonacci":
                client = node.create_action_client(Fibonacci, name)
                assert client.wait_for_server(60)
                status, result = client.send_goal(Fibonacci.Goal()).wait(60).result().wait(60)
                print(status.name, list(result.sequence), flush=True)
            else:
                client = LifecycleClient(node, name)
                assert client.wait_for_node(60)
                print(client.state().wait(60).label, flush=True)


main()
