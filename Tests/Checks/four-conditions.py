#!/usr/bin/env python3
"""Compares the bundled scenario with the article whose table it follows, and refits it.

    four-conditions.py [--program LIVEHOSTCTL] [table | ranges | sensitivity | check | fit]

table   prints both as the tables of Simulation.docc/TheFourConditions.md, and exits with 1 if a
        published count is missed or the mean is more than 1 % off
ranges  prints, for each fitted constant, the range in which all published figures hold
sensitivity
        prints how the counts and the mean move if one constant is a fifth smaller or larger
check   exits with 1 if the table of sensitivity in TheFourConditions.md is not what the simulator gives
fit     prints the viewElement that gives the published mean; then sizes and costs are set by hand,
        and ranges says how much they may move

Run it after views, throttles or costs changed.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCENARIO = "config/scenarios/host-screen.yaml"
FIRST, SECOND = "config/devices/iphone-15-plus.yaml", "config/devices/iphone-13-mini.yaml"
PAGE = "Sources/Simulation/Simulation/Simulation.docc/TheFourConditions.md"
CONDITIONS = {"low-power", "game", "recording"}
# Microhangs and hangs of the four conditions, and the mean of the host's view in the fourth.
PUBLISHED = [(1, 0), (6, 1), (36, 2), (46, 2)]
MEAN = 167.0
# Every constant that was fitted: its file, and the text around its number.
CONSTANTS = {
    "low-power": (FIRST, r"(low-power: )([\d.]+)"),
    "game": (FIRST, r"(\bgame: )([\d.]+)"),
    "recording": (FIRST, r"(recording: )([\d.]+)"),
    "slowdown of the second device": (SECOND, r"(slowdown: )([\d.]+)"),
    "viewElement": (FIRST, r"(viewElement: )([\d.]+)(ms)"),
    "appearance": (FIRST, r"(\n  appearance: )([\d.]+)(ms)"),
    "appearance of RecorderView": (FIRST, r"(RecorderView: {appearance: )([\d.]+)(ms)"),
    "appearance of ChatView": (FIRST, r"(ChatView: {appearance: )([\d.]+)(ms)"),
    "gifts of the 30 bombs": (SCENARIO, r"(size: )(57)"),
    "gifts of the 10 bombs": (SCENARIO, r"(size: )(43)"),
    "gifts of the 5 bombs": (SCENARIO, r"(size: )(100)"),
    "30 bombs, as a rate": (SCENARIO, r"(rate: )(8)(/m, for: 225s)"),
    "10 bombs, as a rate": (SCENARIO, r"(rate: )(160)(/h, for: 225s)"),
    "5 bombs, as a rate": (SCENARIO, r"(rate: )(80)(/h, for: 225s)"),
}


def value(name):
    file, pattern = CONSTANTS[name]
    return float(re.search(pattern, (ROOT / file).read_text())[2])


def simulate(program, changes, variants=("tracked",)):
    """The runs of the scenario with some constants changed."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(ROOT / "config", Path(directory) / "config")
        for name, number in changes.items():
            file, pattern = CONSTANTS[name]
            path = Path(directory) / file
            text, count = re.subn(
                pattern, lambda match: match[1] + number + match[0][match.end(2) - match.start():],
                path.read_text())
            assert count == 1, name
            path.write_text(text)
        options = [option for name in variants for option in ("--variant", name)]
        return json.loads(subprocess.run(
            [program, "simulate", str(Path(directory) / SCENARIO), "--local", "--json=short"]
            + options, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)["runs"]


def figures(runs, variant="tracked"):
    runs = [run for run in runs if run["variant"] == variant]
    counts = [(run["microhangs"], run["hangs"]) for run in runs]
    means = [next(view for view in run["views"] if view["name"] == "HostView")["meanMs"]
             for run in runs]
    return counts, means


def holds(runs):
    counts, means = figures(runs)
    return counts == PUBLISHED and abs(means[3] / MEAN - 1) <= 0.01


def table(program):
    runs = simulate(program, {}, ("tracked", "ignored"))
    before, before_means = figures(runs)
    after, after_means = figures(runs, "ignored")
    devices = [run["device"] for run in runs if run["variant"] == "tracked"]
    for index, device in enumerate(devices):
        cells = ["%d, %d" % pair for pair in (PUBLISHED[index], before[index], after[index])]
        print(f"| {index + 1}. {device} | {' | '.join(cells)} |")
    for index, (old, new) in enumerate(zip(before_means, after_means)):
        change = round((new - old) * 100 / old, 1)
        print(f"| {index + 1} | {old:.1f} ms | {new:.1f} ms | {change} % |")
    return 0 if holds(runs) else 1


def ranges(program):
    for name in CONSTANTS:
        start = value(name)
        whole = name.startswith("gifts")

        def is_good(number):
            text = str(round(number)) if whole else f"{number:.6f}".rstrip("0").rstrip(".")
            try:
                return holds(simulate(program, {name: text}))
            except subprocess.CalledProcessError:
                return False  # Not a value that a device profile may have.
        bounds = []
        for factor in (0.5, 2):
            good, bad = start, start * factor
            if is_good(bad):
                bounds.append(bad)
                continue
            while abs(bad - good) > (1 if whole else start / 200):
                middle = (good + bad) / 2
                good, bad = (middle, bad) if is_good(middle) else (good, middle)
            bounds.append(good)
        print(f"{name}: {start:g}, from {bounds[0]:.4g} to {bounds[1]:.4g}", flush=True)
    return 0


def sensitivity_rows(program):
    """A row of the table for each constant and direction."""
    with ThreadPoolExecutor() as pool:
        changes = [(name, factor) for name in CONSTANTS for factor in (0.8, 1.2)]
        yield from pool.map(lambda change: sensitivity_row(program, *change), changes)


def sensitivity_row(program, name, factor):
    number = value(name) * factor
    # There is no part of a gift, and a condition does not make a device faster.
    text = str(round(number)) if name.startswith("gifts") else f"{number:.6f}".rstrip("0").rstrip(".")
    if name in CONDITIONS and number < 1:
        text = "1"
    runs = simulate(program, {name: text}, ("tracked", "ignored"))
    counts, means = figures(runs)
    after, after_means = figures(runs, "ignored")
    pairs = "; ".join("%d, %d" % pair for pair in counts)
    others = "; ".join("%d, %d" % pair for pair in after)
    fall = round((after_means[3] - means[3]) * 100 / means[3], 1)
    return f"| {name} | {value(name):g} -> {text} | {pairs} | {means[3]:.1f} ms | {others} | {fall} % |"


def sensitivity(program):
    for row in sensitivity_rows(program):
        print(row, flush=True)
    return 0


def check(program):
    """Whether the page has the rows that the simulator gives."""
    page = (ROOT / PAGE).read_text().splitlines()
    wrong = [row for row in sensitivity_rows(program) if row not in page]
    for row in wrong:
        print(f"not in {PAGE}: {row}")
    good = 2 * len(CONSTANTS) - len(wrong)
    print(f"{good} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def fit(program):
    low, high = value("viewElement") / 2, value("viewElement") * 2
    for _ in range(12):
        middle = (low + high) / 2
        mean = figures(simulate(program, {"viewElement": f"{middle:.6f}"}))[1][3]
        low, high = (middle, high) if mean < MEAN else (low, middle)
    print(f"viewElement: {low:.3f}ms")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / ".build/release/livehostctl"))
    parser.add_argument("what", nargs="?", default="table",
                        choices=["table", "ranges", "sensitivity", "check", "fit"])
    arguments = parser.parse_args()
    return {
        "table": table, "ranges": ranges, "sensitivity": sensitivity, "check": check, "fit": fit,
    }[arguments.what](arguments.program)


if __name__ == "__main__":
    sys.exit(main())
