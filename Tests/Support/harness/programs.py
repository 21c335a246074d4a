"""Starts the programs under test and their peers, each in its own directories."""
import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess

from harness.ingest import Ingest
from harness.varlink import Client
from harness.waiting import PATIENCE, wait_for

# Started programs that were not stopped yet. A failed test shows the ends of their logs.
running = []


def free_port():
    """Returns a TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def accepts(address):
    """Returns whether an address, a path or a pair of host and port, accepts a connection now."""
    try:
        if isinstance(address, tuple):
            socket.create_connection(address, 5).close()
        else:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(address))
    except OSError:
        return False
    return True


def deterministic(report):
    """Returns a simulation report without the members that depend on the machine's load
    (SimulationReport.measuredMembers)."""
    measured = {"growth", "laneHolds", "measured", "measuredFindings"}
    return {name: value for name, value in json.loads(report).items() if name not in measured}


class Program:
    """A process whose standard error goes to a log. Standard output goes to the log, too, unless it is read."""

    def __init__(self, command, log, environment=None, **options):
        self.command = [str(argument) for argument in command]
        self.log = pathlib.Path(log)
        self.environment = {**os.environ, **(environment or {})}
        self.options = options
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **self.options}
            self.process = subprocess.Popen(self.command, env=self.environment, **streams)
        running.append(self)

    @property
    def pid(self):
        return self.process.pid

    @property
    def output(self):
        return self.process.stdout

    def is_alive(self):
        return self.process.poll() is None

    def wait_for(self, condition, what):
        """Waits for a condition. Raises ChildProcessError if the process ends before."""
        def met():
            if not self.is_alive():
                raise ChildProcessError(
                    f"{self.command[0]} ended with {self.process.returncode}\n{self.log_tail()}")
            return condition()
        return wait_for(met, what)

    def wait(self, limit=PATIENCE):
        """Waits for the end of the process and returns its exit status."""
        status = self.process.wait(limit)
        if self in running:
            running.remove(self)
        return status

    def stop(self, limit=PATIENCE):
        """Ends the process with SIGTERM and returns its exit status. Kills a process that does not end in time, and
        raises TimeoutError with the process's activity."""
        if self.is_alive():
            self.process.terminate()
        try:
            return self.wait(limit)
        except subprocess.TimeoutExpired:
            activity = self.activity()
            self.kill()
            raise TimeoutError(f"{limit} s after SIGTERM: {activity}") from None

    def interrupt(self, limit=PATIENCE):
        """Ends the process with SIGINT, as Ctrl-C does, and returns its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.wait(limit)

    def kill(self):
        if self.is_alive():
            self.process.send_signal(signal.SIGKILL)
        return self.wait()

    def log_tail(self, lines=15):
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def activity(self):
        """Returns the states of the process's threads and the end of its log."""
        threads = collections.Counter()
        for task in pathlib.Path(f"/proc/{self.pid}/task").glob("*"):
            with contextlib.suppress(OSError):  # The thread has ended meanwhile.
                state = (task / "stat").read_text().rsplit(") ", 1)[1][0]
                threads[f"{state} in {(task / 'wchan').read_text()}"] += 1
        doing = dict(threads) if self.is_alive() else f"ended with {self.process.returncode}"
        return f"{self.command[0]} ({self.pid}): {doing}\n{self.log_tail()}"

    def processor_seconds(self):
        """Returns the processor time of the process."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """Returns the resident memory in bytes."""
        return self.memory("VmRSS")

    def memory(self, row):
        """Returns a row of /proc/PID/status, such as VmHWM, in bytes."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{row}:\s+(\d+)", status, re.MULTILINE)[1]) << 10


class Daemon(Program):
    """livehostd with its runtime and state directories in `directory`. The initialiser waits until the sockets accept
    connections."""

    def __init__(self, programs, directory, configuration=None, environment=None, arguments=(), **options):
        self.programs = pathlib.Path(programs)
        self.directory = pathlib.Path(directory)
        self.run, self.state = self.directory / "run", self.directory / "state"
        self.control, self.ingest = self.run / "io.livehost.Control", self.run / "ingest"
        command = [self.programs / "livehostd", "--runtime-dir", self.run, "--state-dir", self.state, *arguments]
        if configuration is not None:
            path = self.directory / "livehostd.yaml"
            path.write_text(configuration)
            command += ["--config", path]
        super().__init__(command, self.directory / "log", environment, **options)

    def start(self):
        super().start()
        self.wait_for(lambda: accepts(self.control) and accepts(self.ingest), "the sockets of livehostd")

    def client(self, timeout=PATIENCE):
        return Client(self.control, timeout)

    def call(self, method, **parameters):
        """Calls a method of the control interface. See `Client.call`."""
        with self.client() as client:
            return client.call(method, **parameters)

    def reply(self, method, **parameters):
        """Calls a method of the control interface and returns the whole reply, even an error."""
        with self.client() as client:
            return client.reply(method, **parameters)

    def send(self, *events):
        """Sends events, or lines as bytes, to the ingest socket. Returns the answer when they are saved."""
        with Ingest(self.ingest) as ingest:
            answer = ingest.sync(*events)
        if not answer or answer["type"] != "synced":
            raise ConnectionError(f"the events were not acknowledged: {answer}")
        return answer

    def ctl(self, *arguments, status=0, input=None, columns=80, limit=PATIENCE):
        """Runs livehostctl with this daemon and returns its standard output. Raises AssertionError with both streams if
        the exit status differs from `status` (None accepts any status)."""
        run = subprocess.run(
            [self.programs / "livehostctl", "--socket", self.control, *map(str, arguments)], input=input, text=True,
            capture_output=True, timeout=limit,
            env={**os.environ, "COLUMNS": str(columns), "LANG": "C.UTF-8"})
        assert status is None or run.returncode == status, (
            f"livehostctl {' '.join(map(str, arguments))} ended with {run.returncode}, expected {status}\n"
            f"{run.stdout}{run.stderr}")
        return run.stdout

    def json(self, *arguments):
        """Returns the decoded output of livehostctl with --json=short."""
        return json.loads(self.ctl(*arguments, "--json=short"))

    def start_ctl(self, *arguments, log="ctl.log"):
        """Starts livehostctl with this daemon without waiting for its end. Its output is appended to a log."""
        return Program([self.programs / "livehostctl", "--socket", self.control, *arguments], self.directory / log)
