"""Service servers."""

from typing import Any, Awaitable, Callable, Generic, NamedTuple, Optional, Tuple, Type, TypeVar

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from . import _unspun
from ._endpoint import ServiceEndpoint
from ._handles import ServiceHandle
from ._native import extension
from .impl.rcutils_logger import RcutilsLogger
from .qos import QoSProfile

SrvRequestT = TypeVar('SrvRequestT')
SrvResponseT = TypeVar('SrvResponseT')


class Answer(NamedTuple):
    """A response, and a coroutine function that runs in the service's callback group once the
    response is sent."""

    response: Any
    go_on: Callable[[], Awaitable[None]]


class Service(ServiceEndpoint, Generic[SrvRequestT, SrvResponseT]):
    """Answers the requests of a service; made by `Node.create_service`."""

    _handle_type = ServiceHandle

    def __init__(
        self,
        service_impl: Any,
        srv_type: Type[Any],
        srv_name: str,
        callback: Callable[[Any, Any], Any],
        callback_group: Any,
        qos_profile: QoSProfile,
        logger_name: str = '',
    ) -> None:
        super().__init__(
            service_impl, srv_type, srv_name, qos_profile, logger_name, callback_group,
            qos_profile.depth or 10)
        self.callback = callback

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        if self._events.are_told:
            self._events.request_received(data[1].call_id, data[0])
        return self.callback, (data[0], self.srv_type.Response())

    def _finish(self, data: Any, result: Any) -> Optional[Awaitable[None]]:
        response, go_on = result if isinstance(result, Answer) else (result, None)
        if not self._destroyed:
            self.send_response(response, data[1])
        return None if go_on is None else go_on()

    def send_response(self, response: SrvResponseT, header: Any) -> None:
        """Answers the request with this `header`.

        Raises `TypeError` for a response of another type.
        """
        if not isinstance(response, self.srv_type.Response):
            raise TypeError(f'Expected {self.srv_type.Response}, got {type(response)}')
        call = header.call_id if self._events.are_told else None
        sending = None
        if _unspun.is_anybody_listening:
            node = self._find_node()
            if node is not None:
                sending = _unspun.Sending(node.context, 'client', self.service_name)
        try:
            header.send(response)
        except extension.FerosError as error:  # for example, the client has left
            RcutilsLogger(self._logger_name).warning(f'failed to send a response: {error}')
            return
        if call is not None:
            self._events.response_sent(call, response)
        if sending is not None:
            sending.arrive()


__getattr__ = reexports(__name__)
