"""The source that is a launch file in XML."""

from launch.launch_description_sources import FrontendLaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType


class XMLLaunchDescriptionSource(FrontendLaunchDescriptionSource):
    """A launch file in XML."""

    _FEROS_LANGUAGE = 'xml'

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(launch_file_path, method='interpreted XML launch file')
