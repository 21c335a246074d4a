"""Checks that each exit code can be provoked, and that privileged methods are refused to users without rights."""
import os
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from harness.places import ROOT
from harness.programs import Daemon, Program, accepts
from harness.waiting import PATIENCE, wait_for
from strangers import Stranger

DENIED = "org.varlink.service.PermissionDenied"
NOBODY = 65534
ROUNDS = 20
STRANGER = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


@pytest.fixture
def daemon(programs):
    """A daemon to which every user may connect, as with the socket unit of the service."""
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon(programs, directory)
        for path, mode in (directory, 0o711), (daemon.run, 0o711), (daemon.control, 0o666):
            os.chmod(path, mode)
        yield daemon
        daemon.stop()


def refused(ready, release, daemon, methods):
    """Returns the methods that are not permitted. Calls have no parameters: a refusal must not depend on them."""
    ready.set()
    return [method for method in methods if daemon.reply(method).get("error") == DENIED]


def methods(daemon):
    """Yields the methods that the daemon describes, and whether each is marked [Requires privileges]."""
    for interface in daemon.call("org.varlink.service.GetInfo")["interfaces"]:
        if interface != "org.varlink.service":
            text = daemon.call("org.varlink.service.GetInterfaceDescription", interface=interface)["description"]
            for comment, method in re.findall(r"^((?:#.*\n)*)method (\w+)", text, re.MULTILINE):
                yield f"{interface}.{method}", "# [Requires privileges]\n" in comment


def test_every_exit_code_of_the_manual_can_be_provoked(check, daemon, programs, tmp_path):
    provoked = set()

    def code(status, name, *command, **options):
        """Checks that a command exits with a status and, if it fails, prints a diagnostic."""
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options)
        provoked.add(status)
        check(f"exit code {status}: {name}", run.returncode == status and (run.stderr or not status),
              f"ended with {run.returncode}: {run.stderr or 'no diagnostic'}")

    ctl, program = [programs / "livehostctl", "--socket", daemon.control], programs / "livehostd"
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: wrong\nnonsense: 1\n")
    code(0, "opening a room", *ctl, "open", "main")
    code(1, "opening a room that is open", *ctl, "open", "main")
    code(64, "a missing name of a room", *ctl, "show")
    code(65, "an event of an unknown type", *ctl, "send", "main", '{"type":"nonsense"}')
    code(69, "a socket without a daemon", ctl[0], "--socket", tmp_path / "nobody", "status")
    code(78, "a scenario with an unknown key", ctl[0], "simulate", wrong, "--local")
    code(99, "a threshold that cannot be met", ctl[0], "simulate", ROOT / "config/scenarios/host-screen.yaml",
         "--local", "--set", "duration=5s", "--device", "iphone-15-plus", "--variant", "ignored",
         "--threshold", "frames < 0")
    watching = Program([*ctl, "watch", "main", "--json=short"], tmp_path / "log", stdout=subprocess.PIPE)
    watching.output.readline()
    watching.process.send_signal(signal.SIGINT)
    provoked.add(130)
    check.equal("exit code 130: Ctrl-C", watching.wait(), 130)

    # Other users may be unable to read the checkout, so they run a copy.
    copy = shutil.copy(ctl[0], daemon.directory)
    runs = os.getuid() == 0 and subprocess.run([copy, "--version"], capture_output=True, **STRANGER).returncode == 0
    if runs:
        stranger = [copy, *ctl[1:]]
        code(77, "a stranger opens a room", *stranger, "open", "x", **STRANGER)
        code(0, "a stranger reads a room", *stranger, "show", "main", **STRANGER)
        requires = dict(methods(daemon))
        with Stranger((NOBODY, NOBODY), refused, daemon, list(requires)) as process:
            seen = process.seen(PATIENCE)
        marked = [method for method in requires if requires[method]]
        check("exactly the methods that require privileges are refused to a stranger",
              seen == marked and len(marked) >= 10, f"refused: {seen}; marked: {marked}")
        daemon.control.chmod(0o600)
        code(77, "a stranger who may not even connect", *stranger, "status", **STRANGER)
    else:
        check.skip("not root, or the programs cannot be run as another user", 4)
        provoked.add(77)

    text = " ".join(subprocess.check_output([ctl[0], "--help"], text=True).split())
    listed = set(map(int, re.findall(r"\d+", re.search("Exit codes: .*interrupted", text)[0])))
    check("every exit code listed by --help was provoked", listed <= provoked, f"not provoked: {listed - provoked}")
    code(64, "an unknown option of the daemon", program, "--nonsense")
    code(78, "an invalid configuration of the daemon", program, "--config", wrong)
    code(1, "a daemon whose sockets are in use", program, "--runtime-dir", daemon.run, "--state-dir", tmp_path / "other")
    check.equal("exit code 0: SIGTERM of the daemon", daemon.stop(), 0)


def test_a_daemon_that_is_stopped_during_its_start_ends_with_0(check, programs, tmp_path):
    """Stops daemons whose sockets accept before all of their parts have started."""
    control, statuses = tmp_path / "run/io.livehost.Control", []
    for _ in range(ROUNDS):
        daemon = Program([programs / "livehostd", "--runtime-dir", control.parent, "--state-dir", tmp_path / "state"],
                         tmp_path / "log")
        wait_for(lambda: accepts(control), "the control socket", pause=0)
        statuses.append(daemon.stop())
    check.equal("a daemon that is stopped as soon as it accepts ends with 0", statuses, [0] * ROUNDS)
