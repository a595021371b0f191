"""Loggers of launch files, which write to the output of the launch."""

from .._missing import absent
from ._loggers import LaunchConfig, get_logger, launch_config, reset  # noqa: F401

__all__ = ['get_logger', 'launch_config', 'reset']

__getattr__ = absent(__name__, globals(), {
    'get_output_loggers': '`feros launch` writes the output; write `output=` of the process',
    'handlers': '`feros launch` writes the output; write `output=` of the process',
    'get_screen_handler': '`feros launch` writes the output; write `output=` of the process',
})
