"""Handlers and events: the data that the command gets, and the functions that it calls."""

import pytest

NODE = "Node(package='p', executable='e')"

HANDLERS = """
from launch import LaunchDescription
from launch.actions import *
from launch.event_handlers import *
from launch.events import *
from launch.events.process import *
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.event_handlers import *
from launch_ros.events.lifecycle import ChangeState, matches_node_name
import launch

node = LifecycleNode(package='p', executable='e', name='n', namespace='')
log = LogInfo(msg='a')

def react(event, context):
    return [LogInfo(msg=[type(event).__name__, ' ', TEXT])]

def generate_launch_description():
    return LaunchDescription([node, LINE])
"""


@pytest.fixture
def handler(command, written):
    """The handler of a line, as data, and the number of the node."""
    def of(line, text="''"):
        source = HANDLERS.replace("LINE", line).replace("TEXT", text)
        node, action = command.load(written(source))
        assert action["do"] == "register"
        made = action["handler"]
        assert made.pop("at")[1:2] == [19] and isinstance(made.pop("id"), int)
        return made, node["id"]

    return of


@pytest.mark.parametrize(("line", "data"), [
    ("OnProcessExit(target_action=node, on_exit=[log])", {"on": "process_exit", "target": [1]}),
    ("OnProcessExit(target_action=node, on_exit=log)", {"on": "process_exit", "target": [1]}),
    ("OnProcessExit(on_exit=LaunchDescription([log]))", {"on": "process_exit"}),
    ("OnProcessStart(target_action=node, on_start=log, handle_once=True)",
     {"on": "process_start", "target": [1], "once": True}),
    ("OnExecutionComplete(target_action=node, on_completion=log)",
     {"on": "execution_complete", "target": [1]}),
    ("OnShutdown(on_shutdown=[log])", {"on": "shutdown"}),
    ("OnStateTransition(target_lifecycle_node=node, goal_state='active', entities=[log])",
     {"on": "state", "node": 1, "goal": "active"}),
    ("OnStateTransition(start_state='inactive', transition='configure', entities=log)",
     {"on": "state", "start": "inactive", "transition": "configure"}),
])
def test_handlers_with_actions(handler, line, data):
    made, node = handler(f"RegisterEventHandler({line})")
    (action,) = made.pop("reaction")["entities"]
    assert action["message"] == "a"
    expected = {"once": False, **data}
    for key in ("target", "node"):
        if key in expected:
            expected[key] = node if key == "node" else [node]
    assert made == expected


EXIT = {
    "event": "process_exit", "name": "e-1", "cmd": ["/e", "--x"], "cwd": None, "env": None,
    "pid": 12, "returncode": -15}


def test_a_function_gets_the_event_of_a_process(command, handler):
    made, node = handler(
        "RegisterEventHandler(OnProcessExit(target_action=lambda action: action is node,"
        " on_exit=react))",
        "str([event.returncode, event.pid, event.process_name, event.cmd, event.action is node,"
        " node.return_code, node.process_details['pid'], context.locals.event is event])")
    assert made["target"]["name"] == "<lambda>"
    assert made["reaction"]["name"] == "react"
    assert command.request(
        ask="matches", id=made["target"]["py"], action=node)["matches"] is True
    entities = command.request(
        ask="react", id=made["reaction"]["py"], event={**EXIT, "action": node})["entities"]
    assert entities[0]["message"] == (
        "ProcessExited [-15, 12, 'e-1', ['/e', '--x'], True, -15, 12, True]")


def test_functions_on_output_get_the_event_alone(command, handler):
    made, node = handler(
        "RegisterEventHandler(OnProcessIO(target_action=node,"
        " on_stdout=lambda event: LogInfo(msg=event.text.decode().upper()),"
        " on_stderr=lambda event: None))")
    assert (made["on"], made["streams"]) == ("process_io", ["stdout", "stderr"])

    def told(**event):
        told = {**EXIT, "event": "process_io", "action": node, **event}
        return command.request(ask="react", id=made["reaction"]["py"], event=told)["entities"]

    (entity,) = told(stream="stdout", text="ä\n")
    assert entity["message"] == "Ä\n"
    assert told(stream="stderr", text="a") == []
    with pytest.raises(command.Failed, match="UnicodeDecodeError"):
        told(stream="stdout", hex="ff0a")
    # A process of a file in XML has no action of Python.
    assert told(stream="stderr", text="a", action=None) == []


