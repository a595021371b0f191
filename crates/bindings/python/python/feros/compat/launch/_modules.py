"""The modules of single classes that stock ROS 2 has and that launch files import from."""

import sys
from types import ModuleType
from typing import Any, Dict


def provide(package: str, names: Dict[str, Any], modules: Dict[str, str]) -> None:
    """Adds modules to a package; each has some names of the package, separated by spaces."""
    for module, contents in modules.items():
        made = ModuleType(f'{package}.{module}', 'A module that stock ROS 2 has.')
        made.__package__ = package
        for name in contents.split():
            setattr(made, name, names[name])
        sys.modules[made.__name__] = made
        names.setdefault(module, made)
