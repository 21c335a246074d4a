#!/usr/bin/env python3
"""Runs the tests: `run.py [lint] [PHASE...]`, by default all phases.

Builds the programs and tests, runs the tests of the Swift package, and then the scripts that need other programs or a
booted system, SCRIPTS_AT_ONCE (2) of them concurrently. `lint` adds the style checks, which need no build. Each phase
has a log in .build/test-logs. The output ends with a table of phases, the ten slowest tests, the failures, and the line
`N passed, N failed[, N skipped]`. With LIVEHOST_REQUIRE_ALL=1, skipped tests count as failed.
"""
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "Tests/Support"))
from harness import swift  # noqa: E402 - it is found by the line before

LOGS = ROOT / ".build/test-logs"
BIN = ROOT / ".build/release"
JOBS = os.environ.get("JOBS") or str(os.cpu_count())
# The interval in seconds at which the running phases are printed. A longer silence means that this program hangs.
HEARTBEAT = 60
COUNT = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SWIFT_TEST = re.compile(r'^. Test (".+"|\S+\(.*\)) (?:with \d+ test cases? )?(passed|failed) after ([0-9.]+) seconds')
NOTEWORTHY = re.compile(
    r"^(FAILED|SKIPPED|skipped|not ok|✘|lint: |Traceback)|^. Test .* skipped: |error: |Test run with|Fatal error")


@dataclasses.dataclass
class Phase:
    """A command that runs tests. `minutes` is a generous time limit that makes a test that hangs fail."""

    name: str
    minutes: int
    command: list
    # Whether the output ends with the summary of Swift Testing instead of `N passed, N failed`.
    is_swift: bool = False
    environment: dict = dataclasses.field(default_factory=dict)
    seconds: float = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def log(self):
        return LOGS / f"{self.name}.log"

    @property
    def timings(self):
        return LOGS / f"{self.name}.timings"

    def run(self):
        print(f"== {self.name}: {' '.join(map(str, self.command))}", flush=True)
        begun = time.monotonic()
        status = self.execute()
        self.seconds = time.monotonic() - begun
        (self.count_swift if self.is_swift else self.count)()
        if self.failed == 0 and (status != 0 or self.passed + self.skipped == 0):
            self.failed = 1
            self.report(
                f"FAILED: {self.name} did not end within {self.minutes} minutes" if status is None else
                f"FAILED: {self.name} ended with status {status} and without a count of failures")
            started = [line for line in self.lines() if re.match(r"^. Test .* started", line)]
            if self.is_swift and started:
                self.report(f"FAILED: the last test begun: {started[-1]}")
        print(f"-- {self.name}: {self.seconds:.0f} s; {totals([self])}", flush=True)

    def execute(self):
        """Runs the command and logs its output. Returns its status, or None if it exceeded the time limit."""
        environment = {
            **os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "LIVEHOST_TIMINGS": str(self.timings),
            **self.environment}
        process = subprocess.Popen(
            list(map(str, self.command)), cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        self.log.touch()
        # Processes left behind by a phase may keep its output open, so reading also has the time limit.
        reader = threading.Thread(target=self.follow, args=(process.stdout,), daemon=True)
        reader.start()
        try:
            status = process.wait(self.minutes * 60)
        except subprocess.TimeoutExpired:
            status = None
        end_group(process)
        reader.join(10)
        return status

    def follow(self, output):
        with open(self.log, "a") as log:
            for line in output:
                log.write(line)
                log.flush()
                if NOTEWORTHY.search(line):
                    print(f"{self.name}: {line[:300].rstrip()}", flush=True)

    def lines(self):
        return self.log.read_text(errors="replace").splitlines()

    def report(self, line):
        print(line, flush=True)
        with open(self.log, "a") as log:
            log.write(line + "\n")

    def count(self):
        """Reads the last closing count of a script."""
        found = [match for line in self.lines() if (match := COUNT.match(line))]
        if found:
            self.passed, self.failed, self.skipped = (int(number or 0) for number in found[-1].groups())

    def count_swift(self):
        """Counts the results in a log of Swift Testing."""
        run, self.skipped, failed = swift.results(self.log.read_text(errors="replace"))
        self.failed = len(failed)
        self.passed = max(0, run - self.failed)

    def tests(self):
        """Yields the duration in seconds and the name of each measured test."""
        if self.is_swift:
            for line in self.lines():
                if match := SWIFT_TEST.match(line):
                    yield float(match[3]), f"{self.name}: {match[1]}"
        elif self.timings.exists():
            for line in self.timings.read_text().splitlines():
                seconds, name = line.split("\t", 1)
                yield float(seconds), f"{self.name}: {name}"


def end_group(process):
    """Ends the processes that a phase left running, with SIGTERM and then with SIGKILL."""
    for number, seconds in ((signal.SIGTERM, 30), (signal.SIGKILL, 5)):
        end = time.monotonic() + seconds
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < end:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.05)
        except ProcessLookupError:
            return


