"""The actions that change the nodes that follow, and the timer in ROS time."""

from typing import Any, Dict, List, Union

from launch import _wire
from launch._text import flag, normalize_to_list_of_substitutions
from launch.action import KnownAction
from launch.actions import TimerAction
from launch.actions._named import Named
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution

from .._parameters import normalize_parameter_dict, value_data


class PushROSNamespace(KnownAction):
    """Adds a namespace before those of the nodes that follow."""

    def __init__(self, namespace: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__namespace = normalize_to_list_of_substitutions(namespace)

    @property
    def namespace(self) -> List[Substitution]:
        """The namespace."""
        return self.__namespace

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'push_namespace', 'namespace': _wire.template(self.__namespace)}


class SetParameter(Named):
    """Sets a parameter of all nodes that follow."""

    _FEROS_DO = 'set_parameter'

    def __init__(self, name: SomeSubstitutionsType, value: Any, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        if isinstance(value, dict):
            raise TypeError('`value` of `SetParameter` is a dict: write a SetParameter for each'
                            ' item, or SetParametersFromFile')
        (self.__value,) = normalize_parameter_dict({tuple(self.name): value}).values()

    @property
    def value(self) -> Any:
        """The value."""
        return self.__value

    def _feros_data(self) -> Dict[str, Any]:
        return {**super()._feros_data(), 'value': value_data(self.__value)}


class SetParametersFromFile(KnownAction):
    """Gives all nodes that follow the parameters of a file."""

    def __init__(self, filename: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__filename = normalize_to_list_of_substitutions(filename)

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'set_parameters_from_file', 'file': _wire.template(self.__filename)}


class SetRemap(KnownAction):
    """Adds a remapping to all nodes that follow."""

    def __init__(
        self, src: SomeSubstitutionsType, dst: SomeSubstitutionsType, **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__src = normalize_to_list_of_substitutions(src)
        self.__dst = normalize_to_list_of_substitutions(dst)

    @property
    def src(self) -> List[Substitution]:
        """The name that is replaced."""
        return self.__src

    @property
    def dst(self) -> List[Substitution]:
        """The name that replaces it."""
        return self.__dst

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'set_remap',
            'from': _wire.template(self.__src),
            'to': _wire.template(self.__dst),
        }


class SetROSLogDir(KnownAction):
    """Sets the folder for the logs of the nodes that follow."""

    def __init__(self, new_log_dir: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__log_dir = normalize_to_list_of_substitutions(new_log_dir)

    @property
    def log_dir(self) -> List[Substitution]:
        """The folder."""
        return self.__log_dir

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'set_ros_log_dir', 'folder': _wire.template(self.__log_dir)}


class SetUseSimTime(KnownAction):
    """Sets `use_sim_time` of the nodes that follow."""

    def __init__(self, value: Union[bool, SomeSubstitutionsType], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__value = flag(value)

    @property
    def value(self) -> Any:
        """Whether the nodes follow simulated time."""
        return self.__value

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'set_use_sim_time', 'value': _wire.flag(self.__value)}


class ROSTimer(TimerAction):
    """Performs actions after a time in ROS time, which may be simulated."""

    _FEROS_IS_ROS = True
