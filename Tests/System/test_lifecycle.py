"""The effects of upgrades, reloads, kills, stalls and stops on rooms, recordings and
connections."""
import contextlib
import json
import shlex
import shutil
import tarfile

import pytest

from compare import differences
from debian import CONTROL, DAEMON, INGEST, STATE, UNITS
from harness.ingest import Feeder
from harness.places import ROOT
from harness.varlink import Client
from harness.waiting import wait_for

SET = ROOT / "Tests/Compatibility/0.1.0"
DROP_IN = "/run/systemd/system/livehostd.service.d/test.conf"
DIRECTORY = "/etc/livehost/livehostd.yaml.d"


class Load:
    """Creates a room `main`, recorded or not, and feeds it on another thread. Returns once the
    room has many messages."""

    def __init__(self, debian, is_recorded):
        self.debian = debian
        debian.ctl("close", "main", status=None)
        debian.ctl("open", "main")
        self.recording = debian.json("record", "start", "main")["recording"] if is_recorded else None
        self.feeder = Feeder(debian.path(INGEST))
        wait_for(lambda: self.total() >= 20000, lambda: f"the room has only {self.total()} messages")

    def total(self):
        return self.debian.json("show", "main", "chat")["features"].get("chat", {}).get("total", 0)

    def end(self):
        """Waits until the daemon has stopped; returns the number of messages that it
        acknowledged."""
        acknowledged = self.feeder.wait()
        assert acknowledged, "no message was acknowledged"
        return acknowledged

    def assert_kept(self):
        """Checks that the room and its recording contain every acknowledged message, and that
        recording continues."""
        acknowledged, total = self.end(), self.total()
        assert total >= acknowledged, f"{acknowledged} acknowledged, {total} in the room"
        if self.recording:
            last = self.debian.json("record", "list", "main")[-1]
            assert last["events"] == total and last["state"] == "recording", f"{total} in the room; {last}"

    def kill(self):
        """Kills the service. systemd restarts it, and every acknowledged message must be there."""
        process = self.debian.main_process()
        self.debian.systemctl("kill", "--signal=KILL", DAEMON)
        self.end()
        self.debian.wait_for_other_process(process)
        self.assert_kept()


@contextlib.contextmanager
def settings(debian, *lines):
    """Restarts the service with other settings, and afterwards with its original ones."""
    def restart():
        debian.systemctl("daemon-reload")
        debian.systemctl("restart", DAEMON)
    try:
        with debian.file(DROP_IN, "\n".join(["[Service]", *lines, ""])):
            restart()
            yield
    finally:
        restart()


def lay_old_state(debian):
    """Replaces the current state by the state that 0.1.0 left behind when it was killed."""
    debian.systemctl("stop", *UNITS)
    # The test uses a new directory, because systemd changes the owner of everything in a directory
    # with another owner.
    state = debian.path(STATE)
    shutil.rmtree(state)
    with tarfile.open(SET / "state.tar.gz") as archive:
        archive.extractall(state.parent)
    (state.parent / "state").rename(state)


def assert_old_rooms(debian):
    """Checks that the rooms that 0.1.0 left behind have the content that 0.1.0 itself showed
    after a restart."""
    for room in "waiting", "live", "evening", "twitch":
        expected = json.loads((SET / f"expected/show-{room}.json").read_text())
        parts = {name: expected[name] for name in ("phase", "features", "counters", "rejectedByReason")}
        problems = list(differences(parts, debian.json("show", room), room))
        assert not problems, "\n".join(problems)


def upgrade(debian):
    """Upgrades the package under load, while a room is recorded and its sender is connected."""
    def sockets():
        return [debian.path(path).stat().st_ino for path in (CONTROL, INGEST)]

    lay_old_state(debian)
    debian.install("old")
    debian.systemctl("start", *UNITS)
    assert_old_rooms(debian)
    load = Load(debian, is_recorded=True)
    process, before = debian.main_process(), sockets()
    debian.install("livehost")
    load.end()
    debian.assert_enabled()
    assert debian.main_process() != process, "the service was not restarted"
    assert sockets() == before, "the sockets were created again"
    load.assert_kept()
    rooms = debian.json("rooms")
    assert len(rooms) == 7, f"expected 7 rooms: {rooms}"
    assert_old_rooms(debian)
    # A sender that reconnects is accepted.
    debian.send("main", "viewers", count=3)
    assert "chatHistory: 200" in debian.path(f"{DIRECTORY}/0.1.0.yaml").read_text()


def test_upgrades_keep_connections_or_state(check, debian):
    with check.attempt(
            "an upgrade from 0.1.0 under load keeps sockets, rooms, recordings and acknowledged messages"):
        with debian.file(f"{DIRECTORY}/0.1.0.yaml", (SET / "livehostd.yaml").read_text()):
            upgrade(debian)
            for room in debian.json("rooms"):
                debian.ctl("close", room["room"])
    if "0.1.0" in debian.run("dpkg-query", "-W", "livehost"):
        debian.install("livehost")
    debian.systemctl("restart", DAEMON)


def test_a_reload_keeps_connections(check, debian):
    """Checks that a monitor and a source stay connected, and that an invalid file changes
    nothing."""
    def assert_level(level):
        seen = debian.json("log-level")["logLevel"]
        assert seen == level, f"the level is {seen}, expected {level}"

    with check.attempt("a reload takes effect or is refused, and drops no connection"):
        debian.send("main", "viewers", count=1)
        process = debian.main_process()
        monitor = Client(debian.path(CONTROL))
        monitor.send("MonitorRoom", {"room": "main", "features": ["header"]}, more=True)
        monitor.receive()
        with debian.file(f"{DIRECTORY}/test.yaml", "log:\n  level: warning\n") as file:
            debian.systemctl("reload", DAEMON)
            assert_level("warning")
            file.write_text("log:\n  level: loud\n")
            with pytest.raises(AssertionError, match="ended with 1"):
                debian.systemctl("reload", DAEMON)
            assert_level("warning")
        debian.systemctl("reload", DAEMON)
        assert_level("info")
        assert debian.state() == "active" and debian.main_process() == process, "the service was restarted"
        debian.send("main", "viewers", count=4711)
        while "4711" not in json.dumps(monitor.receive()):
            pass


