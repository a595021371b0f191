"""Sources of launch descriptions."""

from .._missing import absent
from .._modules import provide
from ._files import (
    AnyLaunchDescriptionSource,
    FrontendLaunchDescriptionSource,
    InvalidFrontendLaunchFileError,
    InvalidLaunchFileError,
    InvalidPythonLaunchFileError,
    PythonLaunchDescriptionSource,
    get_launch_description_from_any_launch_file,
    get_launch_description_from_frontend_launch_file,
    get_launch_description_from_python_launch_file,
    load_python_launch_file_as_module,
)

__all__ = [
    'AnyLaunchDescriptionSource', 'FrontendLaunchDescriptionSource',
    'InvalidFrontendLaunchFileError', 'InvalidLaunchFileError', 'InvalidPythonLaunchFileError',
    'PythonLaunchDescriptionSource', 'get_launch_description_from_any_launch_file',
    'get_launch_description_from_frontend_launch_file',
    'get_launch_description_from_python_launch_file', 'load_python_launch_file_as_module',
]

provide(__name__, globals(), {
    'any_launch_description_source': 'AnyLaunchDescriptionSource',
    'any_launch_file_utilities': 'get_launch_description_from_any_launch_file',
    'frontend_launch_description_source': 'FrontendLaunchDescriptionSource',
    'frontend_launch_file_utilities': 'get_launch_description_from_frontend_launch_file',
    'python_launch_description_source': 'PythonLaunchDescriptionSource',
    'python_launch_file_utilities':
        'InvalidPythonLaunchFileError get_launch_description_from_python_launch_file'
        ' load_python_launch_file_as_module',
})

__getattr__ = absent(__name__, globals(), {
    'XMLLaunchDescriptionSource': 'import it from `launch_xml.launch_description_sources`',
    'YAMLLaunchDescriptionSource': 'import it from `launch_yaml.launch_description_sources`',
    'LaunchDescriptionSource': 'import it from `launch`',
})
