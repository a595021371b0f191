"""Substitutions: texts that are known when a launch is planned."""

from .._failure import SubstitutionFailure
from .._missing import absent
from .._modules import provide
from .._text import TextSubstitution
from ._paths import (
    FileContent,
    FindExecutable,
    LaunchLogDir,
    PathJoinSubstitution,
    PathSubstitution,
    ThisLaunchFile,
    ThisLaunchFileDir,
)
from ._texts import Command, PythonExpression, StringJoinSubstitution, StringStripSubstitution
from ._truths import (
    AllSubstitution,
    AndSubstitution,
    AnySubstitution,
    EqualsSubstitution,
    IfElseSubstitution,
    IsEmptySubstitution,
    NotEmptySubstitution,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
)
from ._variables import (
    AnonName,
    EnvironmentVariable,
    ForEachVar,
    ForLoopIndex,
    LaunchConfiguration,
    LocalSubstitution,
)

__all__ = [
    'AllSubstitution', 'AndSubstitution', 'AnonName', 'AnySubstitution', 'Command',
    'EnvironmentVariable', 'EqualsSubstitution', 'FileContent', 'FindExecutable', 'ForEachVar',
    'ForLoopIndex', 'IfElseSubstitution', 'IsEmptySubstitution', 'LaunchConfiguration',
    'LaunchLogDir', 'LocalSubstitution', 'NotEmptySubstitution', 'NotEqualsSubstitution',
    'NotSubstitution', 'OrSubstitution', 'PathJoinSubstitution', 'PathSubstitution',
    'PythonExpression', 'StringJoinSubstitution', 'StringStripSubstitution',
    'SubstitutionFailure', 'TextSubstitution', 'ThisLaunchFile', 'ThisLaunchFileDir',
]

provide(__name__, globals(), {
    'anon_name': 'AnonName',
    'boolean_substitution':
        'AllSubstitution AndSubstitution AnySubstitution NotSubstitution OrSubstitution',
    'command': 'Command',
    'environment_variable': 'EnvironmentVariable',
    'equals_substitution': 'EqualsSubstitution',
    'file_content': 'FileContent',
    'find_executable': 'FindExecutable',
    'for_loop_var': 'ForEachVar ForLoopIndex',
    'if_else_substitution': 'IfElseSubstitution',
    'is_empty_substitution': 'IsEmptySubstitution',
    'launch_configuration': 'LaunchConfiguration',
    'launch_log_dir': 'LaunchLogDir',
    'local_substitution': 'LocalSubstitution',
    'not_empty_substitution': 'NotEmptySubstitution',
    'not_equals_substitution': 'NotEqualsSubstitution',
    'path_join_substitution': 'PathJoinSubstitution PathSubstitution',
    'path_substitution': 'PathSubstitution',
    'python_expression': 'PythonExpression',
    'string_join_substitution': 'StringJoinSubstitution',
    'string_strip_substitution': 'StringStripSubstitution',
    'substitution_failure': 'SubstitutionFailure',
    'text_substitution': 'TextSubstitution',
    'this_launch_file': 'ThisLaunchFile',
    'this_launch_file_dir': 'ThisLaunchFileDir',
})

_FIND = 'import it from `launch_ros.substitutions`'
__getattr__ = absent(__name__, globals(), {
    'FindPackageShare': _FIND,
    'FindPackagePrefix': _FIND,
    'FindPackage': _FIND,
    'ExecutableInPackage': _FIND,
    'ThisLaunchFilePath': 'write `ThisLaunchFile`',
    'TextJoinSubstitution': 'write `StringJoinSubstitution`',
})
