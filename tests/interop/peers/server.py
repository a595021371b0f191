"""Serves --service: the response gets each field of the request that it has too, then what --response says (JSON).
requests {count, timeout} gives the requests that came."""
import json

import conversion
import peer

args = peer.arguments(__doc__, service=None, type=None, response="{}")


def setup(node):
    inbox = peer.Inbox()
    fixed = json.loads(args.response)

    def serve(request, response):
        inbox.put(conversion.to_json(request))
        asked = dict(conversion.fields(request))
        for name, kind in conversion.fields(response):
            if asked.get(name) == kind:
                setattr(response, name, getattr(request, name))
        return conversion.fill(response, fixed)

    service = node.create_service(conversion.interface(args.type, "srv"), args.service, serve)
    return {"requests": inbox.take, "name": lambda: service.service_name}


peer.run(args, setup)
