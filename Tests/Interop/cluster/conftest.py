"""Schedules of faults for a cluster of three nodes under load: kills, stops, lost links.

Each node has its own network namespace, and the tests run in the one that connects them. Tests
wait for conditions, never for a fixed time, except for the duration of a fault. Limits allow for
machines that are ten times as slow.

Takeovers (`-m takeover`) have bars for a machine that runs nothing else. The environment variable
CLUSTER_SLACK is the factor by which they may exceed their bars (default 5), and CLUSTER_BATCH is
the number of messages in a batch. With `--count N --random-order-bucket global` each schedule runs
N times. After the last schedule each room must have the acknowledged messages exactly once and in
order.
"""
import os
import random
import shutil
import signal

import pytest

from cluster_load import compare_with_one_daemon, send, verify
from cluster_network import HUB, ip, sh
from cluster_nodes import ROOMS, Cluster, wait
from harness import programs as program_module
from harness.namespaces import FLAGS, change, inside


def pytest_configure(config):
    config.addinivalue_line("markers", "takeover: other nodes take over within a bar")
    # SIGTERM and the time limit end the tests as Ctrl-C does, and so also end the programs that
    # they started.
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.default_int_handler)


@pytest.fixture(scope="session")
def running_cluster(programs, tmp_path_factory, request):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    signal.alarm(1080 * request.config.option.count)
    directory = tmp_path_factory.mktemp("cluster")
    # The namespace is never left, because threads that see these mounts run until the end.
    change("unshare", FLAGS["mnt"])
    sh("mount --make-rprivate /")
    with inside("net") as network:
        ip("link set lo up", "link add name hub type bridge", "link set hub up", f"address add {HUB}/24 dev hub")
        yield Cluster(programs, directory, network)
        for program in list(program_module.running):
            program.kill()
        sh(f"umount {directory}/3/js")
    signal.alarm(0)
    if not request.session.testsfailed:
        shutil.rmtree(directory)


@pytest.fixture
def cluster(running_cluster, check, request):
    """The cluster, once each node leads partitions. With --count the order of nodes is random."""
    cluster = running_cluster
    cluster.check = check
    if not cluster.senders:
        cluster.eventually("three nodes share all partitions", cluster.whole)
        send(cluster)
        wait("first answers to the senders", cluster.progress())
    if request.config.option.count > 1:
        random.Random(cluster.schedules).shuffle(cluster.nodes)
    try:
        cluster.wait_until_whole(least=11)
        wait("servers to catch up with their leaders", cluster.are_current)
    except TimeoutError as error:
        print(f"continues, although an earlier schedule has left a fault: {error}")
    return cluster


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Checks after each schedule, even a failed one, that the cluster is whole again."""
    cluster = pyfuncitem.funcargs.get("cluster")
    if not cluster:
        return (yield)
    name = pyfuncitem.originalname.removeprefix("test_").replace("_", " ")
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever a schedule raises, the next one follows
        cluster.check(f"{name}: the schedule raises no error", False, f"{type(error).__name__}: {error}\n{cluster.activity()}")
    cluster.eventually(f"{name}: every partition has an owner again", cluster.whole)
    cluster.eventually(f"{name}: owners have loaded their rooms",
                       lambda: [room for room in ROOMS if cluster.is_loading(room)], [])
    ended = [(program.command[0], program.process.returncode, program.log_tail())
             for program in program_module.running if not program.is_alive()]
    cluster.check.equal(f"{name}: no other program has ended", ended, [])
    cluster.eventually(f"{name}: senders continue", cluster.progress())
    if cluster.check.failures:
        cluster.keep_logs(name.replace(" ", "-"))
    cluster.schedules += 1
    if pyfuncitem is [item for item in pyfuncitem.session.items if "cluster" in item.fixturenames][-1]:
        verify(cluster, "in the end")
        compare_with_one_daemon(cluster)
    elif cluster.schedules % 50 == 0:
        # Checking every 50 schedules finds a loss near the schedule that caused it.
        verify(cluster, f"after {cluster.schedules} schedules")
        send(cluster)
