"""What all buffers have in common, and which types can be transformed and converted.

Packages such as `tf2_geometry_msgs` register their types when they are imported.
"""

from copy import deepcopy
from typing import Any, Callable, Dict, Optional, Tuple

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time
from std_msgs.msg import Header


class TypeException(Exception):
    """A type was neither registered to be transformed nor to be converted."""

    def __init__(self, errstr: str) -> None:
        super().__init__(errstr)
        self.errstr = errstr


class NotImplementedException(Exception):
    """A buffer does not say where frames are."""

    def __init__(self) -> None:
        self.errstr = 'CanTransform or LookupTransform not implemented'
        super().__init__(self.errstr)


def _registered(functions: Dict[Any, Callable[..., Any]], key: Any) -> Callable[..., Any]:
    try:
        return functions[key]
    except KeyError:
        raise TypeException(f'Type {key} is not loaded or supported') from None


class TransformRegistration:
    """How objects of a type are transformed; one for the whole program."""

    _functions: Dict[Any, Callable[[Any, TransformStamped], Any]] = {}

    def print_me(self) -> None:
        """Prints what is registered."""
        print(self._functions)

    def add(self, key: Any, callback: Callable[[Any, TransformStamped], Any]) -> None:
        """Objects of type `key` are transformed by `callback(object, transform)`."""
        self._functions[key] = callback

    def get(self, key: Any) -> Callable[[Any, TransformStamped], Any]:
        """What transforms objects of a type.

        Raises `TypeException` where nothing does.
        """
        return _registered(self._functions, key)


class ConvertRegistration:
    """How objects of one type become those of another; one for the whole program."""

    _to_msg: Dict[Any, Callable[[Any], Any]] = {}
    _from_msg: Dict[Any, Callable[[Any], Any]] = {}
    _between: Dict[Tuple[Any, Any], Callable[[Any], Any]] = {}

    def add_from_msg(self, key: Any, callback: Callable[[Any], Any]) -> None:
        """A message becomes an object of type `key` by `callback`."""
        self._from_msg[key] = callback

    def add_to_msg(self, key: Any, callback: Callable[[Any], Any]) -> None:
        """An object of type `key` becomes a message by `callback`."""
        self._to_msg[key] = callback

    def add_convert(self, key: Tuple[Any, Any], callback: Callable[[Any], Any]) -> None:
        """An object of the first type becomes one of the second by `callback`."""
        self._between[key] = callback

    def get_from_msg(self, key: Any) -> Callable[[Any], Any]:
        """What makes objects of a type of messages; `TypeException` where nothing does."""
        return _registered(self._from_msg, key)

    def get_to_msg(self, key: Any) -> Callable[[Any], Any]:
        """What makes messages of objects of a type; `TypeException` where nothing does."""
        return _registered(self._to_msg, key)

    def get_convert(self, key: Tuple[Any, Any]) -> Callable[[Any], Any]:
        """What makes objects of the second type of those of the first; `TypeException` where
        nothing does."""
        return _registered(self._between, key)


def convert(a: Any, b_type: Any) -> Any:
    """An object as one of another type, on the shortest way that is registered.

    Raises `TypeException` where there is none.
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
    """The object itself, with a header."""
    obj.header = Header(frame_id=frame_id, stamp=stamp)
    return obj


class BufferInterface:
    """Brings objects into other frames, by what its subclass says of where these are."""

    def __init__(self) -> None:
        self.registration = TransformRegistration()

    def transform(
        self, object_stamped: Any, target_frame: str, timeout: Duration = Duration(),
        new_type: Optional[Any] = None,
    ) -> Any:
        """An object with a header, said in another frame at the time of its stamp; as one of
        `new_type`, if that is given.

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
        """As `transform`, at another time than that of the stamp: `fixed_frame` stands still
        between the two."""
        do_transform = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform_full(
            target_frame, target_time, header.frame_id, header.stamp, fixed_frame, timeout)
        result = do_transform(object_stamped, found)
        return result if new_type is None else convert(result, new_type)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> TransformStamped:
        """What brings `source_frame` into `target_frame`; for a subclass to say."""
        raise NotImplementedException()

    def lookup_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> TransformStamped:
        """As `lookup_transform`, between two times; for a subclass to say."""
        raise NotImplementedException()

    def can_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> bool:
        """Whether `lookup_transform` would succeed; for a subclass to say."""
        raise NotImplementedException()

    def can_transform_full(
        self, target_frame: str, target_time: Time, source_frame: str, source_time: Time,
        fixed_frame: str, timeout: Duration = Duration(),
    ) -> bool:
        """Whether `lookup_transform_full` would succeed; for a subclass to say."""
        raise NotImplementedException()
