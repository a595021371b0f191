"""Finds all packages that a launch file names and nobody has installed.

A file ends at the first such package, so the user would hear of one package at a time.
"""

import ast
from typing import Dict, Iterator, List, Tuple

from . import _link

_FUNCTIONS = {
    'get_package_prefix', 'get_package_share_directory', 'get_package_share_path',
    'FindPackagePrefix', 'FindPackageShare',
}
_MOST_ERRORS = 20


def _named(path: str) -> List[Tuple[int, int, str]]:
    """The constant names of packages with their lines and columns, each name once."""
    try:
        with open(path, 'rb') as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    found: Dict[str, Tuple[int, int]] = {}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = getattr(call.func, 'id', getattr(call.func, 'attr', None))
        argument = call.args[0]
        if name in _FUNCTIONS and isinstance(argument, ast.Constant) and isinstance(
                argument.value, str):
            place = call.lineno, call.col_offset + 1
            found[argument.value] = min(place, found.get(argument.value, place))
    return sorted((*place, package) for package, place in found.items())


def other_errors(path: str, first: str) -> Iterator[str]:
    """Yields the errors of the packages of a file that are missing, without the first error."""
    count = 0
    for line, column, package in _named(path):
        try:
            _link.ask({'ask': 'share', 'package': package})
        except LookupError as error:
            text = str(error.args[0])
            if text != first and count < _MOST_ERRORS:
                count += 1
                yield f'{path}:{line}:{column}: {text}'
