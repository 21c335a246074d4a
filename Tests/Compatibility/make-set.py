#!/usr/bin/env python3
"""Generates state and recordings that later versions must be able to read: `make-set.py BIN DIRECTORY`.

BIN is the directory of the programs that write this set. DIRECTORY contains their livehostd.yaml, and
receives `state.tar.gz` and `expected/`; see README.md. The daemon is killed, so the state is that of a crash.
"""
import collections
import contextlib
import gzip
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Support"))
from harness.ingest import Ingest  # noqa: E402
from harness.programs import Daemon  # noqa: E402
from harness.waiting import wait_for  # noqa: E402

# The time of the first event in milliseconds since 1970. The time is fixed, so that the files of
# two runs differ little.
BEGIN = 1_795_260_000_000
ADA, BOB, EVE, MIN = ({"id": f"u{number}", "name": name} for number, name in
                      enumerate(["Ada", "Bob with a name longer than fifteen bytes", "Eve", "민지"]))


class Writer(Daemon):
    """The daemon that writes the set."""

    def json(self, *arguments):
        """Returns the JSON output of livehostctl without measured durations."""
        return json.loads(self.ctl(*arguments, "--json=short"), object_hook=lambda members: {
            name: member for name, member in members.items() if not name.endswith("Microseconds")})

    @contextlib.contextmanager
    def without_snapshots(self):
        """Prevents snapshots during the block by a file in place of their directory, and then kills the daemon. The
        events of the block are therefore only in the log and in recordings."""
        rooms, aside = self.state / "rooms", self.state / "rooms.aside"
        rooms.rename(aside)
        rooms.touch()
        yield
        self.kill()
        rooms.unlink()
        aside.rename(rooms)

    def write_in(self, room, *lines):
        """Sends events that cannot be acknowledged, with their own time, and waits until a segment has the last one."""
        with Ingest(self.ingest) as ingest:
            ingest.send({"type": "options", "room": room, "clock": "event"}, *lines)
            last = json.dumps(lines[-1]["id"]).encode()
            wait_for(lambda: any(last in path.read_bytes() for path in self.state.rglob("*.ndjson")),
                     lambda: f"{last} in a segment")

    def send_in(self, room, *lines):
        """Sends events with their own time, or raw lines, and waits until they are saved."""
        self.send({"type": "options", "room": room, "clock": "event"},
                  *(line.encode() if isinstance(line, str) else line for line in lines))


class Clock:
    """Makes events, each with a later timestamp than the previous event."""
    def __init__(self):
        self.now = BEGIN

    def __call__(self, type, after=150, **members):
        self.now += after
        return {"type": type, "ts": self.now, **members}


def waiting_room(daemon):
    event = Clock()
    daemon.send_in("waiting", event("stream", state="waiting"), event("title", title="Opens soon"),
                *(event("waiting.join", user=user) for user in (ADA, BOB, EVE, MIN)),
                event("waiting.leave", user=EVE), event("waiting.admit", user=BOB))
    daemon.ctl("capacity", "waiting", 2)
    daemon.ctl("schedule", "waiting", "@1795300000")
    daemon.ctl("admit", "waiting")


