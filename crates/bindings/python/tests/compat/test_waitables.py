"""Waitables that scripts define, and the wait sets with which they wait."""

import threading
import time

import pytest
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as binding
from rclpy.qos import QoSProfile
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

PROFILE = QoSProfile(depth=10).get_c_qos_profile()


class Own(Waitable):
    """Waits for one handle, and keeps the data that it takes."""

    def __init__(self, kind, handle, take, counts, group=None):
        super().__init__(group or ReentrantCallbackGroup())
        self.kind, self.entity, self.take, self.counts = kind, handle, take, counts
        self.number, self.ready = None, False
        self.taken, self.done = [], Future()

    def get_num_entities(self):
        return NumberOfEntities(**{self.counts: 1})

    def add_to_wait_set(self, wait_set):
        self.number = getattr(wait_set, f"add_{self.kind}")(self.entity)

    def is_ready(self, wait_set):
        self.ready = wait_set.is_ready(self.kind, self.number)
        return self.ready

    def take_data(self):
        return self.take(self.entity)

    async def execute(self, taken):
        self.taken.append(taken)
        if not self.done.done():
            self.done.set_result(None)


def subscription_of(node, topic="numbers"):
    with node.handle:
        handle = binding.Subscription(node.handle, Int32, topic, PROFILE)
    return Own("subscription", handle, lambda it: it.take_message(Int32, False)[0].data, "num_subs")


@pytest.fixture(params=[SingleThreadedExecutor, MultiThreadedExecutor])
def executor(request, node):
    made = request.param(context=node.context)
    made.add_node(node)
    yield made
    made.shutdown()


def test_a_waitable_takes_messages(executor, node):
    waitable = subscription_of(node)
    node.add_waitable(waitable)
    assert waitable in node.waitables
    publisher = node.create_publisher(Int32, "numbers", 10)
    for number in (1, 2, 3):
        publisher.publish(Int32(data=number))
    while len(waitable.taken) < 3:
        executor.spin_once(timeout_sec=0.1)
    assert waitable.taken == [1, 2, 3]
    node.remove_waitable(waitable)
    publisher.publish(Int32(data=4))
    executor.spin_once(timeout_sec=0.1)
    assert waitable.taken == [1, 2, 3] and waitable not in node.waitables


def test_a_waitable_takes_responses(executor, node):
    with node.handle:
        handle = binding.Client(node.handle, Trigger, "asked", PROFILE)
    waitable = Own("client", handle, lambda it: it.take_response(Trigger.Response), "num_clients")
    node.add_waitable(waitable)

    def answer(_, response):
        response.message = "yes"
        return response

    node.create_service(Trigger, "asked", answer)
    while not handle.service_server_is_available():
        time.sleep(0.01)
    number = handle.send_request(Trigger.Request())
    executor.spin_until_future_complete(waitable.done, 60)
    header, response = waitable.taken[0]
    assert (header.sequence_number, response.message) == (number, "yes")


def test_a_waitable_takes_requests_and_answers(executor, node):
    with node.handle:
        handle = binding.Service(node.handle, Trigger, "asked", PROFILE)

    def take(service):
        request, header = service.service_take_request(Trigger.Request)
        service.service_send_response(Trigger.Response(message="taken"), header)
        return request

    waitable = Own("service", handle, take, "num_services")
    node.add_waitable(waitable)
    client = node.create_client(Trigger, "asked")
    assert client.wait_for_service(60)
    answer = client.call_async(Trigger.Request())
    executor.spin_until_future_complete(answer, 60)
    assert answer.result().message == "taken"
    assert isinstance(waitable.taken[0], Trigger.Request)


def test_a_waitable_takes_calls_of_a_timer(executor, node):
    clock = Clock(clock_type=ClockType.STEADY_TIME)
    with clock.handle, node.context.handle:
        handle = binding.Timer(clock.handle, node.context.handle, 1_000_000)
    waitable = Own("timer", handle, lambda it: it.call_timer(), "num_timers")
    node.add_waitable(waitable)
    while len(waitable.taken) < 3:
        executor.spin_once(timeout_sec=0.1)
    handle.cancel_timer()
    with pytest.raises(binding.TimerCancelledError):
        handle.call_timer()


def test_a_waitable_takes_triggers(executor, node):
    with node.context.handle:
        handle = binding.GuardCondition(node.context.handle)
    waitable = Own("guard_condition", handle, lambda _: "triggered", "num_gcs")
    node.add_waitable(waitable)
    spinning = threading.Thread(
        target=executor.spin_until_future_complete, args=(waitable.done, 60))
    spinning.start()
    handle.trigger_guard_condition()
    spinning.join()
    assert waitable.taken == ["triggered"]


