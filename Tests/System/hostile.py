#!/usr/bin/env python3
"""Sends what does the most harm within the limits of the ingest socket: `hostile.py SOCKET`. The largest
texts in every room, names to search for that nearly occur in them, forged identifiers, time stamps that
jump, empty syncs. Ends when all of it is acknowledged."""
import json, socket, sys

ROOMS = 48


class Sender:
    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(300)
        self.connection.connect(path)
        self.answers = self.connection.makefile("rb")

    def send(self, **event):
        self.connection.sendall(json.dumps(event).encode() + b"\n")

    def sync(self):
        self.send(type="sync", token="t")
        answer = json.loads(self.answers.readline())
        assert answer["rejected"] == 0, answer


def main(path):
    sender = Sender(path)
    text = "@" * 64_000
    names = ["@" * (254 - number) + "x" for number in range(32)]
    for room in range(ROOMS):
        name = f"hostile{room}"
        for number in range(30):
            user = {"id": f"u{number}", "name": "n" * 200}
            sender.send(type="chat.message", room=name, id=f"{room}-{number}", user=user, text=text)
            if number % 10 == 5:
                sender.send(type="host.highlight", room=name, names=names)
                sender.send(type="host.filter", room=name, words="@" * 200)
    sender.sync()
    for number in range(60_000):
        user = {"id": f"a-forged-identifier-{number}", "name": "n" * 200}
        room = f"hostile{number % 8}"
        sender.send(type="chat.message", room=room, id=f"f{number}", user=user, text="hi")
        sender.send(type="waiting.join", room=room, user=user)
    sender.sync()
    jumping = Sender(path)
    jumping.send(type="options", clock="event")
    jumping.send(type="stream", room="jumps", ts=1000, state="live")
    for number in range(1, 1000):
        jumping.send(type="viewers", room="jumps", ts=number * 65_000, count=number)
    sender.sync()
    jumping.sync()
    # A million of them.
    syncs = b'{"type":"sync","token":""}\n' * 200
    for _ in range(5000):
        sender.connection.sendall(syncs)
        for _ in range(200):
            assert sender.answers.readline(), "the daemon has closed the connection"


if __name__ == "__main__":
    main(sys.argv[1])
