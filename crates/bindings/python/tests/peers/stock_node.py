"""A node of stock ROS 2: repeats strings, offers and calls a service, offers and calls an
action."""

import sys
import threading

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci


def execute(goal):
    feedback = Fibonacci.Feedback(sequence=[0, 1])
    goal.publish_feedback(feedback)
    goal.succeed()
    return Fibonacci.Result(sequence=[0, 1, goal.request.order])


def answer(request, response):
    response.success, response.message = request.data, "stock"
    return response


def main():
    rclpy.init()
    node = rclpy.create_node("stock")
    back = node.create_publisher(String, "back", 100)
    node.create_subscription(String, "there", lambda m: back.publish(String(data=m.data)), 100)
    node.create_service(SetBool, "stock_service", answer)
    ActionServer(node, Fibonacci, "stock_action", execute)
    client = node.create_client(SetBool, "our_service")
    action = ActionClient(node, Fibonacci, "our_action")
    executor = MultiThreadedExecutor(2)
    executor.add_node(node)

    def spin():
        try:
            executor.spin()
        except ExternalShutdownException:
            pass

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()

    def wait(future):
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        done.wait(60)
        return future.result()

    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "call":
            client.wait_for_service(60)
            response = wait(client.call_async(SetBool.Request(data=True)))
            print(response.success, response.message, flush=True)
        elif line.strip() == "goal":
            action.wait_for_server(60)
            heard = []
            goal = wait(action.send_goal_async(
                Fibonacci.Goal(order=5), lambda m: heard.append(list(m.feedback.sequence))
            ))
            result = wait(goal.get_result_async())
            print(goal.accepted, result.status, list(result.result.sequence), flush=True)
    rclpy.try_shutdown()
    thread.join(10)


main()
