"""A plugin of pytest: counts checks, shows the logs of programs when a test fails, and measures tests.

A test that takes the fixture `check` goes on after a failed check, and counts as many tests as it has checks; any
other counts once. The last line is `N passed, N failed[, N skipped]`. If the environment variable LIVEHOST_TIMINGS
names a file, a line `SECONDS<tab>NAME` is added to it for each test.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

from harness import programs as program_module
from harness.programs import Daemon
from harness.waiting import PATIENCE, wait_for

CHECKS = pytest.StashKey()
totals = {"passed": 0, "failed": 0, "skipped": 0}


class Checks:
    """The checks of one test. Call the object with a name, the result, and the observed value, from any thread."""

    def __init__(self, write):
        self.write = write
        self.passed = 0
        self.skipped = 0
        self.failures = []
        self.lock = threading.Lock()

    def __call__(self, name, condition, seen=""):
        with self.lock:
            if condition:
                self.passed += 1
                self.write(f"ok: {name}")
            else:
                failure = f"{name}: {seen}" if seen != "" else name
                self.failures.append(failure)
                self.write(f"FAILED: {failure}")
        return bool(condition)

    def equal(self, name, seen, expected):
        """Checks that a value equals the expected value. A failure shows both."""
        return self(name, seen == expected, f"expected {expected!r}, seen {seen!r}")

    def contains(self, name, text, part):
        """Checks that a text contains a part. A failure shows both."""
        return self(name, part in text, f"expected {part!r} in {text!r}")

    def runs(self, name, command, *texts, status=0, limit=PATIENCE, **options):
        """Checks that a command exits with a status and prints each text on either stream. A text after ! must be absent.
        Returns the output."""
        run = subprocess.run(
            [str(argument) for argument in command], text=True, timeout=limit,
            **{"input": "", "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **options})
        wrong = [text for text in texts if (text.removeprefix("!") in run.stdout) == text.startswith("!")]
        self(name, run.returncode == status and not wrong,
             f"ended with {run.returncode}, expected {status}; not as expected: {wrong}; printed:\n{run.stdout}")
        return run.stdout

    @contextlib.contextmanager
    def attempt(self, name):
        """A check that succeeds unless its block raises."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever is raised is the failure of this check only
            self(name, False, f"{type(error).__name__}: {error}")
        else:
            self(name, True)

    def becomes(self, name, condition, seen):
        """Checks that a condition becomes true in time. `seen`, a text or a function, describes a failure."""
        with self.attempt(name):
            wait_for(condition, seen)

    def skip(self, reason, count=1):
        self.skipped += count
        self.write(f"SKIPPED: {reason}")

    def complete(self, count):
        """Raises AssertionError unless the test had this number of checks, including skipped checks."""
        seen = self.passed + self.skipped + len(self.failures)
        assert seen == count, f"expected {count} checks, seen {seen}"

    def lacks(self, *programs, count):
        """Returns whether a program is not installed, and in this case skips `count` checks."""
        missing = [program for program in programs if not shutil.which(program)]
        if missing:
            self.skip(f"not installed: {', '.join(missing)}", count)
        return bool(missing)


def pytest_addoption(parser):
    parser.addoption("--programs", type=pathlib.Path, help="the directory of the built programs")


@pytest.fixture(scope="session")
def programs(request):
    """Returns the directory of the built programs."""
    path = request.config.getoption("--programs")
    if path is None:
        pytest.fail("--programs DIRECTORY is missing")
    return path.resolve()


@pytest.fixture(scope="session", autouse=True)
def base_directory(tmp_path_factory):
    """Creates the parent of all temporary directories. pytest creates it on first use, without a lock, so
    the threads of a test would create several."""
    return tmp_path_factory.getbasetemp()


@pytest.fixture
def check(request):
    terminal = request.config.pluginmanager.get_plugin("terminalreporter")
    checks = request.node.stash[CHECKS] = Checks(terminal.write_line)
    return checks


@pytest.fixture
def start_daemon(programs, tmp_path_factory):
    """Starts daemons, each in a new directory. Daemons that still run at the end of the test must exit with 0."""
    started = []

    def start(configuration=None, **options):
        directory = tmp_path_factory.mktemp("livehostd")
        started.append(Daemon(programs, directory, configuration, **options))
        return started[-1]

    yield start
    statuses = [daemon.stop() for daemon in started if daemon in program_module.running]
    assert not any(statuses), f"a daemon ended with status {max(statuses)}"


@pytest.fixture
def daemon(start_daemon):
    """Starts a daemon with the default configuration."""
    return start_daemon()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    checks = item.stash.get(CHECKS, None)
    if report.when == "call" and checks and checks.failures and report.passed:
        report.outcome = "failed"
        report.longrepr = "\n".join(f"FAILED: {failure}" for failure in checks.failures)
    if report.failed:
        for program in program_module.running:
            report.sections.append((f"log of {program.command[0]}, {program.log}", program.log_tail()))
    count(report, checks)
    if report.when == "call":
        record(item, call)
    return report


def count(report, checks):
    if report.when == "call" and checks:
        totals["passed"] += checks.passed
        totals["skipped"] += checks.skipped
        # A test that raises has failed, even if all its earlier checks passed.
        totals["failed"] += len(checks.failures) or int(report.failed)
    elif report.skipped:
        totals["skipped"] += 1
    elif report.failed:
        totals["failed"] += 1
    elif report.when == "call":
        totals["passed"] += 1


def record(item, call):
    if path := os.environ.get("LIVEHOST_TIMINGS"):
        with open(path, "a") as file:
            file.write(f"{call.duration:.1f}\t{item.nodeid}\n")


def pytest_unconfigure(config):
    if config.option.collectonly:
        return
    # Ends programs that a test left running.
    for program in list(program_module.running):
        program.kill()
    line = f"{totals['passed']} passed, {totals['failed']} failed"
    print(line + (f", {totals['skipped']} skipped" if totals["skipped"] else ""), flush=True)
