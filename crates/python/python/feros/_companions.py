"""Whose `rclpy` a program has: packages of ROS's names that come with Feros go with Feros's alone.

They lie at the end of the path, so that an installed ROS wins. Where that one lacks a package, the
one of Feros would be found, and its messages would fail later, far from the cause.
"""

import os
import sys
from importlib.machinery import PathFinder

FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "compat")
"""Where the packages of ROS's names are."""


def refuse_beside_foreign(name):
    """Raises `ImportError` where the `rclpy` that is imported, or would be, is not Feros's."""
    rclpy = sys.modules.get("rclpy")
    spec = PathFinder.find_spec("rclpy") if rclpy is None else rclpy.__spec__
    origin = getattr(spec, "origin", None)
    if origin is None or os.path.realpath(origin).startswith(FOLDER + os.sep):
        return
    raise ImportError(
        f"{name} of Feros was found, but the rclpy of this program is another one ({origin}), and"
        f" the two cannot be mixed. Install {name} for that ROS, or start the program with"
        " `feros run SCRIPT.py` to have all of Feros."
    )
