"""What users and senders whom nobody trusts do to a daemon, each as a function that runs as another user.

It is called with two events and the daemon: it sets the first event once it has begun, and those that would not end by
themselves end when the second is set.
"""
import contextlib
import itertools
import multiprocessing
import os
import select
import socket
import struct

import hostile
from harness.ingest import Ingest
from harness.varlink import Client

# How long others may be kept waiting, in seconds. What this guards against takes minutes to hours.
PATIENCE = 30
# How long an answer to a hostile message may take, in seconds.
LIMIT = 60
# What one user without rights gets of the control socket: a quarter of all connections.
CONNECTIONS = 64
# How many of each a stranger tries to get.
TRIES = 256
# How many monitors of strangers are running; they count them.
running = multiprocessing.Value("i", 0)


class Stranger(multiprocessing.Process):
    """Runs `body` as a user, in a group and no other. It has begun when this returns, and ends with the block."""

    def __init__(self, identity, body, *arguments):
        super().__init__()
        self.identity, self.body, self.arguments = identity, body, arguments
        self.ready, self.release = multiprocessing.Event(), multiprocessing.Event()
        self.outcome = multiprocessing.SimpleQueue()
        self.start()
        while not self.ready.wait(0.1) and self.is_alive():
            pass

    def run(self):
        user, group = self.identity
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
        try:
            self.outcome.put(self.body(self.ready, self.release, *self.arguments))
        except Exception as error:
            self.outcome.put(f"{type(error).__name__}: {error}"[:500])
            raise

    def seen(self, limit=0):
        """What the function returned or raised, if it ends in time."""
        self.join(limit)
        return None if self.outcome.empty() else self.outcome.get()

    def asked_meanwhile(self, ask):
        """What `ask` returns again and again until it has ended."""
        seen = []
        # The first time in any case: it has only begun.
        while not seen or self.is_alive():
            seen.append(ask())
            self.join(0.05)
        return seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release.set()
        self.join(30)
        if self.is_alive():
            self.kill()


def connect(daemon, timeout=PATIENCE):
    # A connection with a time limit would fail at once while as many wait to be accepted as the kernel keeps.
    client = Client(daemon.control, None)
    client.socket.settimeout(timeout)
    return client


def encoded(name, **parameters):
    return hostile.call(name, parameters).encode()


def begin(daemon, data):
    """A connection on which data was sent, unless it was closed before that."""
    client = connect(daemon)
    with contextlib.suppress(OSError):
        client.socket.sendall(data)
    return client


# What senders and hostile users send.

def send_messages(ready, release, daemon, table):
    """Each must be answered, or its connection closed. A table that encodes each when its turn comes: together they
    would take gigabytes."""
    ready.set()
    for message in table:
        with connect(daemon, LIMIT) as client, contextlib.suppress(ConnectionError):
            try:
                client.socket.sendall(message)
                client.receive()
            except TimeoutError:
                raise AssertionError(f"a message was neither answered nor refused: {message[:200]}") from None


