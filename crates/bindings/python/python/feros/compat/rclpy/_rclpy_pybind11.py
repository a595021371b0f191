"""The names of the binding of stock rclpy that scripts and tests use.

Nearly all modules of stock rclpy call the binding `_rclpy`, and so do those here.
"""

from ._reexports import reexports

__getattr__ = reexports(__name__)
