"""Three nodes, each with a NATS server, a daemon and a gateway in a network of its own, and questions to them."""
import base64
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import sys
import time

from cluster_network import HUB, Proxy, ip, sh
from harness.namespaces import inside
from harness.places import ROOT
from harness.programs import Daemon, Program
from harness.varlink import CallError
from harness.waiting import wait_for

# Far above what anything takes on an idle machine.
LIMIT = 120
# How many times its bar a takeover may take. Bars are for a machine that does nothing else, where this is 1.
SLACK = int(os.environ.get("CLUSTER_SLACK") or 5)
LOGS = ROOT / ".build/test-logs"
NATS = pathlib.Path(sys.executable).with_name("nats-server")
NUMBERS = (1, 2, 3)
ROOMS = [f"room{n}" for n in range(9)]
STREAMS = [f"LH_LOG_{n}" for n in range(8)] + ["LH_SNAP", "KV_lh_lease"]


def wait(what, value, expected=None):
    """Waits until a value is true, or as expected. Raises TimeoutError with the last one.

    A value that cannot be had, because a program does not answer or not yet with everything, is waited for, too.
    """
    seen = None

    def met():
        nonlocal seen
        try:
            seen = value()
            return seen if expected is None else seen == expected
        except (OSError, CallError, LookupError) as error:
            seen = error
    goal = "" if expected is None else f"expected {expected!r}, "
    return wait_for(met, lambda: f"{what}: {goal}seen {seen!r}", LIMIT, 0.1)


def token(room):
    return base64.urlsafe_b64encode(room.encode()).decode().rstrip("=")


def ask(address, subject, payload=b""):
    """One request to a NATS server over a connection of its own; the JSON of the reply."""
    with socket.create_connection((address, 4222), 10) as client:
        # Random, since the answer to another request may come late.
        inbox = f"_INBOX.{random.getrandbits(64):x}"
        client.sendall(f'CONNECT {{"verbose":false,"headers":true}}\r\nSUB {inbox} 1\r\n'
                       f"PUB {subject} {inbox} {len(payload)}\r\n".encode() + payload + b"\r\n")
        reader = client.makefile("rb")
        for words in map(bytes.split, reader):
            if words[0] == b"MSG":
                return json.loads(reader.read(int(words[-1])))
            if words[0] in (b"HMSG", b"-ERR"):
                raise OSError(b" ".join(words) + reader.readline())
    raise OSError("closed")


