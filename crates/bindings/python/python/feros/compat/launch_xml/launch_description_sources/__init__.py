"""Sources of launch descriptions in XML."""

from launch._missing import absent
from launch._modules import provide

from ._file import XMLLaunchDescriptionSource

__all__ = ['XMLLaunchDescriptionSource']

provide(__name__, globals(), {
    'xml_launch_description_source': 'XMLLaunchDescriptionSource',
})

__getattr__ = absent(__name__, globals())
