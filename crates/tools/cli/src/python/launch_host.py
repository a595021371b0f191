# Becomes the host for launch files in Python, which the package feros has. The package itself is
# not imported, so starting stays quick. The socket to the launcher is standard input.
import importlib.util
import json
import os
import runpy
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # not what the working directory holds
found = importlib.util.find_spec("feros")
host = found and found.origin and os.path.join(os.path.dirname(found.origin), "_launch_host.py")
if host and os.path.isfile(host):
    runpy.run_path(host, run_name="__main__")
else:
    os.write(0, json.dumps({"absent": "feros", "python": sys.executable}).encode() + b"\n")
