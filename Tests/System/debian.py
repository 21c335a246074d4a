"""A Debian booted in systemd-nspawn: commands in it, its files, units, journal and packages."""
import contextlib
import json
import pathlib
import re
import subprocess

from harness.programs import Program
from harness.waiting import PATIENCE, wait_for

DAEMON = "livehostd.service"
UNITS = ("livehostd.socket", "livehostd-ingest.socket", DAEMON)
CONTROL, INGEST = "/run/livehost/io.livehost.Control", "/run/livehost/ingest"
STATE = "/var/lib/private/livehost"
STATES = ("running\n", "degraded\n")
# Files created by the kernel, the journal and man-db, and the packages being tested.
NOT_LISTED = ("/proc", "/sys", "/dev", "/run/systemd", "/run/udev", "/tmp", "/var/tmp", "/var/log/journal", "/run/log",
              "/var/cache/man", "/packages")
INSIDE = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root", "LANG": "C.UTF-8", "SYSTEMD_COLORS": "0",
          "DEBIAN_FRONTEND": "noninteractive"}
# Boots an overlay on the root $1. The upper layer is a tmpfs in $2, because it cannot be on another
# overlay, as in a container image. $3 is visible as /packages.
BOOT = """
mount -t tmpfs -o size=2g,mode=0755 livehost "$2" && mkdir "$2/upper" "$2/work" "$2/root" &&
mount -t overlay livehost "$2/root" -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" &&
exec systemd-nspawn --quiet --boot --directory="$2/root" --machine="livehost-$$" \
  --bind-ro="$3:/packages" --register=no --keep-unit --private-network --console=pipe --link-journal=no
"""


def execute(*command, status=0, input=None, merged=False, limit=PATIENCE, environment=None):
    """Runs a command; returns its output, with standard error if `merged`. Raises AssertionError
    with both streams if its status is not `status` (None: any)."""
    words = [str(word) for word in command]
    run = subprocess.run(words, text=True, timeout=limit, errors="replace", stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT if merged else subprocess.PIPE, input=input or "", env=environment)
    assert status is None or run.returncode == status, (
        f"{' '.join(words)} ended with {run.returncode}, expected {status}\n{run.stdout}{run.stderr or ''}")
    return run.stdout


