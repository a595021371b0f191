"""Managed nodes. The extension has the state machine; this module offers its services, so that
callbacks of transitions run on the executor like all other callbacks, and may spin."""

import traceback
import weakref
from typing import Any, Dict, List, Literal, NamedTuple, Optional, Set, Tuple, Type
from typing import TypeVar, Union

from lifecycle_msgs.msg import State, TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)

from .. import _rclpy_pybind11 as _rclpy
from .._reexports import reexports
from .._native import extension
from .._native.errors import RCLError
from ..node import Node
from ..qos import QoSProfile, qos_profile_services_default
from .managed_entity import ManagedEntity, TransitionCallbackReturn
from .publisher import LifecyclePublisher

MsgT = TypeVar('MsgT')
CallbackNames = Literal[
    'on_configure', 'on_cleanup', 'on_shutdown', 'on_activate', 'on_deactivate', 'on_error']
_ADVICE = 'LifecycleNodeMixin has to stand before Node among the base classes'


class LifecycleState(NamedTuple):
    """A state of a managed node."""

    label: str
    state_id: int


_LABELS: Dict[int, str] = {
    getattr(State, f'{kind}_STATE_{name}'): name.lower()
    for kind, names in (
        ('PRIMARY', ('UNKNOWN', 'UNCONFIGURED', 'INACTIVE', 'ACTIVE', 'FINALIZED')),
        ('TRANSITION', ('CONFIGURING', 'CLEANINGUP', 'SHUTTINGDOWN', 'ACTIVATING', 'DEACTIVATING',
                        'ERRORPROCESSING')),
    )
    for name in names
}
_STATE_OF_CALLBACK = {
    'on_configure': State.TRANSITION_STATE_CONFIGURING,
    'on_cleanup': State.TRANSITION_STATE_CLEANINGUP,
    'on_shutdown': State.TRANSITION_STATE_SHUTTINGDOWN,
    'on_activate': State.TRANSITION_STATE_ACTIVATING,
    'on_deactivate': State.TRANSITION_STATE_DEACTIVATING,
    'on_error': State.TRANSITION_STATE_ERRORPROCESSING,
}

Description = Tuple[int, str, int, str, int, str]


class _StateMachine:
    """The extension's state machine with the names of stock's binding; its services are `None` if
    the node has no communication interface."""

    initialized = True

    def __init__(self, native: Any) -> None:
        self._native = native
        self.service_change_state: Any = None
        self.service_get_state: Any = None
        self.service_get_available_states: Any = None
        self.service_get_available_transitions: Any = None
        self.service_get_transition_graph: Any = None

    @property
    def current_state(self) -> Tuple[int, str]:
        """The number and label of the state."""
        number = self._native.state
        return number, _LABELS[number]

    @property
    def available_states(self) -> List[Tuple[int, str]]:
        """The numbers and labels of all states."""
        return list(_LABELS.items())

    @property
    def available_transitions(self) -> List[Description]:
        """The transitions from the current state."""
        return self._described(all=False)

    @property
    def transition_graph(self) -> List[Description]:
        """All transitions."""
        return self._described(all=True)

    def _described(self, *, all: bool) -> List[Description]:
        return [
            (number, label, start, _LABELS[start], goal, _LABELS[goal])
            for number, label, start, goal in self._native.transitions(all)
        ]


def _message(described: Description) -> TransitionDescription:
    number, label, start, start_label, goal, goal_label = described
    message = TransitionDescription()
    message.transition.id, message.transition.label = number, label
    message.start_state = State(id=start, label=start_label)
    message.goal_state = State(id=goal, label=goal_label)
    return message


