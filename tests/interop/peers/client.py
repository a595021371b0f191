"""Calls --service: wait {timeout} until a server is there, call {request, timeout} gives the response."""
import threading

import conversion
import peer

args = peer.arguments(__doc__, service=None, type=None)


def setup(node):
    kind = conversion.interface(args.type, "srv")
    client = node.create_client(kind, args.service)

    def wait(timeout=30.0):
        peer.wait_until(client.service_is_ready, timeout)
        return True

    def call(request, timeout=30.0):
        future = client.call_async(conversion.fill(kind.Request(), request))
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(timeout):
            client.remove_pending_request(future)
            raise TimeoutError(f"no response within {timeout} s")
        return conversion.to_json(future.result())

    return {"wait": wait, "call": call, "ready": client.service_is_ready}


peer.run(args, setup)
