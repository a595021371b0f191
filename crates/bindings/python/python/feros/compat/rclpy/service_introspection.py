"""The amount of information that services and clients publish about their calls."""

from enum import IntEnum


class ServiceIntrospectionState(IntEnum):
    """Nothing, the metadata of each call, or also its contents."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2
