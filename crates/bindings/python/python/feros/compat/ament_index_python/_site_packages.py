"""The folders of prefixes from which Python imports packages."""

import os
import sys
from typing import Iterable


def add_site_packages(prefixes: Iterable[str]) -> None:
    """Lets this process import the packages of the prefixes, after all others."""
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    for prefix in prefixes:
        for folder in (f'lib/{version}/site-packages', f'local/lib/{version}/dist-packages',
                       'lib/python3/site-packages'):
            path = os.path.join(prefix, folder)
            if path not in sys.path and os.path.isdir(path):
                sys.path.append(path)
