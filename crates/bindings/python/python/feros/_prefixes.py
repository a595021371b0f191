"""Lets Python find the packages below `FEROS_PREFIX_PATH`.

`feros run` and `feros launch` set the variables of Python and of stock ROS 2 for the programs that
they start. For a Python that is started otherwise, the wheel's `feros_prefixes.pth` runs this file
at its start, if the variable is set; so it imports nothing of Feros.
"""

import os
import sys


def complete(environment, path):
    """Adds the prefixes to `AMENT_PREFIX_PATH`, and their modules to the end of the path."""
    def parts(name):
        return [part for part in environment.get(name, "").split(os.pathsep) if part]

    prefixes = parts("FEROS_PREFIX_PATH")
    old = parts("AMENT_PREFIX_PATH")
    new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in old]
    environment["AMENT_PREFIX_PATH"] = os.pathsep.join(new + old)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = ["python3/site-packages", f"python{version}/site-packages"]
    folders = [os.path.join(prefix, "lib", name) for prefix in prefixes for name in names]
    # Modules of interfaces come last: they need Feros's rclpy.
    folders += [os.path.join(prefix, "lib/feros/python") for prefix in prefixes]
    path += [folder for folder in folders if folder not in path and os.path.isdir(folder)]


complete(os.environ, sys.path)
