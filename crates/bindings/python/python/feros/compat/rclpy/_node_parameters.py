"""The parameters of a node: declares, checks and sets them, and publishes their changes."""

import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ListParametersResult,
    ParameterDescriptor,
    ParameterEvent,
    ParameterValue,
    SetParametersResult,
)

from .exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
    ParameterImmutableException,
    ParameterNotDeclaredException,
    ParameterUninitializedException,
)
from .parameter import (
    PARAMETER_SEPARATOR_STRING,
    Parameter,
    override_as_declared,
    parameter_value_to_python,
)
from .validate_parameter_name import validate_parameter_name

class NodeParameters:
    """The parameters of a node."""

    PARAM_REL_TOL = 1e-6

    def _rclpy_start_parameters(
        self, overrides: Dict[str, Parameter], allow_undeclared: bool
    ) -> None:
        self._parameters: Dict[str, Parameter] = {}
        self._descriptors: Dict[str, ParameterDescriptor] = {}
        self._parameter_overrides = overrides
        self._allow_undeclared_parameters = allow_undeclared
        self._pre_set_parameters_callbacks: List[Callable[..., Any]] = []
        self._on_set_parameters_callbacks: List[Callable[..., Any]] = []
        self._post_set_parameters_callbacks: List[Callable[..., Any]] = []

    # Declaring parameters.

    def declare_parameter(
        self,
        name: str,
        value: Any = None,
        descriptor: Optional[ParameterDescriptor] = None,
        ignore_override: bool = False,
    ) -> Parameter:
        """Declares a parameter with a default, or with only a type (a `Parameter.Type`).

        Raises `ParameterAlreadyDeclaredException`, `InvalidParameterException`,
        `InvalidParameterValueException`.
        """
        given: Tuple[Any, ...] = (name, value)
        if descriptor is not None:
            given = (name, value, descriptor)
        elif value is None:
            given = (name,)
        return self.declare_parameters('', [given], ignore_override)[0]

    def declare_parameters(
        self, namespace: str, parameters: Sequence[Tuple[Any, ...]], ignore_override: bool = False
    ) -> List[Parameter]:
        """Declares several parameters, each `(name,)`, `(name, value)` or
        `(name, value, descriptor)`."""
        declared, descriptors = [], {}
        for given in parameters:
            if not 1 <= len(given) <= 3:
                raise TypeError(f'Invalid parameter tuple length {len(given)}, expecting 1 to 3')
            name = given[0]
            if not isinstance(name, str):
                raise TypeError(f'First element {name} is not a str')
            value = given[1] if len(given) > 1 else None
            descriptor = given[2] if len(given) > 2 else ParameterDescriptor()
            if not isinstance(descriptor, ParameterDescriptor):
                raise TypeError(f'Third element {descriptor} is not a ParameterDescriptor')
            if len(given) == 1:
                # Without a type, the parameter may have values of any type.
                descriptor.dynamic_typing = True
                warnings.warn(
                    f"parameter '{name}' is declared with only its name, which is"
                    ' deprecated: give it a value, a type, or a descriptor with dynamic_typing',
                    stacklevel=2)
            full = f'{namespace}{PARAMETER_SEPARATOR_STRING}{name}' if namespace else name
            validate_parameter_name(full)
            declared.append(self._rclpy_declared(full, value, descriptor, ignore_override))
            descriptors[full] = descriptor
        known = [one.name for one in declared if one.name in self._parameters]
        if known:
            raise ParameterAlreadyDeclaredException(known)
        names = [one.name for one in declared]
        for parameter in declared:
            descriptor = descriptors[parameter.name]
            result = self._rclpy_set_atomically([parameter], {parameter.name: descriptor}, False)
            if not result.successful:
                raise InvalidParameterValueException(
                    parameter.name, parameter.value, result.reason
                )
        return [self._parameters[name] for name in names]

    def _rclpy_declared(
        self, name: str, value: Any, descriptor: ParameterDescriptor, ignore_override: bool
    ) -> Parameter:
        """Returns the first value of a parameter. Also writes the type of the parameter into the
        descriptor."""
        if isinstance(value, ParameterValue):
            value = parameter_value_to_python(value)
        if isinstance(value, Parameter.Type):
            if value == Parameter.Type.NOT_SET:
                raise ValueError(f'Cannot declare parameter {{{name}}} as statically typed of type'
                                 ' NOT_SET')
            if descriptor.dynamic_typing:
                raise ValueError(f'When declaring parameter {{{name}}} passing a descriptor with'
                                 ' dynamic_typing=True is not allowed when the parameter type is'
                                 ' passed')
            type_, value = value, None
        else:
            type_ = Parameter.Type.from_parameter_value(value)
        if descriptor.dynamic_typing:
            descriptor.type = Parameter.Type.NOT_SET.value
        elif type_ == Parameter.Type.NOT_SET:
            # As in stock, the type in a descriptor is ignored.
            raise ValueError(f'Cannot declare parameter {{{name}}} as statically typed without a'
                             ' value: give it one, or a Parameter.Type in place of it')
        else:
            descriptor.type = type_.value
        descriptor.name = name
        if not ignore_override and name in self._parameter_overrides:
            return override_as_declared(self._parameter_overrides[name], type_)
        if value is None:
            return Parameter(name, Parameter.Type.NOT_SET)
        return Parameter(name, type_, value)

    def undeclare_parameter(self, name: str) -> None:
        """Forgets a parameter; raises if it is not declared or is read-only."""
        if not self.has_parameter(name):
            raise ParameterNotDeclaredException(name)
        if self._descriptors[name].read_only:
            raise ParameterImmutableException(name)
        gone = self._parameters.pop(name)
        del self._descriptors[name]
        self._rclpy_tell(deleted=[gone])

    def has_parameter(self, name: str) -> bool:
        """Returns whether the parameter is declared."""
        return name in self._parameters

    # Reading parameters.

    def get_parameters(self, names: List[str]) -> List[Parameter]:
        """Returns several parameters, like `get_parameter`."""
        if not all(isinstance(name, str) for name in names):
            raise TypeError('All names must be instances of type str')
        return [self.get_parameter(name) for name in names]

    def get_parameter(self, name: str) -> Parameter:
        """Returns a parameter; raises if it is not declared, or has a fixed type and no value."""
        found = self._parameters.get(name)
        if found is None:
            if self._allow_undeclared_parameters:
                return Parameter(name, Parameter.Type.NOT_SET, None)
            raise ParameterNotDeclaredException(name)
        unset = found.type_ == Parameter.Type.NOT_SET
        if unset and not self._descriptors[name].dynamic_typing:
            raise ParameterUninitializedException(name)
        return found

    def get_parameter_or(
        self, name: str, alternative_value: Optional[Parameter] = None
    ) -> Parameter:
        """Returns a parameter, or the alternative if it is not declared or has no value."""
        found = self._parameters.get(name)
        if found is None or found.type_ == Parameter.Type.NOT_SET:
            unset = Parameter(name, Parameter.Type.NOT_SET)
            return unset if alternative_value is None else alternative_value
        return found

    def get_parameter_type(self, name: str) -> Parameter.Type:
        """Returns the type of a parameter."""
        if self.has_parameter(name):
            return self._parameters[name].type_
        if self._allow_undeclared_parameters:
            return Parameter.Type.NOT_SET
        raise ParameterNotDeclaredException(name)

    def get_parameter_types(self, names: List[str]) -> List[Parameter.Type]:
        """Returns the types of several parameters."""
        if not all(isinstance(name, str) for name in names):
            raise TypeError('All names must be instances of type str')
        return [self.get_parameter_type(name) for name in names]

    def get_parameters_by_prefix(self, prefix: str) -> Dict[str, Parameter]:
        """Returns the parameters below a prefix, by the rest of their names."""
        start = f'{prefix}{PARAMETER_SEPARATOR_STRING}' if prefix else ''
        return {
            name[len(start):]: parameter for name, parameter in self._parameters.items()
            if name.startswith(start)
        }

    def list_parameters(self, prefixes: List[str], depth: int) -> ListParametersResult:
        """Returns the names of the parameters below prefixes, down to a depth; 0 means no limit."""
        if not isinstance(prefixes, list) or not all(isinstance(p, str) for p in prefixes):
            raise TypeError('The prefixes argument must be a list of strings')
        if not isinstance(depth, int):
            raise TypeError('The depth must be instance of type int')
        if depth < 0:
            raise ValueError('The depth must be greater than or equal to zero')
        result = ListParametersResult()
        separator = PARAMETER_SEPARATOR_STRING
        for name in self._parameters:
            below = [
                prefix for prefix in prefixes
                if name == prefix or name.startswith(prefix + separator)
            ]
            if prefixes and not below:
                continue
            if depth and not any(
                name[len(prefix):].strip(separator).count(separator) < depth
                for prefix in below or ['']
            ):
                continue
            result.names.append(name)
            parent = name.rpartition(separator)[0]
            if parent and parent not in result.prefixes:
                result.prefixes.append(parent)
        return result

    # Setting parameters.

    def set_parameters(self, parameter_list: List[Parameter]) -> List[SetParametersResult]:
        """Sets each parameter separately; raises `ParameterNotDeclaredException`."""
        results = []
        for parameter in parameter_list:  # parameters before an undeclared parameter are set
            self._rclpy_check_declared([parameter])
            results.append(self._rclpy_set_with_callbacks([parameter]))
        return results

    def set_parameters_atomically(self, parameter_list: List[Parameter]) -> SetParametersResult:
        """Sets all or no parameters; raises `ParameterNotDeclaredException`."""
        self._rclpy_check_declared(parameter_list)
        return self._rclpy_set_with_callbacks(parameter_list)

    def _rclpy_check_declared(self, parameters: List[Parameter]) -> None:
        if not all(isinstance(parameter, Parameter) for parameter in parameters):
            raise TypeError("parameter must be instance of type 'rclpy.parameter.Parameter'")
        if self._allow_undeclared_parameters:
            return
        unknown = [one.name for one in parameters if one.name not in self._parameters]
        if unknown:
            raise ParameterNotDeclaredException(unknown)

    def _rclpy_set_with_callbacks(self, parameters: List[Parameter]) -> SetParametersResult:
        for callback in self._pre_set_parameters_callbacks:
            parameters = callback(parameters)
            if not parameters:
                return SetParametersResult(
                    successful=False, reason='parameter list cannot be empty, this might be due to'
                    ' pre_set_parameters_callback modifying the original parameters list.'
                )
            self._rclpy_check_declared(parameters)
        return self._rclpy_set_atomically(parameters, None, True)

    def _rclpy_set_atomically(
        self,
        parameters: List[Parameter],
        descriptors: Optional[Dict[str, ParameterDescriptor]],
        is_set: bool,
    ) -> SetParametersResult:
        """Checks and stores parameters, and calls the callbacks. With descriptors, also declares
        the parameters."""
        given = descriptors if descriptors is not None else self._descriptors
        for parameter in parameters:
            descriptor = given.get(parameter.name) or ParameterDescriptor(dynamic_typing=True)
            result = self._rclpy_check(parameter, descriptor, is_set)
            if not result.successful:
                return result
        for callback in list(self._on_set_parameters_callbacks):
            result = callback(parameters)
            if not isinstance(result, SetParametersResult):
                raise TypeError('a parameter callback has to return a SetParametersResult')
            if not result.successful:
                return result
        self._rclpy_store(parameters, given, is_set)
        for callback in list(self._post_set_parameters_callbacks):
            callback(parameters)
        return SetParametersResult(successful=True)

    def _rclpy_store(
        self, parameters: List[Parameter], descriptors: Dict[str, Any], is_set: bool
    ) -> None:
        new, changed, deleted = [], [], []
        for parameter in parameters:
            name = parameter.name
            unset = parameter.type_ == Parameter.Type.NOT_SET
            before = self._parameters.get(name)
            if is_set and unset:
                if before is not None:
                    deleted.append(parameter)
                    del self._parameters[name], self._descriptors[name]
                continue
            self._parameters[name] = parameter
            if name in descriptors:
                self._descriptors[name] = descriptors[name]
            elif before is None:
                self._descriptors[name] = ParameterDescriptor(name=name, dynamic_typing=True)
            if before is None or before.type_ == Parameter.Type.NOT_SET:
                new.append(parameter)
            else:
                changed.append(parameter)
        self._rclpy_tell(new, changed, deleted)

    def _rclpy_tell(
        self, new: Sequence = (), changed: Sequence = (), deleted: Sequence = ()
    ) -> None:
        """Publishes the changes of parameters."""
        for parameter in (*new, *changed):
            if parameter.name == 'use_sim_time' and parameter.type_ == Parameter.Type.BOOL:
                self._rclpy_native.parameters.set({'use_sim_time': parameter.value})
        event = ParameterEvent(node=self.get_fully_qualified_name())
        event.stamp = self.get_clock().now().to_msg()
        event.new_parameters = [one.to_parameter_msg() for one in new]
        event.changed_parameters = [one.to_parameter_msg() for one in changed]
        event.deleted_parameters = [one.to_parameter_msg() for one in deleted]
        if self._parameter_event_publisher is not None:
            self._parameter_event_publisher.publish(event)

    # Checking values.

    def _rclpy_check(
        self, parameter: Parameter, descriptor: ParameterDescriptor, is_set: bool
    ) -> SetParametersResult:
        def refuse(reason: str) -> SetParametersResult:
            return SetParametersResult(successful=False, reason=reason)

        name, type_ = parameter.name, parameter.type_
        if is_set and descriptor.read_only:
            return refuse(f'Trying to set a read-only parameter: {name}.')
        if not descriptor.dynamic_typing:
            if type_ == Parameter.Type.NOT_SET:
                return refuse('Static parameter cannot be undeclared') if is_set else (
                    SetParametersResult(successful=True))
            if descriptor.type not in (0, type_.value):
                expected = Parameter.Type(descriptor.type)
                if not is_set:
                    raise InvalidParameterTypeException(parameter, expected.name)
                return refuse(f"Wrong parameter type, expected '{expected}' got '{type_}'")
        if descriptor.integer_range and type_ == Parameter.Type.INTEGER:
            return self._rclpy_check_integer(parameter, descriptor.integer_range[0])
        if descriptor.floating_point_range and type_ == Parameter.Type.DOUBLE:
            return self._rclpy_check_floating(parameter, descriptor.floating_point_range[0])
        return SetParametersResult(successful=True)

    def _rclpy_check_integer(
        self, parameter: Parameter, limits: IntegerRange
    ) -> SetParametersResult:
        low, high = sorted((limits.from_value, limits.to_value))
        value = parameter.value
        if value in (low, high):
            return SetParametersResult(successful=True)
        if not low < value < high:
            return SetParametersResult(successful=False, reason=(
                f'Parameter {parameter.name} out of range. Min: {low}, Max: {high},'
                f' value: {value}'))
        if limits.step and (value - low) % limits.step:
            return SetParametersResult(successful=False, reason=(
                f'The parameter value for {parameter.name} is not a valid step. Min: {low},'
                f' max: {high}, value: {value}, step: {limits.step}'))
        return SetParametersResult(successful=True)

    def _rclpy_check_floating(
        self, parameter: Parameter, limits: FloatingPointRange
    ) -> SetParametersResult:
        import math

        low, high = sorted((limits.from_value, limits.to_value))
        value = parameter.value

        def near(one: float, other: float) -> bool:
            return math.isclose(one, other, rel_tol=self.PARAM_REL_TOL)

        if near(value, low) or near(value, high):
            return SetParametersResult(successful=True)
        if not low < value < high:
            return SetParametersResult(successful=False, reason=(
                f'Parameter {parameter.name} out of range Min: {low}, Max: {high},'
                f' value: {value}'))
        if limits.step:
            steps = round((value - low) / limits.step)
            if not near(low + steps * limits.step, value):
                return SetParametersResult(successful=False, reason=(
                    f'The parameter value for {parameter.name} is not close enough to a valid'
                    f' step. Min: {low}, max: {high}, value: {value}, step: {limits.step}'))
        return SetParametersResult(successful=True)

    # Descriptors.

    def describe_parameter(self, name: str) -> ParameterDescriptor:
        """Returns the descriptor of one parameter."""
        if name in self._descriptors:
            return self._descriptors[name]
        if self._allow_undeclared_parameters:
            return ParameterDescriptor()
        raise ParameterNotDeclaredException(name)

    def describe_parameters(self, names: List[str]) -> List[ParameterDescriptor]:
        """Returns the descriptors of several parameters."""
        return [self.describe_parameter(name) for name in names]

    def set_descriptor(
        self,
        name: str,
        descriptor: ParameterDescriptor,
        alternative_value: Optional[ParameterValue] = None,
    ) -> ParameterValue:
        """Replaces a descriptor, and also the value if it does not fit the new descriptor."""
        if not self.has_parameter(name):
            if not self._allow_undeclared_parameters:
                raise ParameterNotDeclaredException(name)
            return ParameterValue()
        if self.describe_parameter(name).read_only:
            raise ParameterImmutableException(name)
        candidates = [self.get_parameter(name)]
        if alternative_value is not None:
            value = parameter_value_to_python(alternative_value)
            candidates.append(Parameter(name, Parameter.Type(alternative_value.type), value))
        descriptor.name = name
        for candidate in candidates:
            descriptor.type = candidate.type_.value
            result = self._rclpy_set_atomically([candidate], {name: descriptor}, False)
            if result.successful:
                return candidate.get_parameter_value()
        raise InvalidParameterValueException(name, candidate.value, result.reason)

    # Callbacks.

    def add_pre_set_parameters_callback(self, callback: Callable[..., Any]) -> None:
        """Calls `callback(parameters)` before parameters are set; it returns the parameters to
        set."""
        self._pre_set_parameters_callbacks.insert(0, callback)

    def add_on_set_parameters_callback(self, callback: Callable[..., Any]) -> None:
        """Calls `callback(parameters)` to check new values; it returns a `SetParametersResult`."""
        self._on_set_parameters_callbacks.insert(0, callback)

    def add_post_set_parameters_callback(self, callback: Callable[..., Any]) -> None:
        """Calls `callback(parameters)` after parameters have been set."""
        self._post_set_parameters_callbacks.insert(0, callback)

    def remove_pre_set_parameters_callback(self, callback: Callable[..., Any]) -> None:
        """Removes a callback; raises `ValueError` if it was not added."""
        self._pre_set_parameters_callbacks.remove(callback)

    def remove_on_set_parameters_callback(self, callback: Callable[..., Any]) -> None:
        """Removes a callback; raises `ValueError` if it was not added."""
        self._on_set_parameters_callbacks.remove(callback)

    def remove_post_set_parameters_callback(self, callback: Callable[..., Any]) -> None:
        """Removes a callback; raises `ValueError` if it was not added."""
        self._post_set_parameters_callbacks.remove(callback)


ParameterInput = Union[Any, Parameter.Type, ParameterValue]
