#!/usr/bin/env python3
"""Measures the cost of `feros view` for a robot while a page shows a camera.

    measure_view.py FEROS CAMERA [BYTES [HERTZ [ROUNDS]]]

CAMERA is the example `camera` of crates/tools/bag. Each round measures, one after the other: no
client; a subscription of the command that counts the same images (the floor); one client that gets
all images; one client that gets at most ten images a second, and the figures. The script prints the
percentages of one processor of `feros view` and of the camera, and the number of received images.
Needs `websockets` (scripts/requirements-view.txt). All stays on loopback.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

from websockets.asyncio.client import connect

SECONDS = 10.0
SETTLING = 2.0
TOPIC = "/measured_image"
ENVIRONMENT = dict(os.environ, ROS_DOMAIN_ID="68", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(*words, stdout=subprocess.DEVNULL):
    return subprocess.Popen(
        words, stdout=stdout, stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True)


def end(process):
    process.send_signal(signal.SIGINT)
    process.wait()


async def measure(processes, pause):
    """Returns each process's percentage of one processor while `pause` runs, after some settling."""
    await pause(SETTLING)
    before, began = [processor_seconds(one) for one in processes], time.monotonic()
    count = await pause(SECONDS)
    took = time.monotonic() - began
    spent = [processor_seconds(one) - first for one, first in zip(processes, before)]
    return [seconds / took * 100 for seconds in spent], (count or 0) / took


async def look(address, processes, operations, rate):
    async with connect(address, subprotocols=["feros.view.v1"], max_size=None) as socket:
        channel = None
        while channel is None:
            operation = json.loads(await socket.recv())
            for found in operation.get("channels", []):
                if found["topic"] == TOPIC:
                    channel = found["id"]
        subscription = {"id": 1, "channelId": channel, **({"maxRateHz": rate} if rate else {})}
        for operation in [{"op": "subscribe", "subscriptions": [subscription]}, *operations]:
            await socket.send(json.dumps(operation))

        async def read(seconds):
            until, count = time.monotonic() + seconds, 0
            while (left := until - time.monotonic()) > 0:
                try:
                    incoming = await asyncio.wait_for(socket.recv(), left)
                except asyncio.TimeoutError:
                    break
                count += isinstance(incoming, bytes)
            return count

        return await measure(processes, read)


async def main(feros, camera, size="1000000", hertz="10", rounds="3"):
    images = start(camera, TOPIC, size, hertz, "100000")
    # The camera waits for a subscription, so this subscription keeps the camera running.
    keeps = start(feros, "topic", "echo", TOPIC, "--field", "height")
    view = start(feros, "view", "--port", "0", "--no-open", stdout=subprocess.PIPE)
    address = view.stdout.readline().strip().replace("http:", "ws:")
    figures = [{"op": "subscribeFigures"}, {"op": "measureTopics", "topics": [TOPIC]}]
    try:
        print(f"{size} bytes, {hertz} a second; percent of one processor")
        for _ in range(int(rounds)):
            (view_cost, camera_cost), _ = await measure([view, images], asyncio.sleep)
            print(f"nobody looks:        view {view_cost:5.2f}, camera {camera_cost:5.2f}")
            floor = start(feros, "topic", "bw", TOPIC)
            (cost, camera_cost), _ = await measure([floor, images], asyncio.sleep)
            end(floor)
            print(f"floor (topic bw):      bw {cost:5.2f}, camera {camera_cost:5.2f}")
            for words, operations, rate in [("all images", [], None), ("page", figures, 10)]:
                costs, came = await look(address, [view, images], operations, rate)
                print(f"{words + ':':<21}view {costs[0]:5.2f}, camera {costs[1]:5.2f}, "
                      f"{came:.1f} images/s", flush=True)
    finally:
        for process in (view, keeps, images):
            end(process)


asyncio.run(main(*sys.argv[1:]))
