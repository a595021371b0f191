"""The prefixes that are searched."""

import os
from typing import List

from .constants import AMENT_PREFIX_PATH_ENV_VAR, FEROS_PREFIX_PATH_ENV_VAR


def get_search_paths() -> List[str]:
    """Returns the existing prefixes, in the order of the search.

    Raises `OSError` if the environment names no prefix.
    """
    names = (FEROS_PREFIX_PATH_ENV_VAR, AMENT_PREFIX_PATH_ENV_VAR)
    prefixes = [
        prefix for name in names for prefix in os.environ.get(name, '').split(os.pathsep) if prefix
    ]
    if not prefixes:
        raise OSError(
            f"Environment variable '{AMENT_PREFIX_PATH_ENV_VAR}' is not set or empty: it names the"
            ' prefixes of installed packages')
    return [prefix for prefix in prefixes if os.path.exists(prefix)]
