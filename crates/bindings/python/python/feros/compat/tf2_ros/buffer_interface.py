"""The base class of all buffers, and the types that can be transformed and converted.

Packages such as `tf2_geometry_msgs` register their types when they are imported.
"""

from copy import deepcopy
from typing import Any, Callable, Dict, Optional, Tuple

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time
from std_msgs.msg import Header


class TypeException(Exception):
    """No transform or conversion is registered for a type."""

    def __init__(self, errstr: str) -> None:
        super().__init__(errstr)
        self.errstr = errstr


class NotImplementedException(Exception):
    """A buffer does not implement lookups."""

    def __init__(self) -> None:
        self.errstr = 'CanTransform or LookupTransform not implemented'
        super().__init__(self.errstr)


def _registered(functions: Dict[Any, Callable[..., Any]], key: Any) -> Callable[..., Any]:
    try:
        return functions[key]
    except KeyError:
        raise TypeException(f'Type {key} is not loaded or supported') from None


class TransformRegistration:
    """The functions that transform objects, by type; one registry for the whole program."""

    _functions: Dict[Any, Callable[[Any, TransformStamped], Any]] = {}

    def print_me(self) -> None:
        """Prints the registry."""
        print(self._functions)

    def add(self, key: Any, callback: Callable[[Any, TransformStamped], Any]) -> None:
        """Registers `callback(object, transform)` for objects of type `key`."""
        self._functions[key] = callback

    def get(self, key: Any) -> Callable[[Any, TransformStamped], Any]:
        """Returns the function that transforms objects of a type.

        Raises `TypeException` if there is no such function.
        """
        return _registered(self._functions, key)


class ConvertRegistration:
    """The functions that convert objects, by type; one registry for the whole program."""

    _to_msg: Dict[Any, Callable[[Any], Any]] = {}
    _from_msg: Dict[Any, Callable[[Any], Any]] = {}
    _between: Dict[Tuple[Any, Any], Callable[[Any], Any]] = {}

    def add_from_msg(self, key: Any, callback: Callable[[Any], Any]) -> None:
        """Registers `callback` to convert a message to an object of type `key`."""
        self._from_msg[key] = callback

    def add_to_msg(self, key: Any, callback: Callable[[Any], Any]) -> None:
        """Registers `callback` to convert an object of type `key` to a message."""
        self._to_msg[key] = callback

    def add_convert(self, key: Tuple[Any, Any], callback: Callable[[Any], Any]) -> None:
        """Registers `callback` to convert an object of the first type to an object of the second
        type."""
        self._between[key] = callback

    def get_from_msg(self, key: Any) -> Callable[[Any], Any]:
        """Returns the function that makes objects from messages of a type; raises `TypeException`
        if there is no such function."""
        return _registered(self._from_msg, key)

    def get_to_msg(self, key: Any) -> Callable[[Any], Any]:
        """Returns the function that makes messages from objects of a type; raises `TypeException`
        if there is no such function."""
        return _registered(self._to_msg, key)

    def get_convert(self, key: Tuple[Any, Any]) -> Callable[[Any], Any]:
        """Returns the function that converts objects of the first type to the second type; raises
        `TypeException` if there is no such function."""
        return _registered(self._between, key)


def convert(a: Any, b_type: Any) -> Any:
    """Converts an object to another type, by the shortest registered conversion.

    Raises `TypeException` if there is no conversion.
    """
    registration = ConvertRegistration()
    direct = registration._between.get((type(a), b_type))
    if direct is not None:
        return direct(a)
    if type(a) is b_type:
        return deepcopy(a)
    to_message, from_message = registration.get_to_msg(type(a)), registration.get_from_msg(b_type)
    return from_message(to_message(a))


def Stamped(obj: Any, stamp: Any, frame_id: str) -> Any:
    """Returns the object itself, after setting its header."""
    obj.header = Header(frame_id=frame_id, stamp=stamp)
    return obj


class BufferInterface:
    """Transforms objects into other frames, with the lookup functions of a subclass."""

    def __init__(self) -> None:
        self.registration = TransformRegistration()

    def transform(
        self, object_stamped: Any, target_frame: str, timeout: Duration = Duration(),
        new_type: Optional[Any] = None,
    ) -> Any:
        """Transforms an object with a header into another frame at the time of its stamp; converts
        it to `new_type`, if that is given.

        Raises `TypeException` for a type that is not registered, and `TransformException`.
        """
        do_transform = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform(target_frame, header.frame_id, header.stamp, timeout)
        result = do_transform(object_stamped, found)
        return result if new_type is None else convert(result, new_type)

    def transform_full(
        self, object_stamped: Any, target_frame: str, target_time: Time, fixed_frame: str,
        timeout: Duration = Duration(), new_type: Optional[Any] = None,
    ) -> Any:
        """Like `transform`, but at a time other than the stamp. `fixed_frame` does not move between
        the two times."""
        do_transform = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform_full(
            target_frame, target_time, header.frame_id, header.stamp, fixed_frame, timeout)
        result = do_transform(object_stamped, found)
        return result if new_type is None else convert(result, new_type)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> TransformStamped:
        """Returns the transform from `source_frame` to `target_frame`; implemented by
        subclasses."""
        raise NotImplementedException()

    def lookup_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> TransformStamped:
        """Like `lookup_transform`, between two times; implemented by subclasses."""
        raise NotImplementedException()

    def can_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> bool:
        """Returns whether `lookup_transform` would succeed; implemented by subclasses."""
        raise NotImplementedException()

    def can_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> bool:
        """Returns whether `lookup_transform_full` would succeed; implemented by subclasses."""
        raise NotImplementedException()