def send_lines(ready, release, daemon):
    """Lines of a sender, in each place that takes text. One connection; counted by its sync."""
    count = 0
    with Ingest(daemon.ingest, LIMIT) as ingest:
        ready.set()
        # Titles that begin alike and end differently are the dearest to compare.
        for table, times in ((hostile.LINES, 20), (hostile.FURTHER_LINES, 4)):
            for (_, text), (_, template) in itertools.product(hostile.nasty(60_000), table):
                # So that what has the text twice is no longer than a line may be.
                own = text[:len(text) // 2] if template.count("TEXT") > 1 else text
                for number in range(times):
                    line = hostile.filled(template, f"{own}{number}")
                    ingest.socket.sendall(line)
                    count += line.count(b"\n")
        answer = ingest.sync()
    assert answer and answer["received"] == count, f"{count} lines were sent: {answer}"


def send_lines_to_connection(ready, release, daemon):
    """Lines to the connection, on one each, with an event behind it."""
    ready.set()
    for (_, text), (place, template) in itertools.product(hostile.nasty(60_000), hostile.LINES_TO_CONNECTION):
        with Ingest(daemon.ingest, LIMIT) as ingest:
            ingest.socket.sendall(hostile.filled(template, text))
            assert ingest.sync({"type": "title", "title": "a"}), f"no answer to sync behind a line of {place}"


def send_chat(ready, release, daemon):
    assert os.getuid() != 0, "root may send in any case"
    ready.set()
    with Ingest(daemon.ingest, 120) as ingest:
        for part in range(100):
            answer = ingest.sync(*(
                {"type": "chat.message", "room": "main", "id": f"{part}.{number}",
                 "user": {"id": str(number), "name": "u"}, "text": "hello"} for number in range(1000)))
            assert answer and answer["type"] == "synced" and answer["rejected"] == 0, answer
        assert answer["received"] == 100_000, answer


def send_without_right(ready, release, daemon):
    ready.set()
    with Ingest(daemon.ingest, PATIENCE) as ingest:
        with contextlib.suppress(OSError):
            ingest.send({"type": "chat.clear", "room": "strange"})
        return next(ingest.answers, None)


# Strangers that take whatever there is.

def still_open(clients):
    """Those that the daemon has not closed. Nothing is read of them."""
    poll = select.poll()
    for client in clients:
        poll.register(client.socket, 0)
    closed = {descriptor for descriptor, _ in poll.poll(0)}
    return [client for client in clients if client.socket.fileno() not in closed]


def unfinished(ready, release, daemon):
    """Holds as many beginnings of calls as the daemon admits. It gives each ten seconds; others then follow."""
    clients, wanted = [], TRIES
    while not release.is_set():
        # Each is sent at once: a connection without one is idle, and would make way for the next.
        for _ in range(wanted - len(clients)):
            clients.append(begin(daemon, b'{"method":"' + b"x" * (12 << 10)))
        # From now on a few more than there is place for, so that no place stays free.
        wanted = CONNECTIONS + 8
        release.wait(0.2)
        clients = still_open(clients)
        ready.set()


def idle(ready, release, daemon):
    clients = [connect(daemon) for _ in range(TRIES)]
    ready.set()
    release.wait()
    del clients


def monitors(ready, release, daemon):
    calls = [encoded("MonitorRoom+", room="main", features=["chat"] * 1_500), encoded("MonitorScreen+", room="main"),
             encoded("MonitorHangs+")]
    clients = [begin(daemon, calls[index % 3]) for index in range(TRIES)]
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


def listing(ready, release, daemon):
    """Lists again as soon as it has the list, and connects again if it is sent away."""
    data = encoded("ListRecordings")
    sockets = [begin(daemon, data).socket for _ in range(64)]
    ready.set()
    while not release.is_set():
        for own in select.select(sockets, [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                piece = own.recv(1 << 20)
                if piece.endswith(b"\0"):
                    own.sendall(data)
                if piece:
                    continue
            sockets[sockets.index(own)] = begin(daemon, data).socket


def leaving(ready, release, daemon):
    """Calls, and leaves before the answer. Such calls wait for their turn, and what is kept of each must go with it."""
    data = encoded("GetStatus")
    for count in itertools.count(1):
        # If too many are there, it fails.
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
            client.connect(str(daemon.control))
            client.sendall(data)
        if count == 100_000:
            ready.set()
        if release.is_set():
            return


def passing(ready, release, daemon):
    """Passes sockets whose last copy is closed by reading past them, or by closing the connection they wait in. That
    takes a minute each."""
    calls = encoded("MonitorHangs+") + encoded("GetStatus")
    others, count = [], 0
    while not release.is_set():
        count += 1
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as lingering:
            lingering.connect(listener.getsockname())
            # Reads nothing, and is there for some seconds.
            others.append(listener.accept()[0])
            lingering.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while lingering.send(bytes(1 << 16)):
                    pass
            lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
            # Every other one is not read any more, since a whole call waits.
            with begin(daemon, calls if count % 2 else b"") as client:
                try:
                    socket.send_fds(client.socket, [b"{"], [lingering.fileno()])
                except OSError:
                    # A kernel that knows how refuses them.
                    lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
                lingering.close()
        if count == 20:
            ready.set()
        if len(others) > 200:
            others.pop(0).close()
        release.wait(0.02)


def everything(ready, release, daemon):
    events = {part: multiprocessing.Event() for part in (unfinished, idle, monitors, listing)}
    processes = [multiprocessing.Process(target=part, args=(event, release, daemon)) for part, event in events.items()]
    for process in processes:
        process.start()
    for event in events.values():
        event.wait(60)
    ready.set()
    for process in processes:
        process.join()
