"""What the tests of sources share: a daemon and its rooms, sources and their reports, and scripted peers."""
import contextlib
import functools
import glob
import itertools
import json
import pathlib
import subprocess

from harness.programs import Daemon, Program
from harness.serving import start_thread
from harness.waiting import wait_for


def settle(read, wanted):
    """What `read()` returns once that is as wanted, or at the end of patience."""
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: read() == wanted, "")
    return read()


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

    stop = Program.interrupt


def leaks(daemon, source, secret, *patterns):
    """Where others can read a secret: in reports of a source, logs and state, and files that match the patterns."""
    found = ["a report"] if secret in json.dumps(source.reports) else []
    for file in itertools.chain(daemon.directory.rglob("*"), *map(glob.iglob, patterns)):
        with contextlib.suppress(OSError):  # A directory or a socket, or of a process that has ended.
            if secret.encode() in pathlib.Path(file).read_bytes():
                found.append(str(file))
    return found
