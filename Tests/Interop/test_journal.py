"""Tests the daemon's entries in a real journal, of a systemd-journald with private mounts. Under full load journald is
stopped for ten seconds, or for a minute with LIVEHOST_SOAK=1. Needs root."""
import collections
import contextlib
import functools
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

from harness.ingest import Feeder, Ingest
from harness.namespaces import own_mounts
from harness.programs import Daemon, Program
from harness.waiting import wait_for
from test_surface import Surface, ask, replies

CHECKS = 19
SECONDS = 60 if os.environ.get("LIVEHOST_SOAK") else 10
CATALOG = pathlib.Path(__file__).resolve().parents[2] / "packaging/catalog"
RUN, FILES = pathlib.Path("/run/systemd"), pathlib.Path("/run/log/journal")
CONFIGURATION = """[Journal]
Storage=volatile
ReadKMsg=no
Audit=no
RateLimitIntervalSec=0
ForwardToSyslog=no
ForwardToWall=no
"""


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


@contextlib.contextmanager
def own_journal(directory):
    """A journald with sockets and files that only the test can see."""
    with own_mounts():
        for place in ("/run", "/var/log/journal", "/var/lib/systemd/catalog"):
            if os.path.isdir(place):
                mount("-t", "tmpfs", "-o", "mode=0755", "none", place)
        for place in (RUN / "journal", RUN / "journald.conf.d", FILES):
            place.mkdir(parents=True)
        (RUN / "journald.conf.d/test.conf").write_text(CONFIGURATION)
        subprocess.run(["journalctl", "--version"], check=True, capture_output=True)
        journald = Program(["/lib/systemd/systemd-journald"], directory / "journald.log")
        try:
            journald.wait_for(lambda: (RUN / "journal/stdout").exists() and any(FILES.iterdir()), "journald")
            yield journald
        finally:
            journald.process.send_signal(signal.SIGCONT)
            journald.stop()


class JournalDaemon(Daemon):
    """A daemon whose standard error goes to the journal. It may exit immediately, for example if its configuration is
    invalid."""

    def __init__(self, programs, directory, configuration, **environment):
        directory.mkdir(exist_ok=True)
        super().__init__(programs, directory, configuration, environment)

    def start(self):
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(RUN / "journal/stdout"))
            stream.sendall(b"livehostd\n\n6\n1\n0\n0\n0\n")
            status = os.fstat(stream.fileno())
            self.environment |= {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}", "LIBDISPATCH_LOG": "NO"}
            self.options |= {"stdout": stream, "stderr": stream}
            with contextlib.suppress(ChildProcessError):
                super().start()

    def configure(self, text):
        (self.directory / "livehostd.yaml").write_text(text)

    def entries(self, *arguments):
        """Returns the daemon's entries as `livehostctl journal` reads them."""
        return [entry for entry in self.json("journal", *arguments)["entries"]
                if entry["fields"].get("_PID") == str(self.pid)]

    def wait_for_entry(self, kind):
        wait_for(lambda: self.entries("--kind", kind), f"an entry of the kind {kind}")

    def replies(self, calls):
        """Sends calls, pairs of method and parameters, over one connection without waiting. Returns the replies."""
        with self.client() as client:
            sender = threading.Thread(target=lambda: [client.send(*call) for call in calls])
            sender.start()
            replies = [client.receive() for _ in calls]
            sender.join()
        return replies


def kind(entry):
    return entry.get("kind", "-")



def empty(check, programs):
    runs = [subprocess.run([programs / "livehostctl", "journal", *arguments], capture_output=True, text=True)
            for arguments in ([], ["--json=short"], ["--kind", "hang"])]
    check("a journal without entries of livehost gives an empty list",
          not any(run.returncode or run.stderr for run in runs) and runs[0].stdout == "no entries\n"
          and json.loads(runs[1].stdout) == {"entries": []} and "no hang" in runs[2].stdout, runs)


def refused_act(daemon):
    """Performs an act on a platform that its controller refuses."""
    with Surface(daemon, controls=[], platform="twitch", source="events", acts=["delete"]) as surface:
        with ask(daemon, "Act", kind="delete", message="m1", by="bob") as caller:
            surface.report(surface.next()["identifier"], "refused", reason="too old")
            replies(caller, outcome="refused", reason="too old")


