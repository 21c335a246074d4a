"""Kills a daemon at random moments. After each kill the room, and in every other round its recording, must have every
acknowledged event once and in order. There are 10 rounds, or 200 with LIVEHOST_SOAK=1. The number LIVEHOST_SEED
determines the moments."""
import json
import os
import random
import time

from harness.ingest import Feeder
from harness.programs import Daemon
from harness.waiting import wait_for

ROUNDS = 200 if os.environ.get("LIVEHOST_SOAK") else 10


def applied(daemon):
    """Returns the room, or None while events are still pending."""
    room = daemon.json("show", "main")
    return None if room["counters"]["pending"] else room


def problems_of_recording(daemon, name, total):
    listed = {entry["recording"]: entry for entry in daemon.json("record", "list")}.get(name, {})
    export = daemon.ctl("record", "export", name, limit=300)
    numbers = [int(json.loads(line)["id"]) for line in export.splitlines()]
    if listed.get("state") != "recording":
        yield f"listed as {listed}, but it should be recording"
    if listed.get("events") != len(numbers):
        yield f"{len(numbers)} events, listed as {listed}"
    if numbers != list(range(total)):
        yield f"of {total} events some are missing, repeated or out of order"


def problems_of_room(room, chat, acknowledged):
    newest, total = [int(message["id"]) for message in chat["messages"]], chat["total"]
    if newest != list(range(total - len(newest), total)):
        yield f"the room has {total} messages, the newest of them {newest}"
    if room["counters"]["received"] != total:
        yield f"the room has {total} messages, and counts {room['counters']}"
    if total < acknowledged:
        yield f"{acknowledged} messages were acknowledged, but the room has {total}"


def test_acknowledged_events_survive_kills_of_the_daemon(check, programs, tmp_path):
    seed = int(os.environ.get("LIVEHOST_SEED") or random.randrange(1 << 30))
    random.seed(seed)
    check.write(f"{ROUNDS} rounds, LIVEHOST_SEED={seed}")
    daemon = Daemon(programs, tmp_path)
    acknowledged = 0
    for number in range(1, ROUNDS + 1):
        if number > 1:
            daemon.start()
        daemon.ctl("open", "main")
        recording = daemon.json("record", "start", "main")["recording"] if number % 2 else None
        feeder = Feeder(daemon.ingest)
        # The kill comes at a random moment.
        time.sleep(random.random() * 1.5)
        daemon.kill()
        feeder.end()
        daemon.start()
        room = wait_for(lambda: applied(daemon), "the room to apply all that it has received")
        chat = room["features"].get("chat") or {"total": 0, "messages": []}
        problems = list(problems_of_room(room, chat, feeder.acknowledged))
        if recording:
            problems += problems_of_recording(daemon, recording, chat["total"])
        daemon.ctl("close", "main")
        # Thousands of recordings would fill the disk, so only a faulty recording is kept.
        if recording and not problems:
            daemon.ctl("record", "delete", recording)
        check(f"round {number}: {feeder.acknowledged} acknowledged, "
              f"{chat['total']} {'recorded' if recording else 'logged'}", not problems, problems)
        acknowledged += feeder.acknowledged
        assert daemon.stop() == 0
    assert acknowledged > 0, "nothing was ever acknowledged"
