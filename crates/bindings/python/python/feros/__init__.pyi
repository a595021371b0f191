from feros import interfaces as interfaces
from feros._feros import (
    CallFailed as CallFailed,
    DecodeError as DecodeError,
    FerosError as FerosError,
    LoanError as LoanError,
    MessageInfo as MessageInfo,
    ParameterError as ParameterError,
    ShutdownError as ShutdownError,
    UnknownTypeError as UnknownTypeError,
    __version__ as __version__,
)
from feros._messages import deserialize as deserialize, serialize as serialize
from feros.clock import Clock as Clock, ClockType as ClockType
from feros.context import Context as Context
from feros.executor import (
    Executor as Executor,
    spin as spin,
    spin_once as spin_once,
    spin_until_complete as spin_until_complete,
)
from feros.future import Future as Future
from feros.node import Node as Node
from feros.qos import (
    Durability as Durability,
    History as History,
    Liveliness as Liveliness,
    QoSProfile as QoSProfile,
    Reliability as Reliability,
)
