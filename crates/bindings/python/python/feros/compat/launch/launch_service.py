"""The class with which scripts run a launch themselves in stock ROS 2."""

from typing import Any


class LaunchService:
    """Raises `NotImplementedError` with what to do instead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            'Feros has no LaunchService: give the file a function `generate_launch_description`,'
            ' and run it with `feros launch FILE`')
