"""Attacks of untrusted users and senders on a daemon. Each is a function that runs as another user.

A function is called with two events and the daemon. It sets the first event once it has started. If
it does not end on its own, it ends when the second event is set.
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

# How long others may have to wait, in seconds. Successful attacks cause waits of minutes to hours.
PATIENCE = 30
# How long an answer to a hostile message may take, in seconds.
LIMIT = 60
# The maximum number of connections to the control socket for one user without rights: a quarter of all.
CONNECTIONS = 64
# The number of connections that a stranger attempts.
TRIES = 256
# The number of running monitors of strangers, counted by the strangers.
running = multiprocessing.Value("i", 0)


class Stranger(multiprocessing.Process):
    """Runs `body` as a user in exactly one group. It has started when the constructor returns, and
    ends with the block."""

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
        """Returns the result or error of the function, or None if it does not end in time."""
        self.join(limit)
        return None if self.outcome.empty() else self.outcome.get()

    def asked_meanwhile(self, ask):
        """Calls `ask` repeatedly until the stranger has ended. Returns the results."""
        seen = []
        # Asks at least once, because the stranger has only just started.
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
    # With a time limit, connecting would fail immediately while the kernel's queue is full.
    client = Client(daemon.control, None)
    client.socket.settimeout(timeout)
    return client


def encoded(name, **parameters):
    return hostile.call(name, parameters).encode()


def begin(daemon, data):
    """Returns a connection on which data was sent, unless it was closed before."""
    client = connect(daemon)
    with contextlib.suppress(OSError):
        client.socket.sendall(data)
    return client


# Messages of senders and hostile users.

def send_messages(ready, release, daemon, table):
    """Sends messages, each of which must be answered or have its connection closed. The table
    encodes messages lazily, because all of them would take gigabytes."""
    ready.set()
    for message in table:
        with connect(daemon, LIMIT) as client, contextlib.suppress(ConnectionError):
            try:
                client.socket.sendall(message)
                client.receive()
            except TimeoutError:
                raise AssertionError(f"a message was neither answered nor refused: {message[:200]}") from None


def send_lines(ready, release, daemon):
    """Sends lines with hostile text in each member that accepts text, over one connection. A sync
    returns their count."""
    count = 0
    with Ingest(daemon.ingest, LIMIT) as ingest:
        ready.set()
        # Titles with a common beginning and different ends are the most expensive to compare.
        for table, times in ((hostile.LINES, 20), (hostile.FURTHER_LINES, 4)):
            for (_, text), (_, template) in itertools.product(hostile.nasty(60_000), table):
                # A line that contains the text twice must not exceed the length limit.
                own = text[:len(text) // 2] if template.count("TEXT") > 1 else text
                for number in range(times):
                    line = hostile.filled(template, f"{own}{number}")
                    ingest.socket.sendall(line)
                    count += line.count(b"\n")
        answer = ingest.sync()
    assert answer and answer["received"] == count, f"{count} lines were sent: {answer}"


def send_lines_to_connection(ready, release, daemon):
    """Sends commands to the connection, each on a separate connection and followed by an event."""
    ready.set()
    for (_, text), (place, template) in itertools.product(hostile.nasty(60_000), hostile.LINES_TO_CONNECTION):
        with Ingest(daemon.ingest, LIMIT) as ingest:
            ingest.socket.sendall(hostile.filled(template, text))
            assert ingest.sync({"type": "title", "title": "a"}), f"no answer to sync after a line of {place}"


def send_chat(ready, release, daemon):
    assert os.getuid() != 0, "root may always send"
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


# Strangers that exhaust resources.

def still_open(clients):
    """Returns the clients that the daemon has not disconnected. Reads nothing from them."""
    poll = select.poll()
    for client in clients:
        poll.register(client.socket, 0)
    closed = {descriptor for descriptor, _ in poll.poll(0)}
    return [client for client in clients if client.socket.fileno() not in closed]


def unfinished(ready, release, daemon):
    """Holds as many incomplete calls as the daemon admits. Replaces each after its ten seconds."""
    clients, wanted = [], TRIES
    while not release.is_set():
        # Sends immediately, because an idle connection would be closed in favour of the next one.
        for _ in range(wanted - len(clients)):
            clients.append(begin(daemon, b'{"method":"' + b"x" * (12 << 10)))
        # A few more than the daemon admits, so that no connection stays free.
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
        # Peeks at the data without reading it.
        running.value = sum(is_running(client) for client in clients)
        ready.set()


def is_running(client):
    with contextlib.suppress(OSError):
        # A refused call is answered with an error and nothing else.
        return b'"error"' not in client.socket.recv(64, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return False


def listing(ready, release, daemon):
    """Lists recordings repeatedly, and reconnects if it is disconnected."""
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
    """Calls and disconnects before the answer. The daemon must release the memory of these
    calls."""
    data = encoded("GetStatus")
    for count in itertools.count(1):
        # Fails if there are too many connections.
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
            client.connect(str(daemon.control))
            client.sendall(data)
        if count == 100_000:
            ready.set()
        if release.is_set():
            return


def passing(ready, release, daemon):
    """Passes lingering sockets whose last copy the daemon closes, by reading past them or by
    closing their connection. Each close takes a minute."""
    calls = encoded("MonitorHangs+") + encoded("GetStatus")
    others, count = [], 0
    while not release.is_set():
        count += 1
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as lingering:
            lingering.connect(listener.getsockname())
            # Reads nothing, and stays open for some seconds.
            others.append(listener.accept()[0])
            lingering.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while lingering.send(bytes(1 << 16)):
                    pass
            lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
            # Every second connection is no longer read, because a complete call is waiting.
            with begin(daemon, calls if count % 2 else b"") as client:
                try:
                    socket.send_fds(client.socket, [b"{"], [lingering.fileno()])
                except OSError:
                    # Newer kernels can refuse passed sockets.
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