# Swift tests are divided among processes instead of running in parallel in one process: tests of sockets and processes
# block threads, and all tests of a process share a pool of two threads.
MEASURING = "ComposableTests.(Memory|Performance|Store)Tests|LivehostDaemonTests.(FreeMemory|RoomMemory|RoomLife)Tests"
DAEMON = "^(LivehostDaemonTests|EndToEndTests)[.]"


def swift_tests(name, *options):
    # Not run by `swift test`: when stopped, it would swallow the last lines, which name the test that hangs.
    program = [BIN / "livehostPackageTests.xctest", "--testing-library", "swift-testing", "--no-parallel"]
    return Phase(name, 20, [*program, *options], is_swift=True, environment={"LIVEHOST_CHECK_INVARIANTS": "1"})


def pytest(*arguments):
    return ["Tests/Support/pytest.sh", BIN, *arguments]


LINT = Phase("lint", 10, ["Tests/Checks/lint.sh"])
# These tests measure memory or processor time, so nothing else runs at the same time.
ALONE = [swift_tests("tests-measuring", "--filter", MEASURING)]
# These phases run concurrently.
PAIRED = [
    swift_tests("tests-daemon", "--filter", DAEMON, "--skip", MEASURING),
    swift_tests("tests", "--skip", DAEMON, "--skip", MEASURING),
]
# Short tests, which share one run of pytest.
PROGRAMS = [f"Tests/Interop/test_{name}.py" for name in (
    "acts", "certification", "chromium_trace", "completion", "exit_codes", "faults", "fuzz", "metrics", "signals",
    "surface", "varlink_clients")]
# The longest phases are first, so that the end of the run is not spent waiting for one of them.
SCRIPTS = [
    Phase("cluster", 20, pytest("Tests/Interop/cluster")),
    Phase("system", 40, pytest("Tests/System")),
    Phase("growth", 10, pytest("Tests/Interop/test_growth.py")),
    # `make soak` simulates 50,000 seeds.
    Phase("vopr", 20, pytest("Tests/test_vopr.py"), environment={"SEEDS": "1000"}),
    Phase("sources", 10, pytest("Tests/Interop/sources")),
    Phase("web", 10, pytest("Tests/Interop/web")),
    Phase("outside", 20, pytest("Tests/test_packages.py", "-k", "outside")),
    Phase("obs", 10, pytest("Tests/Interop/test_obs.py", "Tests/Interop/test_obs_peer.py")),
    Phase("screen", 10, pytest("Tests/Interop/screen")),
    Phase("strangers", 10, pytest("Tests/Interop/test_strangers.py")),
    Phase("macros", 10, pytest("Tests/test_packages.py", "-k", "macros")),
    Phase("journal", 10, pytest("Tests/Interop/test_journal.py")),
    Phase("kills", 10, pytest("Tests/Interop/test_kills.py")),
    Phase("corpus", 10, pytest("Tests/Corpus")),
    Phase("programs", 10, pytest(*PROGRAMS)),
    Phase("elsewhere", 10, pytest("Tests/test_elsewhere.py")),
    Phase("checks", 5, pytest("Tests/Checks")),
    Phase("four-conditions", 5, ["Tests/Checks/four-conditions.py", "--program", BIN / "livehostctl", "check"]),
]


