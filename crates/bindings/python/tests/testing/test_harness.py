"""The fixture `ros`: a domain for each test, nodes in the background, expected messages."""

import os
import re
import subprocess
import sys

import pytest

import feros
from feros.msgs.std_msgs.msg import Int32, String
from feros.msgs.std_srvs.srv import Trigger
from feros.testing import Harness, NotInTime

SHORT = 0.05  # for what does not come


class Doubler(feros.Node):
    """Answers each number with the double."""

    def __init__(self, context):
        super().__init__("doubler", context=context)
        self._doubled = self.create_publisher(Int32, "doubled")
        self.create_subscription(Int32, "number", self._double)

    def _double(self, number):
        if number.data == 13:
            raise ValueError("the number 13 is not doubled")
        self._doubled.publish(Int32(data=2 * number.data))


def test_messages_are_expected_in_their_order(ros):
    ros.spin(Doubler(ros.context))
    doubled = ros.listen("doubled", Int32)
    ros.wait_for_topic("number", publishers=0, subscriptions=1)
    ros.wait_for_topic("doubled")
    for number in range(1, 5):
        ros.publish("number", Int32(data=number))
    assert ros.expect_message("doubled", Int32).data == 2
    assert ros.expect_message("doubled", Int32, where=lambda number: number.data > 4).data == 6
    ros.wait_until(lambda: doubled.count == 4, "all messages")
    assert [number.data for number in doubled.take_all()] == [8]
    assert doubled.dropped == 0


def test_harnesses_do_not_hear_each_other():
    before = {name: os.environ.get(name) for name in ("ROS_DOMAIN_ID", "ROS_LOG_DIR")}
    with Harness() as one:
        first = one.create_node("talker").create_publisher(
            String, "name", feros.QoSProfile.latched())
        first.publish(String(data="one"))
        assert os.environ["ROS_DOMAIN_ID"] == str(one.domain_id)
        with Harness() as other:
            assert one.domain_id != other.domain_id
            assert os.environ["ROS_DOMAIN_ID"] == str(other.domain_id)
            assert os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
            with pytest.raises(NotInTime, match="/name, which has no publisher"):
                other.expect_message("name", String, SHORT)
        # A program that starts now is in the first domain again.
        assert os.environ["ROS_DOMAIN_ID"] == str(one.domain_id)
        assert one.expect_message("name", String).data == "one"
    assert before == {name: os.environ.get(name) for name in before}


def test_what_was_sent_earlier_or_with_best_effort_is_heard(ros):
    node = ros.create_node("sensor")
    node.create_publisher(String, "map", feros.QoSProfile.latched()).publish(String(data="house"))
    assert ros.expect_message("map", String).data == "house"
    scans = ros.listen("scan", String)  # before there is a publisher
    scan = node.create_publisher(String, "scan", feros.QoSProfile.sensor_data())
    node.create_wall_timer(0.005, lambda: scan.publish(String(data="near")))
    assert scans.expect().data == "near"


def test_given_policies_are_kept(ros):
    node = ros.create_node("sensor")
    scan = node.create_publisher(String, "scan", feros.QoSProfile.sensor_data())
    scans = ros.listen("scan", String, qos=5)
    node.create_wall_timer(0.005, lambda: scan.publish(String(data="near")))
    with pytest.raises(NotInTime, match=r"/sensor \(std_msgs/msg/String, best effort, volatile\)"):
        scans.expect(SHORT)


def missed(call, *args, **kwargs):
    with pytest.raises(NotInTime) as error:
        call(*args, timeout=SHORT, **kwargs)
    return str(error.value)


def test_what_does_not_come_is_missed_with_a_reason(ros):
    talker = ros.create_node("talker")
    chatter = talker.create_publisher(String, "chatter")
    assert missed(ros.expect_message, "chater", String) == (
        "no message of /chater, which has no publisher; there is /chatter (waited 0.05 s)")
    other = missed(ros.expect_message, "chatter", Int32)
    assert "of the type std_msgs/msg/Int32: its publishers have the type std_msgs/msg/Str" in other
    heard = ros.listen("chatter", String)
    chatter.wait_for_subscriptions(1, 60)
    chatter.publish(String(data="no"))
    ros.wait_until(lambda: heard.count == 1)
    refused = missed(heard.expect, where=lambda message: message.data == "yes")
    assert "was accepted: 1 came, the last was" in refused and "data='no'" in refused
    assert "/nobody has no subscription" in missed(ros.publish, "nobody", String())
    few = missed(ros.wait_for_topic, "chatter", publishers=2)
    assert "/chatter has only /talker (std_msgs/msg/String, reliable, volatile) of 2" in few
    assert "the service enable has no server" in missed(ros.wait_for_service, "enable")
    assert "no node /talke; there is /talker" in missed(ros.wait_for_node, "talke")
    assert "the moon was never true" in missed(ros.wait_until, lambda: False, "the moon")