class Node(Daemon):
    """A gateway, which has the control socket and the ingest socket of a daemon; with it its daemon and NATS server."""

    def __init__(self, number, programs, directory, bridge):
        self.number, self.name, self.address = number, f"node{number}", f"10.99.0.{number}"
        self.programs, self.directory, self.link = programs, directory, f"v{number}"
        with inside("net") as self.network:
            ip("link set lo up", f"link add eth type veth peer name {self.link} netns /proc/{os.getpid()}/fd/{bridge}",
               f"address add {self.address}/24 dev eth", "link set eth up")
        ip(f"link set {self.link} up master hub")
        self.control, self.ingest = directory / "control", directory / "ingest"
        (directory / "daemon").mkdir(parents=True)
        (directory / "js").mkdir()
        if number == 3:
            # A disk that a test can fill.
            sh(f"mount -t tmpfs -o size=256m none {directory}/js")
        routes = ", ".join(f"nats://10.99.0.{n}:6222" for n in NUMBERS)
        (directory / "nats.conf").write_text(
            f'server_name: {self.name}\nlisten: "{self.address}:4222"\n'
            f'jetstream {{ store_dir: "{directory}/js", sync_interval: always, max_file: 1G }}\n'
            # Gateways know only the servers in their configuration, so what is behind a proxy stays there.
            f'cluster {{ name: lh, listen: "{self.address}:6222", routes: [{routes}], no_advertise: true }}\n')
        with inside("net", self.network):
            self.nats = Program([NATS, "-c", directory / "nats.conf"], directory / "nats.log")
            self.daemon = Daemon(programs, directory / "daemon")

    def join(self):
        """Starts the gateway. Each has its own server first; the third one reaches them all through proxies."""
        servers = ", ".join(f"nats://{HUB}:400{n}" if self.number == 3 else f"nats://10.99.0.{n}:4222"
                            for n in sorted(NUMBERS, key=lambda n: n != self.number))
        configuration = self.directory / "gateway.yaml"
        configuration.write_text(
            f"name: {self.name}\ningest: {self.ingest}\nlisten: {self.control}\n"
            f"daemon: {{ingest: {self.daemon.ingest}, control: {self.daemon.control}}}\n"
            f"nats: {{servers: [{servers}], replicas: 3}}\nsnapshots: {{seconds: 2, kibibytes: 256}}\n")
        with inside("net", self.network):
            Program.__init__(self, [self.programs / "livehost-gateway", "run", "--config", configuration],
                             self.directory / "gateway.log")

    def __repr__(self):
        return f"lhc{self.number}"

    def processes(self):
        return self, self.daemon, self.nats

    def begin(self, *programs):
        """Starts programs of the node again, in its network."""
        with inside("net", self.network):
            for program in programs:
                program.start()

    def kill_and_lose(self):
        """Gateway and daemon are killed, and come back with an empty disk."""
        self.kill()
        self.daemon.kill()
        shutil.rmtree(self.daemon.state, ignore_errors=True)
        self.begin(self.daemon, self)

    def messages(self, room):
        return self.call("GetRoom", room=room)["features"]["chat"]["total"]

    def status(self):
        return self.call("io.livehost.Gateway.GetStatus")

    def partitions(self):
        return self.status()["partitions"]

    def owners(self):
        """The name of the owner of each partition."""
        return self.call("io.livehost.Gateway.ListPartitions")["nodes"]