def test_no_acknowledged_message_is_lost_when_the_service_ends(check, debian):
    with check.attempt("a kill under load loses no acknowledged message, and recording continues"):
        Load(debian, is_recorded=True).kill()
    with check.attempt("a kill under load loses no acknowledged message of a room that is not recorded"):
        Load(debian, is_recorded=False).kill()
    with check.attempt("a stop under load is clean, and the recording has every acknowledged message"):
        load = Load(debian, is_recorded=True)
        debian.systemctl("stop", DAEMON)
        acknowledged = load.end()
        unit = debian.unit()
        assert (unit["ActiveState"], unit["Result"]) == ("inactive", "success"), unit
        debian.systemctl("start", DAEMON)
        debian.ctl("record", "stop", "main")
        exported = debian.ctl("record", "export", load.recording).count("\n")
        assert exported >= acknowledged, f"{acknowledged} acknowledged, {exported} in {load.recording}"
    with check.attempt("the watchdog detects a blocked lane, and the rooms are restored"):
        with settings(debian, "WatchdogSec=2s", "Environment=LIVEHOST_BLOCK_LANE_MS=600000"):
            debian.send("main", "title", title="Before the stall")
            process = debian.main_process()
            debian.systemctl("kill", "--signal=USR2", DAEMON)
            debian.wait_for_other_process(process)
            own = debian.journal("-u", DAEMON, f"_PID={process}")
            assert "made no progress" in own, own
            assert "Watchdog timeout" in debian.journal("-u", DAEMON), debian.journal("-u", DAEMON, "-n", "20")
            assert "Before the stall" in debian.ctl("show", "main", "header", "--json=short")


def act_without_outcome(debian):
    """Requests an act from a controller of the room journal, which leaves without an outcome."""
    def actions():
        name = 'livehost_room_actions_total{feature="control",room="journal"}'
        return [line for line in debian.ctl("metrics").splitlines() if line.startswith(name)]

    with Client(debian.path(CONTROL)) as caller:
        with Client(debian.path(CONTROL)) as controller:
            before = actions()
            controller.send(
                "MonitorRequests", {"room": "journal", "controls": [], "platform": "twitch", "acts": ["say"]}, more=True)
            wait_for(lambda: actions() != before, "an action for the new controller")
            caller.send("Act", {"room": "journal", "kind": "say", "text": "hello"})
            controller.receive()
        assert caller.receive()["parameters"]["outcome"] == "refused"


def provoke_entries(debian):
    """Triggers an entry of every kind that earlier checks have not triggered."""
    def run(*lines):
        for line in lines:
            debian.ctl(*shlex.split(line), input="no event\n", status=None)

    recordings = debian.path(f"{STATE}/recordings")
    with settings(debian, "Environment=LIVEHOST_HOLD=action:header.titleChanged=600,action:header.viewersChanged=300"):
        run("open journal", """send journal '{"type":"title","title":"a hang"}'""", "set journal volume 0.5",
            """send journal '{"type":"viewers","count":8}'""", "ingest - --room journal")
        act_without_outcome(debian)
        recording = debian.json("record", "start", "journal")["recording"]
        run("""send journal '{"type":"chat.message","id":"1","user":{"id":"7","name":"Ada"},"text":"hello"}'""",
            "record pause journal", "record stop journal", f"analyze chatters {recording}")
        debian.run("sed", "-i", '2s/"at"/"At"/', f"{STATE}/recordings/{recording}/000001.ndjson")
        run(f"record verify {recording}", f"record delete {recording}")
        recordings.chmod(0o500)
        run("record start journal")
        recordings.chmod(0o700)
        run("close journal")
        # A call longer than users without rights may send.
        debian.ctl("why", "journal", "0" * 20000, user="nobody", status=None)
    # Refusals are logged as sums, the last one when the service stops.


def test_every_kind_of_journal_entry_is_explained(check, debian):
    """Lost entries cannot be triggered here; Tests/Interop/test_journal.py blocks a journal for
    them."""
    with check.attempt("every kind of journal entry has its fields and an explanation"):
        kinds = {kind["kind"]: kind["messageID"] for kind in debian.json("journal", "--kinds")["kinds"]}
        assert len(kinds) >= 15, f"livehostctl lists only these kinds: {kinds}"
        provoke_entries(debian)
        problems = []
        if (lost := kinds.pop("entries-lost")) not in debian.run("journalctl", "--list-catalog", lost):
            problems.append("entries-lost is not in the catalog")
        for kind, number in kinds.items():
            explained = debian.journal("-x", "-u", DAEMON, f"MESSAGE_ID={number}")
            entry = debian.journal("-n", "1", "-o", "json", "-u", DAEMON, f"MESSAGE_ID={number}")
            has_no_field = kind in ("service-started", "service-stopped", "reload", "configuration-error")
            if "░░ Subject:" not in explained or not (has_no_field or '"LIVEHOST_' in entry):
                problems.append(f"{kind} ({number}): explained by '{explained[:300]}', entry {entry or 'none'}")
        assert not problems, "\n".join(problems)
