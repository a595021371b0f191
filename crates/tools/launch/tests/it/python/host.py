"""A host that speaks the protocol of launch files in Python, without the package `launch`.

A launch file sets `entities`, a list of dictionaries, and may use `ask(question)`, the requests
`request`, `objects` (functions by number, which get the request and return the result), `changes`
(further keys of the reply to `load`) and `write(bytes)`.
"""

import json
import os
import socket
import sys
import traceback

stream = socket.socket(fileno=os.dup(0)).makefile("rwb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
objects = {}


class Refused(Exception):
    pass


def write(text):
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:  # the launcher has refused an earlier line
        os._exit(0)


def send(message):
    write(json.dumps(message).encode() + b"\n")


def receive():
    line = stream.readline()
    if not line:
        os._exit(0)
    return json.loads(line)


def ask(question):
    send(question)
    while True:
        line = receive()
        if "ask" in line:
            serve(line)
        elif "error" in line:
            raise Refused(f"{line['kind']}: {line['error']}")
        else:
            return line["answer"]


def load(request):
    path = request["path"]
    scope = {"ask": ask, "objects": objects, "request": request, "write": write, "changes": {}}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), scope)
    return {"entities": scope["entities"], **scope["changes"]}


def serve(request):
    try:
        work = load if request["ask"] == "load" else objects[request["id"]]
        reply = {"done": work(request)}
    except Exception as error:
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename != __file__
        ]
        at = [frames[-1].filename, frames[-1].lineno, 1] if frames else None
        calls = [[frame.filename, frame.lineno, frame.name] for frame in frames[-2::-1]]
        what = f"{type(error).__name__}: {error}"
        reply = {"failed": {"error": what, "at": at, "calls": calls}}
    sys.stdout.flush()
    send(reply)


greeting = receive()
assert greeting["protocol"] == 1, greeting
assert greeting["argv"] in (["launcher", "a b"], []) or "run_file" in greeting["argv"][0], greeting
send({"protocol": 1, "python": sys.version.split()[0]})
while True:
    serve(receive())
