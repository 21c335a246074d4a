#!/usr/bin/env python3
"""Plants bugs in the sources and checks that a test detects each of them: `mutations.py [NAME...]`.

The bugs ("mutations") are listed in mutations.toml. One unoptimised build of the last commit contains all of them. The
environment variable MUTATION enables one mutation for a short run of its tests. Prints the mutations that no test
detects and a closing count. NAME... selects mutations. --check only checks that the list fits the working tree, and
suggests corrections.

--vopr tries the mutations that the simulation of the daemon must find alone, and prints the number of seeds needed.
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
    """What takes the place of the text that was found."""
    return mutation.change.replace("mutated", condition(number)).replace("…", found)


def mutate(text, spots):
    """The text with mutations behind their conditions; spots are tuples of a mutation, its number, start and end."""
    for mutation, number, start, end in sorted(spots, key=lambda spot: -spot[2]):
        text = text[:start] + replacement(mutation, number, text[start:end]) + text[end:]
    # Inlinable functions may use it.
    definitions = "".join(
        f"\n@usableFromInline let {condition(number)} =\n"
        f'  getenv("MUTATION").map {{ String(cString: $0) }} == "{number}"\n' for _, number, _, _ in spots)
    return ("" if "import Glibc\n" in text else "import Glibc\n") + text + definitions


def apply(root, mutations, writes=True):
    """Puts all mutations into the sources at root; returns why those that do not fit do not."""
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
    """The ended command with a mutation (None: with none); None if it does not end in time."""
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
    """Whether the tests that the filter selects fail with this mutation (None: with none)."""
    ended = run(["swift", "test", "--skip-build", "--no-parallel", "--disable-testable-imports", "--filter", filter],
                root, number)
    if ended and "Test run with 0 tests" in ended.stdout + ended.stderr:
        sys.exit(f"no test is selected by {filter}")
    return not ended or ended.returncode != 0


@functools.cache
def require_passing(root, filter):
    """Ends if the tests fail by themselves: then they show nothing about a mutation."""
    if tests_fail(root, None, filter):
        sys.exit(f"{filter} fails without a mutation")


def seed_that_fails(root, number):
    """The first seed with which the simulation fails with this mutation; None if it does not."""
    # One after the other, so that a thread that never waits or a crash is a failure of its seed.
    for first in range(1, SEEDS, 50):
        command = [root / ".build/release/livehost-vopr", "--seed", str(first), "--count", "50", "--each"]
        if not (ended := run(command, root, number)):
            return first, "does not end"
        if ended.returncode:
            broken = re.search(r"^seed (\d+) broke a promise: ([^:]*)", ended.stdout, re.MULTILINE)
            return (int(broken[1]), broken[2]) if broken else (first + ended.stdout.count("digest"), "crashes")
    return None


def try_seeds(root, chosen):
    """Lets the simulation find mutations, two at a time. Returns how many it tried and did not find."""
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
    """Lets tests find mutations. Returns how many were tried and not noticed."""
    build(root, "--build-tests")
    survivors = 0
    for number, mutation in chosen:
        require_passing(root, mutation.tests)
        noticed = tests_fail(root, number, mutation.tests)
        survivors += not noticed
        print(f"{'noticed' if noticed else 'NOT NOTICED'}: {mutation.name}", flush=True)
    return len(chosen), survivors


def report(unfit, count):
    """Prints what does not fit and the closing count; returns whether there is any."""
    for reason in unfit:
        print(f"does not fit the sources: {reason}")
    print(f"{count - len(unfit)} passed, {len(unfit)} failed")
    return bool(unfit)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="only look whether the list fits the sources")
    arguments.add_argument("--vopr", action="store_true", help="let the simulation of the daemon find them")
    arguments.add_argument("--build", type=pathlib.Path, help="a directory to build in, kept for the next time")
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
