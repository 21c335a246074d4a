"""Support for the tests of sources: a daemon with its rooms, and sources with their reports."""
import contextlib
import functools
import glob
import itertools
import json
import pathlib
import subprocess

import urllib3

from harness.programs import Daemon, Program
from harness.serving import start_thread
from harness.waiting import PATIENCE, wait_for


def settle(read, wanted):
    """Calls `read()` until it returns `wanted` or the time limit is over. Returns the last
    result."""
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: read() == wanted, "")
    return read()


def collect(stream, decode):
    """Returns a list to which a thread appends each decoded line of a stream."""
    found = []
    start_thread(lambda: [found.append(decode(line)) for line in stream])
    return found


class Host(Daemon):
    """A daemon, with the output of livehostctl about it."""

    def show(self, *arguments):
        return json.loads(self.ctl(*arguments, "--json=short", status=None) or "{}")

    def room(self, name, *paths):
        """Returns a room's values at paths such as `features.chat.total`, or None for missing
        values."""
        room = self.show("show", name)
        return [functools.reduce(lambda value, part: (value or {}).get(part), path.split("."), room) for path in paths]

    def total(self, room):
        """Returns the number of messages in the chat of a room."""
        return self.room(room, "features.chat.total")[0] or 0

    def settled(self, room, wanted):
        """Waits until the number of messages is `wanted` or the time limit is over. Returns the
        number."""
        return settle(lambda: self.total(room), wanted)


class Source(Program):
    """A command of livehostctl that runs until it is stopped, and its reports."""

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

    stop = Program.interrupt


def act(daemon, room, **parameters):
    """Performs an act. Returns the outcome and the reason. Waits until the source offers acts; an
    act without a controller is carried out nowhere."""
    def reply():
        reply = daemon.reply("Act", room=room, **parameters)
        return None if reply.get("error", "").endswith((".NoController", ".NoSuchRoom")) else reply
    reply = wait_for(reply, f"a controller for {parameters}")
    assert "error" not in reply, reply
    return reply["parameters"].get("outcome"), reply["parameters"].get("reason")


def leaks(daemon, source, secret, *patterns):
    """Returns the places where others can read a secret: reports of a source, logs, state, and
    files that match the patterns."""
    found = ["a report"] if secret in json.dumps(source.reports) else []
    for file in itertools.chain(daemon.directory.rglob("*"), *map(glob.iglob, patterns)):
        with contextlib.suppress(OSError):  # A directory, a socket, or a file of an ended process.
            if secret.encode() in pathlib.Path(file).read_bytes():
                found.append(str(file))
    return found


def connect(port, path="/"):
    """Returns a function that posts deliveries over one connection. It returns the status of the
    answer, or 0 without an answer."""
    pool = urllib3.HTTPConnectionPool("127.0.0.1", port, timeout=PATIENCE, retries=False)

    def post(value, headers={}):
        body = value if isinstance(value, bytes) else json.dumps(value)
        try:
            return pool.request("POST", path, body, headers={"Content-Type": "application/json", **headers}).status
        except urllib3.exceptions.HTTPError:
            return 0
    return post
