"""Sources of launch descriptions in YAML."""

from launch._missing import absent
from launch._modules import provide
from launch.launch_description_sources import FrontendLaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType

__all__ = ['YAMLLaunchDescriptionSource']


class YAMLLaunchDescriptionSource(FrontendLaunchDescriptionSource):
    """A launch file in YAML."""

    _FEROS_LANGUAGE = 'yaml'

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(launch_file_path, method='interpreted YAML launch file')


provide(__name__, globals(), {
    'yaml_launch_description_source': 'YAMLLaunchDescriptionSource',
})

__getattr__ = absent(__name__, globals())
