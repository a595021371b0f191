"""The amount of information that services and clients publish about their calls."""

from enum import IntEnum


class ServiceIntrospectionState(IntEnum):
    """Whether services and clients publish nothing, the metadata of each call, or also the
    contents."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2
