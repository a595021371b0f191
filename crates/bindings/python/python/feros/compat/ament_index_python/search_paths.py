"""The prefixes that are searched."""

import os
import sys
from typing import Any, List, Optional

from .constants import AMENT_PREFIX_PATH_ENV_VAR, FEROS_PREFIX_PATH_ENV_VAR


def command() -> Optional[Any]:
    """The link to `feros launch`, in the process that runs launch files for it.

    The command searches the same prefixes, then those of the packages that Feros ships.
    """
    link = sys.modules.get('launch._link')
    return link if getattr(link, 'is_connected', bool)() else None


def get_search_paths() -> List[str]:
    """Returns the existing prefixes, in the order of the search.

    Raises `OSError` if the environment names no prefix.
    """
    names = (FEROS_PREFIX_PATH_ENV_VAR, AMENT_PREFIX_PATH_ENV_VAR)
    prefixes = [
        prefix for name in names for prefix in os.environ.get(name, '').split(os.pathsep) if prefix
    ]
    if not prefixes and command() is None:
        raise OSError(
            f"Environment variable '{AMENT_PREFIX_PATH_ENV_VAR}' is not set or empty: it names the"
            ' prefixes of installed packages')
    return [prefix for prefix in prefixes if os.path.exists(prefix)]
