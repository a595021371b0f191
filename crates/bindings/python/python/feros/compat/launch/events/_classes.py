"""Events that are not about a process."""

from typing import Any, Dict

from .._objects import number_of
from ..action import Action
from ..event import Event
from ..launch_description import LaunchDescription


class ActionMatcher:
    """Matches one action."""

    def __init__(self, target_action: Action) -> None:
        self.target_action = target_action

    def __call__(self, action: Any) -> bool:
        return action is self.target_action

    def _feros_matcher(self) -> Dict[str, Any]:
        return {'action': number_of(self.target_action)}


def matches_action(target_action: Action) -> ActionMatcher:
    """Returns a function that matches this action only."""
    return ActionMatcher(target_action)


def matcher(function: Any) -> Dict[str, Any]:
    """A function that chooses actions, as data."""
    known = getattr(function, '_feros_matcher', None)
    if known is not None:
        data: Dict[str, Any] = known()
        return data
    if not callable(function):
        raise TypeError(
            f'{function!r:.80} stands where a function is expected that takes an action')
    return {'py': number_of(function)}


class ExecutionComplete(Event):
    """An action is complete."""

    name = 'launch.events.ExecutionComplete'

    def __init__(self, *, action: Action) -> None:
        self.__action = action

    @property
    def action(self) -> Action:
        """The action."""
        return self.__action


class TimerEvent(Event):
    """The time of a timer has come."""

    name = 'launch.events.TimerEvent'

    def __init__(self, *, timer_action: Action) -> None:
        self.__timer_action = timer_action

    @property
    def timer_action(self) -> Action:
        """The timer."""
        return self.__timer_action


class IncludeLaunchDescription(Event):
    """A launch description is included."""

    name = 'launch.events.IncludeLaunchDescription'

    def __init__(self, launch_description: LaunchDescription) -> None:
        self.__launch_description = launch_description

    @property
    def launch_description(self) -> LaunchDescription:
        """The launch description."""
        return self.__launch_description
