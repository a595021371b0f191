"""Nodes of zenoh-ros2-sdk, an implementation of rmw_zenoh's wire format in pure Python, for tests/stock_peers_sdk.rs.

This peer repeats the latched messages of /latched on /wire/late, latches a message on /wire/history, and repeats the
messages of /wire/joints_in, with changes, on /wire/joints_out. It serves /wire/python, calls /wire/feros when a message
arrives on /wire/call, and publishes the response on /wire/called. On /wire/seen, it publishes the publishers of
/wire/joints_in. It ends when its standard input ends.
"""

import json
import os
import sys
import threading
from pathlib import Path

HOST, PORT = sys.argv[1].removeprefix("tcp/").rsplit(":", 1)
DOMAIN = int(sys.argv[2])
os.environ["ZENOH_CONFIG_OVERRIDE"] = 'listen/endpoints=["tcp/127.0.0.1:0"];transport/shared_memory/enabled=false'

import zenoh  # noqa: E402
import zenoh.ext  # noqa: E402
from zenoh_ros2_sdk import ROS2Publisher, ROS2ServiceClient, ROS2ServiceServer, ROS2Subscriber  # noqa: E402
from zenoh_ros2_sdk.discovery import get_topic_info  # noqa: E402
from zenoh_ros2_sdk.message_registry import get_registry  # noqa: E402
from zenoh_ros2_sdk.qos import QosDurability, QosProfile  # noqa: E402
from zenoh_ros2_sdk.session import ZenohSession  # noqa: E402

WHERE = {"router_ip": HOST, "router_port": int(PORT), "domain_id": DOMAIN}
NODE = WHERE | {"node_name": "python", "namespace": "/wire"}
LATCHED = QosProfile(durability=QosDurability.TRANSIENT_LOCAL)
STRING, JOINT_STATE, SET_BOOL = "std_msgs/msg/String", "sensor_msgs/msg/JointState", "std_srvs/srv/SetBool"


class KeepingPublisher(ROS2Publisher):
    """Keeps a history with rmw_zenoh's kind of Zenoh publisher; the SDK keeps no history."""

    def _declare_zenoh_publisher(self, keyexpr: str) -> zenoh.ext.AdvancedPublisher:
        cache = zenoh.ext.CacheConfig(max_samples=self.qos_profile.history_depth)
        session = self.session_mgr.session
        return zenoh.ext.declare_advanced_publisher(session, keyexpr, cache=cache, publisher_detection=True)


def main() -> None:
    ZenohSession.get_instance(HOST, int(PORT))
    registry = get_registry(str(Path(__file__).resolve().parents[4] / "interfaces"))
    registry.load_message_type(JOINT_STATE)
    registry.load_message_type(STRING)
    late, called, seen = (ROS2Publisher(f"/wire/{name}", STRING, **NODE) for name in ("late", "called", "seen"))
    history = KeepingPublisher("/wire/history", STRING, qos=LATCHED, **NODE)
    history.publish(data="kept by Python")
    joints = ROS2Publisher("/wire/joints_out", JOINT_STATE, **NODE)

    def change(message: object) -> None:
        message.header.stamp.sec += 1
        joints.publish(
            header=message.header,
            name=message.name[::-1],
            position=message.position * 2,
            velocity=message.velocity,
            effort=message.effort,
        )

    incoming = ROS2Subscriber("/wire/joints_in", JOINT_STATE, change, **NODE)
    said: list[str] = []
    latched = ROS2Subscriber("/latched", STRING, lambda message: said.append(message.data), qos=LATCHED, **NODE)

    def answer(request: object) -> object:
        return server.response_msg_class(success=request.data, message="by Python")

    server = ROS2ServiceServer("/wire/python", SET_BOOL, answer, **NODE)
    client = ROS2ServiceClient("/wire/feros", SET_BOOL, **NODE)
    is_asked, has_ended = threading.Event(), threading.Event()
    asked = ROS2Subscriber("/wire/call", STRING, lambda _: is_asked.set(), **NODE)

    def call() -> None:
        is_asked.wait()
        response = client.call(data=True)
        while response is not None and not has_ended.wait(0.05):
            called.publish(data=f"{response.success} {response.message}")

    def tell() -> None:
        while not has_ended.wait(0.1):
            late.publish(data=f"{said}")
            info = get_topic_info("/wire/joints_in", verbose=True, **WHERE)
            found = [described(end) for end in info.publishers] if info else []
            seen.publish(data=json.dumps(found))

    threads = [threading.Thread(target=target, daemon=True) for target in (call, tell)]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.read()
    has_ended.set()
    threads[1].join()
    for end in (late, called, seen, history, joints, incoming, latched, server, client, asked):
        end.close()


def described(end: object) -> list[object]:
    qos = QosProfile.decode(end.qos)
    policies = [qos.reliability.name, qos.durability.name, qos.history_depth]
    return [end.node_namespace, end.node_name, end.topic_type, end.type_hash, *policies]


if __name__ == "__main__":
    main()
