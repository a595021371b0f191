"""The types that can be written where actions are expected."""

from collections.abc import Iterable as AnyIterable
from typing import Iterable, Union

from .launch_description_entity import LaunchDescriptionEntity

SomeEntitiesType = Union[LaunchDescriptionEntity, Iterable[LaunchDescriptionEntity]]

SomeEntitiesType_types_tuple = (LaunchDescriptionEntity, AnyIterable)
