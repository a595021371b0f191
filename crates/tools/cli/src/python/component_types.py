# Prints the components in Python as JSON: a list of [package, name, object]. The rest of the command
# line are prefixes, whose packages come last. This finds what _component_host.py of the package
# feros finds; without that package, containers load no components in Python.
import importlib.util
import json
import os
import sys
from importlib.metadata import entry_points

sys.path[:] = [folder for folder in sys.path if folder]  # not what the working directory holds
if importlib.util.find_spec("feros") is None:
    print("[]")
    sys.exit()
version = f"python{sys.version_info.major}.{sys.version_info.minor}"
for prefix in sys.argv[1:]:
    for folder in (f"lib/{version}/site-packages", f"local/lib/{version}/dist-packages",
                   "lib/python3/site-packages"):
        path = os.path.join(prefix, folder)
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)
found = {}
for entry in entry_points(group="rclpy_components"):
    package, separator, _ = entry.name.partition("::")
    if not separator:
        package = entry.dist.name.replace("-", "_") if entry.dist else ""
    found.setdefault((package, entry.name), entry.value)
print(json.dumps(sorted([package, name, value] for (package, name), value in found.items())))
