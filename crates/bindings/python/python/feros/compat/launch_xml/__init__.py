"""Launch files in XML, with the names of stock `launch_xml`; `feros launch` reads the files."""

from launch._missing import absent

from . import launch_description_sources

__all__ = ['launch_description_sources']

_READ = '`feros launch` reads XML files itself; include them with XMLLaunchDescriptionSource'
__getattr__ = absent(__name__, globals(), {
    'Entity': _READ,
    'Parser': _READ,
    'XMLLaunchDescriptionSource': 'import it from `launch_xml.launch_description_sources`',
})