class Debian(Program):
    """A booted Debian. Raises ChildProcessError if containers are not permitted."""

    def __init__(self, root, packages, directory):
        self.init = None
        mount = directory / "mount"
        mount.mkdir()
        # The container runs in namespaces for processes and mounts, which disappear when it ends.
        # Nothing is left behind even if it is killed.
        spaces = ("unshare", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child")
        command = ["setpriv", "--pdeathsig", "KILL", *spaces, "sh", "-c", BOOT, "sh", root, mount, packages]
        super().__init__(command, directory / "console")
        self.wait_for(self.is_up, lambda: f"Debian has not booted\n{self.log_tail()}")

    def is_up(self):
        # systemd-nspawn has other children during its setup; the lasting one is the container's
        # init.
        nspawn = execute("pgrep", "-P", self.pid, "-x", "systemd-nspawn", status=None).strip()
        self.init = nspawn and execute("pgrep", "-P", nspawn, "-x", "systemd", status=None).strip()
        return self.init and self.run("systemctl", "is-system-running", "--wait", status=None) in STATES

    def run(self, *command, user=None, **options):
        """Runs a command in the container; see `execute`."""
        switch = ("runuser", "-u", user, "--") if user else ()
        return execute("nsenter", "-t", self.init, "-a", "--", *switch, *command, environment=INSIDE, **options)

    def shell(self, script, **options):
        return self.run("sh", "-c", script, **options)

    def ctl(self, *arguments, **options):
        return self.run("livehostctl", *arguments, **options)

    def json(self, *arguments, **options):
        """Returns the JSON output of livehostctl."""
        return json.loads(self.ctl(*arguments, "--json=short", **options))

    def wait_for_text(self, text, *arguments):
        """Waits until the JSON output of livehostctl contains a text."""
        def seen():
            return self.ctl(*arguments, "--json=short", status=None)
        wait_for(lambda: text in seen(), lambda: f"expected {text} in {seen()}", pause=0.1)

    def send(self, room, type, **members):
        self.ctl("send", room, json.dumps({"type": type, **members}))

    def in_network(self, *command, **options):
        """Runs a program of this machine in the container's network."""
        return execute("nsenter", "-t", self.init, "-n", "--", *command, **options)

    def start_in_network(self, log, *command, **options):
        enter = ("nsenter", "-t", self.init, "-n", "--", "setpriv", "--pdeathsig", "KILL")
        return Program([*enter, *command], log, **options)

    def path(self, path):
        """Returns the path outside of the container."""
        return pathlib.Path(f"/proc/{self.init}/root{path}")

    @contextlib.contextmanager
    def file(self, path, text, mode=0o644):
        """Writes a file, and removes it afterwards. Also removes its directory if that did not
        exist."""
        file = self.path(path)
        made = not file.parent.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)
            if made:
                file.parent.rmdir()

    def files(self):
        prune = " -o ".join(f"-path {path}" for path in NOT_LISTED)
        return set(self.shell(rf"find / \( {prune} \) -prune -o -print", status=None).splitlines())

    def inspect(self, process, file):
        """Returns the text of a file in a process's directory in /proc."""
        return self.path(f"/proc/{process}/{file}").read_text()

    def systemctl(self, *arguments, **options):
        return self.run("systemctl", *arguments, **options)

    def unit(self, name=DAEMON):
        """Returns the properties of a unit."""
        return dict(line.split("=", 1) for line in self.systemctl("show", "--all", name).splitlines() if "=" in line)

    def main_process(self, name=DAEMON):
        return self.unit(name)["MainPID"]

    def state(self, name=DAEMON):
        return self.unit(name)["ActiveState"]

    def wait_for_other_process(self, former, name=DAEMON):
        """Waits until a unit is active with a new process."""
        def is_other():
            unit = self.unit(name)
            return unit["ActiveState"] == "active" and unit["MainPID"] != former
        wait_for(is_other, lambda: f"{name} has no new process after {former}, and is {self.state(name)}")

    def journal(self, *arguments):
        self.run("journalctl", "--sync")
        return self.run("journalctl", "-q", "--no-pager", *arguments)

    def assert_unprivileged(self, name=DAEMON):
        """Checks that the unit runs without capabilities as a dynamic user, which systemd
        chooses from a range."""
        process = self.main_process(name)
        user = self.path(f"/proc/{process}").stat().st_uid
        assert 61184 <= user <= 65519, f"{name} runs as user {user}"
        assert "CapEff:\t0000000000000000" in self.inspect(process, "status"), self.inspect(process, "status")

    def assert_exposure(self, maximum, name=DAEMON):
        line = self.run("systemd-analyze", "security", "--no-pager", name).splitlines()[-1]
        assert float(re.search(r"\d+\.\d+", line)[0]) <= maximum, f"expected at most {maximum}: {line}"

    def assert_enabled(self):
        for unit in UNITS:
            seen = self.systemctl("is-active", unit, status=None) + self.systemctl("is-enabled", unit, status=None)
            assert seen == "active\nenabled\n", f"{unit} is {seen}"

    def assert_manuals(self, *pages):
        """Checks that the manual pages open without a warning and that whatis finds them."""
        self.run("mandb", "--quiet")
        for name, section in (page.rsplit(".", 1) for page in pages):
            warnings = self.shell(f"MANWIDTH=80 man --warnings {section} {name} 2>&1 >/dev/null")
            assert not warnings, f"{name}({section}): {warnings}"
            self.run("whatis", name)

    def dpkg(self, *arguments):
        return self.run("dpkg", *arguments, limit=2 * PATIENCE)

    def install(self, *names):
        """Installs packages from /packages in one step."""
        self.dpkg("-i", *(f"/packages/{next(self.path('/packages').glob(f'{name}_*.deb')).name}" for name in names))

    def upgrade(self, package, unit):
        """Reinstalls a package, which dpkg treats as an upgrade, while its unit runs. The unit
        must run again with a new process."""
        before = self.unit(unit)
        # Changes the installed unit, as if it were the old version's.
        self.run("touch", before["FragmentPath"])
        self.systemctl("daemon-reload")
        self.install(package)
        self.wait_for_other_process(before["MainPID"], unit)
        assert self.unit(unit)["NeedDaemonReload"] == "no", "systemd has not loaded the new unit"

    def assert_purged(self, names):
        """Checks that packages, given as a pattern, left no files except those that dpkg and
        systemd keep."""
        left = [path for path in self.files() if re.search(rf"livehost-({names})", path)
                and not re.match(r"/(root|var/lib/dpkg/info|var/lib/systemd)/", path)]
        assert not left, f"left: {left}"

    def assert_ended(self, *programs):
        processes = self.shell("cat /proc/[0-9]*/comm", status=None).splitlines()
        running = [program for program in programs if program[:15] in processes]  # The kernel cuts names.
        assert not running, f"{running} is still running"