def show(event):
    """Returns events that leave visible content in every part of the screen."""
    def message(number, user, text, **more):
        return event("chat.message", id=f"m{number}", user=user, text=text, **more)

    return [
        event("stream", state="live"), event("title", title="Evening show \"é\" 안녕"),
        event("viewers", count=120), event("viewers", count=80), event("reaction", kind="heart", count=50),
        event("reaction", kind="clap", count=7),
        message(1, ADA, "hello \"all\" \\ 🎉"), message(2, BOB, "@Ada hi", replyTo="m1"),
        message(3, EVE, "buy followers"), message(4, MIN, "좋아요 100!", bits=100),
        message(5, {**ADA, "badges": ["moderator", "subscriber"]}, "welcome", replyTo="m1"),
        *(message(10 + number, {"id": f"v{number}", "name": f"Viewer {number}"}, f"message {number}", after=40)
          for number in range(30)),
        event("chat.delete", id="m12"), event("chat.timeout", user=EVE, seconds=600),
        event("chat.timeout", user={"id": "v29", "name": "Viewer 29"}),
        event("chat.modes", slowSeconds=30, emoteOnly=True),
        event("chat.notice", kind="subscribe", user=BOB, count=1),
        event("chat.notice", kind="raid", user=MIN, count=250),
        event("chat.notice", kind="giftBomb", user=ADA, count=3, group="g1"),
        event("chat.notice", kind="gift", user=ADA, count=1, group="g1"),
        event("chat.notice", kind="cheer", user=BOB, count=500),
        event("slider", control="zoom", phase="begin", value=0.1),
        event("slider", control="zoom", phase="change", value=0.4),
        event("slider", control="zoom", phase="end", value=0.7),
        event("slider", control="volume", phase="begin", value=0.2),
        event("slider", control="volume", phase="change", value=0.5),
        event("tap", control="microphone", on=True), event("tap", control="camera"),
        *(event("stats", bitrateKbps=4000 + 100 * number, framesPerSecond=60 - number, droppedFrames=number,
                roundTripMs=20 + number, congestion=number / 10, after=1000) for number in range(4)),
        event("recorder.state", state="recording"),
        event("recorder.progress", bytes=12345, durationMs=900),
        event("recorder.progress", bytes=45678, durationMs=1800, done=2, total=9),
        event("meter", input="mic", levels=[0.5, 0.25]),
        event("nonsense"), "{not JSON", event("viewers", count=95),
        # The pause is long enough for held events to be drawn.
        event("viewers", count=96, after=5000),
    ]


def unfinished(event):
    """Returns events in progress when the daemon is killed: an unread message and the drag of a slider."""
    return [
        event("chat.message", id="m99", user=MIN, text="message 99"),
        event("viewers", count=97), event("reaction", kind="heart", count=1, after=2000),
        event("slider", control="zoom", phase="begin", value=0.7),
        event("slider", control="zoom", phase="change", value=0.6, after=1000),
    ]


def host(daemon, room):
    """Performs acts of the host."""
    daemon.ctl("set", room, "beauty", "0.25")
    daemon.ctl("set", room, "endStream", "on")
    daemon.ctl("chat", "highlight", room, "Ada", "Bob")
    daemon.ctl("chat", "filter", room, "--words", "message")
    daemon.ctl("chat", "scroll", room, "back")
    daemon.ctl("chat", "thread", room, "m1")
    notices = daemon.json("chat", "notices", room)
    daemon.ctl("chat", "pin", room, str(notices[0]["number"]))
    daemon.ctl("chat", "dismiss", room, str(notices[-1]["number"]))


def parts(room):
    """Yields numbered lists of events. The state of a room shows the number of its last list."""
    event = Clock()
    for number in range(1, 100):
        yield [event("title", title=f"part {number}"), event("viewers", count=number),
               event("chat.message", id=f"{room}-{number}", user=ADA, text=f"message {number}", after=5000)]


