#!/usr/bin/env python3
"""Measures how a greedy client of `feros view` affects other clients.

    measure_view_fairness.py FEROS

Prints the longest wait of a modest client for an answer, alone and while another client subscribes and
unsubscribes 3000 times; the number of additional descriptors of the server while it is asked for parameters
of 512 nodes that do not exist; and the time that the page's largest file takes while 100 sockets have asked
for it and read nothing. Needs `websockets` (scripts/requirements-view.txt). All stays on loopback.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from websockets.asyncio.client import connect

TOPIC = "/measured"
REQUESTS = 3000
ENVIRONMENT = dict(os.environ, ROS_DOMAIN_ID="69", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")


def start(*words, stdout=subprocess.DEVNULL):
    return subprocess.Popen(
        words, stdout=stdout, stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True)


def connected(address):
    address = address.replace("http:", "ws:")
    return connect(address, subprotocols=["feros.view.v1"], max_size=None, ping_interval=None)


async def until(client, is_it):
    while True:
        incoming = await client.recv()
        if isinstance(incoming, str) and is_it(operation := json.loads(incoming)):
            return operation


async def longest_wait(client, is_over):
    longest = 0.0
    while not is_over():
        asked = time.monotonic()
        await client.send('{"op": "modest"}')
        await until(client, lambda operation: "modest" in operation.get("message", ""))
        longest = max(longest, time.monotonic() - asked)
        await asyncio.sleep(0.02)
    return longest


async def greedy(client, channel):
    """Subscribes and unsubscribes, ignoring the server's answers; returns the seconds that this took."""
    began = time.monotonic()
    entry = {"id": 1, "channelId": channel}
    for _ in range(REQUESTS):
        await client.send(json.dumps({"op": "subscribe", "subscriptions": [entry]}))
        await client.send(json.dumps({"op": "unsubscribe", "subscriptionIds": [1]}))
    await client.send('{"op": "finished"}')
    await until(client, lambda operation: "finished" in operation.get("message", ""))
    return time.monotonic() - began


def fetch_beside_idle(address):
    host, port = address.split("/")[2].split(":")
    head = f"GET /app.js HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    idle = [socket.create_connection((host, int(port))) for _ in range(100)]
    for one in idle:
        one.sendall(head)
    began = time.monotonic()
    urllib.request.urlopen(address + "app.js", timeout=120).read()
    took = time.monotonic() - began
    for one in idle:
        one.close()
    return took


async def answers(client, number):
    for _ in range(number):
        await until(client, lambda operation: operation["op"] == "parameterValues")


async def descriptors(client, pid):
    count = lambda: len(os.listdir(f"/proc/{pid}/fd"))
    before = count()
    for question in range(64):
        names = [f"/none_{question}_{node}.a" for node in range(8)]
        await client.send(json.dumps(
            {"op": "getParameters", "parameterNames": names, "id": str(question)}))
    answering = asyncio.create_task(answers(client, 64))
    most = 0
    while not answering.done():
        most = max(most, count() - before)
        await asyncio.sleep(0.01)
    return most


async def main(feros):
    robot = start(feros, "topic", "pub", "-r", "10", TOPIC, "std_msgs/msg/String", "data: a")
    view = start(feros, "view", "--port", "0", "--no-open", stdout=subprocess.PIPE)
    try:
        address = view.stdout.readline().strip()
        async with connected(address) as modest, connected(address) as other:
            found = lambda operation: [
                one["id"] for one in operation.get("channels", []) if one["topic"] == TOPIC]
            channel = found(await until(other, found))[0]
            end = time.monotonic() + 4
            alone = await longest_wait(modest, lambda: time.monotonic() > end)
            print(f"longest wait alone: {alone:.3f} s")
            work = asyncio.create_task(greedy(other, channel))
            beside = await longest_wait(modest, work.done)
            print(f"longest wait beside {await work:.1f} s of work for another: {beside:.3f} s")
            most = await descriptors(modest, view.pid)
            print(f"additional descriptors while 512 nodes that do not exist are asked: {most}")
        print(f"the page beside 100 sockets: {fetch_beside_idle(address):.3f} s")
    finally:
        for process in (view, robot):
            process.send_signal(signal.SIGINT)
            process.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
