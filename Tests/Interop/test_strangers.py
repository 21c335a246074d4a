"""What local users and senders whom nobody trusts can do to a daemon. In between, root reads the status, reloads and
opens rooms, and a member of the group livehost sends events: all of that must succeed. Needs root, which becomes
`nobody` for the strangers' part and a member of the group for the senders'."""
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
# The user who is in the group livehost. Any will do that neither is root nor nobody.
MEMBER = 1
# By how much the daemon may grow meanwhile.
ALLOWED_GROWTH = 64 << 20
# What one user without rights gets: a quarter of all monitors.
MONITORS = 16
# With fewer connections than these, strangers would not be in anybody's way.
ENOUGH = CONNECTIONS * 3 // 4


def status(daemon):
    """What somebody else sees meanwhile; None if it takes too long."""
    with contextlib.suppress(OSError, CallError), connect(daemon) as client:
        return client.call("GetStatus")


def refused(daemon):
    """How often nobody was refused what, or lost it to others."""
    rows = (status(daemon) or {}).get("refusals") or []
    return {row["resource"]: row["count"] for row in rows if row.get("user") == NOBODY}


def accepted(daemon):
    """How many connections to the control socket the daemon has accepted and not closed. The kernel lists its end
    of each by the socket's path; the listening socket has a flag, and what still waits is not connected."""
    rows = (line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines())
    return sum(row[-1] == str(daemon.control) and row[3] == "00000000" and row[5] == "03" for row in rows)


# What strangers do, whether it takes all connections that they may have, and what they must have been refused.
CROWDS = (
    ("unfinished", unfinished, True, ("connection", "unfinishedCall")), ("idle", idle, True, ("idleConnection",)),
    ("monitors", monitors, True, ("monitor",)), ("listing", listing, False, ()), ("leaving", leaving, False, ()),
    ("passing", passing, False, ()), ("together", everything, True, ("connection",)))


class Siege:
    """The checks of a daemon that others use while strangers do their worst."""

    def __init__(self, check, daemon, senders):
        self.check, self.daemon, self.senders = check, daemon, senders
        self.identities = {"root": (0, 0), "nobody": (NOBODY, NOBODY), "a member": (MEMBER, senders)}
        # What the daemon takes before the first stranger comes.
        self.others_work("quiet")
        self.settled = daemon.resident()

    def others_work(self, name):
        """Returns how many connections there were meanwhile, again and again."""
        self.check(f"{name}: root reads the status", status(self.daemon) is not None)
        for verb in (["status"], ["reload"], ["open", f"room-{name.split()[0]}"]):
            with self.check.attempt(f"{name}: root can {verb[0]}"):
                self.daemon.ctl(*verb)
        if self.senders is None:
            self.check.skip(f"{name}: a sender that is not root: there is no group livehost, and none could be made")
            return [accepted(self.daemon)]
        with Stranger(self.identities["a member"], send_chat, self.daemon) as sender:
            connections = sender.asked_meanwhile(lambda: accepted(self.daemon))
        self.check(f"{name}: a sender's 100,000 events are synced", sender.exitcode == 0, sender.seen())
        return connections

    def meanwhile(self, name, who, body, *arguments):
        """Two checks: `body` succeeds as this user, and others get their status whenever they ask in between."""
        with Stranger(self.identities[who], body, self.daemon, *arguments) as stranger:
            replies = stranger.asked_meanwhile(lambda: status(self.daemon) is not None)
        self.check(f"{name}, by {who}", stranger.exitcode == 0, stranger.seen())
        self.check(f"  others get their status meanwhile ({len(replies)} asked)", all(replies), replies)

    def crowded(self, name, body, takes_connections, resources):
        """What others can do while strangers take what there is; and that they do take it."""
        check, daemon = self.check, self.daemon
        refused_before, own = refused(daemon), accepted(daemon)

        def times(told, resource):
            return told.get(resource, 0) - refused_before.get(resource, 0)

        with Stranger(self.identities["nobody"], body, daemon) as stranger:
            begun = running.value
            connections = self.others_work(f"{name} by strangers")
            growth = daemon.resident() - self.settled
            # What ends for its time comes late.
            with contextlib.suppress(TimeoutError):
                wait_for(lambda: all(times(refused(daemon), resource) > 0 for resource in resources)
                         and (body is not unfinished or accepted(daemon) - own >= ENOUGH),
                         "refusals and connections", PATIENCE, 0.2)
            lost, followers = begun - running.value, accepted(daemon) - own
            assert stranger.is_alive(), f"the strangers have ended: {stranger.seen()}"
        told = refused(daemon)
        if body is monitors:
            check(f"{name}: {begun} of them were running", begun == MONITORS, f"expected {MONITORS}")
            # Nothing reads what they are sent, and the memory for that is limited as well.
            check(f"{name}: {lost} of them ended for want of memory", 0 <= lost <= times(told, "memory"), told)
        check(f"{name}: the daemon grew by {growth >> 20} MiB", growth <= ALLOWED_GROWTH,
              f"expected at most {ALLOWED_GROWTH >> 20}")
        for resource in resources:
            check(f"{name}: {resource} was refused {times(told, resource)} times", times(told, resource) > 0, told)
        if takes_connections:
            # Most of the time: while one that has ended is replaced, there are fewer.
            held = statistics.median(connections) - own
            check(f"{name}: strangers had {held:g} connections", ENOUGH <= held <= CONNECTIONS + 4,
                  f"expected {ENOUGH} to {CONNECTIONS + 4}, seen {connections}, of them {own} of others")
        if body is unfinished:
            check(f"{name}: {followers} connections followed those that had been ended", followers >= ENOUGH,
                  f"expected at least {ENOUGH}")

    def refused_by_user(self):
        """A daemon that was started by hand looks at who connects to its ingest socket, whatever its mode."""
        mode = os.stat(self.daemon.ingest).st_mode
        os.chmod(self.daemon.ingest, 0o666)
        with Stranger(self.identities["nobody"], send_without_right, self.daemon) as stranger:
            answer = stranger.seen(60)
        os.chmod(self.daemon.ingest, mode & 0o777)
        self.check("another user may not send, and is told so", isinstance(answer, dict) and (
            answer["type"], answer.get("reason")) == ("refused", "this user may not send events"), answer)
        told = refused(self.daemon)
        self.check("which is counted", "ingestPermission" in told, told)
        rooms = self.daemon.call("ListRooms")
        self.check("and nothing of theirs was taken", "strange" not in json.dumps(rooms), rooms)