class LifecycleNodeMixin(ManagedEntity):
    """A mixin that makes a `Node` a managed node; `LifecycleNode` combines both."""

    _rclpy_lifecycle: Any = None

    def __init__(
        self, *, enable_communication_interface: bool = True, callback_group: Any = None
    ) -> None:
        if not isinstance(self, Node):
            raise RuntimeError(f'LifecycleNodeMixin is not a node by itself: {_ADVICE}')
        if self._rclpy_lifecycle is None:
            raise RuntimeError(f'the node was made without a life cycle: {_ADVICE}')
        if not isinstance(enable_communication_interface, bool):
            raise TypeError('enable_communication_interface must be a bool')
        self._managed_entities: Set[ManagedEntity] = set()
        self._rclpy_returned: List[TransitionCallbackReturn] = []
        self._rclpy_transition_events: Any = None
        self._state_machine = _StateMachine(self._rclpy_lifecycle)
        if enable_communication_interface:
            self._rclpy_start_interface(callback_group)

    def _rclpy_create_native(self, name: str, **options: Any) -> Any:
        # The node owns the state machine, so the state machine must not keep the node alive.
        itself = weakref.ref(self)

        def run(callback: str, previous: int) -> int:
            node = itself()
            if node is None:
                return TransitionCallbackReturn.ERROR.value
            return node._rclpy_run_callback(callback, previous)

        context: Any = self._context  # type: ignore[attr-defined]
        self._rclpy_lifecycle = context.native.create_lifecycle_node(
            name, run, enable_communication_interface=False, **options)
        return self._rclpy_lifecycle.node()

    def _rclpy_start_interface(self, group: Any) -> None:
        self._rclpy_transition_events = self.create_publisher(  # type: ignore[attr-defined]
            TransitionEvent, '~/transition_event', 1)
        for name, kind, answer in (
            ('change_state', ChangeState, self._rclpy_on_change_state),
            ('get_state', GetState, self._rclpy_on_get_state),
            ('get_available_states', GetAvailableStates, self._rclpy_on_get_available_states),
            ('get_available_transitions', GetAvailableTransitions,
             self._rclpy_on_get_available_transitions),
            ('get_transition_graph', GetAvailableTransitions, self._rclpy_on_get_transition_graph),
        ):
            service = self.create_service(  # type: ignore[attr-defined]
                kind, f'~/{name}', answer, qos_profile=qos_profile_services_default,
                callback_group=group)
            setattr(self, f'_service_{name}', service)
            setattr(self._state_machine, f'service_{name}', service)

    # Transitions.

    def trigger_configure(self) -> TransitionCallbackReturn:
        """Runs the transition; returns `ERROR` if it cannot begin now."""
        return self._rclpy_change_state('configure')

    def trigger_cleanup(self) -> TransitionCallbackReturn:
        """Runs the transition; `ERROR` if it cannot begin now."""
        return self._rclpy_change_state('cleanup')

    def trigger_activate(self) -> TransitionCallbackReturn:
        """Runs the transition; `ERROR` if it cannot begin now."""
        return self._rclpy_change_state('activate')

    def trigger_deactivate(self) -> TransitionCallbackReturn:
        """Runs the transition; `ERROR` if it cannot begin now."""
        return self._rclpy_change_state('deactivate')

    def trigger_shutdown(self) -> TransitionCallbackReturn:
        """Runs the transition; raises `RCLError` if it cannot begin now."""
        known = [label for _, label, *_ in self._state_machine.available_transitions]
        if 'shutdown' not in known:
            label = self._state_machine.current_state[1]
            raise RCLError(f'a node that is {label} cannot be shut down')
        return self._rclpy_change_state('shutdown')

    def _rclpy_change_state(self, transition: Union[int, str]) -> TransitionCallbackReturn:
        self._rclpy_returned = []
        start = self._state_machine.current_state
        try:
            self._rclpy_lifecycle.trigger_transition(transition)
        except extension.ChangeStateError as error:
            if not self._rclpy_returned:
                self.get_logger().error(  # type: ignore[attr-defined]
                    f'Unable to start transition {transition} from current state {start}: {error}')
                return TransitionCallbackReturn.ERROR
        if not self._rclpy_returned:
            return TransitionCallbackReturn.SUCCESS
        end = self._state_machine.current_state[0]
        self._rclpy_tell_step(self._rclpy_passing, end, self._rclpy_returned[-1].to_label())
        return self._rclpy_returned[0]

    def _rclpy_run_callback(self, name: str, previous: int) -> int:
        """Calls the callback of a transition; an exception is printed, and counts as an error."""
        here = _STATE_OF_CALLBACK[name]
        if name == 'on_error':
            self._rclpy_tell_step(self._rclpy_passing, here, self._rclpy_returned[-1].to_label())
        else:
            self._rclpy_tell_step(previous, here)
        try:
            returned = getattr(self, name)(LifecycleState(_LABELS[previous], previous))
        except Exception:
            traceback.print_exc()
            returned = TransitionCallbackReturn.ERROR
        if not isinstance(returned, TransitionCallbackReturn):
            self.get_logger().error(  # type: ignore[attr-defined]
                f'{name}() has to return a TransitionCallbackReturn, but returned {returned!r}')
            returned = TransitionCallbackReturn.ERROR
        self._rclpy_passing = here
        self._rclpy_returned.append(returned)
        return returned.value

    def _rclpy_tell_step(self, start: int, goal: int, label: Optional[str] = None) -> None:
        """Publishes a transition from one state to another. The label is needed if several
        transitions connect these states."""
        if self._rclpy_transition_events is None:
            return
        for described in self._state_machine.transition_graph:
            if described[2] == start and described[4] == goal and label in (None, described[1]):
                found = _message(described)
                event = TransitionEvent(
                    transition=found.transition, start_state=found.start_state,
                    goal_state=found.goal_state)
                event.timestamp = self.get_clock().now().nanoseconds  # type: ignore[attr-defined]
                self._rclpy_transition_events.publish(event)
                return

    # Managed entities.

    def add_managed_entity(self, entity: ManagedEntity) -> None:
        """Makes the callbacks of the node also call those of an entity."""
        if not isinstance(entity, ManagedEntity):
            raise TypeError('Expected a rclpy.lifecycle.ManagedEntity instance.')
        self._managed_entities.add(entity)

    def _rclpy_call_entities(self, name: str, state: LifecycleState) -> TransitionCallbackReturn:
        for entity in list(self._managed_entities):
            returned = getattr(entity, name)(state)
            if not isinstance(returned, TransitionCallbackReturn):
                raise TypeError(
                    f'{name}() of {entity} has to return a TransitionCallbackReturn,'
                    f' but returned {returned!r}')
            if returned != TransitionCallbackReturn.SUCCESS:
                return returned
        return TransitionCallbackReturn.SUCCESS

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Calls the callbacks of managed entities, until one does not succeed."""
        return self._rclpy_call_entities('on_configure', state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Calls the callbacks of managed entities, until one does not succeed."""
        return self._rclpy_call_entities('on_cleanup', state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Calls the callbacks of managed entities, until one does not succeed."""
        return self._rclpy_call_entities('on_shutdown', state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Calls the callbacks of managed entities, until one does not succeed."""
        return self._rclpy_call_entities('on_activate', state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Calls the callbacks of managed entities, until one does not succeed."""
        return self._rclpy_call_entities('on_deactivate', state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Calls the callbacks of managed entities, until one does not succeed."""
        return self._rclpy_call_entities('on_error', state)

    def create_lifecycle_publisher(
        self,
        msg_type: Type[MsgT],
        topic: str,
        qos_profile: Union[QoSProfile, int],
        *,
        publisher_class: None = None,
        **kwargs: Any,
    ) -> 'LifecyclePublisher[MsgT]':
        """Like `create_publisher`, but the publisher only sends while the node is active."""
        if publisher_class:
            raise TypeError(
                "create_lifecycle_publisher() takes no argument 'publisher_class'")
        publisher: Any = Node.create_publisher(
            self, msg_type, topic, qos_profile,  # type: ignore[arg-type]
            publisher_class=LifecyclePublisher, **kwargs)
        self._managed_entities.add(publisher)
        return publisher

    def destroy_lifecycle_publisher(self, publisher: 'LifecyclePublisher[Any]') -> bool:
        """Destroys the publisher; `False` if it belongs to another node."""
        self._managed_entities.discard(publisher)
        return self.destroy_publisher(publisher)  # type: ignore[attr-defined]

    # Services.

    def _rclpy_on_change_state(self, request: Any, response: Any) -> Any:
        wanted = request.transition.label or request.transition.id
        response.success = self._rclpy_change_state(wanted) == TransitionCallbackReturn.SUCCESS
        return response

    def _rclpy_on_get_state(self, request: Any, response: Any) -> Any:
        number, label = self._state_machine.current_state
        response.current_state = State(id=number, label=label)
        return response

    def _rclpy_on_get_available_states(self, request: Any, response: Any) -> Any:
        response.available_states = [
            State(id=number, label=label) for number, label in self._state_machine.available_states
        ]
        return response

    def _rclpy_on_get_available_transitions(self, request: Any, response: Any) -> Any:
        found = self._state_machine.available_transitions
        response.available_transitions = [_message(one) for one in found]
        return response

    def _rclpy_on_get_transition_graph(self, request: Any, response: Any) -> Any:
        found = self._state_machine.transition_graph
        response.available_transitions = [_message(one) for one in found]
        return response


class LifecycleNode(LifecycleNodeMixin, Node):
    """A managed node: override `on_configure` and the other callbacks, and call the callbacks of
    `super()` in them."""

    def __init__(
        self, node_name: str, *, enable_communication_interface: bool = True, **kwargs: Any
    ) -> None:
        if not isinstance(enable_communication_interface, bool):
            raise TypeError('enable_communication_interface must be a bool')
        Node.__init__(self, node_name, **kwargs)
        LifecycleNodeMixin.__init__(
            self, enable_communication_interface=enable_communication_interface)


__getattr__ = reexports(__name__)
