"""Messages, services and actions by package: `from feros.msgs.std_msgs.msg import String`.

The packages are those that Feros ships, packages below FEROS_PREFIX_PATH, AMENT_PREFIX_PATH and
~/.local/share/feros, packages in the folders of FEROS_INTERFACES, and packages that
`feros.interfaces.add_folder` has added. Classes are created when they are needed.
"""

import importlib.machinery
import sys

from feros import _messages

_NAMESPACES = ("msg", "srv", "action")


class _Finder:
    """Finds `feros.msgs.<package>` and its modules, and leaves all other imports alone."""

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if parts[:2] != ["feros", "msgs"] or not 3 <= len(parts) <= 4:
            return None
        package = parts[2]
        if package not in _messages.interfaces().packages():
            raise ModuleNotFoundError(_messages.unknown_package(package), name=package)
        if len(parts) > 3 and parts[3] not in _NAMESPACES:
            return None
        if len(parts) > 3 and not _messages.interfaces().names(package, parts[3]):
            raise ModuleNotFoundError(_messages.unknown_namespace(package, parts[3]), name=parts[3])
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        parts = module.__name__.split(".")
        if len(parts) == 3:
            module.__getattr__ = _messages.package_module(module.__name__)
        else:
            module.__getattr__, module.__dir__, module.__all__ = _messages.namespace_module(
                module.__name__, parts[2], parts[3]
            )


# This finder comes second to last. The finder of `_messages` comes last: it finds private modules,
# and reports why a module is not found.
sys.meta_path.insert(-1, _Finder())


def __dir__():
    return _messages.interfaces().packages()
