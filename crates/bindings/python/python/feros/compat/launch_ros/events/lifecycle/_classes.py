"""Events of managed nodes."""

from typing import Any, Callable, Dict, Text

from launch.event import Event
from launch.events._classes import matcher


class ChangeState(Event):
    """Requests a transition of managed nodes."""

    name = 'launch_ros.events.lifecycle.ChangeState'

    valid_states = {0: 'Unknown', 1: 'Unconfigured', 2: 'Inactive', 3: 'Active', 4: 'Finalized'}

    def __init__(
        self, *, lifecycle_node_matcher: Callable[[Any], bool], transition_id: int,
    ) -> None:
        if isinstance(transition_id, bool) or not isinstance(transition_id, int):
            raise TypeError(f'`transition_id` is {transition_id!r:.80}: expected a number of'
                            ' `lifecycle_msgs.msg.Transition`, such as TRANSITION_CONFIGURE')
        self.__matcher = lifecycle_node_matcher
        self.__transition_id = transition_id
        matcher(lifecycle_node_matcher)

    @property
    def lifecycle_node_matcher(self) -> Callable[[Any], bool]:
        """The function that chooses the nodes."""
        return self.__matcher

    @property
    def transition_id(self) -> int:
        """The number of the transition."""
        return self.__transition_id

    def _feros_data(self) -> Dict[str, Any]:
        return {
            'event': 'change_state',
            'node': matcher(self.__matcher),
            'transition': int(self.__transition_id),
        }


class StateTransition(Event):
    """A managed node has changed its state."""

    name = 'launch_ros.events.lifecycle.StateTransition'

    def __init__(self, *, action: Any, msg: Any) -> None:
        self.__action = action
        self.__msg = msg

    @property
    def action(self) -> Any:
        """The action that started the node."""
        return self.__action

    @property
    def msg(self) -> Any:
        """The message of the node: `transition`, `start_state` and `goal_state` have labels."""
        return self.__msg

    @property
    def timestamp(self) -> int:
        """The time of the message."""
        return int(getattr(self.__msg, 'timestamp', 0))

    @property
    def transition(self) -> Text:
        """The name of the transition."""
        return str(self.__msg.transition.label)

    @property
    def start_state(self) -> Text:
        """The name of the state before."""
        return str(self.__msg.start_state.label)

    @property
    def goal_state(self) -> Text:
        """The name of the state now."""
        return str(self.__msg.goal_state.label)