def test_a_test_calls_services(ros):
    server = ros.create_node("server", namespace="robot")
    server.create_service(Trigger, "start", lambda request: Trigger.Response(success=True))
    ros.wait_for_service("/robot/start")
    ros.wait_for_node("robot/server")
    client = ros.node.create_client(Trigger, "/robot/start")
    assert client.call(Trigger.Request()).wait(60).success


SERVER = """
import feros
from feros.msgs.std_srvs.srv import Trigger

with feros.Context() as context:
    node = context.create_node("server")
    node.create_service(Trigger, "start", lambda request: Trigger.Response(success=True))
    feros.spin(node)
"""


def test_a_service_of_another_process_can_be_called_after_the_wait(tmp_path):
    # Without a wait of the client itself, about every fifth first call fails.
    (tmp_path / "server.py").write_text(SERVER)
    for number in range(12):
        with Harness(tmp_path / "test.py") as ros:
            is_early = number % 2
            early = is_early and ros.node.create_client(Trigger, "start")
            ros.run("server.py")
            ros.wait_for_service("start")
            client = early or ros.create_node("caller").create_client(Trigger, "start")
            assert client.call(Trigger.Request()).wait(60).success


def test_an_exception_of_a_callback_is_raised_by_the_wait_or_at_the_end():
    with Harness() as ros:
        ros.spin(Doubler(ros.context))
        ros.publish("number", Int32(data=13))
        with pytest.raises(ValueError, match="the number 13 is not doubled"):
            ros.expect_message("doubled", Int32)
        ros.publish("number", Int32(data=2))
        assert ros.expect_message("doubled", Int32).data == 4, "other callbacks run"
    with pytest.raises(ValueError, match="number 13"):
        with Harness() as ros:
            ros.spin(Doubler(ros.context))
            ros.publish("number", Int32(data=13))
            ros.publish("number", Int32(data=2))
            doubled = ros.listen("doubled", Int32)
            del doubled


def test_simulated_time_passes_when_the_test_says_so(ros):
    assert ros.time.now() == 1_000_000_000
    node = ros.create_node("planner", use_sim_time=True)
    ticks = node.create_publisher(String, "ticks")
    heard = ros.listen("ticks", String)
    ticks.wait_for_subscriptions(1, 60)
    ros.time.set(100)
    assert node.now() == ros.time.now() == 100_000_000_000
    node.create_timer(10, lambda: ticks.publish(String(data="tick")))
    for _ in range(3):
        ros.time.step(9)
        assert heard.take_all() == [], "only the test lets time pass"
        ros.time.step(1)
        assert heard.expect().data == "tick"
    assert ros.time.now() == 130_000_000_000
    assert ros.create_node("late", use_sim_time=True).now() == ros.time.now()
    with pytest.raises(ValueError, match="sets it back"):
        ros.time.step(-1)
    with pytest.raises(ValueError, match="means no time"):
        ros.time.set(0)


def test_scripts_of_rclpy_are_in_the_domain(ros):
    program = (
        "import rclpy; from std_msgs.msg import String; rclpy.init();"
        " node = rclpy.create_node('scripted'); publisher = node.create_publisher(String, 'a', 1);"
        " print('ready', flush=True); input()")
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as script:
        assert script.stdout.readline() == "ready\n"
        ros.wait_for_topic("a")
        ros.wait_for_node("scripted")
        script.communicate("\n")


def test_a_node_of_rclpy_is_not_spun(ros):
    import rclpy

    rclpy.init()
    try:
        with pytest.raises(TypeError, match=r"threading.Thread\(target=rclpy.spin"):
            ros.spin(rclpy.create_node("of_rclpy"))
    finally:
        rclpy.shutdown()


def test_all_threads_end_with_the_harness():
    import threading

    before = set(threading.enumerate())
    with Harness() as ros:
        ros.spin(Doubler(ros.context))
        ros.publish("number", Int32(data=1))
        assert [one for one in threading.enumerate() if one.name == "spins doubler"]
    assert set(threading.enumerate()) <= before
    assert re.fullmatch(r"\d+", str(ros.domain_id))
