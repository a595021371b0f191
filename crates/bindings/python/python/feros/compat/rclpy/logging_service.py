"""The services for the levels of loggers. The extension offers them on nodes with
`enable_logger_service=True`; this module is for scripts that make the services for another node."""

from typing import Any

from rcl_interfaces.msg import LoggerLevel, SetLoggerLevelsResult
from rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels

from .impl.logging_severity import LoggingSeverity
from .logging import get_logger_level, set_logger_level
from .qos import qos_profile_services_default


class LoggingService:
    """Answers requests to get or set the levels of loggers."""

    def __init__(self, node: Any) -> None:
        for kind, name, answer in (
            (GetLoggerLevels, 'get_logger_levels', self._get_logger_levels),
            (SetLoggerLevels, 'set_logger_levels', self._set_logger_levels),
        ):
            node.create_service(
                kind, f'{node.get_name()}/{name}', answer,
                qos_profile=qos_profile_services_default)

    def _get_logger_levels(self, request: Any, response: Any) -> Any:
        response.levels = [
            LoggerLevel(name=name, level=int(get_logger_level(name))) for name in request.names
        ]
        return response

    def _set_logger_levels(self, request: Any, response: Any) -> Any:
        for wanted in request.levels:
            result = SetLoggerLevelsResult(successful=True)
            try:
                set_logger_level(wanted.name, LoggingSeverity(wanted.level))
            except ValueError:
                result.successful = False
                result.reason = 'Failed reason: Invalid logger level.'
            response.results.append(result)
        return response
