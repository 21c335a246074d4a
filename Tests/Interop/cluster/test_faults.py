"""Schedules of faults: programs are killed, stopped and restarted, partitions moved, links cut or slow, a disk full."""
import contextlib
import json
import re
import signal
import time

import pytest

from cluster_network import ip
from cluster_nodes import ROOMS, STREAMS, wait


@pytest.mark.takeover
def test_kill_gateway(cluster):
    node = cluster.nodes[0]
    node.kill()
    cluster.taken_over("kill -9 of a gateway", node, 8)
    node.begin(node)


@pytest.mark.takeover
def test_stop_gateway(cluster, check):
    node = cluster.nodes[1]
    node.process.send_signal(signal.SIGTERM)
    cluster.taken_over("SIGTERM of a gateway", node, 2)
    check.equal("SIGTERM of a gateway: ends with 0", node.stop(), 0)
    node.begin(node)


@pytest.mark.takeover
def test_freeze_gateway(cluster, check):
    """An owner that is stopped for longer than its leases writes nothing when it comes back."""
    node = cluster.nodes[2]
    node.process.send_signal(signal.SIGSTOP)
    cluster.taken_over("SIGSTOP of a gateway", node, 8)
    # That node must not replace them.
    cluster.eventually("SIGSTOP of a gateway: the new owners store snapshots", lambda: [
        room for room in ROOMS if cluster.headers(room)[-1]["node"] == node.name], [])
    before = {room: cluster.headers(room)[-1] for room in ROOMS}
    node.process.send_signal(signal.SIGCONT)
    cluster.wait_until_whole()
    for room, newest in before.items():
        late = [header for header in cluster.headers(room)
                if header["seq"] > newest["seq"] and header["epoch"] < newest["epoch"]]
        check(f"SIGCONT of a gateway: nothing of its old epochs is stored of {room}", not late, late)


def test_kill_daemon(cluster):
    owner = cluster.owner(ROOMS[0])
    owner.daemon.kill()
    known = cluster.senders[0].acknowledged
    owner.begin(owner.daemon)
    cluster.eventually("a daemon that was killed is fed again", lambda: owner.messages(ROOMS[0]) > known)


@pytest.mark.takeover
def test_lost_daemon(cluster, check):
    """A daemon that does not come back costs its gateway the leases."""
    node = cluster.nodes[1]
    node.daemon.kill()
    cluster.taken_over("a daemon that is gone for good", node, 8)
    check.equal("a daemon that is gone for good: its gateway has no partitions", node.partitions(), 0)
    node.begin(node.daemon)


def lose_disk(cluster, name):
    """The owner of a room comes back with nothing; checks that snapshots are loaded then."""
    def loaded(nodes):
        return sum(node.status()["snapshotsLoaded"] for node in nodes)
    owner = cluster.owner(ROOMS[0])
    # The count of the owner begins anew.
    before = loaded(cluster.others(owner))
    owner.kill_and_lose()
    cluster.wait_until_whole()
    cluster.eventually(name, lambda: loaded(cluster.nodes) > before)
    wait("senders with a node that lost its disk", cluster.progress())


def test_lost_disk(cluster):
    """A node that comes back with nothing loads snapshots, and reads only what is behind them."""
    wait("a snapshot of each room", lambda: all(cluster.headers(room) for room in ROOMS))
    lose_disk(cluster, "whoever has its rooms then loads snapshots")


def test_bad_snapshot(cluster):
    """The newest snapshots of all rooms are spoiled; takeovers fall back to the ones before them, and the log."""
    # With both of a room spoiled it would have only what is in the log.
    wait("two snapshots of each room", lambda: all(
        len({header["seq"] for header in cluster.headers(room) if not header.get("spoiled")}) == 2 for room in ROOMS))
    for newest in [cluster.headers(room)[-1] for room in ROOMS]:
        cluster.request(newest["subject"], {"identifier": newest["identifier"], "spoiled": True})
    lose_disk(cluster, "the snapshots before spoiled ones are loaded")


def test_mixed_leases(cluster, check):
    """Partitions are moved crosswise and a node is drained, by commands at any node."""
    drained = cluster.named("node2")
    first, last = cluster.others(drained)
    owners = first.owners()
    moved = {number: f"node{1 + int(owners[number][-1]) % 3}" for number in range(0, 64, 8)}

    def command(name, node, *arguments, status=0):
        with check.attempt(name):
            node.ctl("cluster", *arguments, status=status)
    for number, name in moved.items():
        command(f"partition {number} is moved to {name}", cluster.nodes[number % 3], "move", number, name)
    cluster.eventually("mixed leases: each partition is where it was moved", lambda: cluster.whole() and {
        number: drained.owners()[number] for number in moved}, moved)
    command("an unknown node is refused", first, "move", 1, "nobody", status=1)
    command("drain: taken", first, "drain", drained.name)
    cluster.eventually("mixed leases: a node that is drained has nothing",
                       lambda: cluster.whole() and drained.partitions(), 0)

    def unnamed():
        """The rooms without an owner in the list."""
        rooms = {room["room"]: room.get("node") for room in json.loads(last.ctl("cluster", "rooms", "--json=short"))}
        return set(ROOMS) - set(rooms) | {room for room, node in rooms.items() if node == drained.name}
    cluster.eventually("the list of rooms names owners", unnamed, set())
    check.contains("the status of a drained node says so", drained.ctl("cluster", "status"), "drained")
    cluster.eventually("other nodes list it", lambda: re.findall(
        r"node\d +\d+ +takes no rooms", first.ctl("cluster"))[0].split()[0], drained.name)
    command("resume: taken", first, "resume", drained.name)
    check.contains("metrics of the gateway", first.ctl("metrics"), "livehost_gateway_partitions ")


