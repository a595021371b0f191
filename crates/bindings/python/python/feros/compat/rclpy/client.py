"""Service clients."""

import threading
from typing import Any, Callable, Dict, Generic, Optional, Tuple, Type, TypeVar

from . import _rclpy_pybind11 as _rclpy
from ._reexports import reexports
from . import _unspun
from ._call_events import Call
from ._endpoint import ServiceEndpoint
from ._handles import ClientHandle
from ._native.errors import RCLError
from .qos import QoSProfile
from .task import Future

SrvRequestT = TypeVar('SrvRequestT')
SrvResponseT = TypeVar('SrvResponseT')


class Client(ServiceEndpoint, Generic[SrvRequestT, SrvResponseT]):
    """Calls a service; made by `Node.create_client`."""

    _handle_type = ClientHandle

    def __init__(
        self,
        context: Any,
        client_impl: Any,
        srv_type: Type[Any],
        srv_name: str,
        qos_profile: QoSProfile,
        callback_group: Any,
        logger_name: str = '',
    ) -> None:
        super().__init__(
            client_impl, srv_type, srv_name, qos_profile, logger_name, callback_group)
        self.context = context
        self._pending: Dict[int, Future] = {}
        self._pending_lock = threading.Lock()
        self._sent = 0
        self._told_calls: Dict[int, Call] = {}

    def call(self, request: SrvRequestT, timeout_sec: Optional[float] = None) -> Any:
        """Sends a request and blocks until the response arrives, while another thread spins the
        node.

        Raises `TypeError` for a request of another type, `TimeoutError` after `timeout_sec`.
        """
        self._check(request)
        event = threading.Event()
        future = self.call_async(request)
        future.add_done_callback(lambda _: event.set())
        if not event.wait(None if timeout_sec is None or timeout_sec < 0 else timeout_sec):
            self.remove_pending_request(future)
            raise TimeoutError()
        return future.result()

    def _check(self, request: Any) -> None:
        if not isinstance(request, self.srv_type.Request):
            raise TypeError(f'Expected {self.srv_type.Request}, got {type(request)}')

    def call_async(self, request: SrvRequestT) -> Future:
        """Sends a request; the executor of the node sets the result of the future.

        Raises `TypeError` for a request of another type.
        """
        self._check(request)
        self._living  # noqa: B018: raises when destroyed
        node = self._find_node()
        future: Future = Future(executor=None if node is None else node._rclpy_executor())
        future.add_done_callback(self.remove_pending_request)
        self._send(request, future)
        return future

    def _send(self, request: Any, future: Optional[Future]) -> int:
        """Sends a request, for a future or for a script that takes the response; returns its
        number."""
        native = self._living._native
        with self._pending_lock:
            self._sent += 1
            number = self._sent
            if future is not None:
                self._pending[number] = future

        def ended(response: Any, error: Any) -> None:
            self._arrived((number, response, error))

        sending = None
        if _unspun.is_anybody_listening:
            sending = _unspun.Sending(self.context, 'service', self.service_name)
        if not self._events.are_told:
            native.call_with_callback(request, ended)
        else:
            with self._pending_lock:  # so that the request is reported before the response
                call = native.call_with_callback(request, ended)
                self._told_calls[number] = call
                self._events.request_sent(call, request)
        if sending is not None:
            sending.arrive()
        return number

    def _call_of(self, data: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        return self._complete, data

    def _complete(self, number: int, response: Any, error: Optional[BaseException]) -> None:
        with self._pending_lock:
            future = self._pending.get(number)
            call = self._told_calls.pop(number, None)
        if call is not None and error is None:
            self._events.response_received(call, response)
        if future is None or future.cancelled():
            return
        node = self._find_node()
        if node is not None:
            future._set_executor(node._rclpy_executor())
        if error is None:
            future.set_result(response)
        else:
            future.set_exception(error)

    def get_pending_request(self, sequence_number: int) -> Future:
        """Returns the future of a call by its number; raises `KeyError` for an unknown number."""
        with self._pending_lock:
            return self._pending[sequence_number]

    def remove_pending_request(self, future: Future) -> None:
        """Forgets a call: its response is dropped."""
        with self._pending_lock:
            for number, pending in self._pending.items():
                if pending is future:
                    del self._pending[number]
                    self._told_calls.pop(number, None)
                    return

    def service_is_ready(self) -> bool:
        """Returns whether there is a server; raises `RCLError` if the context is shut down."""
        native = self._living._native
        if not self.context.ok():
            raise RCLError(f'no server of {self.srv_name} can be found: the context is shut down')
        return native.service_is_ready()

    def wait_for_service(self, timeout_sec: Optional[float] = None) -> bool:
        """Waits until there is a server; returns whether there is one.

        Raises `RCLError` if the context is shut down.
        """
        from ._native import extension

        forever = timeout_sec is None or timeout_sec < 0
        if self.service_is_ready():
            return True
        try:
            return self._living._native.wait_for_service(None if forever else float(timeout_sec))
        except extension.ShutdownError:
            return self.service_is_ready()


__getattr__ = reexports(__name__)
