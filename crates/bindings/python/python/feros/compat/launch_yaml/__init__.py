"""Launch files in YAML, with the names of stock `launch_yaml`; `feros launch` reads the files."""

from launch._missing import absent

from . import launch_description_sources

__all__ = ['launch_description_sources']

_READ = '`feros launch` reads YAML files itself; include them with YAMLLaunchDescriptionSource'
__getattr__ = absent(__name__, globals(), {
    'Entity': _READ,
    'Parser': _READ,
    'YAMLLaunchDescriptionSource': 'import it from `launch_yaml.launch_description_sources`',
})
