"""Simulates the daemon with SEEDS (2,000) seeds, starting at 1, on two processors.

The option -s of pytest shows how often each event occurred. With at least 1,000 seeds, an event that never occurs is a
failure. The same seed must give the same trace, byte for byte, in two processes. A disk that drops syncs must be
detected."""
import collections
import concurrent.futures
import itertools
import os
import re

import pytest

SEEDS = int(os.environ.get("SEEDS") or 2000)
# Each process runs a few hundred seeds, because the memory that a killed daemon used is freed only when the process
# ends.
PART = min((SEEDS + 1) // 2, 500)


@pytest.mark.parametrize("seed", [1, 12, 31])
def test_a_seed_gives_the_same_trace_in_two_processes(check, programs, seed):
    command = [programs / "livehost-vopr", "--seed", seed, "--trace"]
    first, second = (check.runs(f"seed {seed}", command) for _ in range(2))
    differing = [pair for pair in zip(first.splitlines(), second.splitlines()) if len(set(pair)) > 1]
    check(f"seed {seed} has the same trace in two processes", first == second, differing[:1])


@pytest.mark.parametrize("place", ["recordings", "log", "rooms"])
@pytest.mark.parametrize("option", ["--drop-syncs", "--drop-directory-syncs"])
def test_lost_syncs_are_detected(check, programs, option, place):
    command = [programs / "livehost-vopr", option, f"/{place}", "--count", 100]
    output = check.runs(f"{option} /{place} is detected", command, "broke a promise", status=1, limit=120)
    check.write(f"{option} /{place}: {re.findall('[^:]*broke a promise:[^:]*', output)[:1]}")


def test_the_simulated_daemon_keeps_its_promises_for_all_seeds(check, programs):
    def run(seed):
        count = min(PART, SEEDS + 1 - seed)
        command = [programs / "livehost-vopr", "--seed", seed, "--count", count]
        return check.runs(f"seeds from {seed}", command, limit=60 + 2 * count).splitlines()

    counts, total = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for line in itertools.chain.from_iterable(pool.map(run, range(1, SEEDS + 1, PART))):
            if line.startswith("counted "):
                _, count, name = line.split(" ", 2)
                counts[name] += int(count)
            elif line.endswith(" days an hour"):
                total.update(dict(zip(("seeds", "days", "seconds"), map(float, re.findall(r"[\d.]+", line)))))
            else:
                check.write(line)
    check.write("{seeds:.0f} seeds, {days:.2f} simulated days in {seconds:.0f} s of a processor: {:.1f} days an hour"
                .format(total["days"] / total["seconds"] * 3600, **total))
    for name, count in sorted(counts.items()):
        check.write(f"{count:10}  {name}")
        if SEEDS >= 1000:
            check(f"{SEEDS} seeds cause the event: {name}", count, "the event never occurs")
