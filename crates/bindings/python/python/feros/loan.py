"""Messages that are built in the memory from which other processes read them."""

import struct
import weakref

from feros._feros import LoanError


class Fields:
    """The fields of a message in a loan. Numbers are read and set as attributes; arrays of numbers
    are writable numpy views, or memoryviews without numpy."""

    __slots__ = ("_loan", "_places")

    def __init__(self, loan, places):
        object.__setattr__(self, "_loan", loan)
        object.__setattr__(self, "_places", places)

    def _owner(self):
        return self._loan

    def __getattr__(self, name):
        place = self._place(name)
        if isinstance(place, dict):
            return Fields(self._owner(), place)
        what, code, dtype, at, count = place
        if what == "array":
            return self._owner()._view(code, dtype, at, count)
        with memoryview(self._owner()._memory) as memory:
            (value,) = struct.unpack_from(f"={code}", memory, at)
        return bool(value) if what == "bool" else value

    def __setattr__(self, name, value):
        place = self._place(name)
        if isinstance(place, dict):
            raise AttributeError(f"{name} is a message: set its fields")
        what, code, dtype, at, count = place
        if what == "array":
            self._owner()._view(code, dtype, at, count)[:] = value
            return
        try:
            with memoryview(self._owner()._memory) as memory:
                struct.pack_into(f"={code}", memory, at, value)
        except struct.error as error:
            raise TypeError(f"{name}: {value!r} does not fit {dtype}: {error}") from None

    def _place(self, name):
        self._owner()._check()
        try:
            place = self._places[name]
        except KeyError:
            raise AttributeError(f"the message has no field {name!r}") from None
        if place is None:
            raise AttributeError(
                f"the size of {name} was fixed with the shape of the loan and cannot be changed"
            )
        return place

    def __dir__(self):
        return list(self._places)


class Loan(Fields):
    """A message that is being built in lent memory. Another process of this host that receives the
    message through shared memory reads it in that memory.

    Fill the fields of the message, and call `publish`. After that, its arrays can no longer be
    written to, and any use of the loan raises `LoanError`. A `with` statement publishes the message
    at the end of the block, unless the block raises an exception.
    """

    __slots__ = ("_memory", "_views", "_is_published", "__weakref__")

    def __init__(self, memory, places):
        super().__init__(None, places)
        object.__setattr__(self, "_memory", memory)
        object.__setattr__(self, "_views", {})
        object.__setattr__(self, "_is_published", False)

    def _owner(self):
        return self

    def _check(self):
        if self._is_published:
            raise LoanError(
                "the loan was published, so its memory now belongs to the readers of the message:"
                " ask the publisher for another loan"
            )

    def _view(self, code, dtype, at, count):
        try:
            import numpy
        except ImportError:
            size = count * struct.calcsize(f"={code}")
            return memoryview(self._memory)[at:at + size].cast(code)
        known = self._views.get(at)
        view = known() if known is not None else None
        if view is None:
            if count == 0:
                return numpy.empty(0, dtype)
            view = numpy.frombuffer(self._memory, dtype, count, at)
            self._views[at] = weakref.ref(view)
        return view

    @property
    def is_shared(self):
        """Whether the loan's memory is shared memory, which other processes of this host read
        without a copy."""
        return self._memory.is_shared

    def publish(self):
        """Publishes the message. Returns whether the memory itself was passed on, without a copy.
        If the program still holds arrays of the loan, the message is copied, since a published
        message must not change."""
        self._check()
        object.__setattr__(self, "_is_published", True)
        for known in self._views.values():
            view = known()
            if view is not None:
                view.flags.writeable = False
        self._views.clear()
        return self._memory.publish()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and not self._is_published:
            self.publish()
