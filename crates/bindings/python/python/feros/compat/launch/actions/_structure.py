"""Actions that contain or give other actions."""

import functools
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Text, Union

from .. import _wire
from .._entities import entities
from .._objects import number_of
from .._text import flag, normalize_to_list_of_substitutions, some
from .._unsupported import NO_COROUTINE
from ..action import Action, KnownAction, KnownGroup
from ..launch_context import LaunchContext, current
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ._variables import normalized_pairs

Entities = Optional[List[LaunchDescriptionEntity]]


def actions_of(some: Any, name: str) -> List[Any]:
    """Returns a list of actions."""
    if isinstance(some, (LaunchDescriptionEntity, str, bytes)) or not hasattr(some, '__iter__'):
        raise TypeError(f'`actions` of `{name}` is {some!r:.80}: expected a list of actions')
    found = list(some)
    for one in found:
        if not isinstance(one, LaunchDescriptionEntity):
            raise TypeError(f'`actions` of `{name}` has {one!r:.80} where an action is expected')
    return found


class GroupAction(KnownGroup):
    """Performs actions, and restores variables, environment and namespace after them."""

    def __init__(
        self,
        actions: Iterable[Action],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Optional[Dict[SomeSubstitutionsType, SomeSubstitutionsType]] = None,
        **left_over_kwargs: Any,
    ) -> None:
        super().__init__(**left_over_kwargs)
        self.__actions = actions_of(actions, 'GroupAction')
        self.__scoped = flag(scoped)
        self.__forwarding = flag(forwarding)
        self.__configurations = normalized_pairs(launch_configurations, 'launch_configurations')

    def get_sub_entities(self) -> List[LaunchDescriptionEntity]:
        """Returns the actions."""
        return list(self.__actions)

    def _feros_gets(self, value: Any) -> bool:
        return any(action._feros_gets(value) for action in self.__actions)

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'group',
            'scoped': _wire.flag(self.__scoped),
            'forwarding': _wire.flag(self.__forwarding),
            'configurations': _wire.pairs(self.__configurations),
            'actions': entities(self.__actions),
        }


def _seen_by(function: Any) -> Iterator[Any]:
    """The variables around a function that its code names."""
    for cell in getattr(function, '__closure__', None) or ():
        try:
            yield cell.cell_contents
        except ValueError:
            pass  # it has no value yet
    variables = getattr(function, '__globals__', {})
    for name in getattr(getattr(function, '__code__', None), 'co_names', ()):
        yield variables.get(name)


class OpaqueFunction(KnownAction):
    """Calls a function, which may return actions."""

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        args: Optional[Iterable[Any]] = None,
        kwargs: Optional[Dict[Text, Any]] = None,
        **left_over_kwargs: Any,
    ) -> None:
        super().__init__(**left_over_kwargs)
        if not callable(function):
            raise TypeError(f'`function` of `OpaqueFunction` is {function!r:.80}: expected a'
                            ' function that takes the context')
        if args is not None and not hasattr(args, '__iter__'):
            raise TypeError(f'`args` of `OpaqueFunction` is {args!r:.80}: expected a list')
        if kwargs is not None and not isinstance(kwargs, dict):
            raise TypeError(f'`kwargs` of `OpaqueFunction` is {kwargs!r:.80}: expected a dict')
        self.__function = function
        self.__args = () if args is None else tuple(args)
        self.__kwargs = {} if kwargs is None else kwargs

    def execute(self, context: LaunchContext) -> Entities:
        """Calls the function."""
        found: Entities = self.__function(context, *self.__args, **self.__kwargs)
        return found

    def _feros_gets(self, value: Any) -> bool:
        given = (*self.__args, *self.__kwargs.values(), *_seen_by(self.__function))
        return any(one is value for one in given)

    def _feros_data(self) -> Dict[str, Any]:
        return {'do': 'python', 'name': _wire.name_of(self.__function)}


class TimerAction(KnownAction):
    """Performs actions after a time."""

    _FEROS_IS_ROS = False

    def __init__(
        self,
        *,
        period: Union[float, SomeSubstitutionsType],
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: Union[bool, SomeSubstitutionsType] = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__period = some(period)
        self.__actions = actions_of(actions, type(self).__name__)
        self.__cancel_on_shutdown = flag(cancel_on_shutdown)

    @property
    def period(self) -> List[Substitution]:
        """The time in seconds."""
        return self.__period

    @property
    def actions(self) -> List[LaunchDescriptionEntity]:
        """The actions."""
        return self.__actions

    def cancel(self) -> None:
        """Drops the actions if the time has not come yet."""
        context = current()
        if context is None:
            raise RuntimeError(
                '`cancel` of a TimerAction works in functions that `feros launch` calls only')
        context._feros_perform({
            'do': 'cancel_timer', 'id': number_of(_Cancellation(self)), 'at': _wire.at(self),
            'timer': number_of(self)})

    def describe_conditional_sub_entities(self) -> List[Any]:
        """Returns the actions, with a text for people."""
        return [('after a time', list(self.__actions))]

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'timer',
            'ros': self._FEROS_IS_ROS,
            'period': _wire.template(self.__period),
            'cancel_on_shutdown': _wire.flag(self.__cancel_on_shutdown),
            'actions': entities(self.__actions),
        }


class _Cancellation:
    """One call of `cancel`, so that it has a number of its own."""

    def __init__(self, timer: TimerAction) -> None:
        self.timer = timer


class _Loop(KnownGroup):
    """Calls a function for each iteration."""

    def __init__(self, function: Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not callable(function):
            raise TypeError(f'`function` of `{type(self).__name__}` is {function!r:.80}: expected'
                            ' a function that returns actions')
        self.__function = function

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""
        return self.__function


class ForEach(_Loop):
    """Calls a function with each set of values, which are YAML mappings separated by `;`."""

    SEPARATOR = ';'

    def __init__(
        self,
        input_values: SomeSubstitutionsType,
        *,
        function: Callable[..., Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(function, **kwargs)
        self.__input_values = normalize_to_list_of_substitutions(input_values)

    @property
    def input_values(self) -> List[Substitution]:
        """The sets of values."""
        return self.__input_values

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'for_each',
            'values': _wire.template(self.__input_values),
            'py': number_of(self.function),
        }


class ForLoop(_Loop):
    """Calls a function with the numbers from 0 as `i`."""

    def __init__(
        self,
        length: SomeSubstitutionsType,
        *,
        function: Callable[..., Any],
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(function, **kwargs)
        self.__length = some(length)
        self.__name = name

    @property
    def length(self) -> List[Substitution]:
        """The count of iterations."""
        return self.__length

    @property
    def name(self) -> Optional[str]:
        """The name of the loop."""
        return self.__name

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'do': 'for',
            'length': _wire.template(self.__length),
            'name': self.__name or 'i',
            'py': number_of(self.function),
        }


def _no_coroutine(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(NO_COROUTINE)


class OpaqueCoroutine(Action):
    """Raises `NotImplementedError` with what to write instead."""

    __init__ = functools.partialmethod(_no_coroutine)
