"""`python -m ament_index_python.cli`: prints resource types, the resources of a type, or one
resource."""

import argparse
import sys
from typing import Any, List, Optional, Sequence

from .resources import get_resource, get_resource_types, get_resources


def main(argv: Optional[Sequence[str]] = None) -> Optional[str]:
    """Prints the requested resources. Returns an error text if it fails; the arguments default to
    those of the process."""
    parser = argparse.ArgumentParser(description='Query the ament resource index.')
    parser.add_argument('resource_type', nargs='?', metavar='TYPE', help='a type of resources')
    parser.add_argument('resource_name', nargs='?', metavar='NAME', help='a resource of the type')
    asked = parser.parse_args(sys.argv[1:] if argv is None else argv)
    try:
        _print(asked.resource_type, asked.resource_name)
    except (LookupError, OSError, ValueError) as error:
        return str(error)
    return None


def _print(resource_type: Optional[str], resource_name: Optional[str]) -> None:
    if resource_type is None:
        for name in sorted(get_resource_types()):
            print(name)
    elif resource_name is None:
        for name, prefix in sorted(get_resources(resource_type).items()):
            print(f'{name}\t{prefix}')
    else:
        content, prefix = get_resource(resource_type, resource_name)
        print(prefix)
        if content:
            print(f'<<<\n{content}\n>>>')


def resource_type_completer(prefix: str, **_: Any) -> List[str]:
    """Returns the types that begin with a prefix."""
    return [name for name in get_resource_types() if name.startswith(prefix)]


def resource_name_completer(prefix: str, parsed_args: Any, **_: Any) -> List[str]:
    """Returns the resources of the given type that begin with a prefix."""
    resource_type = getattr(parsed_args, 'resource_type', None)
    found = get_resources(resource_type) if resource_type else {}
    return [name for name in found if name.startswith(prefix)]


if __name__ == '__main__':
    sys.exit(main())
