"""Prints where packages are installed."""

import sys

from ament_index_python import get_package_share_directory


def main():
    """Prints the share folder of each package that the command line names."""
    for package in sys.argv[1:]:
        print(package, get_package_share_directory(package))
