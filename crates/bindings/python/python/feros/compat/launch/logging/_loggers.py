"""Loggers of launch files, which write to the output of the launch."""

import logging
import sys
from typing import Any, Optional, Text

from .. import _link


class LaunchConfig:
    """The settings of the loggers."""

    def __init__(self) -> None:
        self.level = logging.INFO

    @property
    def log_dir(self) -> Text:
        """The folder with the logs of this launch."""
        return str(_link.ask({'ask': 'text', 'template': {'s': 'launch_log_dir'}}))


launch_config = LaunchConfig()


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the stderr of the moment."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        """Where the lines go."""
        return sys.stderr


def get_logger(name: Optional[Text] = None) -> logging.Logger:
    """Returns a logger; it writes the severity, the name and the message."""
    root = logging.getLogger('launch')
    if not root.handlers:
        handler = _Handler()
        handler.setFormatter(logging.Formatter('[%(levelname)s] [%(name)s]: %(message)s'))
        root.addHandler(handler)
        root.propagate = False
    root.setLevel(launch_config.level)
    if not name or name == 'launch':
        return root
    logger = logging.getLogger(name)
    if not name.startswith('launch.') and not logger.handlers:
        logger.addHandler(root.handlers[0])
        logger.propagate = False
        logger.setLevel(launch_config.level)
    return logger


def reset() -> None:
    """Restores the settings."""
    launch_config.level = logging.INFO
