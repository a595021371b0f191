# Runs the host of components in Python, a file of the package feros. It does not import the package,
# so that a request for an unknown component stays cheap. Standard input is the socket to the
# container.
import importlib.util
import os
import runpy
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # not the working directory
found = importlib.util.find_spec("feros")
host = found and found.origin and os.path.join(os.path.dirname(found.origin), "_component_host.py")
if not host or not os.path.isfile(host):
    sys.exit(97)
runpy.run_path(host, run_name="__main__")
