"""The packages installed below the prefixes of the environment, with the names of the stock
package.

This package does not depend on the rest of Feros. It looks in FEROS_PREFIX_PATH and then in
AMENT_PREFIX_PATH.
"""

from .constants import RESOURCE_INDEX_SUBFOLDER
from .packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
    get_package_share_path,
    get_packages_with_prefixes,
)
from .resources import (
    InvalidResourceNameError,
    InvalidResourceTypeNameError,
    get_resource,
    get_resource_types,
    get_resources,
    has_resource,
)
from .search_paths import get_search_paths

__all__ = [
    'InvalidResourceNameError', 'InvalidResourceTypeNameError', 'PackageNotFoundError',
    'RESOURCE_INDEX_SUBFOLDER', 'get_package_prefix', 'get_package_share_directory',
    'get_package_share_path', 'get_packages_with_prefixes', 'get_resource', 'get_resource_types',
    'get_resources', 'get_search_paths', 'has_resource',
]