def fill(daemon):
    waiting_room(daemon)
    event = Clock()
    daemon.send_in("live", *show(event))
    host(daemon, "live")
    daemon.send_in("live", *unfinished(event))

    # The recording of an ended stream was stopped, and the room continued without a recording.
    event = Clock()
    daemon.ctl("open", "evening")
    daemon.ctl("record", "start", "evening")
    daemon.send_in("evening", event("waiting.join", user=BOB), *show(event))
    host(daemon, "evening")
    daemon.send_in("evening", event("host.filter"), event("host.scroll", position="end"),
                event("stream", state="ended"), event("title", title="Thanks", after=2000))
    daemon.ctl("record", "stop", "evening")
    daemon.send_in("evening", event("title", title="Thanks for watching"))

    # One recording contains lines from Twitch.
    with gzip.open(REPOSITORY / "config/recordings/chat-burst.irc.gz", "rt", encoding="utf-8") as lines:
        twitch = [line.rstrip("\n") for line, _ in zip(lines, range(150))]
    daemon.ctl("open", "twitch")
    daemon.ctl("record", "start", "twitch")
    daemon.send_in("twitch", *twitch)
    daemon.ctl("record", "stop", "twitch")

    # The kill interrupts a recording that began when its room already had a state.
    event = Clock()
    daemon.send_in("cut", event("stream", state="live"), event("viewers", count=5),
                event("chat.message", id="before", user=ADA, text="before the recording"))
    daemon.ctl("record", "start", "cut")
    daemon.send_in("cut", *show(event))
    host(daemon, "cut")
    daemon.send_in("cut", *unfinished(event))

    # A recording is paused when the daemon is killed.
    part = parts("paused")
    daemon.send_in("paused", *next(part))
    daemon.ctl("record", "start", "paused")
    daemon.send_in("paused", *next(part))
    daemon.ctl("record", "pause", "paused")
    daemon.send_in("paused", *next(part))

    # The rooms `continued` and `alternating` are recorded at times, and only logged at other times. A snapshot mentions
    # the recording of `continued`.
    continued, alternating = parts("continued"), parts("alternating")
    daemon.send_in("continued", *next(continued))
    daemon.ctl("record", "start", "continued")
    daemon.send_in("continued", *next(continued))
    daemon.send_in("alternating", *next(alternating))

    # One room is closed, and another one is closed and opened again.
    for room in "closed", "reopened":
        part = parts(room)
        daemon.send_in(room, *next(part))
        daemon.ctl("close", room)
    daemon.send_in("reopened", *next(part))
    daemon.ctl("close", "reopened")
    daemon.send_in("reopened", *next(part))

    with daemon.without_snapshots():
        def record(verb, room):
            """Performs a request that succeeds but exits with a failure, because it cannot be saved."""
            daemon.ctl("record", verb, room, status=None)

        record("stop", "continued")
        daemon.write_in("continued", *next(continued))
        # No snapshot mentions the recordings of the room `alternating`. The second recording is in
        # progress at the kill.
        for verb in "start", "stop", "start":
            record(verb, "alternating")
            daemon.write_in("alternating", *next(alternating))


def files(daemon):
    """Yields the name of each recording and the name of its expected files: its room, and from the second recording
    of a room also a number."""
    numbers = collections.Counter()
    for recording in daemon.json("record", "list"):
        room = recording["room"]
        numbers[room] += 1
        yield recording["recording"], room if numbers[room] == 1 else f"{room}-{numbers[room]}"


def expectation(daemon, directory, recorded):
    """Writes the reports of the version that wrote the state, after a restart."""
    def save(name, value):
        (directory / name).write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    for room in daemon.json("rooms"):
        save(f"show-{room['room']}.json", daemon.json("show", room["room"]))
    # Recordings that the restart has begun are omitted.
    recordings = [recording for recording in daemon.json("record", "list") if recording["recording"] in recorded]
    save("recordings.json", recordings)
    for recording in recordings:
        daemon.ctl("record", "stop", recording["room"], status=None)
    for name, file in files(daemon):
        if name not in recorded:
            continue
        (directory / f"export-{file}.jsonl").write_text(daemon.ctl("record", "export", name))
        played = f"played-{file}"
        daemon.ctl("open", played)
        result = daemon.json("replay", name, "--room", played, "--speed", "max")
        # The recordings of the room `alternating` end between an event and its frame, so the shown state depends on
        # timing.
        show = {} if file.startswith("alternating") else {"show": daemon.json("show", played)}
        save(f"replay-{file}.json", {"result": result, **show})


def anonymous(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def main(binaries, output):
    os.environ["TZ"] = "UTC"
    with tempfile.TemporaryDirectory(prefix="livehost-set-") as directory:
        daemon = Writer(binaries, directory, (output / "livehostd.yaml").read_text())
        try:
            fill(daemon)
            # The daemon was killed by fill().
            recorded = {path.name for path in daemon.state.glob("recordings/*-*")}
            with tarfile.open(output / "state.tar.gz", "w:gz") as archive:
                archive.add(daemon.state, "state", filter=anonymous)
            daemon.start()
            shutil.rmtree(output / "expected", ignore_errors=True)
            (output / "expected").mkdir()
            expectation(daemon, output / "expected", recorded)
        finally:
            daemon.stop()


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
