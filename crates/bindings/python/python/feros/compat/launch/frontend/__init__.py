"""The names by which packages give XML and YAML files their own actions and substitutions."""

from .._missing import absent
from .._modules import provide
from ..invalid_launch_file_error import InvalidFrontendLaunchFileError, InvalidLaunchFileError
from . import type_utils
from ._classes import Entity, Parser, expose_action, expose_substitution

__all__ = [
    'Entity', 'InvalidFrontendLaunchFileError', 'InvalidLaunchFileError', 'Parser',
    'expose_action', 'expose_substitution', 'type_utils',
]

provide(__name__, globals(), {
    'entity': 'Entity',
    'expose': 'expose_action expose_substitution',
    'parser': 'InvalidFrontendLaunchFileError Parser',
})

__getattr__ = absent(__name__, globals())
