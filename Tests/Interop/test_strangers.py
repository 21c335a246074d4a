"""Tests a daemon under attack by untrusted local users and senders.

Meanwhile root reads the status, reloads and opens rooms, and a member of the group livehost sends
events. All of that must succeed. The tests need root: they run strangers as `nobody`, and senders
as a member of the group.
"""
import contextlib
import grp
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import hostile
from harness.namespaces import own_mounts
from harness.programs import Daemon
from harness.varlink import CallError
from harness.waiting import wait_for
from strangers import (
    CONNECTIONS, PATIENCE, Stranger, connect, everything, idle, leaving, listing, monitors, passing, running, send_chat,
    send_lines, send_lines_to_connection, send_messages, send_without_right, unfinished)

CHECKS = 120
NOBODY = 65534
# The user in the group livehost. Any user except root and nobody is suitable.
MEMBER = 1
# The maximum growth of the daemon's memory, in bytes.
ALLOWED_GROWTH = 64 << 20
# The maximum number of monitors for one user without rights: a quarter of all.
MONITORS = 16
# The number of connections below which strangers do not affect other users.
ENOUGH = CONNECTIONS * 3 // 4


def status(daemon):
    """Returns the status as another user sees it, or None if it takes too long."""
    with contextlib.suppress(OSError, CallError), connect(daemon) as client:
        return client.call("GetStatus")


def refused(daemon):
    """Returns how often the user nobody was refused each resource or lost it to others."""
    rows = (status(daemon) or {}).get("refusals") or []
    return {row["resource"]: row["count"] for row in rows if row.get("user") == NOBODY}


def accepted(daemon):
    """Returns the number of open connections to the control socket. The kernel lists the daemon's
    end of each by the socket's path. The listening socket has a flag, and waiting ones are not
    connected."""
    rows = (line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines())
    return sum(row[-1] == str(daemon.control) and row[3] == "00000000" and row[5] == "03" for row in rows)


# The attacks, whether each uses all connections that strangers may have, and the resources that
# must have been refused.
CROWDS = (
    ("unfinished", unfinished, True, ("connection", "unfinishedCall")), ("idle", idle, True, ("idleConnection",)),
    ("monitors", monitors, True, ("monitor",)), ("listing", listing, False, ()), ("leaving", leaving, False, ()),
    ("passing", passing, False, ()), ("together", everything, True, ("connection",)))


class Siege:
    """Checks a daemon that others use during attacks of strangers."""

    def __init__(self, check, daemon, senders):
        self.check, self.daemon, self.senders = check, daemon, senders
        self.identities = {"root": (0, 0), "nobody": (NOBODY, NOBODY), "a member": (MEMBER, senders)}
        # The memory of the daemon before the first attack.
        self.others_work("quiet")
        self.settled = daemon.resident()

    def others_work(self, name):
        """Checks that others can work. Returns the numbers of connections sampled meanwhile."""
        self.check(f"{name}: root reads the status", status(self.daemon) is not None)
        for verb in (["status"], ["reload"], ["open", f"room-{name.split()[0]}"]):
            with self.check.attempt(f"{name}: root can {verb[0]}"):
                self.daemon.ctl(*verb)
        if self.senders is None:
            self.check.skip(f"{name}: a sender that is not root: the group livehost cannot be created")
            return [accepted(self.daemon)]
        with Stranger(self.identities["a member"], send_chat, self.daemon) as sender:
            connections = sender.asked_meanwhile(lambda: accepted(self.daemon))
        self.check(f"{name}: a sender's 100,000 events are synced", sender.exitcode == 0, sender.seen())
        return connections

    def meanwhile(self, name, who, body, *arguments):
        """Checks that `body` succeeds as this user, and that others always get the status
        meanwhile."""
        with Stranger(self.identities[who], body, self.daemon, *arguments) as stranger:
            replies = stranger.asked_meanwhile(lambda: status(self.daemon) is not None)
        self.check(f"{name}, by {who}", stranger.exitcode == 0, stranger.seen())
        self.check(f"{name}, by {who}: others get the status meanwhile ({len(replies)} requests)",
                   all(replies), replies)

    def crowded(self, name, body, takes_connections, resources):
        """Checks that others can work while strangers exhaust resources, and that they do exhaust
        them."""
        check, daemon = self.check, self.daemon
        refused_before, own = refused(daemon), accepted(daemon)

        def times(told, resource):
            return told.get(resource, 0) - refused_before.get(resource, 0)

        with Stranger(self.identities["nobody"], body, daemon) as stranger:
            begun = running.value
            connections = self.others_work(f"{name} by strangers")
            growth = daemon.resident() - self.settled
            # Connections that end because of their time limit end late.
            with contextlib.suppress(TimeoutError):
                wait_for(lambda: all(times(refused(daemon), resource) > 0 for resource in resources)
                         and (body is not unfinished or accepted(daemon) - own >= ENOUGH),
                         "refusals and connections", PATIENCE, 0.2)
            lost, followers = begun - running.value, accepted(daemon) - own
            assert stranger.is_alive(), f"the strangers have ended: {stranger.seen()}"
        told = refused(daemon)
        if body is monitors:
            check(f"{name}: {begun} monitors of strangers were running", begun == MONITORS, f"expected {MONITORS}")
            # Strangers do not read their monitors' data, and the memory for unread data is limited.
            check(f"{name}: {lost} monitors ended because the memory limit was reached",
                  0 <= lost <= times(told, "memory"), told)
        check(f"{name}: the daemon grew by {growth >> 20} MiB", growth <= ALLOWED_GROWTH,
              f"expected at most {ALLOWED_GROWTH >> 20}")
        for resource in resources:
            check(f"{name}: {resource} was refused {times(told, resource)} times", times(told, resource) > 0, told)
        if takes_connections:
            # The median, because there are fewer connections while ended ones are replaced.
            held = statistics.median(connections) - own
            check(f"{name}: strangers had {held:g} connections", ENOUGH <= held <= CONNECTIONS + 4,
                  f"expected {ENOUGH} to {CONNECTIONS + 4}, seen {connections}, of them {own} of others")
        if body is unfinished:
            check(f"{name}: {followers} connections replaced the ended ones", followers >= ENOUGH,
                  f"expected at least {ENOUGH}")

    def refused_by_user(self):
        """A daemon started by hand checks the users of its ingest socket regardless of the socket's
        mode."""
        mode = os.stat(self.daemon.ingest).st_mode
        os.chmod(self.daemon.ingest, 0o666)
        with Stranger(self.identities["nobody"], send_without_right, self.daemon) as stranger:
            answer = stranger.seen(60)
        os.chmod(self.daemon.ingest, mode & 0o777)
        self.check("another user may not send, and gets the reason", isinstance(answer, dict) and (
            answer["type"], answer.get("reason")) == ("refused", "this user may not send events"), answer)
        told = refused(self.daemon)
        self.check("the refused connection is counted", "ingestPermission" in told, told)
        rooms = self.daemon.call("ListRooms")
        self.check("no event of the refused user was accepted", "strange" not in json.dumps(rooms), rooms)