def provoke_each_kind(programs, directory):
    """Returns a running daemon that has logged every kind of entry."""
    # The disk is small, so that the test can fill it.
    state = directory / "first/state"
    state.mkdir(parents=True)
    mount("-t", "tmpfs", "-o", "size=8m,mode=700", "none", state)
    daemon = JournalDaemon(programs, directory / "first", "lanes: 1\n",
                           LIVEHOST_HOLD="action:header.titleChanged=800,view:RecorderView=260")
    ctl = functools.partial(daemon.ctl, status=None)
    for command in ("open main", 'send main {"type":"title","title":"evening"}', "set main volume 0.5",
                    "record start main", "record pause main", "record resume main", "record stop main",
                    "analyze chatters main"):
        ctl(*command.split())
    refused_act(daemon)
    # Flips a bit.
    recording = next(state.glob("recordings/main-*/000001.ndjson"))
    data = bytearray(recording.read_bytes())
    data[len(data) // 2] ^= 1
    recording.write_bytes(data)
    ctl("record", "verify", "main")
    ctl("record", "delete", daemon.json("record", "list")[0]["recording"])
    with Ingest(daemon.ingest) as ingest:
        ingest.sync(b"{broken", b"{broken too", b"{and again", b'{"type":"nosuchtype"}')
    for text in ("rooms:\n  maximun: 3\n", "lanes: 2\n"):
        daemon.configure(text)
        ctl("reload")
    with contextlib.suppress(OSError), open(state / "ballast", "wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(65536))
    ctl("open", "side")
    ctl("record", "start", "side")
    daemon.wait_for_entry("recording-failed")
    ctl("close", "side")
    with contextlib.ExitStack() as stack:
        # The incomplete calls together exceed the daemon's memory for calls.
        for _ in range(12):
            client = stack.enter_context(daemon.client())
            with contextlib.suppress(OSError):
                client.socket.sendall(b"x" * ((4 << 20) - 1))
    daemon.wait_for_entry("client-refused")
    wait_for(lambda: len(daemon.json("hangs")["hangs"]) >= 3, "three hangs")
    return daemon


def reading(check, daemon, started):
    journal = ["journal", "--kind", "hang", "--since", f"@{started}"]

    def pair():
        return daemon.json("hangs"), daemon.json(*journal)

    # The journal's thread writes with a delay, and the machine may cause a hang at any time.
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: len(set(map(str, pair()))) == 1, "the same hangs")
    running, past = pair()
    check("the journal's hangs are those of the running daemon, field by field",
          running == past and len(past["hangs"]) >= 3, (running, past))
    check.equal("the journal contains hangs and microhangs", {hang["kind"] for hang in past["hangs"]}, {"hang", "microhang"})
    table = daemon.ctl(*journal)
    check.equal("the table of hangs has the same text with the journal as with the daemon", daemon.ctl("hangs"), table)
    check.equal("a directory of journal files gives the same output as the machine's journal",
                daemon.ctl(*journal, "--directory", next(FILES.iterdir())), table)
    check.equal("an option limits the output to the newest hangs",
                [daemon.json(*journal, "-n1")["hangs"], *map(kind, daemon.entries("-n1", "--kind", "room-opened"))],
                [past["hangs"][-1:], "room-opened"])
    sides = daemon.entries("--room", "side")
    check("--room limits the entries to one room", {"room-opened", "room-closed", "recording-failed"} <= set(map(kind, sides))
          and {entry.get("room") for entry in sides} == {"side"}, sides)
    end = sides[0]["timestamp"]
    times = [entry["timestamp"] for entry in daemon.entries("--until", f"@{end / 1000 - 0.001}")]
    check("--until limits the entries to earlier ones", times and max(times) < end, f"expected times before {end}, seen {times}")


def following(check, daemon, log):
    command = [daemon.programs / "livehostctl", "journal", "--follow", "--json=short", "--kind", "room-opened"]
    follower = Program(command, log, stdout=subprocess.PIPE, text=True)

    def rooms(count):
        return [json.loads(follower.output.readline())["room"] for _ in range(count)]

    read = rooms(2)
    # Opening the room fails because the daemon's disk is full, but the entry is written.
    daemon.ctl("open", "followed", status=None)
    read += rooms(1)
    follower.process.send_signal(signal.SIGINT)
    check.equal("journal --follow prints new entries, and exits with 130 when interrupted",
                (read, follower.wait()), (["main", "side", "followed"], 130))


def refusal(check, programs, directory):
    daemon = JournalDaemon(programs, directory / "refused", "lanes: none\n")
    status = daemon.wait()
    daemon.wait_for_entry("configuration-error")
    keys = [entry["fields"]["LIVEHOST_KEY"] for entry in daemon.entries("--kind", "configuration-error")]
    check.equal("a daemon with an invalid configuration exits with 78, and the journal contains the reason",
                (status, keys), (78, ["lanes"]))
    return daemon


def rejections(check, daemon):
    entries = daemon.entries("--kind", "input-rejected")
    told = [(entry["fields"]["LIVEHOST_REASON"], int(entry["fields"]["LIVEHOST_COUNT"])) for entry in entries]
    sums = collections.Counter()
    for reason, count in told:
        sums[reason] += count
    check("rejected lines are counted by reason in few entries",
          sums == {"malformedJSON": 8, "unknownType": 1} and len(told) <= 4
          and told[:2] == [("malformedJSON", 3), ("unknownType", 1)], told)
    check.contains("the entry about a line of an unknown type names the type", entries[1]["message"], "'nosuchtype'")



def stopped_journald(check, journald, programs, directory):
    daemon = JournalDaemon(programs, directory / "second", "lanes: 1\n", LIVEHOST_JOURNAL_CAPACITY="160")
    load = Feeder(daemon.ingest, "load")
    wait_for(lambda: load.acknowledged > 1000, "the load")
    daemon.configure("lanes: none\n")
    journald.process.send_signal(signal.SIGSTOP)
    begun, before = time.monotonic(), load.acknowledged
    rooms = [(method, {"room": f"r{number % 7}"}) for number in range(300) for method in ("OpenRoom", "CloseRoom")]
    opened = sum("error" not in reply for reply in daemon.replies(rooms)) // 2
    daemon.send(*({"type": "slider", "room": "load", "control": "volume", "phase": phase, "value": float(f"0.{number}")}
                  for number in range(1, 300) for phase in ("begin", "end")))
    errors = sum("error" in reply for reply in daemon.replies([("io.systemd.service.Reload", {})] * 30))
    middle = load.acknowledged
    # The remaining time passes without calls, at least a second.
    time.sleep(max(1, SECONDS - (time.monotonic() - begun)))
    during = load.acknowledged
    lost_before = daemon.json("status")["journalEntriesLost"]
    journald.process.send_signal(signal.SIGCONT)
    load.end()
    committed = daemon.json("show", "load")["features"]["control"]["committed"]
    hangs = daemon.json("hangs")["hangs"]
    check("events were applied while journald was stopped", before < middle < during, (before, middle, during))
    # A lane that waits for journald would be blocked for seconds. The machine itself causes shorter hangs: a lane may
    # get a processor or a page of memory late.
    check.equal("no lane waited for journald, and none computed for long", [
        hang for hang in hangs if hang["reason"] == "blocked" and hang["durationMicroseconds"] >= 1_000_000
        or hang.get("processorMicroseconds", 10**9) >= 250_000], [])
    status = daemon.stop()
    counted, losses = collections.Counter(), collections.Counter()
    for entry in daemon.entries():
        counted[kind(entry)] += int(entry["fields"].get("LIVEHOST_REPEATED", 1))
        losses.update({name: int(entry["fields"].get(name, 0)) for name in ("LIVEHOST_LOST", "LIVEHOST_LOST_ERRORS")})
    # Adds the entry for the room of the load, which stays open.
    offered, lost = 2 * opened + 1 + committed, losses["LIVEHOST_LOST"]
    told = sum(counted[name] for name in ("room-opened", "room-closed", "slider-committed"))
    check("entries were lost, and each lost entry is counted and reported afterwards",
          lost >= max(1, lost_before) and told + lost == offered and status == 0,
          f"offered {offered}, told {told}, lost {lost}, before {lost_before}, ended with {status}: {counted}")
    check.equal("no entry about an error is lost", (errors, counted["configuration-error"], losses["LIVEHOST_LOST_ERRORS"]),
                (30, 30, 0))
    return daemon


def kinds_and_fields(check, daemons):
    known = {each["kind"]: each for each in daemons[0].json("journal", "--kinds")["kinds"]}
    entries = [entry for daemon in daemons for entry in daemon.entries()]
    check.equal("an entry of every kind was written", set(known) - set(map(kind, entries)), set())
    wrong = []
    for entry in entries:
        told = {name for name in entry["fields"] if name.startswith("LIVEHOST_")} - {"LIVEHOST_LOGGER"}
        if declared := known.get(kind(entry)):
            always = set(declared["fields"])
            if not always <= told <= always | set(declared["optionalFields"]) or entry["level"] != declared["level"]:
                wrong.append((kind(entry), sorted(told), entry["level"]))
    check.equal("each entry has the level and the fields of its kind", wrong, [])
    mount("--bind", CATALOG, "/usr/lib/systemd/catalog")
    subprocess.run(["journalctl", "--update-catalog"], check=True)
    texts = [subprocess.run(["journalctl", "-q", "-x", "--no-pager", "-n1", f"MESSAGE_ID={declared['messageID']}"],
                            capture_output=True, text=True).stdout for declared in known.values()]
    # journalctl shows the name of a field that is missing.
    wrong = [text for text in texts if "Subject: " not in text or "LIVEHOST_" in text or "@" in text]
    check.equal("journalctl -x explains each kind of entry, with all fields filled in", wrong, [])


def test_every_kind_of_entry_reaches_the_journal_and_is_explained(check, programs, tmp_path):
    with contextlib.ExitStack() as stack:
        try:
            journald = stack.enter_context(own_journal(tmp_path))
        except (OSError, subprocess.CalledProcessError) as error:
            return check.skip(f"journald cannot be started: {error}", CHECKS)
        empty(check, programs)
        started = time.time()
        first = provoke_each_kind(programs, tmp_path)
        reading(check, first, started)
        following(check, first, tmp_path / "follower.log")
        refused = refusal(check, programs, tmp_path)
        with Ingest(first.ingest) as ingest:
            ingest.sync(*[b"{broken"] * 5)
        first.stop()
        rejections(check, first)
        second = stopped_journald(check, journald, programs, tmp_path)
        kinds_and_fields(check, [first, refused, second])
    check.complete(CHECKS)
