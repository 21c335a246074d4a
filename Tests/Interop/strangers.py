#!/usr/bin/env python3
"""Does to a daemon what local users and senders could do whom nobody trusts: `strangers.py RUN PID BIN`.

RUN is the daemon's runtime directory, PID its process, BIN the directory of the programs. In between, root
reads the status, reloads, opens rooms, and sends events: all of that must succeed. To be run as root, which
becomes `nobody` for the strangers' part. Ends with `N passed, N failed`.
"""
import contextlib
import grp
import json
import multiprocessing
import os
import selectors
import socket
import subprocess
import sys
import time

from hostile import CONTROL, Client, Closed, encoded, lines, messages, nasty, shapes

NOBODY = 65534
# How long others may be kept waiting, in seconds. What this guards against takes minutes to hours.
PATIENCE = 30
# By how much the daemon may grow meanwhile, in KiB.
ALLOWED_GROWTH = 64 << 10
run, daemon, binaries = sys.argv[1], int(sys.argv[2]), sys.argv[3]
passed = failed = 0


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


@contextlib.contextmanager
def stranger(body, *arguments):
    """Runs `body` as nobody, in a process of its own. Begins once it says so; it ends with the block."""
    ready, release = multiprocessing.Event(), multiprocessing.Event()

    def main():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
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
    ready.set()
    for data in table:
        if not answered(data):
            sys.exit("a message was neither answered nor refused")


def texts(who, size):
    for kind, text in nasty(size):
        table = [encoded(message) for _, message in messages(text)]
        if who == "root":
            outcome = 0
            process = multiprocessing.Process(
                target=send_all, args=(multiprocessing.Event(), None, table))
            process.start()
        else:
            manager = stranger(send_all, table)
            process = manager.__enter__()
        replies = []
        while process.is_alive():
            replies.append(status() is not None)
            process.join(0.05)
        if who != "root":
            manager.__exit__(None, None, None)
        check(f"{kind} of {size} bytes, by {who}", process.exitcode == 0, process.exitcode)
        check(f"  others get their status meanwhile ({len(replies)} asked)", all(replies))


def hostile_lines():
    """Lines of a sender, in each place that takes text. One connection; counted by its sync."""
    ingest = socket.socket(socket.AF_UNIX)
    ingest.settimeout(60)
    ingest.connect(f"{run}/ingest")
    count = 0
    for _, text in nasty(60_000):
        for _, line in lines(text):
            for number in range(20):
                # Titles that begin alike and end differently are the dearest to compare.
                ingest.sendall(line.replace(text.encode(), f"{text}{number}".encode()))
                count += 1
    ingest.sendall(b'{"type":"sync","token":"end"}\n')
    answer = json.loads(ingest.makefile("rb").readline())
    return answer["received"] == count


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


def unfinished(ready, release):
    clients = {client.socket: 0 for client in connect_many(256)}
    for connection in clients:
        connection.setblocking(False)
    piece = b"x" * (64 << 10)
    end = time.monotonic() + PATIENCE
    while clients and time.monotonic() < end:
        before = sum(clients.values())
        for connection in list(clients):
            try:
                if clients[connection] < 4 << 20:
                    clients[connection] += connection.send(piece[:(4 << 20) - clients[connection]])
            except BlockingIOError:
                pass
            except OSError:
                del clients[connection]
        if sum(clients.values()) == before:
            time.sleep(0.05)
        if all(sent == 4 << 20 for sent in clients.values()):
            break
    ready.set()
    release.wait()


def idle(ready, release):
    clients = connect_many(256)
    ready.set()
    release.wait()
    del clients


def monitors(ready, release):
    clients = connect_many(256)
    for index, client in enumerate(clients):
        method = ("MonitorRoom", "MonitorScreen", "MonitorHangs")[index % 3]
        parameters = {} if method == "MonitorHangs" else {"room": "main"}
        if method == "MonitorRoom":
            parameters["features"] = ["chat"] * 1_500
        with contextlib.suppress(OSError):
            client.send(encoded({"method": CONTROL + method, "parameters": parameters, "more": True}))
    ready.set()
    # Nothing is read.
    release.wait()


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


def as_member(*command, **more):
    """Runs a command as a user who is in the group livehost, if there is one; otherwise as root."""
    try:
        group = grp.getgrnam("livehost").gr_gid
    except KeyError:
        return subprocess.run(command, **more)
    os.chown(f"{run}/ingest", -1, group)
    return subprocess.run(
        ["setpriv", "--reuid", "1", "--regid", str(group), "--clear-groups", *command], **more)


SENDER = """
import json, socket, sys
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


def others_work(name):
    control = f"{run}/io.livehost.Control"
    ctl = [f"{binaries}/livehostctl", "--socket", control]
    check(f"{name}: root reads the status", status() is not None)
    for verb in (["status"], ["reload"], ["open", f"room-{name.split()[0]}"]):
        outcome = subprocess.run(ctl + verb, capture_output=True, timeout=60, text=True)
        check(f"{name}: root can {verb[0]}", outcome.returncode == 0, outcome.stderr)
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


def main():
    root = connect()
    root.call(CONTROL + "OpenRoom", {"room": "main"})
    # So that a list of recordings is long.
    for _ in range(300):
        root.call(CONTROL + "StartRecording", {"room": "main"})
        root.call(CONTROL + "StopRecording", {"room": "main"})
    root.call(CONTROL + "StartRecording", {"room": "main"})
    others_work("quiet")
    before = resident()
    for name, body in (
            ("unfinished", unfinished), ("idle", idle), ("monitors", monitors), ("listing", listing),
            ("together", everything)):
        with stranger(body):
            others_work(f"{name} by strangers")
            growth = resident() - before
            check(f"{name}: the daemon grew by {growth >> 10} MiB", growth <= ALLOWED_GROWTH)
    told = (status() or {}).get("refusals") or []
    check("what strangers were refused is told", any(row.get("user") == NOBODY for row in told), told)
    refused_by_user()
    for size in (16 << 10, 4 << 20):
        for who in ("nobody", "root"):
            if (size, who) != (16 << 10, "root"):
                texts(who, size - 1024)
    for kind, data in shapes(400_000):
        for who in ("nobody", "root"):
            if who == "root":
                check(f"{kind}, by root", answered(data))
            else:
                with stranger(send_all, [data]) as process:
                    process.join(60)
                    check(f"{kind}, by nobody", process.exitcode == 0)
        check("  others get their status", status() is not None)
    check("lines of nasty text are counted", hostile_lines())
    check("  others get their status", status() is not None)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
