"""The six services of a node's parameters."""

import weakref
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)

from ._reexports import reexports
from .exceptions import ParameterNotDeclaredException, ParameterUninitializedException
from .parameter import Parameter
from .qos import qos_profile_parameters


class ParameterService:
    """Answers requests for a node's parameters."""

    def __init__(self, node: Any) -> None:
        self._node = weakref.ref(node)
        for srv_type, name, answer in (
            (DescribeParameters, 'describe_parameters', self._describe),
            (GetParameters, 'get_parameters', self._get),
            (GetParameterTypes, 'get_parameter_types', self._types),
            (ListParameters, 'list_parameters', self._list),
            (SetParameters, 'set_parameters', self._set),
            (SetParametersAtomically, 'set_parameters_atomically', self._set_atomically),
        ):
            node.create_service(
                srv_type, f'{node.get_name()}/{name}', answer, qos_profile=qos_profile_parameters
            )

    def _describe(self, request: Any, response: Any) -> Any:
        node = self._node()
        for name in request.names:
            try:
                response.descriptors.append(node.describe_parameter(name))
            except ParameterNotDeclaredException:
                response.descriptors = []
                return response
        return response

    def _get(self, request: Any, response: Any) -> Any:
        node = self._node()
        for name in request.names:
            try:
                response.values.append(node.get_parameter(name).get_parameter_value())
            except (ParameterNotDeclaredException, ParameterUninitializedException):
                response.values = []
                return response
        return response

    def _types(self, request: Any, response: Any) -> Any:
        try:
            types = self._node().get_parameter_types(list(request.names))
        except ParameterNotDeclaredException:
            return response
        response.types = [type_.value for type_ in types]
        return response

    def _list(self, request: Any, response: Any) -> Any:
        response.result = self._node().list_parameters(list(request.prefixes), request.depth)
        return response

    def _set(self, request: Any, response: Any) -> Any:
        for message in request.parameters:
            response.results.append(self._one(message))
        return response

    def _one(self, message: Any) -> SetParametersResult:
        try:
            parameter = Parameter.from_parameter_msg(message)
            return self._node().set_parameters_atomically([parameter])
        except ParameterNotDeclaredException as error:
            return SetParametersResult(successful=False, reason=str(error))

    def _set_atomically(self, request: Any, response: Any) -> Any:
        try:
            parameters = [Parameter.from_parameter_msg(one) for one in request.parameters]
            response.result = self._node().set_parameters_atomically(parameters)
        except ParameterNotDeclaredException as error:
            response.result = SetParametersResult(successful=False, reason=str(error))
        return response


__getattr__ = reexports(__name__)
