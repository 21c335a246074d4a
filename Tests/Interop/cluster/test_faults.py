"""Schedules of faults: killed and stopped programs, moved partitions, bad links, a full disk."""
import contextlib
import json
import re
import signal
import time

import pytest

from cluster_network import ip
from cluster_nodes import ROOMS, STREAMS, wait


@pytest.mark.takeover
def test_other_nodes_take_over_from_a_killed_gateway(cluster):
    node = cluster.nodes[0]
    node.kill()
    cluster.taken_over("kill -9 of a gateway", node, 8)
    node.begin(node)


@pytest.mark.takeover
def test_other_nodes_take_over_from_a_stopped_gateway(cluster, check):
    node = cluster.nodes[1]
    node.process.send_signal(signal.SIGTERM)
    cluster.taken_over("SIGTERM of a gateway", node, 2)
    check.equal("SIGTERM of a gateway: ends with 0", node.stop(), 0)
    node.begin(node)


@pytest.mark.takeover
def test_a_frozen_gateway_stores_nothing_after_its_leases_have_ended(cluster, check):
    """An owner that was stopped for longer than its leases stores nothing when it continues."""
    node = cluster.nodes[2]
    node.process.send_signal(signal.SIGSTOP)
    cluster.taken_over("SIGSTOP of a gateway", node, 8)
    # The stopped node must not replace these snapshots.
    cluster.eventually("SIGSTOP of a gateway: the new owners store snapshots", lambda: [
        room for room in ROOMS if cluster.headers(room)[-1]["node"] == node.name], [])
    before = {room: cluster.headers(room)[-1] for room in ROOMS}
    node.process.send_signal(signal.SIGCONT)
    cluster.wait_until_whole()
    for room, newest in before.items():
        late = [header for header in cluster.headers(room)
                if header["seq"] > newest["seq"] and header["epoch"] < newest["epoch"]]
        check(f"SIGCONT of a gateway: it stores no snapshot of {room} with an old epoch", not late, late)


def test_a_killed_daemon_is_fed_again_after_its_restart(cluster):
    owner = cluster.owner(ROOMS[0])
    owner.daemon.kill()
    known = cluster.senders[0].acknowledged
    owner.begin(owner.daemon)
    cluster.eventually("kill -9 of a daemon: it is fed again", lambda: owner.messages(ROOMS[0]) > known)


@pytest.mark.takeover
def test_a_gateway_without_its_daemon_loses_its_leases(cluster, check):
    """A gateway whose daemon does not come back loses its leases."""
    node = cluster.nodes[1]
    node.daemon.kill()
    cluster.taken_over("a lost daemon", node, 8)
    check.equal("a lost daemon: its gateway leads no partitions", node.partitions(), 0)
    node.begin(node.daemon)


def lose_disk(cluster, name):
    """Restarts the owner of a room with an empty disk, and checks that snapshots are loaded."""
    def loaded(nodes):
        return sum(node.status()["snapshotsLoaded"] for node in nodes)
    owner = cluster.owner(ROOMS[0])
    # The owner's count starts from 0 again.
    before = loaded(cluster.others(owner))
    owner.kill_and_lose()
    cluster.wait_until_whole()
    cluster.eventually(name, lambda: loaded(cluster.nodes) > before)
    wait("answers to the senders after a node lost its disk", cluster.progress())


def test_after_the_loss_of_a_disk_new_owners_load_snapshots(cluster):
    """When a node loses its disk, new owners load snapshots and read only the log after them."""
    wait("a snapshot of each room", lambda: all(cluster.headers(room) for room in ROOMS))
    lose_disk(cluster, "lost disk: the new owners load snapshots")


def test_damaged_snapshots_are_replaced_by_older_ones(cluster):
    """When the newest snapshots are damaged, takeovers load the older ones, then the log."""
    # With both snapshots damaged the room would only have the content of the log.
    wait("two snapshots of each room", lambda: all(
        len({header["seq"] for header in cluster.headers(room) if not header.get("spoiled")}) == 2 for room in ROOMS))
    for newest in [cluster.headers(room)[-1] for room in ROOMS]:
        cluster.request(newest["subject"], {"identifier": newest["identifier"], "spoiled": True})
    lose_disk(cluster, "damaged snapshots: the older ones are loaded")


def test_partitions_are_moved_and_a_node_is_drained_by_any_node(cluster, check):
    """Partitions are moved crosswise and a node is drained, by commands to any node."""
    drained = cluster.named("node2")
    first, last = cluster.others(drained)
    owners = first.owners()
    moved = {number: f"node{1 + int(owners[number][-1]) % 3}" for number in range(0, 64, 8)}

    def command(name, node, *arguments, status=0):
        with check.attempt(name):
            node.ctl("cluster", *arguments, status=status)
    for number, name in moved.items():
        command(f"a command moves partition {number} to {name}", cluster.nodes[number % 3], "move", number, name)
    cluster.eventually("mixed leases: each moved partition is with its target", lambda: cluster.whole() and {
        number: drained.owners()[number] for number in moved}, moved)
    command("an unknown node is refused", first, "move", 1, "nobody", status=1)
    command("a drain is accepted", first, "drain", drained.name)
    cluster.eventually("mixed leases: a drained node leads no partitions",
                       lambda: cluster.whole() and drained.partitions(), 0)

    def unnamed():
        """Returns the rooms that are listed without an owner, or with the drained node."""
        rooms = {room["room"]: room.get("node") for room in json.loads(last.ctl("cluster", "rooms", "--json=short"))}
        return set(ROOMS) - set(rooms) | {room for room, node in rooms.items() if node == drained.name}
    cluster.eventually("mixed leases: the list of rooms names owners", unnamed, set())
    check.contains("mixed leases: the status of a drained node says so", drained.ctl("cluster", "status"), "drained")
    cluster.eventually("mixed leases: other nodes list the drained node", lambda: re.findall(
        r"node\d +\d+ +takes no rooms", first.ctl("cluster"))[0].split()[0], drained.name)
    command("a resume is accepted", first, "resume", drained.name)
    check.contains("livehostctl prints the metrics of the gateway", first.ctl("metrics"), "livehost_gateway_partitions ")


