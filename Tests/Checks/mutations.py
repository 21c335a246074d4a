#!/usr/bin/env python3
"""Breaks the sources on purpose and sees whether a test notices: `mutations.py [NAME...]`.

The mutations are listed in mutations.toml. All of them are built at once, in a copy of what is committed,
each behind a condition that is true if the environment variable MUTATION names it. So there is one build,
without optimisation, and then one short run of the tests for each. Prints the mutations that no test
notices and a closing count. NAME... tries those only; --check looks only whether the list fits the sources.

--vopr tries those that the simulation of the daemon must find by itself, and prints how many seeds that took.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_PER_RUN = 300
SEEDS = 2000


def condition(number):
    """The name of a condition, different in each file of a module."""
    return f"mutation{number}IsTried"


def mutate(text, number, mutation):
    """The text with the mutation behind its condition; None if what it replaces is not there once."""
    if text.count(mutation["replace"]) != 1:
        return None
    before, after = text.split(mutation["replace"])
    if "end" in mutation:
        inner, rest = after.split(mutation["end"], 1)
        after = inner + mutation["end"] + mutation["close"] + rest
    # Inlinable functions may use it.
    definition = (
        f"\n@usableFromInline let {condition(number)} =\n"
        f'  getenv("MUTATION").map {{ String(cString: $0) }} == "{number}"\n')
    glibc = "" if "import Glibc\n" in text else "import Glibc\n"
    return glibc + before + mutation["by"].replace("mutated", condition(number)) + after + definition


def apply(root, mutations):
    """Puts all mutations into the sources at root; returns the names of those that do not fit them."""
    unfit = []
    for number, mutation in enumerate(mutations):
        path = root / mutation["file"]
        text = mutate(path.read_text(), number, mutation) if path.exists() else None
        if text is None:
            unfit.append(mutation["name"])
        else:
            path.write_text(text)
    return unfit


def tests_fail(root, number, filter):
    """Whether the tests that the filter selects fail with this mutation (None: with none)."""
    environment = dict(os.environ)
    if number is not None:
        environment["MUTATION"] = str(number)
    command = ["swift", "test", "--skip-build", "--no-parallel", "--disable-testable-imports", "--filter", filter]
    try:
        run = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS_PER_RUN)
    except subprocess.TimeoutExpired:
        return True
    if "Test run with 0 tests" in run.stdout + run.stderr:
        sys.exit(f"no test is selected by {filter}")
    return run.returncode != 0


def seed_that_fails(program, number):
    """The first seed with which the simulation fails with this mutation; None if it does not."""
    environment = dict(os.environ)
    if number is not None:
        environment["MUTATION"] = str(number)
    # One after the other, so that a thread that never waits or a crash is a failure of its seed.
    for first in range(1, SEEDS, 50):
        try:
            run = subprocess.run(
                [program, "--seed", str(first), "--count", "50", "--each"], env=environment,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=SECONDS_PER_RUN)
        except subprocess.TimeoutExpired:
            return first, "does not end"
        if run.returncode:
            broken = re.search(r"^seed (\d+) broke a promise: ([^:]*)", run.stdout, re.MULTILINE)
            if broken:
                return int(broken[1]), broken[2]
            return first + run.stdout.count("digest"), "crashes"
    return None


def try_seeds(root, mutations, names):
    """Lets the simulation find mutations, two at a time. Returns how many it tried and did not find."""
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "livehost-vopr", "-Xswiftc", "-no-warnings-as-errors"],
        cwd=root, check=True, stdout=subprocess.DEVNULL)
    program = root / ".build/release/livehost-vopr"
    if failure := seed_that_fails(program, None):
        sys.exit(f"seed {failure[0]} fails without a mutation")
    numbers = [
        number for number, mutation in enumerate(mutations)
        if mutation.get("vopr") and (not names or mutation["name"] in names)]
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda number: seed_that_fails(program, number), numbers)
        for number, failure in zip(numbers, found):
            survivors += failure is None
            result = f"| {failure[0]} | {failure[1]} |" if failure else f"| NOT in {SEEDS} | |"
            print(f"| {mutations[number]['name']} {result}", flush=True)
    return len(numbers), survivors


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="only look whether the list fits the sources")
    arguments.add_argument("--vopr", action="store_true", help="let the simulation of the daemon find them")
    arguments.add_argument("--build", type=pathlib.Path, help="a directory to build in, kept for the next time")
    arguments.add_argument("names", nargs="*", metavar="NAME", help="mutations to try; default: all")
    options = arguments.parse_args()
    mutations = tomllib.loads((PROJECT / "Tests/Checks/mutations.toml").read_text())["mutation"]
    unknown = set(options.names) - {mutation["name"] for mutation in mutations}
    if unknown:
        sys.exit(f"mutations.toml has no mutation {', '.join(sorted(unknown))}")

    with tempfile.TemporaryDirectory() as temporary:
        root = options.build or pathlib.Path(temporary) / "livehost"
        if root.exists():
            subprocess.run(["git", "-C", root, "fetch", "--quiet", PROJECT, "HEAD"], check=True)
            subprocess.run(["git", "-C", root, "checkout", "--quiet", "--force", "FETCH_HEAD"], check=True)
        else:
            subprocess.run(["git", "clone", "--quiet", PROJECT, root], check=True)
        unfit = apply(root, mutations)
        for name in unfit:
            print(f"does not fit the sources: {name}")
        if options.check or unfit:
            print(f"{len(mutations) - len(unfit)} passed, {len(unfit)} failed")
            return bool(unfit)
        print("building", flush=True)
        if options.vopr:
            tried, survivors = try_seeds(root, mutations, options.names)
            print(f"{tried - survivors} passed, {survivors} failed")
            return bool(survivors)
        subprocess.run(
            ["swift", "build", "--build-tests", "-Xswiftc", "-no-warnings-as-errors"], cwd=root, check=True,
            stdout=subprocess.DEVNULL)
        survivors = tried = 0
        for number, mutation in enumerate(mutations):
            if "tests" not in mutation or (options.names and mutation["name"] not in options.names):
                continue
            tried += 1
            if tests_fail(root, None, mutation["tests"]):
                sys.exit(f"{mutation['tests']} fails without a mutation")
            noticed = tests_fail(root, number, mutation["tests"])
            survivors += not noticed
            print(f"{'noticed' if noticed else 'NOT NOTICED'}: {mutation['name']}", flush=True)
        print(f"{tried - survivors} passed, {survivors} failed")
        return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
