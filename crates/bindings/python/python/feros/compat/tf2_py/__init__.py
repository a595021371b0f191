"""The transform store of Feros, with the names of stock `tf2_py`."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)

from ._buffer_core import (  # noqa: E402
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)

__all__ = [
    'BufferCore', 'ConnectivityException', 'ExtrapolationException', 'InvalidArgumentException',
    'LookupException', 'TimeoutException', 'TransformException',
]
