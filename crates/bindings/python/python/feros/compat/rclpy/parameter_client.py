"""Access to the parameters of other nodes."""

from typing import Any, Callable, List, Optional, Sequence, Union

from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)

from ._reexports import reexports
from .parameter import Parameter, parameter_dict_from_yaml_file
from .qos import QoSProfile, qos_profile_parameter_events, qos_profile_services_default
from .task import Future

Callback = Optional[Callable[[Future], None]]


def _message(parameter: Union[Parameter, ParameterMsg]) -> ParameterMsg:
    return parameter.to_parameter_msg() if isinstance(parameter, Parameter) else parameter


class AsyncParameterClient:
    """Calls the parameter services of a node; the results are futures."""

    def __init__(
        self,
        node: Any,
        remote_node_name: str,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: Any = None,
    ) -> None:
        self.remote_node_name = remote_node_name
        self.node = node
        self._clients = {
            kind: node.create_client(
                kind, f'{remote_node_name}/{name}', qos_profile=qos_profile,
                callback_group=callback_group)
            for kind, name in (
                (GetParameters, 'get_parameters'),
                (GetParameterTypes, 'get_parameter_types'),
                (SetParameters, 'set_parameters'),
                (SetParametersAtomically, 'set_parameters_atomically'),
                (ListParameters, 'list_parameters'),
                (DescribeParameters, 'describe_parameters'),
            )
        }

    def services_are_ready(self) -> bool:
        """Returns whether the node serves all of these services."""
        return all(client.service_is_ready() for client in self._clients.values())

    def wait_for_services(self, timeout_sec: Optional[float] = None) -> bool:
        """Waits until the node serves all of these services; returns whether the node serves
        them."""
        from ._native import extension

        limit = None if timeout_sec is None or timeout_sec < 0 else float(timeout_sec)
        try:
            self.node._rclpy_native.wait_for_graph(self.services_are_ready, limit, 'services')
        except (TimeoutError, extension.ShutdownError):
            return False
        return True

    def _ask(self, kind: Any, callback: Callback, **fields: Any) -> Future:
        future = self._clients[kind].call_async(kind.Request(**fields))
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def list_parameters(
        self,
        prefixes: Optional[List[str]] = None,
        depth: Optional[int] = None,
        callback: Callback = None,
    ) -> Future:
        """Returns the names of the parameters below prefixes."""
        return self._ask(ListParameters, callback, prefixes=prefixes or [], depth=depth or 0)

    def get_parameters(self, names: List[str], callback: Callback = None) -> Future:
        """Returns the values of parameters."""
        return self._ask(GetParameters, callback, names=names)

    def set_parameters(
        self, parameters: Sequence[Union[Parameter, ParameterMsg]], callback: Callback = None
    ) -> Future:
        """Sets each parameter separately."""
        return self._ask(SetParameters, callback, parameters=[_message(one) for one in parameters])

    def describe_parameters(self, names: List[str], callback: Callback = None) -> Future:
        """Returns the descriptors of parameters."""
        return self._ask(DescribeParameters, callback, names=names)

    def get_parameter_types(self, names: List[str], callback: Callback = None) -> Future:
        """Returns the types of parameters."""
        return self._ask(GetParameterTypes, callback, names=names)

    def set_parameters_atomically(
        self, parameters: Sequence[Union[Parameter, ParameterMsg]], callback: Callback = None
    ) -> Future:
        """Sets all or no parameters."""
        given = [_message(one) for one in parameters]
        return self._ask(SetParametersAtomically, callback, parameters=given)

    def delete_parameters(self, names: List[str], callback: Callback = None) -> Future:
        """Deletes parameters of the node."""
        return self.set_parameters([Parameter(name) for name in names], callback)

    def _of_file(self, parameter_file: str, use_wildcard: bool) -> List[ParameterMsg]:
        nodes = [self.remote_node_name]
        return list(parameter_dict_from_yaml_file(parameter_file, use_wildcard, nodes).values())

    def load_parameter_file(
        self, parameter_file: str, use_wildcard: bool = False, callback: Callback = None
    ) -> Future:
        """Sets each parameter in a file separately."""
        return self.set_parameters(self._of_file(parameter_file, use_wildcard), callback)

    def load_parameter_file_atomically(
        self, parameter_file: str, use_wildcard: bool = False, callback: Callback = None
    ) -> Future:
        """Sets all or no parameters of a file."""
        given = self._of_file(parameter_file, use_wildcard)
        return self.set_parameters_atomically(given, callback)

    def on_parameter_event(
        self,
        callback: Callable[..., None],
        qos_profile: QoSProfile = qos_profile_parameter_events,
        **options: Any,
    ) -> Any:
        """Creates a subscription to the parameter events of all nodes."""
        return self.node.create_subscription(
            ParameterEvent, '/parameter_events', callback, qos_profile, **options)


__getattr__ = reexports(__name__)
