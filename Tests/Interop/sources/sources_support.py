"""What the tests of sources share: a daemon and its rooms, sources and their reports, and scripted peers."""
import contextlib
import functools
import glob
import itertools
import json
import logging
import pathlib
import signal
import socket
import subprocess
import threading

import websockets.sync.server
import werkzeug.serving

from harness.programs import Daemon, Program
from harness.waiting import PATIENCE, wait_for

logging.getLogger("werkzeug").setLevel("ERROR")


def settle(read, wanted):
    """What `read()` returns once that is as wanted, or at the end of patience."""
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: read() == wanted, "")
    return read()


def start_thread(body, *arguments):
    threading.Thread(target=body, args=arguments, daemon=True).start()


def collect(stream, decode):
    """A list to which a thread adds each line of a stream, decoded."""
    found = []
    start_thread(lambda: [found.append(decode(line)) for line in stream])
    return found


class Host(Daemon):
    """A daemon, and what livehostctl shows of it."""

    def show(self, *arguments):
        return json.loads(self.ctl(*arguments, "--json=short", status=None) or "{}")

    def room(self, name, *paths):
        """What is at paths such as `features.chat.total` in what is shown of a room; None for what is missing."""
        room = self.show("show", name)
        return [functools.reduce(lambda value, part: (value or {}).get(part), path.split("."), room) for path in paths]

    def total(self, room):
        """The number of messages in the chat of a room."""
        return self.room(room, "features.chat.total")[0] or 0

    def settled(self, room, wanted):
        """The number of messages once it is as wanted, or at the end of patience."""
        return settle(lambda: self.total(room), wanted)


class Source(Program):
    """A command of livehostctl that goes on until it is stopped, and its reports."""

    def __init__(self, daemon, *arguments, control=None):
        command = [daemon.programs / "livehostctl", "--socket", control or daemon.control, *arguments, "--json=short"]
        log = daemon.directory / f"source{len(list(daemon.directory.glob('source*')))}.log"
        super().__init__(command, log, stdout=subprocess.PIPE, text=True)
        self.reports = collect(self.output, json.loads)

    def said(self, kind, **members):
        wanted = {"report": kind, **members}.items()
        return [report for report in self.reports if all(report.get(name) == value for name, value in wanted)]

    def live(self, times=1):
        wait_for(lambda: len(self.said("state", state="live")) >= times,
                 lambda: f"live {times} times: {self.reports[-5:]}")

    def stop(self, limit=PATIENCE):
        """Ends it as Ctrl-C does; returns its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.wait(limit)


def leaks(daemon, source, secret, *patterns):
    """Where others can read a secret: in reports of a source, logs and state, and files that match the patterns."""
    found = ["a report"] if secret in json.dumps(source.reports) else []
    for file in itertools.chain(daemon.directory.rglob("*"), *map(glob.iglob, patterns)):
        with contextlib.suppress(OSError):  # A directory or a socket, or of a process that has ended.
            if secret.encode() in pathlib.Path(file).read_bytes():
                found.append(str(file))
    return found


def serve(handle, listener=None):
    """Calls `handle(connection)` for each connection, on a thread of its own. Returns the port."""
    listener = listener or socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            start_thread(handle, listener.accept()[0])
    start_thread(accept)
    return listener.getsockname()[1]


def serve_irc(joined):
    """Serves IRC as Twitch does, and calls `joined(connection)` once a client is in #ada. Returns the address."""
    def handle(client):
        for line in client.makefile():
            if line.startswith("CAP REQ"):
                client.sendall(b":t CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n")
            elif line.startswith("NICK"):
                nick = line.split()[1]
                client.sendall(f":t 001 {nick} :hi\r\n".encode())
            elif line.startswith("JOIN"):
                client.sendall(f":{nick}!x@x JOIN #ada\r\n".encode())
                joined(client)
    return f"127.0.0.1:{serve(handle)}"


def serve_http(answer):
    """Serves JSON: `answer(request)` returns a status and a value. Returns the URL."""
    @werkzeug.Request.application
    def application(request):
        status, value = answer(request)
        return werkzeug.Response(json.dumps(value), status, content_type="application/json")
    server = werkzeug.serving.make_server("127.0.0.1", 0, application, threaded=True)
    start_thread(server.serve_forever)
    return f"http://127.0.0.1:{server.port}"


def serve_websocket(handle):
    """Calls `handle(connection)` for each WebSocket, on a thread of its own. Returns the URL."""
    def run(connection):
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            handle(connection)
    server = websockets.sync.server.serve(run, "127.0.0.1", 0)
    start_thread(server.serve_forever)
    return f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