def test_a_waitable_that_was_added_before_its_executor(node):
    waitable = subscription_of(node)
    node.add_waitable(waitable)
    node.create_publisher(Int32, "numbers", 10).publish(Int32(data=7))
    rclpy.spin_until_future_complete(node, waitable.done, timeout_sec=60)
    assert waitable.taken == [7]


def test_a_waitable_of_an_exclusive_group_waits_for_its_turn(node):
    group = MutuallyExclusiveCallbackGroup()
    waitable = subscription_of(node)
    waitable.callback_group = group
    node.add_waitable(waitable)
    timer = node.create_timer(1000.0, lambda: None, group)
    assert group.beginning_execution(timer)
    node.create_publisher(Int32, "numbers", 10).publish(Int32(data=1))
    rclpy.spin_once(node, timeout_sec=0.2)
    assert waitable.taken == []
    group.ending_execution(timer)
    rclpy.spin_until_future_complete(node, waitable.done, timeout_sec=60)
    assert waitable.taken == [1]


def test_an_exception_of_a_waitable_goes_to_who_spins(node):
    waitable = subscription_of(node)

    async def fail(_):
        raise ValueError("no")

    waitable.execute = fail
    node.add_waitable(waitable)
    node.create_publisher(Int32, "numbers", 10).publish(Int32(data=1))
    with pytest.raises(ValueError, match="no"):
        for _ in range(100):
            rclpy.spin_once(node, timeout_sec=1)


def test_a_waitable_of_ones_own_has_to_say_what_it_waits_for(node):
    waitable = Waitable(node.default_callback_group)
    for asked in (waitable.get_num_entities, waitable.take_data):
        with pytest.raises(NotImplementedError):
            asked()
    for asked in (waitable.is_ready, waitable.add_to_wait_set):
        with pytest.raises(NotImplementedError):
            asked(None)


def test_counts_add_up():
    counts = NumberOfEntities(1, 2, 3, 4, 5, 6)
    counts += NumberOfEntities(10, 20, 30, 40, 50, 60)
    assert [getattr(counts, name) for name in counts.__slots__] == [11, 22, 33, 44, 55, 66]


def test_a_wait_set_waits_for_a_node_that_nobody_spins(node):
    with node.handle, node.context.handle as context:
        handle = binding.Subscription(node.handle, Int32, "numbers", PROFILE)
        guard = binding.GuardCondition(node.context.handle)
        wait_set = binding.WaitSet(1, 1, 0, 0, 0, 0, context)
    number, other = wait_set.add_subscription(handle), wait_set.add_guard_condition(guard)
    wait_set.wait(0)
    assert not wait_set.is_ready("subscription", number)
    assert wait_set.get_ready_entities("subscription") == []
    publisher = node.create_publisher(Int32, "numbers", 10)
    timer = threading.Timer(0.05, publisher.publish, (Int32(data=5),))
    timer.start()
    wait_set.wait(-1)
    assert wait_set.is_ready("subscription", number) and not wait_set.is_ready("guard_condition", other)
    assert wait_set.get_ready_entities("subscription") == [handle.pointer]
    assert handle.take_message(Int32, False)[0].data == 5
    guard.trigger_guard_condition()
    wait_set.wait(10**9)
    assert wait_set.is_ready("guard_condition", other) and not wait_set.is_ready("subscription", number)
    wait_set.wait(0)
    assert not wait_set.is_ready("guard_condition", other)
    with pytest.raises(binding.RCLError, match="1 were added"):
        wait_set.is_ready("subscription", 1)
    with pytest.raises(TypeError, match="subscription"):
        wait_set.add_subscription(guard)
    timer.join()


def test_a_spin_ends_in_time_though_a_group_is_busy(node):
    group = MutuallyExclusiveCallbackGroup()
    holder = node.create_timer(1000.0, lambda: None, group)
    calls = []
    node.create_timer(0.001, lambda: calls.append(1), group)
    assert group.beginning_execution(holder)
    for _ in range(3):
        rclpy.spin_once(node, timeout_sec=0.1)
    assert calls == []
    rclpy.spin_once(node, timeout_sec=0)
    group.ending_execution(holder)
    rclpy.spin_once(node, timeout_sec=60)
    assert calls == [1]
