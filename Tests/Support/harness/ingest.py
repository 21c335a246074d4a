"""Clients of the ingest socket: a sender, and a feeder that sends chat at full speed."""
import contextlib
import json
import random
import socket
import threading

from harness.varlink import Connection
from harness.waiting import PATIENCE


class Ingest(Connection):
    """A connection to an ingest socket. Accepts events, or lines as bytes without line ends."""

    def __init__(self, path, timeout=PATIENCE):
        super().__init__(path, timeout)
        self.answers = map(json.loads, self.socket.makefile("rb"))

    def send(self, *lines):
        self.socket.sendall(b"".join(
            (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines))

    def answer(self, token):
        """Returns the answer to the `sync` with this token, skipping other answers, or None if the connection ends."""
        return next((answer for answer in self.answers if answer.get("token") == token), None)

    def sync(self, *lines, token="end"):
        """Sends lines and a `sync`, and returns the answer to the `sync`."""
        self.send(*lines, {"type": "sync", "token": token})
        return self.answer(token)


class Feeder:
    """Sends numbered chat messages to a room, with a sync after each batch, until `end` or the end of the daemon.
    `acknowledged` is the number of saved messages."""

    def __init__(self, path, room="main"):
        self.room = room.encode()
        self.acknowledged = 0
        self.ending = threading.Event()
        self.ingest = Ingest(path)
        self.threads = [threading.Thread(target=body, daemon=True) for body in (self.send, self.listen)]
        for thread in self.threads:
            thread.start()

    def send(self):
        number = 0
        with contextlib.suppress(ConnectionError):
            while not self.ending.is_set():
                block = bytearray()
                for _ in range(random.randrange(1, 400)):
                    block += (b'{"type":"chat.message","room":"%s","id":"%d","user":{"id":"u%d","name":"n"},'
                              b'"text":"number %d"}\n' % (self.room, number, number % 999, number))
                    number += 1
                self.ingest.socket.sendall(block + b'{"type":"sync","token":"%d"}\n' % number)
            self.ingest.socket.shutdown(socket.SHUT_WR)

    def listen(self):
        with contextlib.suppress(ConnectionError):
            for answer in self.ingest.answers:
                if answer["type"] == "synced":
                    self.acknowledged = int(answer["token"])

    def end(self):
        """Waits until all sent messages are acknowledged or the daemon has ended."""
        self.ending.set()
        self.wait()

    def wait(self):
        """Waits until the daemon has ended. Returns the number of acknowledged messages."""
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self.threads), "the load has not ended"
        self.ingest.close()
        return self.acknowledged
