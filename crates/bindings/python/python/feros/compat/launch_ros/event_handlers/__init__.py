"""Handlers of the events of nodes."""

from launch._missing import absent
from launch._modules import provide

from ._on_state_transition import OnStateTransition

__all__ = ['OnStateTransition']

provide(__name__, globals(), {'on_state_transition': 'OnStateTransition'})

__getattr__ = absent(__name__, globals())
