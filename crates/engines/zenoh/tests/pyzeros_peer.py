"""A node of pyzeros, an implementation of rmw_zenoh's wire format in pure Python, for tests/stock_peers.rs.

The node repeats the messages of /wire/in on /wire/out, and those of /wire/joints_in, with changes, on /wire/joints_out. It
serves /wire/python, calls /wire/feros once that service exists, and publishes the response on /wire/called. On /wire/seen,
it publishes how many of the test's endpoints it finds; it searches for the tokens that it would declare for such endpoints.
The node ends when its standard input ends.
"""

import asyncio
import json
import sys

import asyncio_for_robotics as afor
import pyzeros
import zenoh
from pyzeros.pub import token_keyexpr as publisher_token
from pyzeros.qos import QosProfile
from pyzeros.sub import token_keyexpr as subscription_token
from ros2_pyterfaces.cydr.all_msgs import JointState, String
from ros2_pyterfaces.cydr.all_srvs import SetBool


def text(message: String) -> str:
    data = message.data
    return data.decode() if isinstance(data, bytes) else str(data)


async def repeat() -> None:
    incoming = pyzeros.Sub(String, "/wire/in")
    outgoing = pyzeros.Pub(String, "/wire/out")
    async for message in incoming.listen_reliable():
        outgoing.publish(String(data=f"repeated: {text(message)}".encode()))


async def repeat_joints() -> None:
    incoming = pyzeros.Sub(JointState, "/wire/joints_in")
    outgoing = pyzeros.Pub(JointState, "/wire/joints_out")
    async for message in incoming.listen_reliable():
        message.header.stamp.sec += 1
        message.name = message.name[::-1].copy()  # the serializer needs contiguous memory
        message.position = message.position * 2
        outgoing.publish(message)


def seen(session: zenoh.Session) -> list[int]:
    """The number of publishers and subscriptions with the test's node, topic, type and policies."""
    policies = QosProfile(reliability="best_effort", history="keep_last", depth=5)
    someone = {"node_name": "feros", "domain_id": sys.argv[2], "namespace": "/wire"}
    someone |= {"session": session, "_zenoh_id": "*", "_node_id": "*", "_entity_id": "*"}
    of = ("sensor_msgs::msg::dds_::JointState_", JointState.hash_rihs01(), policies)
    tokens = [publisher_token("/wire/joints_in", *of, **someone), subscription_token("/wire/joints_out", *of, **someone)]
    return [sum(reply.ok is not None for reply in session.liveliness().get(token)) for token in tokens]


async def look(session: zenoh.Session) -> None:
    outgoing = pyzeros.Pub(String, "/wire/seen")
    while True:
        publishers, subscriptions = await asyncio.get_running_loop().run_in_executor(None, seen, session)
        outgoing.publish(String(data=f"{publishers} {subscriptions}".encode()))
        await asyncio.sleep(0.1)


async def serve() -> None:
    server = pyzeros.Server(SetBool, "/wire/python")
    async for call in server.listen_reliable():
        call.response.success = call.request.data
        call.response.message = b"by Python"
        call.send()


async def call() -> None:
    outgoing = pyzeros.Pub(String, "/wire/called")
    client = pyzeros.Client(SetBool, "/wire/feros")
    await client.wait_for_service()
    answer = await client.call_async(SetBool.Request(data=True))
    message = answer.message.decode() if isinstance(answer.message, bytes) else answer.message
    while True:
        outgoing.publish(String(data=f"{bool(answer.success)} {message}".encode()))
        await asyncio.sleep(0.05)


@afor.scoped
async def main(session: zenoh.Session) -> None:
    # Messages are compiled at their first use, which takes long on a busy machine.
    for message in (JointState(), String(data=b""), SetBool.Request(data=True), SetBool.Response(success=True, message=b"")):
        type(message).deserialize(message.serialize())
    print("ready", flush=True)
    tasks = afor.Scope.current().task_group
    running = [tasks.create_task(task()) for task in (repeat, repeat_joints, serve, call)]
    running.append(tasks.create_task(look(session)))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in running:
        task.cancel()


if __name__ == "__main__":
    config = zenoh.Config()
    config.insert_json5("mode", json.dumps("peer"))
    config.insert_json5("connect/endpoints", json.dumps([sys.argv[1]]))
    config.insert_json5("listen/endpoints", json.dumps(["tcp/127.0.0.1:0"]))
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("timestamping/enabled", "true")
    config.insert_json5("transport/shared_memory/enabled", "false")  # a killed peer would leave shared memory behind
    with zenoh.open(config) as session:
        with pyzeros.auto_context(node="python", zenoh_session=session, namespace="/wire", domain_id=sys.argv[2]):
            asyncio.run(main(session))
