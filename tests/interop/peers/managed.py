"""A managed node of stock rclpy as a program, for launch files: named by its command line, it does nothing in its
transitions."""
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode

rclpy.init()
node = LifecycleNode("managed")
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
finally:
    node.destroy_node()
    rclpy.try_shutdown()