def build():
    """Builds the programs and the tests. Returns the duration in seconds, or None if the build failed."""
    print(f"== building programs and tests ({JOBS} jobs; a first build takes about 10 minutes on 2 cores)", flush=True)
    begun = time.monotonic()
    with open(LOGS / "build.log", "w") as log:
        process = subprocess.Popen(
            ["make", "--no-print-directory", "build-tests", f"JOBS={JOBS}"], cwd=ROOT, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in process.stdout:
            log.write(line)
            if re.search(r"^\[[0-9]*[05]/|error|warning: unre|Build complete", line):
                print(line, end="", flush=True)
    if process.wait() == 0:
        return time.monotonic() - begun
    print("".join(open(LOGS / "build.log").readlines()[-40:]), end="")
    return None


def run_beside(phases, width):
    """Runs phases, at most `width` of them concurrently."""
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        unfinished = {pool.submit(phase.run): phase for phase in phases}
        while unfinished:
            done, _ = concurrent.futures.wait(
                unfinished, HEARTBEAT, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
                del unfinished[future]
            if not done:
                running = [phase.name for future, phase in unfinished.items() if future.running()]
                print(f"   running: {', '.join(running)}; {len(unfinished) - len(running)} more to come", flush=True)


def totals(phases):
    passed, failed, skipped = (
        sum(getattr(phase, name) for phase in phases) for name in ("passed", "failed", "skipped"))
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def profile(phases, build_seconds):
    print("\nseconds  passed  failed  skipped  phase")
    if build_seconds is not None:
        print(f"{build_seconds:7.0f}                           build")
    for phase in sorted(phases, key=lambda phase: -phase.seconds):
        print(f"{phase.seconds:7.0f}  {phase.passed:6}  {phase.failed:6}  {phase.skipped:7}  {phase.name}")
    print("\nThe slowest tests (seconds):")
    for seconds, name in sorted((test for phase in phases for test in phase.tests()), reverse=True)[:10]:
        print(f"{seconds:7.1f}  {name}")


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip() + f"\n\nPhases: {', '.join(phase.name for phase in ALONE + PAIRED + SCRIPTS)}")
        return 0
    wanted = set(sys.argv[1:])
    unknown = wanted - {phase.name for phase in [LINT, *ALONE, *PAIRED, *SCRIPTS]}
    if unknown:
        print(f"run.py: there is no phase '{sorted(unknown)[0]}'; `run.py --help` lists them", file=sys.stderr)
        return 64
    chosen = wanted - {"lint"}
    LOGS.mkdir(parents=True, exist_ok=True)
    for old in LOGS.iterdir():
        old.unlink()
    begun = time.monotonic()
    run = [LINT] if "lint" in wanted else []
    for phase in run:
        phase.run()
    build_seconds = build()
    if build_seconds is None:
        print(f"FAILED: the build\n{sum(p.passed for p in run)} passed, {1 + sum(p.failed for p in run)} failed")
        return 1
    for phases, width in (ALONE, 1), (PAIRED, 2), (SCRIPTS, int(os.environ.get("SCRIPTS_AT_ONCE") or 2)):
        chosen_phases = [phase for phase in phases if not chosen or phase.name in chosen]
        run += chosen_phases
        run_beside(chosen_phases, width)
    profile(run, build_seconds)
    print(f"\n{time.monotonic() - begun:.0f} s")
    for phase in run:
        if phase.skipped and os.environ.get("LIVEHOST_REQUIRE_ALL") == "1":
            print(f"{phase.name}: {phase.skipped} skipped tests count as failed (LIVEHOST_REQUIRE_ALL=1)")
            phase.failed, phase.skipped = phase.failed + phase.skipped, 0
    for phase in run:
        if phase.failed:
            bad = [line for line in phase.lines() if re.match(r"FAILED|not ok|✘|lint: |SKIPPED|.*error: ", line)]
            print(*(f"{phase.name}: {line[:300]}" for line in bad[:40]), sep="\n")
    print(totals(run))
    return int(any(phase.failed for phase in run) or not any(phase.passed for phase in run))


if __name__ == "__main__":
    sys.exit(main())
