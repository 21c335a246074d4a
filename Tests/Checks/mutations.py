#!/usr/bin/env python3
"""Plants bugs in the sources and checks that a test detects each of them: `mutations.py [NAME...]`.

mutations.toml lists the bugs ("mutations"). One unoptimised build of the last commit contains all of them, and the
environment variable MUTATION enables one of them for a run of its tests. Prints the mutations that no test
detects and a closing count. NAME... selects mutations. --check only checks that the list fits the working tree, and
suggests corrections. --vopr tries the mutations that the simulated daemon must find, and prints the seeds needed.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import placement

PROJECT = pathlib.Path(__file__).resolve().parents[2]
LIST = PROJECT / "Tests/Checks/mutations.toml"
SECONDS_PER_RUN = 300
SEEDS = 2000


@dataclasses.dataclass(frozen=True)
class Mutation:
    """A change within a declaration. `tests` is empty if only the simulation must detect the change."""

    name: str
    tests: str
    symbol: str
    find: str
    change: str
    vopr: bool = False
    module: str = ""


def listed(text):
    """Returns the mutations of a list, in its order."""
    mutations = []
    for tests, entries in tomllib.loads(text).items():
        filter = "" if tests == "vopr" else tests
        for name, entry in entries.items():
            options = {"vopr": not filter} | (entry[3] if len(entry) > 3 else {})
            mutations.append(Mutation(name, filter, *entry[:3], **options))
    return mutations


def condition(number):
    """Returns the name of a condition, unique in each module."""
    return f"mutation{number}IsTried"


def replacement(mutation, number, found):
    """Returns the text that replaces the found text."""
    return mutation.change.replace("mutated", condition(number)).replace("…", found)


def mutate(text, spots):
    """Returns the text with conditional mutations. `spots` has a mutation, its number, its start and its end each."""
    for mutation, number, start, end in sorted(spots, key=lambda spot: -spot[2]):
        text = text[:start] + replacement(mutation, number, text[start:end]) + text[end:]
    # @usableFromInline, because a mutation may be in an inlinable function.
    definitions = "".join(
        f"\n@usableFromInline let {condition(number)} =\n"
        f'  getenv("MUTATION").map {{ String(cString: $0) }} == "{number}"\n' for _, number, _, _ in spots)
    return ("" if "import Glibc\n" in text else "import Glibc\n") + text + definitions


def apply(root, mutations, writes=True):
    """Applies all mutations to the sources at `root`. Returns the reasons of mutations that do not fit."""
    sources = placement.Sources(root)
    spots, unfit = {}, []
    for number, mutation in enumerate(mutations):
        try:
            path, start, end = sources.place(mutation.symbol, mutation.find, mutation.module)
            for other, _, other_start, other_end in spots.get(path, []):
                if start < other_end and other_start < end:
                    raise placement.Unfit(
                        f"it changes the same text as: {other.name}\n  repair: shorten `find` of one of them")
        except placement.Unfit as reason:
            unfit.append(f"{mutation.name}: {reason}")
        else:
            spots.setdefault(path, []).append((mutation, number, start, end))
    if writes and not unfit:
        for path, found in spots.items():
            path.write_text(mutate(sources.text(path), found))
    return unfit


def run(command, root, number):
    """Runs a command with a mutation (None: without one). Returns None if the time limit is exceeded."""
    environment = os.environ | ({} if number is None else {"MUTATION": str(number)})
    try:
        return subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS_PER_RUN)
    except subprocess.TimeoutExpired:
        return None


def build(root, *options):
    subprocess.run(["swift", "build", *options, "-Xswiftc", "-no-warnings-as-errors"], cwd=root, check=True,
                   stdout=subprocess.DEVNULL)


def tests_fail(root, number, filter):
    """Returns whether the tests selected by the filter fail with this mutation (None: without one)."""
    ended = run(["swift", "test", "--skip-build", "--no-parallel", "--disable-testable-imports", "--filter", filter],
                root, number)
    if ended and "Test run with 0 tests" in ended.stdout + ended.stderr:
        sys.exit(f"no test is selected by {filter}")
    return not ended or ended.returncode != 0


@functools.cache
def require_passing(root, filter):
    """Exits if the tests fail without a mutation, because then they prove nothing about mutations."""
    if tests_fail(root, None, filter):
        sys.exit(f"{filter} fails without a mutation")


def seed_that_fails(root, number):
    """Returns the first seed with which the simulation detects this mutation, or None if no seed does."""
    # --each simulates one seed after another, so that a crash or an endless loop can be attributed to one seed.
    for first in range(1, SEEDS, 50):
        command = [root / ".build/release/livehost-vopr", "--seed", str(first), "--count", "50", "--each"]
        if not (ended := run(command, root, number)):
            return first, "does not end"
        if ended.returncode:
            broken = re.search(r"^seed (\d+) broke a promise: ([^:]*)", ended.stdout, re.MULTILINE)
            return (int(broken[1]), broken[2]) if broken else (first + ended.stdout.count("digest"), "crashes")
    return None


def try_seeds(root, chosen):
    """Simulates mutations, two at a time. Returns the numbers of tried and of undetected mutations."""
    build(root, "-c", "release", "--product", "livehost-vopr")
    if failure := seed_that_fails(root, None):
        sys.exit(f"seed {failure[0]} fails without a mutation")
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda entry: seed_that_fails(root, entry[0]), chosen)
        for (_, mutation), failure in zip(chosen, found):
            survivors += failure is None
            result = f"| {failure[0]} | {failure[1]} |" if failure else f"| NOT in {SEEDS} | |"
            print(f"| {mutation.name} {result}", flush=True)
    return len(chosen), survivors


def try_tests(root, chosen):
    """Runs tests with mutations. Returns the numbers of tried and of undetected mutations."""
    build(root, "--build-tests")
    survivors = 0
    for number, mutation in chosen:
        require_passing(root, mutation.tests)
        noticed = tests_fail(root, number, mutation.tests)
        survivors += not noticed
        print(f"{'noticed' if noticed else 'NOT NOTICED'}: {mutation.name}", flush=True)
    return len(chosen), survivors


def report(unfit, count):
    """Prints the mutations that do not fit and a closing count. Returns whether any does not fit."""
    for reason in unfit:
        print(f"does not fit the sources: {reason}")
    print(f"{count - len(unfit)} passed, {len(unfit)} failed")
    return bool(unfit)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="only check that the list fits the sources")
    arguments.add_argument("--vopr", action="store_true", help="detect mutations with the simulated daemon")
    arguments.add_argument("--build", type=pathlib.Path, help="build directory, kept for later runs")
    arguments.add_argument("names", nargs="*", metavar="NAME", help="mutations to try; default: all")
    options = arguments.parse_args()
    mutations = listed(LIST.read_text())
    unknown = set(options.names) - {mutation.name for mutation in mutations}
    if unknown:
        sys.exit(f"mutations.toml has no mutation {', '.join(sorted(unknown))}")
    if options.check:
        return report(apply(PROJECT, mutations, writes=False), len(mutations))

    with tempfile.TemporaryDirectory() as temporary:
        root = options.build or pathlib.Path(temporary) / "livehost"
        if root.exists():
            subprocess.run(["git", "-C", root, "fetch", "--quiet", PROJECT, "HEAD"], check=True)
            subprocess.run(["git", "-C", root, "checkout", "--quiet", "--force", "FETCH_HEAD"], check=True)
        else:
            subprocess.run(["git", "clone", "--quiet", PROJECT, root], check=True)
        if unfit := apply(root, mutations):
            return report(unfit, len(mutations))
        print("building", flush=True)
        chosen = [
            (number, mutation) for number, mutation in enumerate(mutations)
            if (mutation.vopr if options.vopr else mutation.tests)
            and (not options.names or mutation.name in options.names)]
        tried, survivors = (try_seeds if options.vopr else try_tests)(root, chosen)
        print(f"{tried - survivors} passed, {survivors} failed")
        return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