def test_an_own_event_is_offered_to_handlers(command, loaded):
    *registered, ready, stdin = loaded("""
        from launch import *
        from launch.actions import *
        from launch.event_handlers import *
        from launch.events.process import ProcessStdin
        class Ready(Event):
            name = 'ready'
        class OnReady(OnActionEventBase):
            def __init__(self, **kwargs):
                super().__init__(target_event_cls=Ready, target_action_cls=Action, **kwargs)
        process = ExecuteProcess(cmd=['cat'])
        def generate_launch_description():
            return LaunchDescription([
                RegisterEventHandler(EventHandler(
                    matcher=lambda event: event.name == 'ready', entities=[LogInfo(msg='a')])),
                RegisterEventHandler(OnReady(action_matcher=None, on_event=[LogInfo(msg='b')])),
                RegisterEventHandler(OnProcessIO(
                    target_action=process, on_stdin=lambda event: LogInfo(msg=event.text.decode()),
                )),
                EmitEvent(event=Ready()),
                EmitEvent(event=ProcessStdin(
                    text=b'in', action=process, name='', cmd=[], cwd=None, env=None, pid=1)),
            ])
    """)
    handlers = [action["handler"] for action in registered]
    assert [handler["on"] for handler in handlers] == ["event", "event", "process_io"]
    for action, expected in ((ready, [True, True, False]), (stdin, [False, False, True])):
        assert action["event"]["event"] == "py"
        matches = [
            command.request(ask="matches", id=handler["id"], event=action["event"])["matches"]
            for handler in handlers]
        assert matches == expected
    (entity,) = command.request(
        ask="react", id=handlers[2]["reaction"]["py"], event=stdin["event"])["entities"]
    assert entity["message"] == "in"


@pytest.mark.parametrize(("event", "name"), [
    ({"event": "shutdown", "reason": "over", "due_to_sigint": True}, "Shutdown"),
    ({**EXIT, "event": "process_start"}, "ProcessStarted"),
    ({"event": "execution_complete"}, "ExecutionComplete"),
    ({"event": "timer"}, "TimerEvent"),
    ({"event": "state", "transition": "configure", "start": "a", "goal": "b"}, "StateTransition"),
    ({"event": "state", "action": None, "node": "/n", "goal": "b"}, "StateTransition"),
])
def test_each_event_reaches_a_handler_with_a_matcher(command, handler, event, name):
    made, node = handler(
        "RegisterEventHandler(launch.EventHandler(matcher=lambda event: True, entities=[log]))")
    assert made["on"] == "event"
    if "action" not in event and event["event"] != "shutdown":
        event = {**event, "action": node}
    assert command.request(
        ask="matches", id=made["matcher"]["py"], event=event)["matches"] is True
    made, node = handler("RegisterEventHandler(OnShutdown(on_shutdown=react))")
    if event.get("action"):
        event = {**event, "action": node}
    (entity,) = command.request(
        ask="react", id=made["reaction"]["py"], event=event)["entities"]
    assert entity["message"] == f"{name} "


def test_a_handler_of_the_users_class(command, loaded):
    (action,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.event_handlers import *
        class Own(OnProcessExit):
            def handle(self, event, context):
                found = super().handle(event, context)
                return [LogInfo(msg=str(event.returncode)), *found]
        def generate_launch_description():
            return LaunchDescription([RegisterEventHandler(
                Own(on_exit=[LogInfo(msg='a')], handle_once=True))])
    """)
    made = action["handler"]
    assert (made["on"], made["once"]) == ("event", False)
    (process,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        def generate_launch_description():
            return LaunchDescription([ExecuteProcess(cmd=['ls'])])
    """)
    event = {**EXIT, "action": process["id"]}
    assert command.request(ask="matches", id=made["matcher"]["py"], event=event)["matches"]
    done = command.request(ask="react", id=made["reaction"]["py"], event=event)["entities"]
    assert [entity["do"] for entity in done] == ["unregister", "log", "log"]
    assert done[0]["handler"] == made["id"] and done[1]["message"] == "-15"


