"""A node of pyzeros, which is Python alone on the wire of rmw_zenoh, for tests/stock_peers.rs.

It repeats /wire/in on /wire/out, serves /wire/python, calls /wire/feros once it is there, and says on /wire/called what
it was answered. It ends with its standard input.
"""

import asyncio
import json
import sys

import asyncio_for_robotics as afor
import pyzeros
import zenoh
from ros2_pyterfaces.cydr.all_msgs import String
from ros2_pyterfaces.cydr.all_srvs import SetBool


def text(message: String) -> str:
    data = message.data
    return data.decode() if isinstance(data, bytes) else str(data)


async def repeat() -> None:
    incoming = pyzeros.Sub(String, "/wire/in")
    outgoing = pyzeros.Pub(String, "/wire/out")
    async for message in incoming.listen_reliable():
        outgoing.publish(String(data=f"repeated: {text(message)}".encode()))


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
async def main() -> None:
    # Compiled at the first use, which takes long on a busy machine.
    for message in (String(data=b""), SetBool.Request(data=True), SetBool.Response(success=True, message=b"")):
        type(message).deserialize(message.serialize())
    print("ready", flush=True)
    tasks = afor.Scope.current().task_group
    running = [tasks.create_task(task()) for task in (repeat, serve, call)]
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
    config.insert_json5("transport/shared_memory/enabled", "false")  # a killed peer would leave some
    with zenoh.open(config) as session:
        with pyzeros.auto_context(node="python", zenoh_session=session, namespace="/wire", domain_id=sys.argv[2]):
            asyncio.run(main())
