"""Runs a daemon whose state directory is on a FUSE file system that stops answering `fsync` for a while.

After ten seconds `status` must report the problem. Meanwhile the watchdog is not fed, no event is acknowledged, and a
room that needs no sync continues. Once the disk answers, the daemon recovers. Needs root and the packages that
`packaging/dependencies.sh soak` installs."""
import contextlib
import fcntl
import os
import pathlib
import select
import socket
import time

from harness.ingest import Ingest
from harness.namespaces import own_mounts
from harness.programs import Daemon, Program
from harness.waiting import wait_for

# The watchdog interval of the unit, in seconds.
WATCHDOG = 30


def message(room, number):
    return {"type": "chat.message", "room": room, "id": str(number), "user": {"id": "u", "name": "n"}, "text": "t"}


def fed(notifications):
    """Returns how often the watchdog was fed since the last call."""
    times = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            times += b"WATCHDOG=1" in notifications.recv(4096).split(b"\n")
    return times


@contextlib.contextmanager
def disk(directory):
    """Mounts a disk at the daemon's state directory. Its syncs block while the returned file is locked."""
    for name in ("backing", "state"):
        (directory / name).mkdir()
    # Only the system's Python has the FUSE library.
    with own_mounts(), open(directory / "lock", "w") as lock:
        server = Program(["/usr/bin/python3", pathlib.Path(__file__).with_name("dying_disk.py"), directory / "backing",
                          directory / "state", lock.name], directory / "disk.log")
        try:
            server.wait_for(lambda: os.path.ismount(directory / "state"), "the file system; is /dev/fuse there?")
            yield lock
        finally:
            # Calls that wait for the disk fail when it is unmounted.
            server.kill()


def test_the_daemon_survives_a_disk_that_stops_responding(check, programs, tmp_path):
    with disk(tmp_path) as lock, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
        notifications.bind(str(tmp_path / "notify"))
        notifications.setblocking(False)
        daemon = Daemon(programs, tmp_path, environment={
            "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": str(WATCHDOG * 1_000_000)})
        check("a daemon starts on the file system", daemon.is_alive())

        def status():
            return daemon.json("status")

        def applied():
            return daemon.json("show", "other")["counters"]["applied"]

        for room in ("main", "other"):
            daemon.ctl("open", room)
        daemon.ctl("record", "start", "main")
        with Ingest(daemon.ingest) as sender, Ingest(daemon.ingest) as other:
            check("the daemon acknowledges events on disk", sender.sync(message("main", 1)))
            check.equal("the daemon is healthy", status()["health"], "ok")
            fcntl.flock(lock, fcntl.LOCK_EX)
            begun = time.monotonic()
            sender.send(message("main", 2), {"type": "sync", "token": "second"})
            problems = wait_for(lambda: status().get("problems"), "a problem")
            took = time.monotonic() - begun
            check("the status reports a disk whose syncs do not return", status()["health"] == "degraded" and any(
                "waits for the disk" in problem["text"] and problem["since"] for problem in problems), problems)
            check("the report appears within ten seconds and one poll", took < 20, took)
            fed(notifications)
            before = applied()
            other.send(*(message("other", number) for number in range(1000)))
            with check.attempt("another room keeps working"):
                wait_for(lambda: applied() == before + 1000, lambda: f"{before} and 1000 messages, seen {applied()}")
            time.sleep(max(0, begun + WATCHDOG - time.monotonic()))
            check.equal("the watchdog is not fed during its interval", fed(notifications), 0)
            check("no event is acknowledged while the disk hangs", not select.select([sender.socket], [], [], 0.1)[0])
            fcntl.flock(lock, fcntl.LOCK_UN)
            check("the daemon acknowledges events when the disk works again", sender.answer("second"))
        with check.attempt("the daemon is healthy again"):
            wait_for(lambda: status()["health"] == "ok", lambda: f"health in {status()}")
        with check.attempt("the watchdog is fed again"):
            wait_for(lambda: fed(notifications), "a notification")
        check.contains("the recording contains both events", daemon.ctl("record", "stop", "main", "--json=short"), '"events":2')
        check.equal("the daemon exits with 0 after SIGTERM", daemon.stop(), 0)
    check.complete(13)
