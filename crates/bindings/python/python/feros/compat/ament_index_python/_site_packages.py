"""The folders of prefixes from which Python imports packages."""

import os
import sys
from typing import Iterable


def add_site_packages(prefixes: Iterable[str]) -> None:
    """Lets this process import the packages of the prefixes, after all others."""
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    for prefix in prefixes:
        for folder in ('lib', 'local/lib'):
            packages = 'site-packages' if folder == 'lib' else 'dist-packages'
            path = os.path.join(prefix, folder, version, packages)
            if path not in sys.path and os.path.isdir(path):
                sys.path.append(path)
