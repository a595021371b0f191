"""The folders of prefixes from which Python imports packages.

`feros run` and `feros launch` set the variables of Python and of stock ROS 2 for the programs that
they start. For a Python that is started otherwise, the wheel's `feros_prefixes.pth` runs this file
at its start, if `FEROS_PREFIX_PATH` is set; so it imports nothing of Feros then.
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


class _FinderOfTypes:
    """An import finder that lets Feros find a package of which a prefix has only the definitions,
    even if the program imports it before `rclpy`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Adds Feros's finder of such packages, which Python asks next, when it is needed."""
        package = name.partition('.')[0]
        folders = (os.path.join(prefix, 'share', package, kind)
                   for prefix in _prefixes_of('AMENT_PREFIX_PATH')
                   for kind in ('msg', 'srv', 'action'))
        if 'feros._messages' not in sys.modules and any(map(os.path.isdir, folders)):
            import feros._messages  # noqa: F401


def _prefixes_of(variable: str) -> list[str]:
    return [part for part in os.environ.get(variable, '').split(os.pathsep) if part]


def complete() -> None:
    """Adds the prefixes to `AMENT_PREFIX_PATH`, and their modules to the end of the path."""
    prefixes = _prefixes_of('FEROS_PREFIX_PATH')
    old = _prefixes_of('AMENT_PREFIX_PATH')
    new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in old]
    os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join(new + old)
    add_site_packages(prefixes)
    # Modules of interfaces come last: they need Feros's rclpy.
    _add(os.path.join(prefix, 'lib/feros/python') for prefix in prefixes)
    sys.meta_path.append(_FinderOfTypes)


if __name__ == '__main__':
    complete()
