#!/usr/bin/env python3
"""Makes a set of state and recordings for later versions to read: `make-set.py BIN DIRECTORY`.

BIN is the directory of the programs that write the set. DIRECTORY holds the livehostd.yaml that they
run with, and receives `state.tar.gz` and `expected/`; see README.md. The daemon that writes the state is
killed, so the set is what a crash leaves behind.
"""
import atexit, gzip, json, os, shutil, signal, socket, subprocess, sys, tarfile, tempfile, time

binaries, output = map(os.path.abspath, sys.argv[1:3])
repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
configuration = f"{output}/livehostd.yaml"
directory = tempfile.mkdtemp(prefix="livehost-set-")
atexit.register(shutil.rmtree, directory)
environment = {"PATH": os.environ["PATH"], "HOME": directory, "LANG": "C.UTF-8", "TZ": "UTC"}

# Milliseconds since 1970 of the first event; fixed, so that a set made again differs little.
BEGIN = 1_795_260_000_000
ADA, BOB, EVE, MIN = ({"id": f"u{number}", "name": name} for number, name in
                      enumerate(["Ada", "Bob with a name longer than fifteen bytes", "Eve", "민지"]))


class Daemon:
    def __init__(self, state):
        self.run = tempfile.mkdtemp(dir=directory)
        self.process = subprocess.Popen(
            [f"{binaries}/livehostd", "--config", configuration, "--runtime-dir", self.run,
             "--state-dir", state], env=environment, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        while self.ctl("status", check=False).returncode != 0:
            if self.process.poll() is not None:
                sys.exit("the daemon did not start")
            time.sleep(0.05)

    def ctl(self, *arguments, check=True, text=None):
        return subprocess.run([f"{binaries}/livehostctl", "--socket", self.run, *arguments],
                              env=environment, check=check, input=text, capture_output=True, text=True)

    def json(self, *arguments):
        return json.loads(self.ctl(*arguments, "--json=short").stdout)

    def send(self, room, *lines):
        """Sends events or raw lines, in the events' own time, and waits until they are saved."""
        options = {"type": "options", "room": room, "clock": "event"}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(f"{self.run}/ingest")
            for line in (options, *lines, {"type": "sync", "token": "1"}):
                text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
                connection.sendall(text.encode() + b"\n")
            answer = json.loads(connection.makefile().readline())
        if answer["type"] != "synced":
            sys.exit(f"not saved: {answer}")

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()


class Clock:
    """Gives each event a later time stamp than the one before."""
    def __init__(self):
        self.now = BEGIN

    def __call__(self, type, after=150, **members):
        self.now += after
        return {"type": type, "ts": self.now, **members}


def waiting_room(daemon):
    event = Clock()
    daemon.send("waiting", event("stream", state="waiting"), event("title", title="Opens soon"),
                *(event("waiting.join", user=user) for user in (ADA, BOB, EVE, MIN)),
                event("waiting.leave", user=EVE), event("waiting.admit", user=BOB))
    daemon.ctl("capacity", "waiting", "2")
    daemon.ctl("schedule", "waiting", "@1795300000")
    daemon.ctl("admit", "waiting")


def show(event):
    """What leaves something to see in every part of the screen."""
    message = lambda number, user, text, **more: event(
        "chat.message", id=f"m{number}", user=user, text=text, **more)
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
        # Long enough for what throttles hold to be drawn.
        event("viewers", count=96, after=5000),
    ]


def unfinished(event):
    """What is under way when the daemon dies: an unread message and a slider that is being dragged."""
    return [
        event("chat.message", id="m99", user=MIN, text="message 99"),
        event("viewers", count=97), event("reaction", kind="heart", count=1, after=2000),
        event("slider", control="zoom", phase="begin", value=0.7),
        event("slider", control="zoom", phase="change", value=0.6, after=1000),
    ]


def host(daemon, room):
    """What the host does, by calls and by events."""
    daemon.ctl("set", room, "beauty", "0.25")
    daemon.ctl("set", room, "endStream", "on")
    daemon.ctl("chat", "highlight", room, "Ada", "Bob")
    daemon.ctl("chat", "filter", room, "--words", "message")
    daemon.ctl("chat", "scroll", room, "back")
    daemon.ctl("chat", "thread", room, "m1")
    notices = daemon.json("chat", "notices", room)
    daemon.ctl("chat", "pin", room, str(notices[0]["number"]))
    daemon.ctl("chat", "dismiss", room, str(notices[-1]["number"]))


def fill(daemon):
    waiting_room(daemon)
    event = Clock()
    daemon.send("live", *show(event))
    host(daemon, "live")
    daemon.send("live", *unfinished(event))

    # A recording that was stopped, of a stream that ended; the room lived on without one.
    event = Clock()
    daemon.ctl("open", "evening")
    daemon.ctl("record", "start", "evening")
    daemon.send("evening", event("waiting.join", user=BOB), *show(event))
    host(daemon, "evening")
    daemon.send("evening", event("host.filter"), event("host.scroll", position="end"),
                event("stream", state="ended"), event("title", title="Thanks", after=2000))
    daemon.ctl("record", "stop", "evening")
    daemon.send("evening", event("title", title="Thanks for watching"))

    # Twitch lines, recorded as well.
    with gzip.open(f"{repository}/config/recordings/chat-burst.irc.gz", "rt", encoding="utf-8") as lines:
        twitch = [line.rstrip("\n") for line, _ in zip(lines, range(150))]
    daemon.ctl("open", "twitch")
    daemon.ctl("record", "start", "twitch")
    daemon.send("twitch", *twitch)
    daemon.ctl("record", "stop", "twitch")

    # A recording that the kill cuts: it was begun over a room that already had a state.
    event = Clock()
    daemon.send("cut", event("stream", state="live"), event("viewers", count=5),
                event("chat.message", id="before", user=ADA, text="before the recording"))
    daemon.ctl("record", "start", "cut")
    daemon.send("cut", *show(event))
    host(daemon, "cut")
    daemon.send("cut", *unfinished(event))


def without_measurements(value):
    if isinstance(value, list):
        return [without_measurements(element) for element in value]
    if isinstance(value, dict):
        return {name: without_measurements(member) for name, member in value.items()
                if not name.endswith("Microseconds")}
    return value


def expectation(daemon):
    """What the version that wrote the state says about it after a restart."""
    os.makedirs(f"{output}/expected")
    def save(name, text):
        with open(f"{output}/expected/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    def pretty(value):
        return json.dumps(without_measurements(value), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    recordings = daemon.json("record", "list")
    for room in daemon.json("rooms"):
        save(f"show-{room['room']}.json", pretty(daemon.json("show", room["room"])))
    save("recordings.json", pretty(recordings))
    daemon.ctl("record", "stop", "cut")
    for recording in recordings:
        name, room = recording["recording"], recording["room"]
        save(f"export-{room}.jsonl", daemon.ctl("record", "export", name).stdout)
        played = f"played-{room}"
        daemon.ctl("open", played)
        result = daemon.json("replay", name, "--room", played, "--speed", "max")
        save(f"replay-{room}.json", pretty({"result": result, "show": daemon.json("show", played)}))


state = f"{directory}/state"
daemon = Daemon(state)
fill(daemon)
daemon.end(signal.SIGKILL)
for name in ("state.tar.gz", "expected"):
    path = f"{output}/{name}"
    shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)


def anonymous(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


with tarfile.open(f"{output}/state.tar.gz", "w:gz") as archive:
    archive.add(state, "state", filter=anonymous)
daemon = Daemon(state)
expectation(daemon)
daemon.end(signal.SIGTERM)
