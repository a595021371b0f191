"""Publishers that send only while their node is active."""

from typing import Any, TypeVar, Union

from .. import _rclpy_pybind11 as _rclpy
from .._reexports import reexports
from ..publisher import Publisher
from .managed_entity import SimpleManagedEntity

MsgT = TypeVar('MsgT')


class LifecyclePublisher(SimpleManagedEntity, Publisher[MsgT]):
    """Sends messages while its node is active. At other times, messages are dropped and counted,
    with one warning."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        SimpleManagedEntity.__init__(self)
        Publisher.__init__(self, *args, **kwargs)
        self.dropped_while_inactive = 0

    def publish(self, msg: Union[MsgT, bytes]) -> None:
        """Like `Publisher.publish`, while the node is active."""
        if self._enabled:
            Publisher.publish(self, msg)
            return
        if not self.dropped_while_inactive:
            from ..logging import RcutilsLogger

            RcutilsLogger(self.logger_name).warning(
                f"messages on '{self.topic}' are dropped until the node is active")
        self.dropped_while_inactive += 1


__getattr__ = reexports(__name__)