@pytest.mark.parametrize(("line", "data"), [
    ("ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=3)",
     {"event": "change_state", "node": {"action": 1}, "transition": 3}),
    ("ChangeState(lifecycle_node_matcher=matches_node_name('n'), transition_id=1)",
     {"event": "change_state", "node": {"name": "/n"}, "transition": 1}),
    ("ShutdownProcess(process_matcher=matches_action(node))",
     {"event": "shutdown_process", "process": {"action": 1}}),
    ("SignalProcess(signal_number='SIGINT', process_matcher=matches_name('e-1'))",
     {"event": "signal_process", "process": {"name": "e-1"}, "signal": "SIGINT", "number": 2}),
    ("SignalProcess(signal_number=15, process_matcher=lambda action: action is node)",
     {"event": "signal_process", "process": {"py": 2}, "signal": "SIGTERM", "number": 15}),
    ("ProcessStdin(text=b'a', action=node, name='', cmd=[], cwd=None, env=None, pid=1)",
     {"event": "py", "id": 2, "name": "ProcessStdin"}),
    ("launch.Event()", {"event": "py", "id": 2, "name": "Event"}),
])
def test_events_that_are_emitted(command, written, line, data):
    node, action = command.load(
        written(HANDLERS.replace("LINE", f"EmitEvent(event={line})").replace("TEXT", "''")))
    assert node["id"] == 1 and action["do"] == "emit"
    assert action["event"] == data
    if "py" in data.get("process", {}):
        assert command.request(ask="matches", id=2, action=1)["matches"] is True


def test_functions_see_the_processes_that_have_started(command, written):
    node, action = command.load(written(HANDLERS.replace(
        "LINE", "EmitEvent(event=ShutdownProcess(process_matcher=matches_pid(7)))").replace(
        "TEXT", "''")))
    function = action["event"]["process"]["py"]
    request = {"ask": "matches", "id": function, "action": node["id"]}
    assert command.request(**request)["matches"] is False
    details = {"name": "e-1", "cmd": ["e"], "cwd": None, "env": None, "pid": 7}
    assert command.request(**request, details=details)["matches"] is True


def test_functions_emit_register_and_cancel(command, loaded):
    (function,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.event_handlers import *
        from launch.events import Shutdown as ShutdownEvent
        timer = TimerAction(period=1.0, actions=[])
        handler = OnShutdown(on_shutdown=[])
        def setup(context):
            context.register_event_handler(handler)
            timer.cancel()
            context.unregister_event_handler(handler)
            context.emit_event_sync(ShutdownEvent(reason='over'))
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    done = command.execute(function)
    assert [entity["do"] for entity in done] == [
        "register", "cancel_timer", "unregister", "shutdown"]
    assert done[0]["handler"]["id"] == done[2]["handler"]


def test_each_request_of_a_function_has_a_number_and_a_position(command, written):
    path = written("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.events import Shutdown as ShutdownEvent
        def setup(context):
            context.emit_event_sync(ShutdownEvent())
            context.emit_event_sync(ShutdownEvent())
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    (function,) = command.load(path)
    done = command.execute(function)
    assert [entity["at"][:2] for entity in done] == [[str(path), 5], [str(path), 6]]
    assert len({entity["id"] for entity in [function, *done]}) == 3


@pytest.mark.parametrize("line, error", [
    ("emit_event_sync(Shutdown)", "`event` of `EmitEvent` is"),
    ("emit_event_sync(None)", "`event` of `EmitEvent` is None, no event"),
    ("register_event_handler(OnShutdown)", "`event_handler` of `RegisterEventHandler` is"),
    ("unregister_event_handler(1)", "`event_handler` of `UnregisterEventHandler` is 1"),
])
def test_a_function_that_requests_something_else_is_refused(command, written, line, error):
    path = written(f"""
        from launch import LaunchDescription
        from launch.actions import OpaqueFunction
        from launch.event_handlers import OnShutdown
        from launch.events import Shutdown
        def setup(context):
            context.{line}
        def generate_launch_description():
            return LaunchDescription([OpaqueFunction(function=setup)])
    """)
    (function,) = command.load(path)
    with pytest.raises(command.Failed) as failed:
        command.execute(function)
    assert failed.value.error.startswith(f"TypeError: {error}")
    assert failed.value.at[:2] == [str(path), 6]


def test_an_event_where_an_action_is_expected_is_emitted(loaded):
    (process,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import ExecuteProcess
        from launch.events import Shutdown
        def generate_launch_description():
            return LaunchDescription([ExecuteProcess(cmd=['ls'], on_exit=Shutdown())])
    """)
    (entity,) = process["on_exit"]["entities"]
    assert entity["do"] == "shutdown"


def test_locals_of_a_reaction(command, loaded):
    (log,) = loaded("""
        from launch import LaunchDescription
        from launch.actions import *
        from launch.substitutions import *
        def generate_launch_description():
            return LaunchDescription([LogInfo(msg=LocalSubstitution('event.reason'))])
    """)
    (part,) = log["message"]
    event = {"event": "shutdown", "reason": "over"}
    assert command.request(ask="perform", id=part["py"], event=event)["text"] == "over"
    failure = "^launch.substitutions.SubstitutionFailure: `event.reason` is not known here"
    with pytest.raises(command.Failed, match=failure):
        command.request(ask="perform", id=part["py"])
