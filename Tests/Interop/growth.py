#!/usr/bin/env python3
"""Counts the instructions of a daemon that callgrind runs, for input of n bytes and of 2n:
`growth.py RUN PID`. Text that is cheap to send must not be dear to read, so those for 2n are at most 2.2
times those for n, in every place that takes a text. RUN is the daemon's runtime directory, PID its process.
Ends with `N passed, N failed`.
"""
import re
import socket
import statistics
import subprocess
import sys

from hostile import CONTROL, Client, Closed, encoded, lines, messages, nasty, shapes

BOUND = 2.2
# Seconds; what runs here runs some fifty times slower.
PATIENCE = 120

run, daemon = sys.argv[1], sys.argv[2]
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
    assert connection.makefile("rb").readline(), "no answer to sync"
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


def control_messages(text):
    return ((place, encoded(message)) for place, message in messages(text))


def many_lines(text):
    """As many of each as outweigh the frame that is drawn behind them. Nothing is left of them, so that the
    next ones find the same room."""
    return ((place, line * 10 + b'{"type":"chat.clear"}\n') for place, line in lines(text))


def main():
    call(encoded({"method": CONTROL + "OpenRoom", "parameters": {"room": "main"}}))
    for make, send, name, size in (
            (control_messages, call, "call", 32 << 10), (many_lines, ingest, "line", 20_000)):
        # What happens only once is not counted.
        for pieces in tables(make, 64).values():
            counted(send, pieces)
        small, large = tables(make, size), tables(make, 2 * size)
        for place in small:
            check(f"{name}, {place}", send, small[place], large[place])
    for (name, small), (_, large) in zip(shapes(20_000), shapes(40_000)):
        check(f"call, {name}", call, [small], [large])
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
