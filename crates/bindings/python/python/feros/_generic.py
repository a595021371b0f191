"""Names that make classes generic for type checkers. When a program runs, they are empty, since
importing `typing` takes almost as long as importing this package."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic as Generic
    from typing import TypeVar

    from feros._messages import Message

    T = TypeVar("T")
    M = TypeVar("M", bound=Message)
    Request = TypeVar("Request", bound=Message)
    Response = TypeVar("Response", bound=Message)
    Goal = TypeVar("Goal", bound=Message)
    Result = TypeVar("Result", bound=Message)
    Feedback = TypeVar("Feedback", bound=Message)
else:
    class Generic:
        """A class with types in brackets."""

        __slots__ = ()

        def __class_getitem__(cls, _):
            return cls

    T = M = Request = Response = Goal = Result = Feedback = None