def test_lost_watch(cluster, check):
    """A partition is moved while its owner hears nothing, since the server by which it watches the leases is gone."""
    owner, target = cluster.nodes[:2]
    for _ in range(30):
        owner.stop()
        owner.begin(owner)
        cluster.wait_until_whole(least=11)
        watches = cluster.request("$JS.API.CONSUMER.LIST.KV_lh_lease")["consumers"]
        server = cluster.named(max(watches, key=lambda watch: watch["created"])["cluster"]["leader"])
        # An owner that loses its connection begins anew at once, and without a leader nothing is moved.
        if server not in (owner, cluster.leader("KV_lh_lease")):
            break
    cluster.move(ROOMS[0], owner)
    server.nats.kill()
    # The owner notices after 3 s, when what moves the partition is as good as forgotten.
    time.sleep(1)
    cluster.move(ROOMS[0], target)
    check.equal("lost watch: the partition is moved", cluster.owner(ROOMS[0]), target)
    server.begin(server.nats)


@pytest.mark.takeover
def test_kill_nats(cluster):
    # The one whose loss is felt.
    node = cluster.leader(cluster.log(ROOMS[0]))
    node.nats.kill()
    cluster.within("kill -9 of a NATS server: senders go on", 15, cluster.progress())
    node.begin(node.nats)


def test_two_servers(cluster):
    """One server is away while the one that leads the leases restarts: the two that are there suffice."""
    node = cluster.leader("KV_lh_lease")
    away = cluster.others(node)[0]
    away.nats.kill()
    node.nats.kill()
    node.begin(node.nats)
    # Leases are lost by the time at which the log has a leader again, so those of before do not count.
    answered = cluster.progress()
    cluster.within("two servers of three: every partition has an owner", 30, lambda: answered() and cluster.whole())
    away.begin(away.nats)


def test_freeze_nats(cluster):
    node = cluster.leader(cluster.log(ROOMS[0]))
    node.nats.process.send_signal(signal.SIGSTOP)
    cluster.eventually("a server that is stopped: senders go on", cluster.progress(50))
    node.nats.process.send_signal(signal.SIGCONT)


def test_no_majority(cluster, check):
    away = cluster.nodes[:2]
    for node in away:
        node.nats.kill()
    cluster.eventually("without a majority: every gateway says so", lambda: [
        node for node in cluster.nodes if not node.status()["problems"]], [])
    messages = [node.messages(ROOMS[0]) for node in cluster.nodes]
    check("without a majority: rooms are shown", all(messages), messages)
    before = [sender.acknowledged for sender in cluster.senders]
    time.sleep(2)
    seen = [sender.acknowledged for sender in cluster.senders]
    check.equal("without a majority: nothing is acknowledged", seen, before)
    for node in away:
        node.begin(node.nats)


@pytest.mark.takeover
def test_partition(cluster):
    node = cluster.nodes[1]
    ip(f"link set {node.link} down")
    cluster.taken_over("partition of a node", node, 15)
    cluster.eventually("partition of a node: it says that it is cut off", lambda: node.status()["problems"])
    ip(f"link set {node.link} up")


def test_slow_link(cluster):
    """The link between a node and the NATS servers is slow: 150 ms each way, then 600."""
    slow = cluster.named("node3")
    for delay in (0.15, 0.6):
        for proxy in cluster.proxies:
            proxy.delay = delay
        for sender in cluster.senders:
            sender.longest = 0.0
        for _ in range(3):
            cluster.eventually(f"slow link: senders go on with a delay of {delay} s", cluster.progress())
        cluster.eventually(f"slow link: senders meet a delay of {delay} s",
                           lambda: max(sender.longest for sender in cluster.senders) > 2 * delay)
        cluster.eventually(f"slow link: every partition has an owner with a delay of {delay} s", cluster.whole)
    cluster.eventually("slow link: who cannot hold a lease has none, and says so", lambda: (
        slow.partitions(), "too late for leases" in str(slow.status()["problems"])), (0, True))
    for proxy in cluster.proxies:
        proxy.delay = 0.0


def test_slow_servers(cluster):
    """Each server in turn is held up for a while, as by a slow disk or network; not every kernel has netem."""
    for turn in range(30):
        server = cluster.nodes[turn % 3].nats
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(0.15)
        server.process.send_signal(signal.SIGCONT)


def test_full_disk(cluster):
    """The disk of a server that leads every stream is full; the others go on, and it comes back once there is space."""
    node = cluster.named("node3")
    for stream in STREAMS:
        cluster.request(f"$JS.API.STREAM.LEADER.STEPDOWN.{stream}", {"placement": {"preferred": node.name}})
    cluster.eventually("full disk: its server leads every stream", lambda: {
        cluster.leader(stream) for stream in STREAMS}, {node})
    filler = node.directory / "js" / "filler"
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
    cluster.eventually("full disk: senders go on", cluster.progress())
    filler.unlink()
    # A server that could not write has switched JetStream off, or ended, and says so; it is started again, as by hand.
    node.nats.stop()
    node.begin(node.nats)
    cluster.eventually("full disk: senders go on with space again", cluster.progress())


def test_rolling(cluster):
    for node in cluster.nodes:
        for program in node.processes():
            program.stop()
        node.begin(node.nats, node.daemon, node)
        cluster.wait_until_whole()
