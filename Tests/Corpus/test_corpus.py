"""Tests the corpus: inputs as platforms and programs write them, and the state of the rooms.

Each folder belongs to a platform. A case consists of two files: the input, NAME.EXTENSION, and the
expected result, NAME.expected.json. An input of several parts consists of NAME@1.EXTENSION,
NAME@2.EXTENSION and so on. FEEDERS defines how the inputs of a folder reach the daemon. Inputs of
other folders are ingested as files. The module `feeders`, if it exists, adds its own FEEDERS. A
feeder is a function of a daemon and the paths of an input; it returns members of the summary.

A case without an expected result fails and prints the actual result in the form of an expected
result.
"""
import importlib
import json
import pathlib
import re
import socket
import subprocess
import time

import pytest

from harness.programs import Daemon
from harness.waiting import PATIENCE

# A name ends at the first dot. The number after @ identifies a part of an input.
NAME_END = re.compile(r"[.@]")
CORPUS = pathlib.Path(__file__).parent
EXPECTED = ".expected.json"


def ingest(daemon, paths):
    """Runs `livehostctl ingest` for each file. Returns its unknown kinds, and its exit code and
    message if it fails."""
    summary = {}
    for path in paths:
        run = subprocess.run(
            [daemon.programs / "livehostctl", "--socket", daemon.control, "ingest", path, "--speed=max",
             "--json=short"], capture_output=True, text=True, timeout=PATIENCE)
        printed = json.loads(run.stdout)
        result = printed if run.returncode == 0 else printed["error"].get("result", {})
        summary |= {"notTranslated": result.get("unknown", {})}
        if run.returncode:
            message = printed["error"]["message"].replace(f"{path.parent}/", "")
            summary |= {"exit": run.returncode, "message": re.sub(r"[0-9.]+ s\b", "N s", message)}
    return summary


def send(daemon, paths):
    """Writes the files to the ingest socket, like a source that forwards a platform's lines."""
    for path in paths:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(daemon.ingest))
            client.sendall(path.read_bytes().rstrip(b"\n") + b'\n{"type":"sync","token":"t"}\n')
            assert any('"synced"' in line for line in client.makefile()), "the lines were not acknowledged"
    return {}


FEEDERS = {"twitch-irc": send}
if (CORPUS / "feeders.py").exists():
    FEEDERS |= importlib.import_module("feeders").FEEDERS


def without_defaults(value):
    """Removes members that are null, false, 0 or empty."""
    if isinstance(value, dict):
        members = {name: without_defaults(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in (None, False, 0, "", [], {})}
    return [without_defaults(element) for element in value] if isinstance(value, list) else value


class Summary:
    """The state of the rooms, without values that differ between runs. A time during the test is
    represented as "now". The daemon's clock may be a little slow."""

    def __init__(self, begun):
        self.begun, self.ended = (begun - 5) * 1000, time.time() * 1000

    def room(self, room):
        features = room["features"]
        header, chat, activity = features["header"], features.get("chat") or {}, features.get("activity") or {}
        return {
            "phase": room["phase"] if room["phase"] != "waiting" else None,
            "title": header["title"], "viewers": header["viewers"], "likes": header["likes"],
            "total": chat.get("total"), "deleted": chat.get("deleted"), "modes": chat.get("modes"),
            "messages": [self.row(message) for message in chat.get("messages", [])],
            "notices": [self.row(row) for row in chat.get("noticeQueue", [])],
            "activity": [self.row(row) for row in reversed(activity.get("rows", []))],
            "goals": activity.get("goals"), "hypeTrain": activity.get("hypeTrain"),
            "prediction": activity.get("prediction"), "poll": features.get("poll"),
            "stats": (features.get("liveRoomStats") or {}).get("last"), "rejected": room["rejectedByReason"]}

    def row(self, row):
        """Returns a message or a row of the activity feed without its identifiers."""
        hidden = ("id", "timestamp", "user", "number", "pinned", "times", "platform")
        members = {name: member for name, member in row.items() if name not in hidden}
        if user := row.get("user"):
            members |= {"name": user["name"], "badges": user.get("badges")}
        return members | {
            "time": "now" if self.begun <= row["timestamp"] <= self.ended else row["timestamp"],
            "times": row["times"] if row.get("times", 1) > 1 else None}


def summary_of(daemon, begun):
    summary = Summary(begun)
    return {name: summary.room(daemon.call("GetRoom", room=name)) for name in room_names(daemon)}


def text(summary):
    """Formats a summary as an expected result, with each row on a separate line."""
    def lines(value, indent):
        if isinstance(value, (dict, list)) and len(json.dumps(value, ensure_ascii=False)) + len(indent) > 118:
            inner = indent + "  "
            if isinstance(value, dict):
                rows = [f"{inner}{json.dumps(name)}: {lines(member, inner)}" for name, member in value.items()]
            else:
                rows = [inner + lines(element, inner) for element in value]
            ends = "{}" if isinstance(value, dict) else "[]"
            return ends[0] + "\n" + ",\n".join(rows) + f"\n{indent}" + ends[1]
        return json.dumps(value, ensure_ascii=False)
    return lines(summary, "")


class Case:
    """An input and its expected result."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.expected = folder / (name + EXPECTED)
        self.inputs = sorted(
            path for path in folder.iterdir()
            if NAME_END.split(path.name)[0] == name and path != self.expected)


def cases():
    """Returns a parameter for each case. Skips README.md and folders."""
    found = []
    for folder in sorted(path for path in CORPUS.iterdir() if path.is_dir() and path.name[0] not in "._"):
        files = [path.name for path in folder.iterdir() if path.is_file() and path.name != "README.md"]
        names = {NAME_END.split(name)[0] for name in files}
        found += [pytest.param(Case(folder, name), id=f"{folder.name}/{name}") for name in sorted(names)]
    return found


@pytest.fixture(scope="module")
def corpus_daemon(programs, tmp_path_factory):
    """One daemon for all cases. Each case closes the rooms of the previous case."""
    daemon = Daemon(programs, tmp_path_factory.mktemp("livehostd"))
    yield daemon
    assert daemon.stop() == 0


def room_names(daemon):
    return [room["room"] for room in daemon.call("ListRooms")["rooms"]]


def test_every_folder_has_a_readme_with_its_sources():
    folders = {case.values[0].folder for case in cases()}
    assert all((folder / "README.md").is_file() for folder in folders), folders


@pytest.mark.parametrize("case", cases())
def test_case(case, corpus_daemon):
    assert case.inputs, f"{case.expected.name} has no input"
    for name in room_names(corpus_daemon):
        corpus_daemon.call("CloseRoom", room=name)
    begun = time.time()
    summary = FEEDERS.get(case.folder.name, ingest)(corpus_daemon, case.inputs)
    seen = without_defaults(summary | {"rooms": summary_of(corpus_daemon, begun)})
    assert case.expected.exists(), f"no {case.expected.name}; seen:\n{text(seen)}"
    expected = json.loads(case.expected.read_text())
    expected.pop("why", None)
    assert seen == expected, f"seen:\n{text(seen)}"