@contextlib.contextmanager
def group_of_senders(directory):
    """Yields the number of the group livehost, whose members may send.

    A machine without the package lacks the group. Within the block, this process and the daemon
    then see a group file that contains it. Other processes see the original file. Yields None if
    mounting is not permitted."""
    with contextlib.ExitStack() as stack:
        groups = {group.gr_name: group.gr_gid for group in grp.getgrall()}
        if "livehost" not in groups:
            number = next(number for number in itertools.count(64_000) if number not in groups.values())
            file = directory / "group"
            file.write_text(f"{pathlib.Path('/etc/group').read_text().rstrip()}\nlivehost:x:{number}:\n")
            with contextlib.suppress(OSError, subprocess.CalledProcessError):
                stack.enter_context(own_mounts())
                subprocess.run(["mount", "--bind", file, "/etc/group"], check=True)
                groups["livehost"] = grp.getgrnam("livehost").gr_gid
        yield groups.get("livehost")


@contextlib.contextmanager
def reachable_daemon(programs, senders):
    """Yields a daemon with a room and many recordings, whose sockets strangers can reach as in the
    installed service."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        (directory / "run").mkdir(0o755)
        daemon = Daemon(programs, directory)
        with daemon.client() as root:
            root.call("OpenRoom", room="main")
            # Makes the list of recordings long.
            for _ in range(300):
                root.call("StartRecording", room="main")
                root.call("StopRecording", room="main")
            root.call("StartRecording", room="main")
        if senders is not None:
            os.chown(daemon.ingest, -1, senders)
        yield daemon
        assert daemon.stop() == 0


def test_clients_without_rights_cannot_stop_others_from_working(check, programs, tmp_path):
    if os.geteuid() != 0:
        return check.skip("only root can become another user", CHECKS)
    with group_of_senders(tmp_path) as senders, reachable_daemon(programs, senders) as daemon:
        siege = Siege(check, daemon, senders)
        for crowd in CROWDS:
            siege.crowded(*crowd)
        siege.refused_by_user()
        for size, who in ((16 << 10, "nobody"), (4 << 20, "nobody"), (4 << 20, "root")):
            # Leaves space for the rest of the message.
            for kind, text in hostile.nasty(size - 1024):
                siege.meanwhile(f"{kind} of {size - 1024} bytes", who, send_messages,
                                (hostile.filled(template, text) for _, template in hostile.CALLS))
        for (kind, data), who in itertools.product(hostile.shapes(400_000), ("nobody", "root")):
            # Repeated, so that the attack lasts while others send requests.
            siege.meanwhile(kind, who, send_messages, [data] * 3)
        who = "root" if senders is None else "a member"
        siege.meanwhile("lines with hostile text are counted", who, send_lines)
        siege.meanwhile("commands to the connection with hostile text do no harm", who, send_lines_to_connection)
    check.complete(CHECKS)
