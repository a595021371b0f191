"""The class with which scripts run a launch themselves in stock ROS 2."""

from typing import Any

from ._unsupported import NO_SERVICE


class LaunchService:
    """Raises `NotImplementedError` with what to do instead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(NO_SERVICE)
