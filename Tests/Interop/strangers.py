#!/usr/bin/env python3
"""Does to a daemon what local users and senders could do whom nobody trusts: `strangers.py RUN PID BIN`.

RUN is the daemon's runtime directory, PID its process, BIN the directory of the programs. In between, root
reads the status, reloads, opens rooms, and sends events: all of that must succeed. To be run as root, which
becomes `nobody` for the strangers' part, and a member of the group `livehost`, if there is one, for the senders'.
Ends with `N passed, N failed[, N skipped]`. `strangers.py --count` says how many checks that are.
"""
import contextlib
import grp
import json
import multiprocessing
import os
import select
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

from hostile import (
    CONTROL, Client, Closed, encoded, lines, lines_to_connection, messages, more_lines, more_messages, nasty, shapes)

NOBODY = 65534
# The user who is in the group livehost. Any will do that neither is root nor nobody.
MEMBER = 1
# How long others may be kept waiting, in seconds. What this guards against takes minutes to hours.
PATIENCE = 30
# By how much the daemon may grow meanwhile, in KiB.
ALLOWED_GROWTH = 64 << 10
# What one user without rights gets of the control socket: a quarter of all connections, and of all monitors.
CONNECTIONS, MONITORS = 64, 16
# With fewer connections than these, strangers would not be in anybody's way.
ENOUGH = CONNECTIONS * 3 // 4
# How many of each a stranger tries to get.
TRIES = 256
run = daemon = binaries = None
passed = failed = skipped = 0
# What the daemon takes before the first stranger comes, in KiB.
settled = 0
# How many monitors of strangers are running; they count them.
running = multiprocessing.Value("i", 0)


def connect(timeout=PATIENCE):
    return Client(f"{run}/io.livehost.Control", timeout)


def check(name, condition, details=""):
    global passed, failed
    if condition:
        passed += 1
        print(f"ok: {name}", flush=True)
    else:
        failed += 1
        print(f"FAILED: {name} {details}", flush=True)


def skip(reason):
    global skipped
    skipped += 1
    print(f"SKIPPED: {reason}", flush=True)


def status():
    """What somebody else sees meanwhile; None if it takes too long."""
    with contextlib.suppress(OSError, Closed):
        client = connect()
        reply = client.call(CONTROL + "GetStatus")
        client.close()
        return reply.get("parameters")


