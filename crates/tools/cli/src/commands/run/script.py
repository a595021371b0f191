# Starts a Python script with the modules of the package feros that have stock's names (rclpy,
# std_msgs, ...) before all others. The package itself is not imported, so starting stays quick.
import importlib.util
import os
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # not what the working directory holds
found = importlib.util.find_spec("feros")
if found is None or found.origin is None:
    sys.exit(
        f"error: {sys.executable} has no package feros. Install its wheel there with `pip install`,"
        " or activate the environment that has it."
    )
compat = os.path.join(os.path.dirname(found.origin), "compat")
folders = [sys.argv[1], compat, os.environ.get("PYTHONPATH")]
# Set in the environment, so that processes that the script starts have them too.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
