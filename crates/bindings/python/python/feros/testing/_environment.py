"""The environment variables of a test, for its contexts and for the programs that it starts."""

import os

# Further variables that decide which hosts a context finds. They are removed, so that only
# `ROS_AUTOMATIC_DISCOVERY_RANGE` decides.
_FAR = ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "FEROS_MEETING_POINTS")


class Environment:
    """Sets variables, and restores their earlier values at the end."""

    def __init__(self) -> None:
        self._earlier: dict[str, str | None] = {}

    def enter_domain(self, domain_id: int) -> None:
        """Lets contexts and programs use a domain, and find only nodes of this host."""
        self.set("ROS_DOMAIN_ID", str(domain_id))
        self.set("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        for name in _FAR:
            self.set(name, None)

    def set(self, name: str, value: str | None) -> None:
        """Sets a variable, or removes it."""
        self._earlier.setdefault(name, os.environ.get(name))
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

    def restore(self) -> None:
        """Undoes all changes."""
        for name, value in self._earlier.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._earlier.clear()
