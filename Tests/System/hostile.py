"""What does the most harm within the limits of the ingest socket: the largest texts in every room, names to search for
that nearly occur in them, forged identifiers, time stamps that jump, empty syncs."""
import json
import socket

ROOMS = 48


class Sender:
    """A connection to an ingest socket."""

    def __init__(self, path):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(300)
        connection.connect(str(path))
        self.stream = connection.makefile("rwb")

    def send(self, type, **event):
        self.stream.write(json.dumps({"type": type, **event}).encode() + b"\n")

    def sync(self, count=1):
        """Waits until all events are applied, by several syncs; returns the last answer."""
        self.stream.write(b'{"type":"sync","token":""}\n' * count)
        self.stream.flush()
        for _ in range(count):
            answer = self.stream.readline()
        assert json.loads(answer)["rejected"] == 0, answer
        return json.loads(answer)


def send_hostile_events(path):
    """Returns when all of it is acknowledged."""
    sender = Sender(path)
    names = ["@" * (254 - number) + "x" for number in range(32)]
    for name in (f"hostile{room}" for room in range(ROOMS)):
        for number in range(30):
            user = {"id": f"u{number}", "name": "n" * 200}
            sender.send("chat.message", room=name, id=f"{name}-{number}", user=user, text="@" * 64_000)
            if number % 10 == 5:
                sender.send("host.highlight", room=name, names=names)
                sender.send("host.filter", room=name, words="@" * 200)
    sender.sync()
    for number in range(60_000):
        user = {"id": f"a-forged-identifier-{number}", "name": "n" * 200}
        room = f"hostile{number % 8}"
        sender.send("chat.message", room=room, id=f"f{number}", user=user, text="hi")
        sender.send("waiting.join", room=room, user=user)
    sender.sync()
    jumping = Sender(path)
    jumping.send("options", clock="event")
    jumping.send("stream", room="jumps", ts=1000, state="live")
    for number in range(1, 1000):
        jumping.send("viewers", room="jumps", ts=number * 65_000, count=number)
    jumping.sync()
    for _ in range(5000):  # A million of them.
        sender.sync(200)
