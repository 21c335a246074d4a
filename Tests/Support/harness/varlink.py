"""A Varlink client: messages are JSON objects that end with a zero byte."""
import json
import socket

from harness.waiting import PATIENCE

CONTROL = "io.livehost.Control."


class Closed(ConnectionError):
    """The service closed the connection."""


class CallError(Exception):
    """The service replied with an error."""

    def __init__(self, reply):
        super().__init__(f"{reply['error']} {reply.get('parameters', {})}")
        self.error = reply["error"]
        self.parameters = reply.get("parameters", {})


class Connection:
    """A connection to a Unix socket that is closed at the end of the block."""

    def __init__(self, path, timeout=PATIENCE):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()


class Client(Connection):
    """A connection to a Varlink service. Method names without a dot belong to io.livehost.Control."""

    rest = b""

    def send(self, method, parameters=None, more=False):
        message = {"method": method if "." in method else CONTROL + method, "parameters": parameters or {}}
        if more:
            message["more"] = True
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        """Returns the next reply, even an error. Raises Closed if the connection ends before the reply is complete."""
        while b"\0" not in self.rest:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise Closed("the connection was closed")
            self.rest += piece
        reply, _, self.rest = self.rest.partition(b"\0")
        return json.loads(reply)

    def reply(self, method, **parameters):
        """Calls a method. Returns the whole reply, even an error."""
        self.send(method, parameters)
        return self.receive()

    def call(self, method, **parameters):
        """Calls a method and returns the parameters of its reply. Raises CallError for an error."""
        reply = self.reply(method, **parameters)
        if "error" in reply:
            raise CallError(reply)
        return reply.get("parameters", {})


def call(path, method, timeout=PATIENCE, **parameters):
    """Makes one call on a new connection. See `Client.call`."""
    with Client(path, timeout) as client:
        return client.call(method, **parameters)
