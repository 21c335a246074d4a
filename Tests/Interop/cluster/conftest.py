"""A cluster of three nodes under load, for tests that kill its programs, stop them and cut them off: the schedules.

Each node is in a network of its own, and the tests are in the one that joins them. Nothing waits for a fixed time but
faults that last; the limits are for machines that are ten times as slow. Takeovers (`-m takeover`) have bars for a
machine that does nothing else, which count five times beside other tests; the environment variable CLUSTER_SLACK says
how many times, and CLUSTER_BATCH how many messages senders write at once. With `--count N --random-order-bucket global`
each schedule runs N times. Behind the last one each room must have what was acknowledged, exactly once and in order.
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
    config.addinivalue_line("markers", "takeover: other nodes take over, within a bar")
    # SIGTERM and a time limit end the tests as Ctrl-C does: what they started ends, too.
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.default_int_handler)


@pytest.fixture(scope="session")
def running_cluster(programs, tmp_path_factory, request):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    signal.alarm(1080 * request.config.option.count)
    directory = tmp_path_factory.mktemp("cluster")
    # For good: threads that see these mounts run to the end.
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
    """The cluster, in which each node has something to lose. With --count any of them may be the first."""
    cluster = running_cluster
    cluster.check = check
    if not cluster.senders:
        cluster.eventually("three nodes share all partitions", cluster.whole)
        send(cluster)
        wait("senders at the beginning", cluster.progress())
    if request.config.option.count > 1:
        random.Random(cluster.schedules).shuffle(cluster.nodes)
    try:
        cluster.wait_until_whole(least=11)
        wait("servers that have what their leaders have", cluster.are_current)
    except TimeoutError as error:
        print(f"goes on, though an earlier schedule has left something undone: {error}")
    return cluster


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Behind each schedule the cluster must be whole again, also if the schedule failed."""
    cluster = pyfuncitem.funcargs.get("cluster")
    if not cluster:
        return (yield)
    name = pyfuncitem.originalname.removeprefix("test_").replace("_", " ")
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever a schedule raises, the next one follows
        cluster.check(f"{name}: no error", False, f"{type(error).__name__}: {error}\n{cluster.activity()}")
    cluster.eventually(f"{name}: every partition has an owner again", cluster.whole)
    cluster.eventually(f"{name}: owners have their rooms",
                       lambda: [room for room in ROOMS if cluster.is_loading(room)], [])
    ended = [(program.command[0], program.process.returncode, program.log_tail())
             for program in program_module.running if not program.is_alive()]
    cluster.check.equal(f"{name}: nothing else has ended", ended, [])
    cluster.eventually(f"{name}: senders go on", cluster.progress())
    if cluster.check.failures:
        cluster.keep_logs(name.replace(" ", "-"))
    cluster.schedules += 1
    if pyfuncitem is [item for item in pyfuncitem.session.items if "cluster" in item.fixturenames][-1]:
        verify(cluster, "in the end")
        compare_with_one_daemon(cluster)
    elif cluster.schedules % 50 == 0:
        # What is lost is found near the schedule that lost it.
        verify(cluster, f"after {cluster.schedules} schedules")
        send(cluster)