def resident():
    with open(f"/proc/{daemon}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def refused():
    """How often nobody was refused what, or lost it to others."""
    rows = (status() or {}).get("refusals") or []
    return {row["resource"]: row["count"] for row in rows if row.get("user") == NOBODY}


def accepted():
    """How many connections to the control socket the daemon has accepted and not closed. The kernel lists its end
    of each by the socket's path; the listening socket has a flag, and what still waits is not connected."""
    count = 0
    with open("/proc/net/unix") as file:
        for line in file:
            row = line.split()
            count += row[-1] == f"{run}/io.livehost.Control" and row[3] == "00000000" and row[5] == "03"
    return count


class Watch(threading.Thread):
    """Notes within its block how many connections are accepted."""

    def __enter__(self):
        self.counts, self.ending = [], threading.Event()
        self.start()
        return self

    def run(self):
        while not self.ending.wait(0.05):
            self.counts.append(accepted())

    def __exit__(self, *_):
        self.ending.set()
        self.join()


@contextlib.contextmanager
def stranger(body, *arguments, user=NOBODY, group=NOBODY):
    """Runs `body` as this user, in a process of its own. Begins once it says so; it ends with the block."""
    ready, release = multiprocessing.Event(), multiprocessing.Event()

    def main():
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
        body(ready, release, *arguments)

    process = multiprocessing.Process(target=main)
    process.start()
    while not ready.wait(0.1) and process.is_alive():
        pass
    try:
        yield process
    finally:
        release.set()
        process.join(30)
        if process.is_alive():
            process.kill()


def answered(data):
    """Whether the message is answered, or its connection closed."""
    try:
        client = connect(timeout=60)
        client.send(data)
        client.receive()
        client.close()
        return True
    except Closed:
        return True
    except OSError:
        return False


def send_all(ready, release, table):
    """Each is encoded when its turn comes: together they would take gigabytes."""
    ready.set()
    for message in table:
        if not answered(message if isinstance(message, bytes) else encoded(message)):
            sys.exit(f"a message was neither answered nor refused: {str(message)[:200]}")


def meanwhile(name, who, body, *arguments):
    """Two checks: `body` succeeds as this user, and others get their status whenever they ask in between."""
    user, group = {"root": (0, 0), "nobody": (NOBODY, NOBODY), "a member": (MEMBER, group_of_senders())}[who]
    replies = []
    with stranger(body, *arguments, user=user, group=group) as process:
        # The first time in any case: it has only begun.
        while not replies or process.is_alive():
            replies.append(status() is not None)
            process.join(0.05)
    check(f"{name}, by {who}", process.exitcode == 0, process.exitcode)
    check(f"  others get their status meanwhile ({len(replies)} asked)", bool(replies) and all(replies))


def synced(ingest):
    """What the daemon says to the `sync` with the token `end`, behind what it says to others."""
    ingest.sendall(b'{"type":"sync","token":"end"}\n')
    with ingest.makefile("rb") as answers:
        return next((answer for answer in map(json.loads, answers) if answer.get("token") == "end"), None)


def texts(kind, text, size, who):
    table = [message for make in (messages, more_messages) for _, message in make(text)]
    meanwhile(f"{kind} of {size} bytes", who, send_all, table)


def shape(kind, data, who):
    # More than once, so that something goes on while others ask.
    meanwhile(kind, who, send_all, [data] * 3)


def to_ingest():
    ingest = socket.socket(socket.AF_UNIX)
    ingest.settimeout(60)
    ingest.connect(f"{run}/ingest")
    return ingest


def send_lines(ready, release):
    """Lines of a sender, in each place that takes text. One connection; counted by its sync."""
    ingest = to_ingest()
    ready.set()
    count = 0
    # Titles that begin alike and end differently are the dearest to compare.
    for make, times in ((lines, 20), (more_lines, 4)):
        for _, text in nasty(60_000):
            for _, line in make(text):
                # So that what has the text twice is no longer than a line may be.
                own = text[:len(text) // 2] if len(line) > 63 << 10 else text
                line = line.replace(text.encode(), own.encode())
                for number in range(times):
                    ingest.sendall(line.replace(own.encode(), f"{own}{number}".encode()))
                    count += line.count(b"\n")
    answer = synced(ingest)
    if not answer or answer["received"] != count:
        sys.exit(f"{count} lines were sent: {answer}")


def send_to_connection(ready, release):
    """Lines to the connection, on one each, with an event behind it."""
    ready.set()
    for _, text in nasty(60_000):
        for place, line in lines_to_connection(text):
            ingest = to_ingest()
            ingest.sendall(line + b'{"type":"title","title":"a"}\n')
            if not synced(ingest):
                sys.exit(f"no answer to sync behind a line of {place}")
            ingest.close()


def hostile_lines():
    who = "a member" if group_of_senders() is not None else "root"
    meanwhile("lines of nasty text are counted", who, send_lines)
    meanwhile("lines of nasty text to the connection do no harm", who, send_to_connection)


# Strangers that take whatever there is.

def connect_many(count):
    clients = []
    end = time.monotonic() + PATIENCE
    while len(clients) < count and time.monotonic() < end:
        try:
            clients.append(connect())
        except BlockingIOError:
            # As many as can wait are waiting to be accepted.
            time.sleep(0.01)
    return clients


def still_open(clients):
    """Those that the daemon has not closed. Nothing is read of them."""
    poll = select.poll()
    for client in clients:
        poll.register(client.socket, 0)
    closed = {descriptor for descriptor, _ in poll.poll(0)}
    for client in clients:
        if client.socket.fileno() in closed:
            client.close()
    return [client for client in clients if client.socket.fileno() >= 0]


def unfinished(ready, release):
    """Holds as many beginnings of calls as the daemon admits. It gives each ten seconds; others then follow."""
    beginning = b'{"method":"' + b"x" * (12 << 10)
    clients, wanted = [], TRIES
    while not release.is_set():
        # Each is sent at once: a connection without one is idle, and would make way for the next.
        for _ in range(wanted - len(clients)):
            for client in connect_many(1):
                client.send(beginning)
                clients.append(client)
        # From now on a few more than there is place for, so that no place stays free.
        wanted = CONNECTIONS + 8
        release.wait(0.2)
        clients = still_open(clients)
        ready.set()


def idle(ready, release):
    clients = connect_many(TRIES)
    ready.set()
    release.wait()
    del clients


def monitors(ready, release):
    clients = []
    for index in range(TRIES):
        method = ("MonitorRoom", "MonitorScreen", "MonitorHangs")[index % 3]
        parameters = {} if method == "MonitorHangs" else {"room": "main"}
        if method == "MonitorRoom":
            parameters["features"] = ["chat"] * 1_500
        for client in connect_many(1):
            with contextlib.suppress(OSError):
                client.send(encoded({"method": CONTROL + method, "parameters": parameters, "more": True}))
            clients.append(client)
    while not release.wait(0.2):
        clients = still_open(clients)
        # Nothing is read: what has come is only looked at.
        running.value = sum(is_running(client) for client in clients)
        ready.set()


def is_running(client):
    with contextlib.suppress(OSError):
        # Of a refused call all there is to read is an error.
        return b'"error"' not in client.socket.recv(64, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return False


def listing(ready, release):
    data = encoded({"method": CONTROL + "ListRecordings"})
    selector = selectors.DefaultSelector()

    def add(client):
        client.send(data)
        selector.register(client.socket, selectors.EVENT_READ)

    for client in connect_many(64):
        add(client)
    ready.set()
    while not release.is_set():
        for key, _ in selector.select(0.1):
            try:
                piece = key.fileobj.recv(1 << 20)
                if piece.endswith(b"\0"):
                    key.fileobj.sendall(data)
                if piece:
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
            for client in connect_many(1):
                add(client)


def leaving(ready, release):
    """Calls, and leaves before the answer. Such calls wait for their turn, and what is kept of each must go with it."""
    data = encoded({"method": CONTROL + "GetStatus"})
    count = 0
    while not release.is_set():
        # If too many are there, it fails.
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
            client.connect(f"{run}/io.livehost.Control")
            client.sendall(data)
        count += 1
        if count == 100_000:
            ready.set()


def passing(ready, release):
    """Passes sockets whose last copy is closed by whoever reads past them, or closes the connection they wait in.
    That takes a minute each."""
    calls = encoded({"method": CONTROL + "MonitorHangs", "more": True}) + encoded({"method": CONTROL + "GetStatus"})
    others, count = [], 0
    while not release.is_set():
        count += 1
        with socket.socket() as listener, socket.socket() as lingering:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            lingering.connect(listener.getsockname())
            # Reads nothing, and is there for some seconds.
            others.append(listener.accept()[0])
            lingering.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while lingering.send(bytes(1 << 16)):
                    pass
            lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
            for client in connect_many(1):
                # Every other one is not read any more, since a whole call waits.
                if count % 2:
                    client.send(calls)
                try:
                    socket.send_fds(client.socket, [b"{"], [lingering.fileno()])
                except OSError:
                    # A kernel that knows how refuses them.
                    lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
                lingering.close()
                client.close()
        if count == 20:
            ready.set()
        if len(others) > 200:
            others.pop(0).close()
        release.wait(0.02)


def everything(ready, release):
    parts = [unfinished, idle, monitors, listing]
    events = [multiprocessing.Event() for _ in parts]
    processes = [multiprocessing.Process(target=part, args=(event, release))
                 for part, event in zip(parts, events)]
    for process in processes:
        process.start()
    for event in events:
        event.wait(60)
    ready.set()
    for process in processes:
        process.join()


def group_of_senders():
    try:
        return grp.getgrnam("livehost").gr_gid
    except KeyError:
        return None


def as_member(*command, **more):
    """Runs a command as a user who is in the group livehost."""
    return subprocess.run(
        ["setpriv", "--reuid", str(MEMBER), "--regid", str(group_of_senders()), "--clear-groups", *command], **more)


SENDER = """
import json, os, socket, sys
assert os.getuid() != 0, "root may send in any case"
s = socket.socket(socket.AF_UNIX); s.settimeout(120); s.connect(sys.argv[1])
f = s.makefile("rb"); n = 0
for part in range(100):
    lines = b""
    for i in range(1000):
        lines += json.dumps({"type": "chat.message", "room": "main", "id": f"{part}.{i}", "user":
            {"id": str(i), "name": "u"}, "text": "hello"}).encode() + b"\\n"
    s.sendall(lines + b'{"type":"sync","token":"x"}\\n')
    answer = json.loads(f.readline())
    assert answer["type"] == "synced" and answer["rejected"] == 0, answer
assert answer["received"] == 100000, answer
"""


def quiet():
    global settled
    others_work("quiet")
    settled = resident()


def others_work(name):
    control = f"{run}/io.livehost.Control"
    ctl = [f"{binaries}/livehostctl", "--socket", control]
    check(f"{name}: root reads the status", status() is not None)
    for verb in (["status"], ["reload"], ["open", f"room-{name.split()[0]}"]):
        outcome = subprocess.run(ctl + verb, capture_output=True, timeout=60, text=True)
        check(f"{name}: root can {verb[0]}", outcome.returncode == 0, outcome.stderr)
    if group_of_senders() is None:
        skip(f"{name}: a sender that is not root: there is no group livehost, and none could be made")
        return
    outcome = as_member(
        sys.executable, "-c", SENDER, f"{run}/ingest", capture_output=True, timeout=240, text=True)
    check(f"{name}: a sender's 100,000 events are synced", outcome.returncode == 0, outcome.stderr)


SENT_BY_NOBODY = """
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(30); s.connect(sys.argv[1])
try:
    s.sendall(b'{"type":"chat.clear","room":"strange"}\\n')
except OSError:
    pass
print(s.makefile().readline())
"""


def refused_by_user():
    """A daemon that was started by hand looks at who connects to its ingest socket, whatever its mode."""
    path = f"{run}/ingest"
    mode = os.stat(path).st_mode
    os.chmod(path, 0o666)
    outcome = subprocess.run(
        ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
         sys.executable, "-c", SENT_BY_NOBODY, path], capture_output=True, timeout=60, text=True)
    os.chmod(path, mode & 0o777)
    check("another user may not send, and is told so",
          '"type":"refused","reason":"this user may not send events"' in outcome.stdout, outcome)
    told = (status() or {}).get("refusals") or []
    check("which is counted",
          any((row.get("user"), row["resource"]) == (NOBODY, "ingestPermission") for row in told), told)
    rooms = connect().call(CONTROL + "ListRooms", {})
    check("and nothing of theirs was taken", "strange" not in json.dumps(rooms), rooms)


def crowded(name, body, takes_connections, resources):
    """What others can do while strangers take what there is; and that they do take it."""
    refused_before, own = refused(), accepted()
    with stranger(body):
        begun = running.value
        with Watch() as watch:
            others_work(f"{name} by strangers")
        growth = resident() - settled
        # What ends for its time comes late.
        end = time.monotonic() + PATIENCE
        while any(refused().get(resource, 0) <= refused_before.get(resource, 0) for resource in resources):
            if time.monotonic() > end:
                break
            time.sleep(0.2)
        lost = begun - running.value
        while body is unfinished and accepted() - own < ENOUGH and time.monotonic() < end:
            time.sleep(0.2)
        followers = accepted() - own
    told = refused()
    if body is monitors:
        check(f"{name}: {begun} of them were running", begun == MONITORS)
        # Nothing reads what they are sent, and the memory for that is limited as well.
        closed = told.get("memory", 0) - refused_before.get("memory", 0)
        check(f"{name}: {lost} of them ended for want of memory", 0 <= lost <= closed, told)
    check(f"{name}: the daemon grew by {growth >> 10} MiB", growth <= ALLOWED_GROWTH)
    for resource in resources:
        count = told.get(resource, 0) - refused_before.get(resource, 0)
        check(f"{name}: {resource} was refused {count} times", count > 0, told)
    if takes_connections:
        # Most of the time: while one that has ended is replaced, there are fewer.
        held = statistics.median(watch.counts or [0]) - own
        check(f"{name}: strangers had {held:g} connections", ENOUGH <= held <= CONNECTIONS + 4, watch.counts)
    if body is unfinished:
        check(f"{name}: {followers} connections followed those that had been ended", followers >= ENOUGH)


# What strangers do, whether it takes all connections that they may have, and what they must have been refused.
CROWDS = (
    ("unfinished", unfinished, True, ("connection", "unfinishedCall")), ("idle", idle, True, ("idleConnection",)),
    ("monitors", monitors, True, ("monitor",)), ("listing", listing, False, ()),
    ("leaving", leaving, False, ()), ("passing", passing, False, ()),
    ("together", everything, True, ("connection",)))


def plan():
    """All that is done, and of how many checks each part consists."""
    yield 5, quiet, ()
    for crowd in CROWDS:
        _, body, takes_connections, resources = crowd
        yield 6 + takes_connections + len(resources) + (body is unfinished) + 2 * (body is monitors), crowded, crowd
    yield 3, refused_by_user, ()
    for size, who in ((16 << 10, "nobody"), (4 << 20, "nobody"), (4 << 20, "root")):
        # Room for the rest of the message.
        for kind, text in nasty(size - 1024):
            yield 2, texts, (kind, text, size - 1024, who)
    for kind, data in shapes(400_000):
        for who in ("nobody", "root"):
            yield 2, shape, (kind, data, who)
    yield 4, hostile_lines, ()


def main():
    global run, daemon, binaries
    if sys.argv[1:] == ["--count"]:
        print(sum(count for count, _, _ in plan()))
        return
    run, daemon, binaries = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    root = connect()
    root.call(CONTROL + "OpenRoom", {"room": "main"})
    # So that a list of recordings is long.
    for _ in range(300):
        root.call(CONTROL + "StartRecording", {"room": "main"})
        root.call(CONTROL + "StopRecording", {"room": "main"})
    root.call(CONTROL + "StartRecording", {"room": "main"})
    if group_of_senders() is not None:
        # As the service has it.
        os.chown(f"{run}/ingest", -1, group_of_senders())
    for count, step, arguments in plan():
        before = passed + failed + skipped
        step(*arguments)
        done = passed + failed + skipped - before
        if done != count:
            check(f"{step.__name__} consists of {count} checks", False, f"{done} were done")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed != 0)


main()
