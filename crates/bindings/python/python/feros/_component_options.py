"""Makes the node of a component with the options of a load request, which the class of the node
need not know."""

import functools
import inspect
import threading

import feros
from rclpy.node import Node as RclpyNode
from rclpy.parameter import Parameter


class _Making(threading.local):
    """The options for the next node of this thread, and the nodes that the thread has made."""

    options = None
    nodes = None


_making = _Making()


class Options:
    """The options of a node that a load request sets."""

    def __init__(self, request):
        self.arguments = ['--ros-args']
        for rule in request.remap_rules:
            self.arguments += ['-r', rule]
        self.parameters = [Parameter.from_parameter_msg(one) for one in request.parameters]
        extra = {one.name: one.value.bool_value for one in request.extra_arguments}
        self.switches = {'use_global_arguments': extra.get('forward_global_arguments', False)}
        for name in ('enable_rosout', 'start_parameter_services', 'enable_logger_service'):
            if name in extra:
                self.switches[name] = extra[name]

    def for_rclpy(self, given):
        """Returns the keyword arguments of a node of rclpy, with these options."""
        arguments = [*(given.get('cli_args') or []), *self.arguments]
        parameters = [*(given.get('parameter_overrides') or []), *self.parameters]
        return {**given, **self.switches, 'cli_args': arguments, 'parameter_overrides': parameters}

    def for_native(self, given):
        """Returns the keyword arguments of a node of the native API, with these options."""
        arguments = [*given.get('arguments', ()), *self.arguments]
        parameters = dict(given.get('parameter_overrides') or {})
        parameters.update((one.name, one.value) for one in self.parameters)
        return {**given, **self.switches, 'arguments': arguments, 'parameter_overrides': parameters}


def _take_options(cls, merged):
    """Lets the nodes of a class take the options."""
    original = cls.__init__

    @functools.wraps(original)
    def __init__(self, *args, **given):
        options, _making.options = _making.options, None
        original(self, *args, **(given if options is None else merged(options, given)))
        if _making.nodes is not None:
            _making.nodes.append(self)

    cls.__init__ = __init__


_take_options(RclpyNode, Options.for_rclpy)
_take_options(feros.Node, Options.for_native)


def make(made_by, context, request):
    """Returns the node that a class or a function makes, with the options of a request.

    The options go to the first node that it makes. A first parameter without a default gets the name
    of the node, and `context` gets the context.

    Raises `TypeError` if it makes no node.
    """
    names, keywords = [], {}
    for parameter in inspect.signature(made_by).parameters.values():
        if parameter.name == 'context' and parameter.kind is not parameter.VAR_KEYWORD:
            keywords['context'] = context
        elif (not names and parameter.default is parameter.empty
              and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)):
            names.append(request.node_name or request.plugin_name.rsplit('::', 1)[-1].lower())
    _making.options, _making.nodes = Options(request), []
    try:
        node = made_by(*names, **keywords)
        if not isinstance(node, (RclpyNode, feros.Node)):
            raise TypeError(f'it makes {type(node).__name__}, which is no node')
    except BaseException:
        _destroy(_making.nodes)
        raise
    finally:
        _making.options = _making.nodes = None
    if request.log_level:
        feros._feros.set_log_level(_logger_name(node), request.log_level)
    return node


def _destroy(nodes):
    """Destroys nodes, which would otherwise stay in the graph with the exception."""
    for node in nodes:
        try:
            node.destroy() if isinstance(node, feros.Node) else node.destroy_node()
        except Exception:
            pass  # the exception that made this necessary is reported


def _logger_name(node):
    native = node._node if isinstance(node, feros.Node) else node._rclpy_native
    return native.logger_name
