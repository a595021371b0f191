# Becomes the host of components in Python, which the package feros has. The package itself is not
# imported yet, so that looking for a component stays quick. The socket to the container is standard
# input.
import importlib.util
import os
import runpy
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # not what the working directory holds
found = importlib.util.find_spec("feros")
host = found and found.origin and os.path.join(os.path.dirname(found.origin), "_component_host.py")
if not host or not os.path.isfile(host):
    sys.exit(97)
runpy.run_path(host, run_name="__main__")
