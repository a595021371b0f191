"""Managed nodes of stock rclpy within the peer; the test determines the results of their transitions.

lifecycle {name, results}: makes a managed node in the peer's namespace; results maps a callback such as "configure" to its
result: "success", "failure", "error", or "raise" for an exception. It has a managed publisher of std_msgs/msg/String
on ~/chatter. lifecycle_calls {name} returns the callbacks so far with their previous states,
lifecycle_trigger {name, transition} makes the node itself begin a transition, lifecycle_state {name} returns its state,
lifecycle_publish {name, text} publishes.
"""
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from std_msgs.msg import String

RESULTS = {
    "success": TransitionCallbackReturn.SUCCESS,
    "failure": TransitionCallbackReturn.FAILURE,
    "error": TransitionCallbackReturn.ERROR,
}


class Managed(LifecycleNode):
    def __init__(self, name, namespace, results):
        super().__init__(name, namespace=namespace)
        self.calls, self.results = [], results
        self.chatter = self.create_lifecycle_publisher(String, "~/chatter", 10)

    def _called(self, callback, state, inherited):
        self.calls.append([callback, state.label])
        result = self.results.get(callback)
        if result == "raise":
            raise RuntimeError("as wanted by the test")
        return inherited(state) if result is None else RESULTS[result]

    def on_configure(self, state):
        return self._called("configure", state, super().on_configure)

    def on_cleanup(self, state):
        return self._called("cleanup", state, super().on_cleanup)

    def on_activate(self, state):
        return self._called("activate", state, super().on_activate)

    def on_deactivate(self, state):
        return self._called("deactivate", state, super().on_deactivate)

    def on_shutdown(self, state):
        return self._called("shutdown", state, super().on_shutdown)

    def on_error(self, state):
        return self._called("error", state, super().on_error)


def operations(node):
    managed = {}

    def lifecycle(name, results=None):
        managed[name] = Managed(name, node.get_namespace(), results or {})
        node.executor.add_node(managed[name])

    def lifecycle_calls(name):
        return managed[name].calls

    def lifecycle_trigger(name, transition):
        return getattr(managed[name], f"trigger_{transition}")().name.lower()

    def lifecycle_state(name):
        return managed[name]._state_machine.current_state[1]

    def lifecycle_publish(name, text):
        managed[name].chatter.publish(String(data=text))

    return {function.__name__: function for function in
            (lifecycle, lifecycle_calls, lifecycle_trigger, lifecycle_state, lifecycle_publish)}
