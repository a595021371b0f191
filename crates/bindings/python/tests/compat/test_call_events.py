"""Service introspection of rclpy: the events of calls that clients and servers publish, in
order."""

import pytest
from example_interfaces.action import Fibonacci
from rclpy.action import ActionClient, ActionServer
from rclpy.qos import qos_profile_services_default, qos_profile_system_default
from rclpy.service_introspection import ServiceIntrospectionState
from service_msgs.msg import ServiceEventInfo
from std_srvs.srv import SetBool

KINDS = [
    ServiceEventInfo.REQUEST_SENT, ServiceEventInfo.REQUEST_RECEIVED,
    ServiceEventInfo.RESPONSE_SENT, ServiceEventInfo.RESPONSE_RECEIVED,
]


def answer(request, response):
    response.success, response.message = request.data, "answered"
    return response


@pytest.mark.parametrize("state", [
    ServiceIntrospectionState.METADATA, ServiceIntrospectionState.CONTENTS])
def test_calls_are_told_by_both_sides(node, spin_until, state):
    told = []
    node.create_subscription(SetBool.Event, "switch/_service_event", told.append, 20)
    service = node.create_service(SetBool, "switch", answer)
    client = node.create_client(SetBool, "switch")
    assert client.wait_for_service(60)
    for side in (service, client):
        side.configure_introspection(node.get_clock(), qos_profile_system_default, state)
    spin_until(lambda: node.count_publishers("switch/_service_event") == 2)
    futures = [client.call_async(SetBool.Request(data=data)) for data in (True, False)]
    spin_until(lambda: all(future.done() for future in futures) and len(told) == 8)
    numbers = sorted({event.info.sequence_number for event in told})
    assert len(numbers) == 2 and len({bytes(event.info.client_gid) for event in told}) == 1
    for number, data in zip(numbers, (True, False)):
        events = {event.info.event_type: event for event in told
                  if event.info.sequence_number == number}
        assert sorted(events) == KINDS
        stamps = [(events[kind].info.stamp.sec, events[kind].info.stamp.nanosec)
                  for kind in KINDS]
        assert stamps == sorted(stamps) and stamps[0][0] > 0
        if state == ServiceIntrospectionState.METADATA:
            assert not any(len(event.request) + len(event.response) for event in events.values())
            continue
        assert all(events[kind].request[0].data is data for kind in KINDS[:2])
        assert all(events[kind].response[0].success is data for kind in KINDS[2:])
    off = ServiceIntrospectionState.OFF
    for side in (service, client):
        side.configure_introspection(node.get_clock(), qos_profile_services_default, off)
    spin_until(lambda: node.count_publishers("switch/_service_event") == 0)
    future = client.call_async(SetBool.Request())
    spin_until(future.done)
    assert len(told) == 8 and not client._told_calls


def test_goals_are_told(node, spin_until):
    told = []
    kind = Fibonacci.Impl.SendGoalService
    node.create_subscription(kind.Event, "count/_action/send_goal/_service_event", told.append, 9)

    def execute(goal):
        goal.succeed()
        return Fibonacci.Result(sequence=[0, 1])

    server = ActionServer(node, Fibonacci, "count", execute)
    client = ActionClient(node, Fibonacci, "count")
    assert client.wait_for_server(60)
    for side in (server, client):
        side.configure_introspection(
            node.get_clock(), qos_profile_system_default, ServiceIntrospectionState.CONTENTS)
    topic = "count/_action/send_goal/_service_event"
    spin_until(lambda: node.count_publishers(topic) == 2)
    future = client.send_goal_async(Fibonacci.Goal(order=5))
    spin_until(lambda: future.done() and len(told) == 4)
    assert sorted(event.info.event_type for event in told) == KINDS
    assert {event.request[0].goal.order for event in told if event.request} == {5}
