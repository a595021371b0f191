"""Checks which `rclpy` a program uses, since those packages of Feros that have the names of ROS
packages need Feros's `rclpy`.

These packages come last on the path, so that an installed ROS has precedence. If that ROS lacks a
package, Python would find Feros's package, whose messages would fail later, far from the cause.
"""

import os
import sys
from importlib.machinery import PathFinder

FOLDER = os.path.realpath(os.path.join(os.path.dirname(__file__), "compat"))
"""The folder of the packages with ROS names."""


def foreign_rclpy():
    """Returns the file of the `rclpy` that is or would be imported, unless it is that of Feros."""
    rclpy = sys.modules.get("rclpy")
    spec = PathFinder.find_spec("rclpy") if rclpy is None else rclpy.__spec__
    origin = getattr(spec, "origin", None)
    if origin is None or os.path.realpath(origin).startswith(FOLDER + os.sep):
        return None
    return origin


def refuse_beside_foreign(name):
    """Raises `ImportError` if the `rclpy` that is or would be imported is not the `rclpy` of
    Feros."""
    origin = foreign_rclpy()
    if origin is None:
        return
    raise ImportError(
        f"{name} of Feros was found, but this program uses another rclpy ({origin}), and the two"
        f" cannot be mixed. Install {name} for that ROS, or start the program with"
        " `feros run SCRIPT.py`, which uses only packages of Feros."
    )
