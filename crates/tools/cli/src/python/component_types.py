# Prints the components in Python as JSON: a list of [package, name, object, why the object does not
# exist or null]. The rest of the command line are prefixes, whose packages come last. This finds what _component_host.py of the package
# feros finds; without that package, containers load no components in Python.
import importlib.util
import json
import os
import symtable
import sys
import tokenize
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


def spec_of(module):
    """Returns the spec of a module without running any code of its packages, or None."""
    path, spec = None, None
    parts = module.split(".")
    for count in range(len(parts)):
        name = ".".join(parts[:count + 1])
        finders = (finder for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next(filter(None, (finder.find_spec(name, path) for finder in finders)), None)
        if spec is None or (path := spec.submodule_search_locations) is None:
            return spec if count + 1 == len(parts) else None
    return spec


def fault_of(value):
    """Returns why a text such as `camera.detector:Detector` names nothing, as far as the source of the
    module tells."""
    module, _, names = value.partition("[")[0].replace(" ", "").partition(":")
    try:
        spec = spec_of(module)
        if spec is None:
            return f"there is no module {module}"
        if not names or not (spec.origin or "").endswith(".py"):
            return None
        with tokenize.open(spec.origin) as file:
            source = file.read()
        table = symtable.symtable(source, spec.origin, "exec")
    except Exception:
        return None  # a container tells what is wrong with such a module
    known = {
        symbol.get_name() for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    name = names.partition(".")[0]
    is_open = "__getattr__" in known or "import *" in source or "globals()" in source
    is_there = is_open or name in known
    return None if is_there else f"the module {module} ({spec.origin}) has no {name}"


found = {}
for entry in entry_points(group="rclpy_components"):
    package, separator, _ = entry.name.partition("::")
    if not separator:
        package = entry.dist.name.replace("-", "_") if entry.dist else ""
    found.setdefault((package, entry.name), entry.value)
print(json.dumps(sorted(
    [package, name, value, fault_of(value)] for (package, name), value in found.items())))
