#!/usr/bin/env python3
"""Compares a room with what an earlier version said about it: `compare.py EXPECTED`, where EXPECTED is a
file of `expected/` or its like, and standard input is what `livehostctl show ROOM --json` prints now.

Every member of the expected features, phase and counters must be there with the same value; new members
may be added, and null equals an absent member. Members that change with time are left out; see README.md.
"""
import json, sys

CHANGING = {"rate", "recent", "durationMs", "recorder"}


def differences(expected, found, path):
    if isinstance(expected, dict):
        found = found if isinstance(found, dict) else {}
        if expected.get("dragging"):
            return  # A drag is given up after some seconds without an event.
        for name, value in expected.items():
            if name not in CHANGING:
                yield from differences(value, found.get(name), f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (value, other) in enumerate(zip(expected, found)):
            yield from differences(value, other, f"{path}[{index}]")
    elif expected != found:
        yield f"{path}: {found!r}, expected {expected!r}"


with open(sys.argv[1], encoding="utf-8") as file:
    expected = json.load(file)
found = json.load(sys.stdin)
problems = [problem for name in ("phase", "features", "counters", "rejectedByReason")
            for problem in differences(expected[name], found.get(name), name)]
for problem in problems:
    print(f"{expected['room']}: {problem}")
sys.exit(bool(problems))
