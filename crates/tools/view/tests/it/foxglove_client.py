"""A client of `feros view` like Foxglove, based on a WebSocket library and a decoder from PyPI.

    foxglove_client.py ADDRESS

Offers both subprotocols, reads topics by the schemas that are advertised, calls a service, sets a
parameter, publishes, and prints what it saw as one JSON object.
"""

import asyncio
import json
import struct
import sys

from mcap_ros2._dynamic import generate_dynamic
from mcap_ros2._dynamic import serialize_dynamic
from websockets.asyncio.client import connect

SUBPROTOCOLS = ["foxglove.sdk.v1", "foxglove.websocket.v1"]


class Client:
    def __init__(self, socket):
        self.socket = socket
        self.channels = {}
        self.services = {}
        self.info = None

    async def send(self, op, **rest):
        await self.socket.send(json.dumps({"op": op, **rest}))

    async def next(self, fits):
        """The first frame or operation that fits; topics and services on the way are noted."""
        while True:
            incoming = await self.socket.recv()
            if isinstance(incoming, str):
                incoming = json.loads(incoming)
                if incoming["op"] == "serverInfo":
                    self.info = incoming
                for channel in incoming.get("channels", []):
                    self.channels[channel["topic"]] = channel
                for service in incoming.get("services", []):
                    self.services[service["name"]] = service
            if fits(incoming):
                return incoming

    async def op(self, name, **rest):
        def fits(incoming):
            is_op = isinstance(incoming, dict) and incoming["op"] == name
            return is_op and all(incoming[key] == value for key, value in rest.items())

        return await self.next(fits)

    async def frame(self, opcode):
        return await self.next(lambda incoming: isinstance(incoming, bytes) and incoming[0] == opcode)


def plain(value):
    """Converts a decoded message into values for JSON."""
    if hasattr(value, "__slots__"):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value


def decode(channel, data):
    name = channel["schemaName"]
    return plain(generate_dynamic(name, channel["schema"])[name](data))


async def call(client, name, request):
    service = client.services[name]
    schema, type_name = service["request"]["schema"], service["request"]["schemaName"]
    data = serialize_dynamic(type_name, schema)[type_name](request)
    head = struct.pack("<BIII", 2, service["id"], 77, 3)
    await client.socket.send(head + b"cdr" + data)
    frame = await client.frame(3)
    _, service_id, call_id, length = struct.unpack_from("<BIII", frame)
    assert (service_id, call_id) == (service["id"], 77)
    response = service["response"]
    decoder = generate_dynamic(response["schemaName"], response["schema"])[response["schemaName"]]
    return plain(decoder(frame[13 + length:]))


async def main(address):
    async with connect(address, subprotocols=SUBPROTOCOLS, max_size=None) as socket:
        client = Client(socket)
        seen = {"subprotocol": socket.subprotocol}
        while "/pose" not in client.channels or "/enable" not in client.services:
            await client.next(lambda _: True)
        seen["info"] = client.info
        channel = client.channels["/pose"]
        await client.send("subscribe", subscriptions=[{"id": 5, "channelId": channel["id"]}])
        frame = await client.frame(1)
        _, subscription, nanos = struct.unpack_from("<BIQ", frame)
        assert subscription == 5 and nanos > 0
        seen["pose"] = decode(channel, frame[13:])
        seen["response"] = await call(client, "/enable", {"data": True})
        parameter = {"name": "/robot.rate", "value": 20, "type": "float64"}
        await client.send("setParameters", parameters=[parameter], id="set")
        seen["set"] = (await client.op("parameterValues", id="set"))["parameters"]
        await client.send("subscribeConnectionGraph")
        graph = await client.op("connectionGraphUpdate")
        publishers = {topic["name"]: topic["publisherIds"] for topic in graph["publishedTopics"]}
        seen["publishers"] = publishers["/pose"]
        await publish(client)
        print(json.dumps(seen))


async def publish(client):
    """Publishes until the robot reports on /heard that it has received a message."""
    await client.send("advertise", channels=[{
        "id": 9, "topic": "/goal", "encoding": "cdr", "schemaName": "std_msgs/msg/String",
        "schema": "string data", "schemaEncoding": "ros2msg",
    }])
    heard = client.channels["/heard"]
    await client.send("subscribe", subscriptions=[{"id": 6, "channelId": heard["id"]}])
    data = serialize_dynamic("std_msgs/msg/String", "string data")["std_msgs/msg/String"]

    async def repeat():
        while True:
            await client.socket.send(struct.pack("<BI", 1, 9) + data({"data": "home"}))
            await asyncio.sleep(0.05)

    repeating = asyncio.create_task(repeat())
    while True:
        frame = await client.frame(1)
        if struct.unpack_from("<BI", frame)[1] == 6:
            break
    repeating.cancel()


asyncio.run(main(sys.argv[1]))
