"""The folders of prefixes from which Python imports packages.

`feros run` and `feros launch` set the variables of Python and of stock ROS 2 for the programs that
they start. For a Python that is started otherwise, the wheel's `feros_prefixes.pth` runs this file
at its start, if `FEROS_PREFIX_PATH` is set; so it imports nothing of Feros.
"""

import os
import sys
from collections.abc import Iterable


def _add(folders: Iterable[str]) -> None:
    for folder in folders:
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)


def add_site_packages(prefixes: Iterable[str]) -> None:
    """Lets this process import the packages of the prefixes, after all others."""
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    names = ('lib/python3/site-packages', f'lib/{version}/site-packages',
             f'local/lib/{version}/dist-packages')
    _add(os.path.join(prefix, name) for prefix in prefixes for name in names)


def complete() -> None:
    """Adds the prefixes to `AMENT_PREFIX_PATH`, and their modules to the end of the path."""
    def parts(name: str) -> list[str]:
        return [part for part in os.environ.get(name, '').split(os.pathsep) if part]

    prefixes = parts('FEROS_PREFIX_PATH')
    old = parts('AMENT_PREFIX_PATH')
    new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in old]
    os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join(new + old)
    add_site_packages(prefixes)
    # Modules of interfaces come last: they need Feros's rclpy.
    _add(os.path.join(prefix, 'lib/feros/python') for prefix in prefixes)


if __name__ == '__main__':
    complete()
