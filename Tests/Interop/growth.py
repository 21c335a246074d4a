#!/usr/bin/env python3
"""Counts the instructions of a daemon that callgrind runs, for input of n bytes and of 2n:
`growth.py RUN PID`. Text that is cheap to send must not be dear to read, so those for 2n are at most 2.2
times those for n, in every place that takes a text. RUN is the daemon's runtime directory, PID its process.
Ends with `N passed, N failed`. `growth.py --count` says how many checks that are.
"""
import re
import socket
import statistics
import subprocess
import sys

from hostile import (
    CONTROL, Client, Closed, encoded, lines, lines_to_connection, messages, more_lines, more_messages, nasty, shapes)

BOUND = 2.2
# Seconds; what runs here runs some fifty times slower.
PATIENCE = 120

run = daemon = None
passed = failed = 0


def instructions():
    report = subprocess.run(
        ["callgrind_control", "-e", daemon], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return sum(int(count.replace(",", "")) for count in re.findall(r"Th *\d+ +([\d,]+)", report.stdout))


def call(data):
    client = Client(f"{run}/io.livehost.Control", PATIENCE)
    try:
        client.send(data)
        client.receive()
    except Closed:
        pass
    client.close()


def ingest(data):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE)
    connection.connect(f"{run}/ingest")
    connection.sendall(data + b'{"type":"sync","token":"end"}\n')
    with connection.makefile("rb") as answers:
        # Those to other tokens come first.
        assert any(b'"token":"end"' in answer for answer in answers), "no answer to sync"
    connection.close()


def counted(send, pieces):
    before = instructions()
    for data in pieces:
        send(data)
    return instructions() - before


def check(name, send, small, large):
    """Both are lists of what is sent."""
    global passed, failed
    once, twice = counted(send, small), counted(send, large)
    if twice > BOUND * once:
        # What the daemon still did for the place before was counted as well.
        again = [(counted(send, small), counted(send, large)) for _ in range(5)]
        once, twice = (statistics.median_low(counts) for counts in zip(*again))
    if twice <= BOUND * once:
        passed += 1
    else:
        failed += 1
    print(
        f"{'ok' if twice <= BOUND * once else 'FAILED'}: {name}: {once:,} and {twice:,} instructions, "
        f"{twice / once:.2f} times as many", flush=True)


def tables(make, size):
    """What `make` gives for each place: the messages with all kinds of text of this size."""
    result = {}
    for _, text in nasty(size):
        for place, data in make(text):
            result.setdefault(place, []).append(data)
    return result


# `messages` and `lines` are counted one by one. Of the further places there are many, which share their code: those
# with one name are counted together.

def control_messages(text):
    return (
        (place, encoded(message)) for make in (messages, more_messages) for place, message in make(text))


def many_lines(text):
    """As many of each as outweigh the frame that is drawn behind them. Nothing is left of them, so that the
    next ones find the same room."""
    return ((place, line * 10 + b'{"type":"chat.clear"}\n') for place, line in lines(text))


def further_lines(text):
    """Not as many of each, since several are counted together. Some have the text twice, and a line of twice that
    size may not be too long."""
    return (
        (place, line * 4 + b'{"type":"chat.clear"}\n') for make in (more_lines, lines_to_connection)
        for place, line in make(text))


TABLES = (
    (control_messages, "call", 32 << 10), (many_lines, "line", 20_000), (further_lines, "line", 15_000))


def count():
    return sum(len(tables(make, 1024)) for make, _, _ in TABLES) + len(list(shapes(1)))


def main():
    global run, daemon, failed
    if sys.argv[1:] == ["--count"]:
        print(count())
        return
    run, daemon = sys.argv[1], sys.argv[2]
    call(encoded({"method": CONTROL + "OpenRoom", "parameters": {"room": "main"}}))
    for make, name, size in TABLES:
        send = call if name == "call" else ingest
        # What happens only once is not counted. No shorter than this: as a name it would be taken, and a monitor
        # of it would go on.
        for pieces in tables(make, 1024).values():
            counted(send, pieces)
        small, large = tables(make, size), tables(make, 2 * size)
        for place in small:
            check(f"{name}, {place}", send, small[place], large[place])
    for (name, small), (_, large) in zip(shapes(20_000), shapes(40_000)):
        check(f"call, {name}", call, [small], [large])
    if passed + failed != count():
        failed += 1
        print(f"FAILED: there are {count()} checks, not {passed + failed - 1}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
