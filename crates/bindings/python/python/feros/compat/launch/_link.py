"""The way to `feros launch`, which evaluates what launch files describe."""

from typing import Any, Callable, Dict, Optional

from ._failure import SubstitutionFailure

_ask: Optional[Callable[[Dict[str, Any]], Dict[str, Any]]] = None


class LaunchEnds(BaseException):
    """The launch ends while a function of a launch file runs."""


def connect(ask: Optional[Callable[[Dict[str, Any]], Dict[str, Any]]]) -> None:
    """Sets the function that sends a question and returns the answer."""
    global _ask
    _ask = ask


def is_connected() -> bool:
    """Whether this process belongs to `feros launch`."""
    return _ask is not None


def ask(question: Dict[str, Any]) -> Any:
    """Asks `feros launch`.

    Raises `SubstitutionFailure` or `PackageNotFoundError` if that has no answer.
    """
    if _ask is None:
        raise RuntimeError(
            f"`feros launch` evaluates `{question['ask']}`, and this process was not started by it:"
            ' run `feros launch FILE`')
    answer = _ask(question)
    if 'error' not in answer:
        return answer['answer']
    text, kind = str(answer['error']), answer.get('kind')
    if kind == 'signal':
        raise LaunchEnds(text)
    error: Any
    if kind == 'package':
        from ament_index_python.packages import PackageNotFoundError

        error = PackageNotFoundError(text)
    elif kind == 'substitution':
        error = SubstitutionFailure(text)
    else:
        error = RuntimeError(text)
    error._feros_is_whole = True
    raise error
