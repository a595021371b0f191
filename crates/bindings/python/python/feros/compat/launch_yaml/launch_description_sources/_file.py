"""The source that is a launch file in YAML."""

from launch.launch_description_sources import FrontendLaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType


class YAMLLaunchDescriptionSource(FrontendLaunchDescriptionSource):
    """A launch file in YAML."""

    _FEROS_LANGUAGE = 'yaml'

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(launch_file_path, method='interpreted YAML launch file')