class Cluster:
    """The nodes, and what sends to them. `check` is that of the test that runs."""

    def __init__(self, programs, directory, bridge):
        self.programs, self.directory, self.check = programs, directory, None
        self.nodes = [Node(number, programs, directory / str(number), bridge) for number in NUMBERS]
        self.proxies = [Proxy(4000 + node.number, (node.address, 4222)) for node in self.nodes]
        # The values of sliders in order: in a soak the same one is set more than once.
        self.senders, self.sliders, self.schedules = [], [], 0
        wait("the servers", lambda: all(ask(node.address, "$JS.API.INFO") for node in self.nodes))
        for node in self.nodes:
            node.join()

    def named(self, name):
        return next(node for node in self.nodes if node.name == name)

    def others(self, excluded):
        return [node for node in self.nodes if node is not excluded]

    def activity(self):
        """What each node is doing."""
        return "\n".join(f"{node.name}, {program.activity()}" for node in self.nodes for program in node.processes())

    def keep_logs(self, schedule):
        """Copies the logs of all nodes to those of the phases of the tests, which outlive the cluster."""
        LOGS.mkdir(parents=True, exist_ok=True)
        for node in self.nodes:
            for program in node.processes():
                name = pathlib.Path(program.command[0]).name
                shutil.copy(program.log, LOGS / f"cluster-{schedule}-{node.name}-{name}.log")

    @contextlib.contextmanager
    def attempt(self, name):
        """A check that holds unless its block raises. A failure says what each node was doing then."""
        with self.check.attempt(name):
            try:
                yield
            except Exception as error:
                raise AssertionError(f"{error}\n{self.activity()}") from error

    def eventually(self, name, value, expected=None):
        """Checks that a value becomes true, or as expected; see `wait`."""
        with self.attempt(name):
            wait(name, value, expected)

    def within(self, name, bar, condition):
        """Checks that a condition becomes true within a time, or several times as long beside other tests."""
        began, took = time.monotonic(), float("inf")
        with self.attempt(f"{name} within {bar * SLACK} s"):
            wait(name, condition)
            took = time.monotonic() - began
            self.check.write(f"    {took:.1f} s ({'within' if took <= bar else 'NOT within'} {bar} s)")
            assert took <= bar * SLACK, f"after {took:.1f} s"

    def taken_over(self, name, gone, bar):
        """Checks that the nodes but one have all partitions in time."""
        self.within(f"{name}: taken over", bar, lambda: sum(node.partitions() for node in self.others(gone)) == 64)

    def whole(self):
        """How many partitions each node has. Raises LookupError until they are all."""
        partitions = [node.partitions() for node in self.nodes]
        if sum(partitions) != 64:
            raise LookupError(f"partitions: {partitions}")
        return partitions

    def wait_until_whole(self, least=0):
        wait(f"all partitions to have owners, {least} at least each", lambda: min(self.whole()) >= least)

    def progress(self, batches=2):
        """A condition: from now on, senders are answered so many times in each room."""
        goals = [(sender, sender.acknowledged + batches * sender.BATCH) for sender in self.senders]

        def answered():
            if late := [sender.room for sender, goal in goals if sender.acknowledged < goal]:
                raise LookupError(f"too few answers in {late}")
            return True
        return answered

    def request(self, subject, payload=None):
        """Asks any server."""
        payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode() if payload else b""
        for node in self.nodes:
            try:
                return ask(node.address, subject, payload)
            except OSError as error:
                last = error
        raise last

    def stream(self, name, **parameters):
        return self.request(f"$JS.API.STREAM.INFO.{name}", parameters)

    def message(self, stream, **which):
        message = self.request(f"$JS.API.STREAM.MSG.GET.{stream}", which)["message"]
        return {**message, "data": base64.b64decode(message["data"])}

    def leader(self, stream):
        """The node whose server leads a stream."""
        return self.named(self.stream(stream)["cluster"]["leader"])

    def are_current(self):
        """Whether each server has what the leaders have. Until then it has no vote, and a further fault is too many."""
        clusters = [self.stream(stream)["cluster"] for stream in STREAMS]
        return all(one.get("leader") and all(replica["current"] and not replica.get("offline")
                                             for replica in one["replicas"]) for one in clusters)

    def partition(self, room):
        return self.nodes[0].call("io.livehost.Gateway.GetPartition", room=room)["partition"]

    def log(self, room):
        """The stream with the log of a room."""
        return f"LH_LOG_{self.partition(room) // 8}"

    def owner(self, room):
        return self.named(self.nodes[0].call("io.livehost.Gateway.GetOwner", room=room)["node"])

    def is_loading(self, room):
        """Whether the lease of a room's partition says that its owner does not have the rooms yet."""
        lease = self.message("KV_lh_lease", last_by_subj=f"$KV.lh_lease.p{self.partition(room)}")
        return json.loads(lease["data"]).get("loading")

    def move(self, room, node):
        """Moves the partition of a room to a node."""
        number = self.partition(room)
        self.nodes[0].call("io.livehost.Gateway.MovePartition", partition=number, node=node.name)
        wait("owners after a move", lambda: {each.owners()[number] for each in self.nodes}, {node.name})

    def stored(self, room, rest=">"):
        """The subjects of what the store has of a room."""
        state = self.stream("LH_SNAP", subjects_filter=f"lh.snap.*.{token(room)}.{rest}")["state"]
        return list(state.get("subjects", {}))

    def headers(self, room):
        """The newest two snapshots of a room in the store, older first."""
        found = [self.message("LH_SNAP", **which) for subject in self.stored(room, "h")
                 for which in ({"seq": 1, "next_by_subj": subject}, {"last_by_subj": subject})]
        return [{**json.loads(each["data"]), "seq": each["seq"], "subject": each["subject"]} for each in found]
