"""Descriptions of what actions start."""

from .._missing import absent
from .._modules import provide
from ._executable import Executable

__all__ = ['Executable']

provide(__name__, globals(), {'executable': 'Executable'})

__getattr__ = absent(__name__, globals())
