"""Sends a daemon heavy and hostile input for SOAK_SECONDS (600) and checks its memory. SOAK_SEED repeats a run. The
option -s of pytest shows the seed and the memory."""
import gzip
import os
import random
import subprocess
import sys
import time

from harness.places import BURST
from harness.varlink import Connection
from harness.waiting import wait_for

SECONDS = int(os.environ.get("SOAK_SECONDS") or 600)
SEED = int(os.environ.get("SOAK_SEED") or time.time())
# The program must end by itself, because at this priority no other process on its processor can end
# it.
HOG = "import time; end = time.monotonic() + 0.9\nwhile time.monotonic() < end: pass"


def hostile(path, lines, chance):
    """Sends mutated lines of the recording, random bytes and broken JSON. Some connections end within a line."""
    for _ in range(20):
        block = bytearray()
        for _ in range(500):
            line = bytearray(chance.choice(lines))
            for _ in range(chance.randrange(4) if line else 0):
                line[chance.randrange(len(line))] = chance.randrange(256)
            kind = chance.randrange(10)
            if kind == 0:
                line = chance.randbytes(chance.randrange(2000))
            elif kind == 1:
                line = b'{"type":"slider","control":"x","phase":"change","value":%d}' % chance.randrange(3)
            elif kind == 2:
                line = b"x" * chance.randrange(200_000)
            block += line + b"\n"
        if chance.randrange(3) == 0:
            block = block[:chance.randrange(len(block))]
        with Connection(path) as connection:
            connection.socket.sendall(block)


def reasons(daemon):
    return {hang["reason"] for hang in daemon.call("ListHangs")["hangs"]}


def test_a_starved_lane_is_reported_as_descheduled(check, start_daemon):
    """A lane loses its processor during a turn, in a daemon where handling a title takes a second."""
    if subprocess.run(["chrt", "--fifo", "50", "true"], capture_output=True).returncode != 0:
        check.skip("real-time priority is not permitted, so no lane can be starved")
        return
    daemon = start_daemon(environment={"LIVEHOST_HOLD": "action:header.titleChanged=1000"})
    daemon.ctl("open", "main")
    before, client = daemon.processor_seconds(), daemon.client()
    client.send("SendEvents", {"room": "main", "events": [{"type": "title", "title": "starved"}]})
    wait_for(lambda: daemon.processor_seconds() > before + 0.05, "a turn that takes long")
    hogs = [subprocess.Popen(["taskset", "--cpu-list", str(core), "chrt", "--fifo", "50", sys.executable, "-c", HOG])
            for core in os.sched_getaffinity(0)]
    for hog in hogs:
        hog.wait()
    check.equal("a lane that was held without a processor is reported as descheduled",
                wait_for(lambda: reasons(daemon), "a hang"), {"descheduled"})


def test_memory_stays_bounded_over_hours(check, daemon):
    check.write(f"soak: {SECONDS} s, seed {SEED}")
    lines = gzip.decompress(BURST.read_bytes()).split(b"\r\n")
    # This must run before hostile lines open the maximum number of rooms.
    for number in range(8):
        daemon.ctl("open", f"soak-{number}")
    memory, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        number = len(memory) + 1
        daemon.ctl("ingest", BURST, "--speed", "max", "--room", f"soak-{number % 8}")
        hostile(daemon.ingest, lines, random.Random(SEED + number))
        memory.append(daemon.call("GetStatus")["memoryBytes"] >> 20)
        if number % 10 == 0:
            check.write(f"round {number}: {memory[-1]} MiB")
    check("more than five rounds were run", len(memory) > 5, memory)
    # The machine causes turns without a processor. A report of any other long turn is a false
    # alarm.
    check("all reported hangs were caused by the machine", reasons(daemon) <= {"descheduled"}, reasons(daemon))
    # Histories and tables grow in the first rounds.
    check("memory stays flat after the first rounds", max(memory) <= memory[:5][-1] + 32, f"MiB after rounds: {memory}")
    totals = daemon.call("GetStatus")["totals"]
    parts = [totals[name] for name in ("applied", "coalesced", "rejected", "pending")]
    check.equal("every event is accounted for", totals["received"], sum(parts))
    check.equal("the daemon exits with 0 after SIGTERM", daemon.stop(), 0)
