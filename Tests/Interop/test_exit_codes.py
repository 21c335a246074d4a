"""Each exit code of the programs is provoked once, and a user without rights is refused what requires them."""
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
    """A daemon to which every user may connect, as the socket unit of the service has it."""
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon(programs, directory)
        for path, mode in (directory, 0o711), (daemon.run, 0o711), (daemon.control, 0o666):
            os.chmod(path, mode)
        yield daemon
        daemon.stop()


def refused(ready, release, daemon, methods):
    """Those of the methods that are not permitted. Without parameters, since that must not depend on them."""
    ready.set()
    return [method for method in methods if daemon.reply(method).get("error") == DENIED]


def methods(daemon):
    """The methods of the interfaces that the daemon describes, and whether each is marked [Requires privileges]."""
    for interface in daemon.call("org.varlink.service.GetInfo")["interfaces"]:
        if interface != "org.varlink.service":
            text = daemon.call("org.varlink.service.GetInterfaceDescription", interface=interface)["description"]
            for comment, method in re.findall(r"^((?:#.*\n)*)method (\w+)", text, re.MULTILINE):
                yield f"{interface}.{method}", "# [Requires privileges]\n" in comment


def test_every_exit_code_of_the_manual_can_be_provoked(check, daemon, programs, tmp_path):
    provoked = set()

    def code(status, name, *command, **options):
        """A command ends with a status and, if that is a failure, with a diagnostic."""
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options)
        provoked.add(status)
        check(f"{status}, {name}", run.returncode == status and (run.stderr or not status),
              f"ended with {run.returncode}: {run.stderr or 'no diagnostic'}")

    ctl, program = [programs / "livehostctl", "--socket", daemon.control], programs / "livehostd"
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: wrong\nnonsense: 1\n")
    code(0, "a room is opened", *ctl, "open", "main")
    code(1, "a room that is open is opened", *ctl, "open", "main")
    code(64, "a room is not named", *ctl, "show")
    code(65, "an event of an unknown type", *ctl, "send", "main", '{"type":"nonsense"}')
    code(69, "no daemon listens there", ctl[0], "--socket", tmp_path / "nobody", "status")
    code(78, "a scenario with an unknown key", ctl[0], "simulate", wrong, "--local")
    code(99, "a threshold that cannot be met", ctl[0], "simulate", ROOT / "config/scenarios/host-screen.yaml",
         "--local", "--set", "duration=5s", "--device", "iphone-15-plus", "--variant", "ignored",
         "--threshold", "frames < 0")
    watching = Program([*ctl, "watch", "main", "--json=short"], tmp_path / "log", stdout=subprocess.PIPE)
    watching.output.readline()
    watching.process.send_signal(signal.SIGINT)
    provoked.add(130)
    check.equal("130, Ctrl-C", watching.wait(), 130)

    # A copy, since a checkout may be where only its owner reads.
    copy = shutil.copy(ctl[0], daemon.directory)
    runs = os.getuid() == 0 and subprocess.run([copy, "--version"], capture_output=True, **STRANGER).returncode == 0
    if runs:
        stranger = [copy, *ctl[1:]]
        code(77, "a stranger opens a room", *stranger, "open", "x", **STRANGER)
        code(0, "a stranger looks at one", *stranger, "show", "main", **STRANGER)
        requires = dict(methods(daemon))
        with Stranger((NOBODY, NOBODY), refused, daemon, list(requires)) as process:
            seen = process.seen(PATIENCE)
        marked = [method for method in requires if requires[method]]
        check("every method that requires privileges is refused to a stranger, and no other",
              seen == marked and len(marked) >= 10, f"refused: {seen}; marked: {marked}")
        daemon.control.chmod(0o600)
        code(77, "a stranger who may not even connect", *stranger, "status", **STRANGER)
    else:
        check.skip("not root, or the programs cannot be run as another user", 4)
        provoked.add(77)

    text = " ".join(subprocess.check_output([ctl[0], "--help"], text=True).split())
    listed = set(map(int, re.findall(r"\d+", re.search("Exit codes: .*interrupted", text)[0])))
    check("every exit code listed by --help was provoked", listed <= provoked, f"not provoked: {listed - provoked}")
    code(64, "the daemon does not know an option", program, "--nonsense")
    code(78, "the daemon's configuration is wrong", program, "--config", wrong)
    code(1, "the daemon's sockets are taken", program, "--runtime-dir", daemon.run, "--state-dir", tmp_path / "other")
    check.equal("0, the daemon is asked to end", daemon.stop(), 0)


def test_a_daemon_that_is_stopped_during_its_start_ends_with_0(check, programs, tmp_path):
    """The sockets accept before all parts of the daemon have started."""
    control, statuses = tmp_path / "run/io.livehost.Control", []
    for _ in range(ROUNDS):
        daemon = Program([programs / "livehostd", "--runtime-dir", control.parent, "--state-dir", tmp_path / "state"],
                         tmp_path / "log")
        wait_for(lambda: accepts(control), "the control socket", pause=0)
        statuses.append(daemon.stop())
    check.equal("a daemon that is stopped as soon as it accepts ends with 0", statuses, [0] * ROUNDS)
