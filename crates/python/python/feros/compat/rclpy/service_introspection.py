"""How much services and clients publish about their calls."""

from enum import IntEnum


class ServiceIntrospectionState(IntEnum):
    """Nothing, that a call happened, or what it carried."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2
