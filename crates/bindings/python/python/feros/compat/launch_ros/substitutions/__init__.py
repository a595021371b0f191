"""Substitutions on packages and parameters."""

from launch._missing import absent
from launch._modules import provide

from ._classes import (
    ExecutableInPackage,
    FindPackage,
    FindPackagePrefix,
    FindPackageShare,
    Parameter,
)

__all__ = [
    'ExecutableInPackage', 'FindPackage', 'FindPackagePrefix', 'FindPackageShare', 'Parameter',
]

provide(__name__, globals(), {
    'executable_in_package': 'ExecutableInPackage',
    'find_package': 'FindPackage FindPackagePrefix FindPackageShare',
    'parameter': 'Parameter',
})

__getattr__ = absent(__name__, globals(), {
    name: 'import it from `launch.substitutions`' for name in (
        'Command', 'FindExecutable', 'LaunchConfiguration', 'PathJoinSubstitution',
        'PythonExpression', 'TextSubstitution', 'ThisLaunchFileDir')
})
