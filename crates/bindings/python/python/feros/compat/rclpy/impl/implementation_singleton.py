"""The binding of stock rclpy, under the name by which scripts import it."""

from .. import _rclpy_pybind11 as rclpy_implementation

__all__ = ['rclpy_implementation']
