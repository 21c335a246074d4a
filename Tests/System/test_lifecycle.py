"""What upgrades, reloads, kills, stalls and stops do to rooms, recordings and connections."""
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
    """A new room `main`, recorded or not, that is fed on another thread; made once it has many messages."""

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
        """Waits until the daemon has gone away; returns how many messages it acknowledged."""
        acknowledged = self.feeder.wait()
        assert acknowledged, "nothing was acknowledged"
        return acknowledged

    def assert_kept(self):
        """Everything acknowledged is in the room and in its recording, which goes on."""
        acknowledged, total = self.end(), self.total()
        assert total >= acknowledged, f"{acknowledged} acknowledged, {total} in the room"
        if self.recording:
            last = self.debian.json("record", "list", "main")[-1]
            assert last["events"] == total and last["state"] == "recording", f"{total} in the room; {last}"

    def kill(self):
        """Kills the service; systemd starts it again, with everything acknowledged."""
        process = self.debian.main_process()
        self.debian.systemctl("kill", "--signal=KILL", DAEMON)
        self.end()
        self.debian.wait_for_other_process(process)
        self.assert_kept()


@contextlib.contextmanager
def settings(debian, *lines):
    """Restarts the service with other settings, and afterwards with its own."""
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
    """Puts the state that 0.1.0 left behind when it was killed in place of the present one."""
    debian.systemctl("stop", *UNITS)
    # A new directory: systemd gives everything in it to the service's user if the directory belongs to another.
    state = debian.path(STATE)
    shutil.rmtree(state)
    with tarfile.open(SET / "state.tar.gz") as archive:
        archive.extractall(state.parent)
    (state.parent / "state").rename(state)


def assert_old_rooms(debian):
    """The rooms that 0.1.0 left behind are as 0.1.0 itself showed them after a restart."""
    for room in "waiting", "live", "evening", "twitch":
        expected = json.loads((SET / f"expected/show-{room}.json").read_text())
        parts = {name: expected[name] for name in ("phase", "features", "counters", "rejectedByReason")}
        problems = list(differences(parts, debian.json("show", room), room))
        assert not problems, "\n".join(problems)


def upgrade(debian):
    """Upgrades under load: a room is being recorded, and its sender is connected."""
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
    assert debian.main_process() != process, "it was not restarted"
    assert sockets() == before, "the sockets were created again"
    load.assert_kept()
    rooms = debian.json("rooms")
    assert len(rooms) == 7, f"expected 7 rooms: {rooms}"
    assert_old_rooms(debian)
    # A sender that reconnects is served.
    debian.send("main", "viewers", count=3)
    assert "chatHistory: 200" in debian.path(f"{DIRECTORY}/0.1.0.yaml").read_text()


def test_upgrade(check, debian):
    with check.attempt("an upgrade from 0.1.0 under load keeps sockets, rooms, recordings and what was acknowledged"):
        with debian.file(f"{DIRECTORY}/0.1.0.yaml", (SET / "livehostd.yaml").read_text()):
            upgrade(debian)
            for room in debian.json("rooms"):
                debian.ctl("close", room["room"])
    if "0.1.0" in debian.run("dpkg-query", "-W", "livehost"):
        debian.install("livehost")
    debian.systemctl("restart", DAEMON)


def test_reload(check, debian):
    """A monitor and a producer stay connected; an invalid file changes nothing."""
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
        assert debian.state() == "active" and debian.main_process() == process, "it was restarted"
        debian.send("main", "viewers", count=4711)
        while "4711" not in json.dumps(monitor.receive()):
            pass


def test_ends(check, debian):
    with check.attempt("killed under load: back with everything acknowledged, and recording continues"):
        Load(debian, is_recorded=True).kill()
    with check.attempt("the same for a room that is not recorded"):
        Load(debian, is_recorded=False).kill()
    with check.attempt("stopped under load with a recording: cleanly, with everything acknowledged"):
        load = Load(debian, is_recorded=True)
        debian.systemctl("stop", DAEMON)
        acknowledged = load.end()
        unit = debian.unit()
        assert (unit["ActiveState"], unit["Result"]) == ("inactive", "success"), unit
        debian.systemctl("start", DAEMON)
        debian.ctl("record", "stop", "main")
        exported = debian.ctl("record", "export", load.recording).count("\n")
        assert exported >= acknowledged, f"{acknowledged} acknowledged, {exported} in {load.recording}"
    with check.attempt("the watchdog notices a blocked lane, and the rooms come back"):
        with settings(debian, "WatchdogSec=2s", "Environment=LIVEHOST_BLOCK_LANE_MS=600000"):
            debian.send("main", "title", title="Before the stall")
            process = debian.main_process()
            debian.systemctl("kill", "--signal=USR2", DAEMON)
            debian.wait_for_other_process(process)
            own = debian.journal("-u", DAEMON, f"_PID={process}")
            assert "made no progress" in own, own
            assert "Watchdog timeout" in debian.journal("-u", DAEMON), debian.journal("-u", DAEMON, "-n", "20")
            assert "Before the stall" in debian.ctl("show", "main", "header", "--json=short")


def provoke_entries(debian):
    """Provokes an entry of every kind that earlier checks have not provoked."""
    def run(*lines):
        for line in lines:
            debian.ctl(*shlex.split(line), input="no event\n", status=None)

    recordings = debian.path(f"{STATE}/recordings")
    with settings(debian, "Environment=LIVEHOST_HOLD=action:header.titleChanged=600,action:header.viewersChanged=300"):
        run("open journal", """send journal '{"type":"title","title":"a hang"}'""", "set journal volume 0.5",
            """send journal '{"type":"viewers","count":8}'""", "ingest - --room journal")
        recording = debian.json("record", "start", "journal")["recording"]
        run("""send journal '{"type":"chat.message","id":"1","user":{"id":"7","name":"Ada"},"text":"hello"}'""",
            "record pause journal", "record stop journal", f"analyze chatters {recording}")
        debian.run("sed", "-i", '2s/"at"/"At"/', f"{STATE}/recordings/{recording}/000001.ndjson")
        run(f"record verify {recording}", f"record delete {recording}")
        recordings.chmod(0o500)
        run("record start journal")
        recordings.chmod(0o700)
        run("close journal")
        # A longer call than people without rights may send.
        debian.ctl("why", "journal", "0" * 20000, user="nobody", status=None)
    # Refusals are logged as sums; what is left of them at the latest when the service stops.


def test_entries(check, debian):
    """Lost entries cannot be provoked here; Tests/Interop/test_journal.py blocks a journal for them."""
    with check.attempt("every kind of journal entry has its fields and its explanation"):
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
