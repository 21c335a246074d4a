"""Three nodes, each with a NATS server, a daemon and a gateway in its own network namespace."""
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

# A limit in seconds far above what any step needs on an idle machine.
LIMIT = 120
# The factor by which a takeover may exceed its time limit. The limits apply to a machine that runs nothing else, where
# the factor is 1.
SLACK = int(os.environ.get("CLUSTER_SLACK") or 5)
LOGS = ROOT / ".build/test-logs"
NATS = pathlib.Path(sys.executable).with_name("nats-server")
NUMBERS = (1, 2, 3)
ROOMS = [f"room{n}" for n in range(9)]
STREAMS = [f"LH_LOG_{n}" for n in range(8)] + ["LH_SNAP", "KV_lh_lease"]


def wait(what, value, expected=None):
    """Waits until a value is true or as expected. Raises TimeoutError with the last value.

    Errors that mean that a program does not answer, or not completely yet, are waited out.
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
    """Sends one request to a NATS server over a new connection. Returns the JSON of the reply."""
    with socket.create_connection((address, 4222), 10) as client:
        # The inbox is random, because the answer to another request may come late.
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
    """A gateway with its daemon and its NATS server.

    The gateway has the control socket and the ingest socket of a daemon, hence the base class.
    """

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
            # Node 3 has a small disk, which a test can fill.
            sh(f"mount -t tmpfs -o size=256m none {directory}/js")
        routes = ", ".join(f"nats://10.99.0.{n}:6222" for n in NUMBERS)
        (directory / "nats.conf").write_text(
            f'server_name: {self.name}\nlisten: "{self.address}:4222"\n'
            f'jetstream {{ store_dir: "{directory}/js", sync_interval: always, max_file: 1G }}\n'
            # Gateways know only the configured servers, so that node 3 uses its proxies only.
            f'cluster {{ name: lh, listen: "{self.address}:6222", routes: [{routes}], no_advertise: true }}\n')
        with inside("net", self.network):
            self.nats = Program([NATS, "-c", directory / "nats.conf"], directory / "nats.log")
            self.daemon = Daemon(programs, directory / "daemon")

    def join(self):
        """Starts the gateway, whose first server is its own. Node 3 reaches all through proxies."""
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
        """Restarts programs of the node, in its network."""
        with inside("net", self.network):
            for program in programs:
                program.start()

    def kill_and_lose(self):
        """Kills gateway and daemon, and restarts them with an empty disk."""
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
        """Returns the name of each partition's owner."""
        return self.call("io.livehost.Gateway.ListPartitions")["nodes"]


class Cluster:
    """The nodes, and their senders. `check` belongs to the running test."""

    def __init__(self, programs, directory, bridge):
        self.programs, self.directory, self.check = programs, directory, None
        self.nodes = [Node(number, programs, directory / str(number), bridge) for number in NUMBERS]
        self.proxies = [Proxy(4000 + node.number, (node.address, 4222)) for node in self.nodes]
        # Sliders are recorded in order, because a soak sets the same slider more than once.
        self.senders, self.sliders, self.schedules = [], [], 0
        wait("the servers", lambda: all(ask(node.address, "$JS.API.INFO") for node in self.nodes))
        for node in self.nodes:
            node.join()

    def named(self, name):
        return next(node for node in self.nodes if node.name == name)

    def others(self, excluded):
        return [node for node in self.nodes if node is not excluded]

    def activity(self):
        """Describes what each node is doing."""
        return "\n".join(f"{node.name}, {program.activity()}" for node in self.nodes for program in node.processes())

    def keep_logs(self, schedule):
        """Copies the output of all programs to the test logs, which outlive the cluster."""
        LOGS.mkdir(parents=True, exist_ok=True)
        for node in self.nodes:
            for program in node.processes():
                name = pathlib.Path(program.command[0]).name
                shutil.copy(program.log, LOGS / f"cluster-{schedule}-{node.name}-{name}.log")

    @contextlib.contextmanager
    def attempt(self, name):
        """A check that fails if its block raises. A failure describes what each node was doing."""
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
        """Checks that a condition becomes true within SLACK times the bar."""
        began, took = time.monotonic(), float("inf")
        with self.attempt(f"{name} within {bar * SLACK} s"):
            wait(name, condition)
            took = time.monotonic() - began
            self.check.write(f"    {took:.1f} s ({'within' if took <= bar else 'NOT within'} {bar} s)")
            assert took <= bar * SLACK, f"after {took:.1f} s"

    def taken_over(self, name, gone, bar):
        """Checks that the other nodes have all partitions in time."""
        self.within(f"{name}: other nodes lead all partitions", bar, lambda: sum(node.partitions() for node in self.others(gone)) == 64)

    def whole(self):
        """Returns the number of partitions of each node. Raises LookupError until the sum is 64."""
        partitions = [node.partitions() for node in self.nodes]
        if sum(partitions) != 64:
            raise LookupError(f"partitions: {partitions}")
        return partitions

    def wait_until_whole(self, least=0):
        wait(f"all partitions to have owners, at least {least} each", lambda: min(self.whole()) >= least)

    def progress(self, batches=2):
        """Returns a condition: each sender has received this many answers from now on."""
        goals = [(sender, sender.acknowledged + batches * sender.BATCH) for sender in self.senders]

        def answered():
            if late := [sender.room for sender, goal in goals if sender.acknowledged < goal]:
                raise LookupError(f"too few answers in {late}")
            return True
        return answered

    def request(self, subject, payload=None):
        """Sends a request to the first server that answers."""
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
        """Returns the node whose server leads a stream."""
        return self.named(self.stream(stream)["cluster"]["leader"])

    def are_current(self):
        """Returns whether every server has caught up with the leaders.

        A server that has not has no vote, so that the cluster does not survive another fault.
        """
        clusters = [self.stream(stream)["cluster"] for stream in STREAMS]
        return all(one.get("leader") and all(replica["current"] and not replica.get("offline")
                                             for replica in one["replicas"]) for one in clusters)

    def partition(self, room):
        return self.nodes[0].call("io.livehost.Gateway.GetPartition", room=room)["partition"]

    def log(self, room):
        """Returns the stream with the log of a room."""
        return f"LH_LOG_{self.partition(room) // 8}"

    def owner(self, room):
        return self.named(self.nodes[0].call("io.livehost.Gateway.GetOwner", room=room)["node"])

    def is_loading(self, room):
        """Returns whether the lease of a room's partition says that its rooms are loading."""
        lease = self.message("KV_lh_lease", last_by_subj=f"$KV.lh_lease.p{self.partition(room)}")
        return json.loads(lease["data"]).get("loading")

    def move(self, room, node):
        """Moves the partition of a room to a node."""
        number = self.partition(room)
        self.nodes[0].call("io.livehost.Gateway.MovePartition", partition=number, node=node.name)
        wait("owners after a move", lambda: {each.owners()[number] for each in self.nodes}, {node.name})

    def stored(self, room, rest=">"):
        """Returns the subjects of a room in the snapshot store."""
        state = self.stream("LH_SNAP", subjects_filter=f"lh.snap.*.{token(room)}.{rest}")["state"]
        return list(state.get("subjects", {}))

    def headers(self, room):
        """Returns the newest two snapshot headers of a room, the older one first."""
        found = [self.message("LH_SNAP", **which) for subject in self.stored(room, "h")
                 for which in ({"seq": 1, "next_by_subj": subject}, {"last_by_subj": subject})]
        return [{**json.loads(each["data"]), "seq": each["seq"], "subject": each["subject"]} for each in found]
