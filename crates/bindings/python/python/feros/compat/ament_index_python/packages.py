"""Packages, and their folders."""

import os
import re
import warnings
from pathlib import Path
from typing import Dict

from .resources import get_resources, has_resource
from .search_paths import command, get_search_paths


class PackageNotFoundError(KeyError):
    """No prefix contains the package."""


def get_packages_with_prefixes() -> Dict[str, str]:
    """Returns the prefixes of all packages, by package name."""
    launch = command()
    if launch is not None:
        return dict(launch.ask({'ask': 'packages'}))
    return get_resources('packages')


def _check_name(package_name: str) -> None:
    if re.fullmatch('[a-zA-Z0-9][a-zA-Z0-9_-]+', package_name, re.ASCII) is None:
        raise ValueError(f"'{package_name}' is not a valid package name")


def get_package_prefix(package_name: str) -> str:
    """Returns the prefix below which a package is installed.

    Raises `PackageNotFoundError` if there is no such package, and `ValueError` if the name is not a
    valid package name.
    """
    _check_name(package_name)
    launch = command()
    if launch is not None:
        return str(launch.ask({'ask': 'prefix', 'package': package_name}))
    prefix = has_resource('packages', package_name)
    if not prefix:
        raise PackageNotFoundError(
            f"package '{package_name}' not found, searching: {get_search_paths()}")
    return prefix


def get_package_share_directory(package_name: str, print_warning: bool = True) -> str:
    """Returns the folder with the files of a package; warns if it does not exist.

    Raises the same exceptions as `get_package_prefix`.
    """
    launch = command()
    if launch is not None:
        _check_name(package_name)
        path = str(launch.ask({'ask': 'share', 'package': package_name}))
    else:
        path = os.path.join(get_package_prefix(package_name), 'share', package_name)
    if print_warning and not os.path.exists(path):
        warnings.warn(f'Share directory for {package_name} ({path}) does not exist.', stacklevel=2)
    return path


def get_package_share_path(package_name: str, print_warning: bool = True) -> Path:
    """Like `get_package_share_directory`, but returns a `Path`."""
    path = Path(get_package_share_directory(package_name, print_warning=False))
    if print_warning and not path.exists():
        warnings.warn(f'Share path for {package_name} ({path}) does not exist.', stacklevel=2)
    return path
