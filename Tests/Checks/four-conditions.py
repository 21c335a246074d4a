#!/usr/bin/env python3
"""Compares the bundled scenario with the published table that it reproduces, and helps to refit it.

    four-conditions.py [--program LIVEHOSTCTL] [table | ranges | check | fit]

table   prints the tables of Simulation.docc/TheFourConditions.md with the simulated figures; exits with 1 if
        a count differs from the published one, or the mean by more than 1 %
ranges  prints, for each fitted constant, the range in which all published figures hold
check   computes the sensitivity table of TheFourConditions.md: how the counts and the mean change if one
        constant is a fifth smaller or larger; prints rows that the page lacks, and exits with 1 if it lacks any
fit     prints the value of viewElement that gives the published mean; sizes and costs are then set by hand,
        within the bounds that `ranges` prints

Run this script after changing views, throttles or costs.
"""
import argparse
import concurrent.futures
import functools
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = "config/scenarios/host-screen.yaml"
FIRST, SECOND = "config/devices/iphone-15-plus.yaml", "config/devices/iphone-13-mini.yaml"
PAGE = "Sources/Simulation/Simulation/Simulation.docc/TheFourConditions.md"
# The published microhangs and hangs in each condition, and the mean of the host view in the fourth.
PUBLISHED = [(1, 0), (6, 1), (36, 2), (46, 2)]
MEAN = 167.0
# Each fitted constant, with its file and the text around its number.
CONSTANTS = {
    "low-power": (FIRST, r"(low-power: )([\d.]+)"),
    "game": (FIRST, r"(\bgame: )([\d.]+)"),
    "recording": (FIRST, r"(recording: )([\d.]+)"),
    "slowdown of the second device": (SECOND, r"(slowdown: )([\d.]+)"),
    "viewElement": (FIRST, r"(viewElement: )([\d.]+)(?=ms)"),
    "appearance": (FIRST, r"(\n  appearance: )([\d.]+)(?=ms)"),
    "appearance of RecorderView": (FIRST, r"(RecorderView: {appearance: )([\d.]+)(?=ms)"),
    "appearance of ChatView": (FIRST, r"(ChatView: {appearance: )([\d.]+)(?=ms)"),
    "gifts of the 30 bombs": (SCENARIO, r"(size: )(57)"),
    "gifts of the 10 bombs": (SCENARIO, r"(size: )(43)"),
    "gifts of the 5 bombs": (SCENARIO, r"(size: )(100)"),
    "30 bombs, as a rate": (SCENARIO, r"(rate: )(8)(?=/m, for: 225s)"),
    "10 bombs, as a rate": (SCENARIO, r"(rate: )(160)(?=/h, for: 225s)"),
    "5 bombs, as a rate": (SCENARIO, r"(rate: )(80)(?=/h, for: 225s)"),
}


def value(name):
    file, pattern = CONSTANTS[name]
    return float(re.search(pattern, (ROOT / file).read_text())[2])


def spelled(name, number):
    """Returns a number as text for a constant. Numbers of gifts are whole."""
    return str(round(number)) if name.startswith("gifts") else f"{number:.6f}".rstrip("0").rstrip(".")


def simulate(program, variants=("tracked",), name=None, number=None):
    """Runs the scenario with one changed constant. Yields devices, counts and means of each variant."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(ROOT / "config", pathlib.Path(directory) / "config")
        if name:
            path = pathlib.Path(directory) / CONSTANTS[name][0]
            text, count = re.subn(CONSTANTS[name][1], lambda match: match[1] + number, path.read_text())
            assert count == 1, name
            path.write_text(text)
        options = itertools.chain(*(("--variant", variant) for variant in variants))
        output = subprocess.run(
            [program, "simulate", f"{directory}/{SCENARIO}", "--local", "--json=short", *options], check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for variant in variants:
        runs = [run for run in json.loads(output)["runs"] if run["variant"] == variant]
        views = [{view["name"]: view["meanMs"] for view in run["views"]} for run in runs]
        yield ([run["device"] for run in runs], [(run["microhangs"], run["hangs"]) for run in runs],
               [view["HostView"] for view in views])


def holds(counts, means):
    return counts == PUBLISHED and abs(means[3] / MEAN - 1) <= 0.01


def change(old, new):
    return f"{round((new - old) * 100 / old, 1)} %"


def table(program):
    (devices, before, before_means), (_, after, after_means) = simulate(program, ("tracked", "ignored"))
    for number, (device, *counts) in enumerate(zip(devices, PUBLISHED, before, after), 1):
        print(f"| {number}. {device} | {' | '.join('%d, %d' % pair for pair in counts)} |")
    for number, (old, new) in enumerate(zip(before_means, after_means), 1):
        print(f"| {number} | {old:.1f} ms | {new:.1f} ms | {change(old, new)} |")
    return 0 if holds(before, before_means) else 1


def border(good, bad, is_good, precision):
    """Returns the good number nearest to a bad one, found by bisection."""
    while abs(bad - good) > precision:
        middle = (good + bad) / 2
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return good


def ranges(program):
    def is_good(name, number):
        try:
            (_, counts, means), = simulate(program, name=name, number=spelled(name, number))
        except subprocess.CalledProcessError:
            return False  # Not a value that a device profile may have.
        return holds(counts, means)

    for name in CONSTANTS:
        start, precision = value(name), 1 if name.startswith("gifts") else value(name) / 200
        bounds = [end if is_good(name, end) else border(start, end, functools.partial(is_good, name), precision)
                  for end in (start / 2, start * 2)]
        print(f"{name}: {start:g}, from {bounds[0]:.4g} to {bounds[1]:.4g}", flush=True)


def sensitivity_rows(program):
    """Yields a row of the sensitivity table for each constant and direction."""
    def row(name, factor):
        number = value(name) * factor
        # A condition never makes a device faster.
        text = spelled(name, max(number, 1) if name in {"low-power", "game", "recording"} else number)
        (_, before, before_means), (_, after, after_means) = simulate(program, ("tracked", "ignored"), name, text)
        pairs, others = ("; ".join("%d, %d" % pair for pair in counts) for counts in (before, after))
        return (f"| {name} | {value(name):g} -> {text} | {pairs} | {before_means[3]:.1f} ms | {others} "
                f"| {change(before_means[3], after_means[3])} |")

    with concurrent.futures.ThreadPoolExecutor() as pool:
        yield from pool.map(lambda case: row(*case), itertools.product(CONSTANTS, (0.8, 1.2)))


def check(program):
    page = (ROOT / PAGE).read_text().splitlines()
    wrong = [row for row in sensitivity_rows(program) if row not in page]
    for row in wrong:
        print(f"FAILED: not in {PAGE}: {row}")
    print(f"{2 * len(CONSTANTS) - len(wrong)} passed, {len(wrong)} failed")
    return len(wrong)


def fit(program):
    def is_below(number):
        (_, _, means), = simulate(program, name="viewElement", number=f"{number:.6f}")
        return means[3] < MEAN
    start = value("viewElement")
    print(f"viewElement: {border(start / 2, start * 2, is_below, start / 2000):.3f}ms")


def main():
    actions = {action.__name__: action for action in (table, ranges, check, fit)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / ".build/release/livehostctl"))
    parser.add_argument("what", nargs="?", default="table", choices=actions)
    arguments = parser.parse_args()
    return 1 if actions[arguments.what](arguments.program) else 0


if __name__ == "__main__":
    sys.exit(main())
