"""Callbacks for changes of the parameters of any node, which come from parameter events."""

from itertools import chain
from threading import RLock
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import ParameterEvent

from ._reexports import reexports
from .qos import QoSProfile, qos_profile_parameter_events


class ParameterCallbackHandle:
    """A callback for one parameter of one node."""

    def __init__(
        self, parameter_name: str, node_name: str, callback: Callable[[ParameterMsg], None]
    ) -> None:
        self.parameter_name = parameter_name
        self.node_name = node_name
        self.callback = callback


class ParameterEventCallbackHandle:
    """A callback for all events."""

    def __init__(self, callback: Callable[[ParameterEvent], None]) -> None:
        self.callback = callback


class ParameterEventHandler:
    """Subscribes to parameter events; the callback that was added last is called first."""

    class Callbacks:
        """The callbacks. No lock is held while a callback runs, so that it may add and remove other
        callbacks."""

        def __init__(self) -> None:
            self.parameter_callbacks: Dict[Tuple[str, str], List[ParameterCallbackHandle]] = {}
            self.event_callbacks: List[ParameterEventCallbackHandle] = []
            self._lock = RLock()

        def event_callback(self, event: ParameterEvent) -> None:
            """Calls the callbacks for an event."""
            with self._lock:
                of_parameters = [
                    (key, list(handles)) for key, handles in self.parameter_callbacks.items()]
                of_events = list(self.event_callbacks)
            for (parameter_name, node_name), handles in of_parameters:
                found = ParameterEventHandler.get_parameter_from_event(
                    event, parameter_name, node_name)
                if found is not None:
                    for handle in handles:
                        handle.callback(found)
            for each in of_events:
                each.callback(event)

        def add_parameter_callback(
            self, parameter_name: str, node_name: str, callback: Callable[[ParameterMsg], None]
        ) -> ParameterCallbackHandle:
            """Adds a callback for a parameter of a node."""
            handle = ParameterCallbackHandle(parameter_name, node_name, callback)
            with self._lock:
                known = self.parameter_callbacks.setdefault((parameter_name, node_name), [])
                known.insert(0, handle)
            return handle

        def remove_parameter_callback(self, handle: ParameterCallbackHandle) -> None:
            """Removes a callback; raises `RuntimeError` if it is not there."""
            key = (handle.parameter_name, handle.node_name)
            with self._lock:
                known = self.parameter_callbacks.get(key, [])
                if handle not in known:
                    raise RuntimeError("Callback doesn't exist")
                known.remove(handle)
                if not known:
                    del self.parameter_callbacks[key]

        def add_parameter_event_callback(
            self, callback: Callable[[ParameterEvent], None]
        ) -> ParameterEventCallbackHandle:
            """Adds a callback for all events."""
            handle = ParameterEventCallbackHandle(callback)
            with self._lock:
                self.event_callbacks.insert(0, handle)
            return handle

        def remove_parameter_event_callback(self, handle: ParameterEventCallbackHandle) -> None:
            """Removes a callback; raises `RuntimeError` if it is not there."""
            with self._lock:
                if handle not in self.event_callbacks:
                    raise RuntimeError("Callback doesn't exist")
                self.event_callbacks.remove(handle)

    def __init__(
        self,
        node: Any,
        qos_profile: QoSProfile = qos_profile_parameter_events,
        callback_group: Any = None,
        event_callbacks: Any = None,
        qos_overriding_options: Any = None,
        raw: bool = False,
    ) -> None:
        self.node = node
        self.qos_profile = qos_profile
        self._callbacks = ParameterEventHandler.Callbacks()
        self._wanted_nodes: Optional[frozenset] = None
        self.parameter_event_subscription = node.create_subscription(
            ParameterEvent, '/parameter_events', self._came, qos_profile,
            callback_group=callback_group, event_callbacks=event_callbacks,
            qos_overriding_options=qos_overriding_options, raw=raw)

    def _came(self, event: ParameterEvent) -> None:
        wanted = self._wanted_nodes
        if wanted is None or event.node in wanted:
            self._callbacks.event_callback(event)

    def destroy(self) -> None:
        """Ends the subscription."""
        self.node.destroy_subscription(self.parameter_event_subscription)

    def configure_nodes_filter(self, node_names: Optional[List[str]] = None) -> bool:
        """Handles only events of these nodes from now on, or of all nodes again; returns `True`."""
        named = [self._resolve_path(name) for name in node_names or []]
        self._wanted_nodes = frozenset(named) if named else None
        return True

    @staticmethod
    def get_parameter_from_event(
        event: ParameterEvent, parameter_name: str, node_name: str
    ) -> Optional[ParameterMsg]:
        """Returns a new or changed parameter of a node in an event, or `None`."""
        if event.node != node_name:
            return None
        every = ParameterEventHandler.get_parameters_from_event(event)
        return next((one for one in every if one.name == parameter_name), None)

    @staticmethod
    def get_parameters_from_event(event: ParameterEvent) -> Iterable[ParameterMsg]:
        """Returns all new and changed parameters of an event."""
        return chain(event.new_parameters, event.changed_parameters)

    def add_parameter_callback(
        self, parameter_name: str, node_name: str, callback: Callable[[ParameterMsg], None]
    ) -> ParameterCallbackHandle:
        """Calls `callback(parameter)` when the parameter of a node was set."""
        return self._callbacks.add_parameter_callback(
            parameter_name, self._resolve_path(node_name), callback)

    def remove_parameter_callback(self, handle: ParameterCallbackHandle) -> None:
        """Removes a callback; raises `RuntimeError` if it is not there."""
        self._callbacks.remove_parameter_callback(handle)

    def add_parameter_event_callback(
        self, callback: Callable[[ParameterEvent], None]
    ) -> ParameterEventCallbackHandle:
        """Calls `callback(event)` for each event."""
        return self._callbacks.add_parameter_event_callback(callback)

    def remove_parameter_event_callback(self, handle: ParameterEventCallbackHandle) -> None:
        """Removes a callback; raises `RuntimeError` if it is not there."""
        self._callbacks.remove_parameter_event_callback(handle)

    def _resolve_path(self, node_path: Optional[str] = None) -> str:
        """Returns the fully qualified name of a node; the handler's node by default."""
        if not node_path:
            return self.node.get_fully_qualified_name()
        if node_path.startswith('/'):
            return node_path
        return f'{self.node.get_namespace().rstrip("/")}/{node_path}'


__getattr__ = reexports(__name__)
