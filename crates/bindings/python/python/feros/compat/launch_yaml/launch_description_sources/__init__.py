"""Sources of launch descriptions in YAML."""

from launch._missing import absent
from launch._modules import provide

from ._file import YAMLLaunchDescriptionSource

__all__ = ['YAMLLaunchDescriptionSource']

provide(__name__, globals(), {
    'yaml_launch_description_source': 'YAMLLaunchDescriptionSource',
})

__getattr__ = absent(__name__, globals())
