"""The only part of this package that uses the extension of Feros."""

import builtin_interfaces.msg

from feros import _feros
from feros._messages import deserialize, interfaces, message_type, serialize

__all__ = ['extension', 'deserialize', 'interfaces', 'message_type', 'serialize']

extension = _feros
"""The extension module: contexts, nodes, endpoints, executors."""

if not hasattr(builtin_interfaces.msg.Time, '_feros_name'):
    raise ImportError(
        'rclpy of Feros was imported, but the message packages are those of a ROS installation'
        f' ({builtin_interfaces.__file__}). The messages of the two cannot be mixed: remove'
        ' the installation from PYTHONPATH, or let its own rclpy come first.'
    )