@contextlib.contextmanager
def group_of_senders(directory):
    """The number of the group livehost, of which senders are members, and which a machine without the package does not
    have. Within the block this process and the daemon see a file of groups that has it, and others the file as it is.
    None if that is not permitted."""
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
    """A daemon whose sockets strangers can reach, as in the installed service, with a room and many recordings."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        (directory / "run").mkdir(0o755)
        daemon = Daemon(programs, directory)
        with daemon.client() as root:
            root.call("OpenRoom", room="main")
            # So that a list of recordings is long.
            for _ in range(300):
                root.call("StartRecording", room="main")
                root.call("StopRecording", room="main")
            root.call("StartRecording", room="main")
        if senders is not None:
            os.chown(daemon.ingest, -1, senders)
        yield daemon
        assert daemon.stop() == 0


def test_strangers(check, programs, tmp_path):
    if os.geteuid() != 0:
        return check.skip("only root can become another user", CHECKS)
    with group_of_senders(tmp_path) as senders, reachable_daemon(programs, senders) as daemon:
        siege = Siege(check, daemon, senders)
        for crowd in CROWDS:
            siege.crowded(*crowd)
        siege.refused_by_user()
        for size, who in ((16 << 10, "nobody"), (4 << 20, "nobody"), (4 << 20, "root")):
            # Room for the rest of the message.
            for kind, text in hostile.nasty(size - 1024):
                siege.meanwhile(f"{kind} of {size - 1024} bytes", who, send_messages,
                                (hostile.filled(template, text) for _, template in hostile.CALLS))
        for (kind, data), who in itertools.product(hostile.shapes(400_000), ("nobody", "root")):
            # More than once, so that something goes on while others ask.
            siege.meanwhile(kind, who, send_messages, [data] * 3)
        who = "root" if senders is None else "a member"
        siege.meanwhile("lines of nasty text are counted", who, send_lines)
        siege.meanwhile("lines of nasty text to the connection do no harm", who, send_lines_to_connection)
    check.complete(CHECKS)
