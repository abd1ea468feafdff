#!/usr/bin/env python3
"""ask.py THING - what ask.sh does, in Python, on the socket itself."""
import json
import os
import socket
import sys

line = socket.socket(fileno=int(os.environ["ERRAND_FD"]))
answers = line.makefile("r", encoding="utf-8")
asked = 0


def tell(method, params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    line.sendall(json.dumps(message).encode() + b"\n")


def ask(method, params):
    global asked
    asked += 1
    message = {"jsonrpc": "2.0", "id": asked, "method": method, "params": params}
    line.sendall(json.dumps(message).encode() + b"\n")
    for text in answers:
        answer = json.loads(text)
        if answer.get("id") == asked:
            return answer
    sys.exit("the worker is gone")


thing = sys.argv[1]
tell("notifications/progress", {"progress": 1, "total": 3, "message": "asking"})
form = {
    "type": "object",
    "properties": {"sure": {"type": "boolean", "default": False}, "note": {"type": "string"}},
    "required": ["sure"],
}
answer = ask("elicitation/create", {"message": f"Clean up {thing}?", "requestedSchema": form})
if "error" in answer:
    sys.exit(f"nobody could be asked: {answer['error']['message']}")
result = answer["result"]
tell("notifications/message", {"level": "info", "data": {"action": result["action"]}})
tell("notifications/progress", {"progress": 2, "total": 3, "message": "working"})
sure = result["action"] == "accept" and result["content"]["sure"]
print(f"{thing} is clean" if sure else f"{thing} is as it was")
tell("notifications/progress", {"progress": 3, "total": 3})
