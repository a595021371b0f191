"""Transforms between nodes with the names of stock `tf2_ros`, on Feros."""

from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)

from tf2_py import (  # noqa: E402
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)

from .buffer import Buffer  # noqa: E402
from .buffer_client import BufferClient  # noqa: E402
from .buffer_interface import (  # noqa: E402
    BufferInterface,
    ConvertRegistration,
    NotImplementedException,
    Stamped,
    TransformRegistration,
    TypeException,
    convert,
)
from .static_transform_broadcaster import StaticTransformBroadcaster  # noqa: E402
from .static_transform_listener import StaticTransformListener  # noqa: E402
from .transform_broadcaster import TransformBroadcaster  # noqa: E402
from .transform_listener import TransformListener  # noqa: E402

__all__ = [
    'Buffer', 'BufferClient', 'BufferCore', 'BufferInterface', 'ConnectivityException',
    'ConvertRegistration', 'ExtrapolationException', 'InvalidArgumentException',
    'LookupException', 'NotImplementedException', 'Stamped', 'StaticTransformBroadcaster',
    'StaticTransformListener', 'TimeoutException', 'TransformBroadcaster', 'TransformException',
    'TransformListener', 'TransformRegistration', 'TypeException', 'convert',
]