def test_a_partition_moves_although_its_owner_has_lost_its_watch(cluster, check):
    """A partition moves although its owner has just lost the server of its watch."""
    owner, target = cluster.nodes[:2]
    for _ in range(30):
        owner.stop()
        owner.begin(owner)
        cluster.wait_until_whole(least=11)
        watches = cluster.request("$JS.API.CONSUMER.LIST.KV_lh_lease")["consumers"]
        server = cluster.named(max(watches, key=lambda watch: watch["created"])["cluster"]["leader"])
        # The server must not be the server of the owner, which would reconnect immediately, and not the leader, because
        # nothing can be moved without a leader.
        if server not in (owner, cluster.leader("KV_lh_lease")):
            break
    cluster.move(ROOMS[0], owner)
    server.nats.kill()
    # The owner notices after 3 s, when the entry that moves the partition has almost expired.
    time.sleep(1)
    cluster.move(ROOMS[0], target)
    check.equal("lost watch: the partition moves", cluster.owner(ROOMS[0]), target)
    server.begin(server.nats)


@pytest.mark.takeover
def test_senders_continue_after_a_nats_server_was_killed(cluster):
    # The loss of this server matters: it leads the log.
    node = cluster.leader(cluster.log(ROOMS[0]))
    node.nats.kill()
    cluster.within("kill -9 of a NATS server: senders continue", 15, cluster.progress())
    node.begin(node.nats)


def test_two_of_three_servers_suffice_even_during_a_restart(cluster):
    """Two servers suffice while the third is away, even when the leader of the leases restarts."""
    node = cluster.leader("KV_lh_lease")
    away = cluster.others(node)[0]
    away.nats.kill()
    node.nats.kill()
    node.begin(node.nats)
    # The leases have expired by the time at which the log has a leader again, so earlier owners do
    # not count.
    answered = cluster.progress()
    cluster.within("two of three servers: every partition has an owner", 30, lambda: answered() and cluster.whole())
    away.begin(away.nats)


def test_senders_continue_while_a_nats_server_is_frozen(cluster):
    node = cluster.leader(cluster.log(ROOMS[0]))
    node.nats.process.send_signal(signal.SIGSTOP)
    cluster.eventually("SIGSTOP of a NATS server: senders continue", cluster.progress(50))
    node.nats.process.send_signal(signal.SIGCONT)


def test_without_a_majority_nothing_is_acknowledged(cluster, check):
    away = cluster.nodes[:2]
    for node in away:
        node.nats.kill()
    cluster.eventually("without a majority: every gateway reports a problem", lambda: [
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
def test_other_nodes_take_over_from_a_node_without_network(cluster):
    node = cluster.nodes[1]
    ip(f"link set {node.link} down")
    cluster.taken_over("partition of a node", node, 15)
    cluster.eventually("partition of a node: the node reports a problem", lambda: node.status()["problems"])
    ip(f"link set {node.link} up")


def test_a_node_behind_a_slow_link_holds_no_leases(cluster):
    """The link between a node and the NATS servers delays 150 ms each way, then 600 ms."""
    slow = cluster.named("node3")
    for delay in (0.15, 0.6):
        for proxy in cluster.proxies:
            proxy.delay = delay
        for sender in cluster.senders:
            sender.longest = 0.0
        for _ in range(3):
            cluster.eventually(f"slow link: senders continue with a delay of {delay} s", cluster.progress())
        cluster.eventually(f"slow link: answers to senders show the delay of {delay} s",
                           lambda: max(sender.longest for sender in cluster.senders) > 2 * delay)
        cluster.eventually(f"slow link: every partition has an owner with a delay of {delay} s", cluster.whole)
    cluster.eventually("slow link: a node that cannot hold leases has none, and reports that", lambda: (
        slow.partitions(), "too late for leases" in str(slow.status()["problems"])), (0, True))
    for proxy in cluster.proxies:
        proxy.delay = 0.0


def test_short_pauses_of_the_nats_servers_lose_nothing(cluster):
    """Each server in turn is stopped for a moment, as a slow disk or network would do.

    Not every kernel has netem.
    """
    for turn in range(30):
        server = cluster.nodes[turn % 3].nats
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(0.15)
        server.process.send_signal(signal.SIGCONT)


def test_a_full_disk_of_a_nats_server_stops_no_sender(cluster):
    """The other servers continue when the leader's disk is full; it returns once there is space."""
    node = cluster.named("node3")
    for stream in STREAMS:
        cluster.request(f"$JS.API.STREAM.LEADER.STEPDOWN.{stream}", {"placement": {"preferred": node.name}})
    cluster.eventually("full disk: its server leads every stream", lambda: {
        cluster.leader(stream) for stream in STREAMS}, {node})
    filler = node.directory / "js" / "filler"
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
    cluster.eventually("full disk: senders continue", cluster.progress())
    filler.unlink()
    # A server that could not write has switched JetStream off or ended, and must be restarted by
    # hand.
    node.nats.stop()
    node.begin(node.nats)
    cluster.eventually("full disk: senders continue once there is space", cluster.progress())


def test_all_nodes_can_be_restarted_one_after_another(cluster):
    for node in cluster.nodes:
        for program in node.processes():
            program.stop()
        node.begin(node.nats, node.daemon, node)
        cluster.wait_until_whole()
