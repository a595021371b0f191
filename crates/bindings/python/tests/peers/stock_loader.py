"""Loads a component into /ComponentManager with stock ROS 2, hears it, and unloads it."""

import sys

import rclpy
from composition_interfaces.srv import ListNodes, LoadNode, UnloadNode
from rcl_interfaces.msg import Parameter, ParameterValue
from std_msgs.msg import String

SECONDS = 60


def main():
    rclpy.init()
    node = rclpy.create_node("stock_loader")

    def call(kind, name, request):
        client = node.create_client(kind, f"/ComponentManager/_container/{name}")
        assert client.wait_for_service(SECONDS)
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future, timeout_sec=SECONDS)
        return future.result()

    text = ParameterValue(type=4, string_value="Guten Tag")
    loaded = call(LoadNode, "load_node", LoadNode.Request(
        package_name=sys.argv[1], plugin_name=sys.argv[2], node_name="speaker",
        node_namespace="/robot", remap_rules=["chatter:=/said"],
        parameters=[Parameter(name="text", value=text)]))
    assert loaded.success, loaded.error_message
    print("loaded", loaded.full_node_name, loaded.unique_id)
    heard = []
    node.create_subscription(String, "/said", lambda message: heard.append(message.data), 10)
    while not heard:
        rclpy.spin_once(node, timeout_sec=SECONDS)
    print("heard", heard[0][:9])
    print("listed", call(ListNodes, "list_nodes", ListNodes.Request()).full_node_names)
    request = UnloadNode.Request(unique_id=loaded.unique_id)
    print("unloaded", call(UnloadNode, "unload_node", request).success)
    node.destroy_node()
    rclpy.try_shutdown()


main()
