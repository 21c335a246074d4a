#!/usr/bin/env python3
"""Calls every method of a daemon as a user without rights: `permissions.py SOCKET`.

The methods come from the interface definitions that the daemon gives. Those marked [Requires privileges]
must be refused with PermissionDenied; all others must not. To be run as somebody who is neither root nor
in the group livehost; ends with `N passed, N failed`.
"""
import json
import re
import socket
import sys

DENIED = "org.varlink.service.PermissionDenied"


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.rest = b""

    def call(self, method, parameters=None):
        message = {"method": method, "parameters": parameters or {}}
        self.socket.sendall(json.dumps(message).encode() + b"\0")
        while b"\0" not in self.rest:
            piece = self.socket.recv(1 << 16)
            if not piece:
                return {"error": "the connection was closed"}
            self.rest += piece
        reply, self.rest = self.rest.split(b"\0", 1)
        return json.loads(reply)


def methods(text):
    """The name of each method, and whether its comment says that it requires privileges."""
    comment = []
    for line in text.split("\n"):
        if line.startswith("#"):
            comment.append(line)
        else:
            if found := re.match(r"method (\w+)", line):
                yield found[1], "# [Requires privileges]" in comment
            comment = []


def main():
    path = sys.argv[1]
    service = Connection(path)
    interfaces = service.call("org.varlink.service.GetInfo")["parameters"]["interfaces"]
    passed = failed = 0
    privileged = 0
    for interface in interfaces:
        if interface == "org.varlink.service":
            continue
        reply = service.call("org.varlink.service.GetInterfaceDescription", {"interface": interface})
        for method, requires in methods(reply["parameters"]["description"]):
            # Without parameters: whether a call is permitted must not depend on its parameters.
            answer = Connection(path).call(f"{interface}.{method}")
            error = answer.get("error")
            privileged += requires
            if (error == DENIED) == requires:
                passed += 1
            else:
                failed += 1
                print(f"FAILED: {interface}.{method} is {'' if requires else 'not '}marked "
                      f"[Requires privileges] and answers {error or 'without an error'}")
    if privileged < 10:
        failed += 1
        print(f"FAILED: only {privileged} methods require privileges: was the definition parsed correctly?")
    print(f"{privileged} methods are refused, {passed + failed - privileged} are not")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
