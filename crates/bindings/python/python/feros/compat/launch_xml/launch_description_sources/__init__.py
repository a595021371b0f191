"""Sources of launch descriptions in XML."""

from launch._missing import absent
from launch._modules import provide
from launch.launch_description_sources import FrontendLaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType

__all__ = ['XMLLaunchDescriptionSource']


class XMLLaunchDescriptionSource(FrontendLaunchDescriptionSource):
    """A launch file in XML."""

    _FEROS_LANGUAGE = 'xml'

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(launch_file_path, method='interpreted XML launch file')


provide(__name__, globals(), {
    'xml_launch_description_source': 'XMLLaunchDescriptionSource',
})

__getattr__ = absent(__name__, globals())
