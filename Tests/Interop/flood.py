#!/usr/bin/env python3
"""Sends 300 messages per second, two thirds of them one wave, to the room main, and looks at a terminal of tmux that
watches it: `flood.py INGEST TMUX-SERVER`. Prints how many of its rows change per second; fails if they change
more than once per second, or one of them much more."""
import collections
import json
import random
import socket
import subprocess
import sys
import time

INGEST, SERVER = sys.argv[1:]
PER_SECOND = 300
# While the first waves are found, nothing is counted.
BEGIN, SECONDS = 4, 10
# Ten looks per second.
INTERVAL = 0.1


def look():
    command = ["tmux", "-L", SERVER, "-f", "/dev/null", "capture-pane", "-p", "-t", "screen"]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.split("\n")


def message(number, chance):
    user = chance.randrange(2_000)
    text = (f"POGGERS POGGERS {'!' * chance.randrange(4)}" if number % 3
            else "".join(chance.choices("abcdefghij klmnopqr stuvwxyz", k=40)))
    return {"type": "chat.message", "room": "main", "id": f"f{number}", "text": text,
            "user": {"id": f"u{user}", "name": f"viewer{user}"}}


def main():
    chance = random.Random(1)
    changes, repainted, looks, places, before = collections.Counter(), 0, 0, {}, None
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(INGEST)
        begun, sent = time.monotonic(), 0
        while (elapsed := time.monotonic() - begun) < BEGIN + SECONDS:
            due = int(elapsed * PER_SECOND)
            lines = [json.dumps(message(number, chance)) + "\n" for number in range(sent, due)]
            client.sendall("".join(lines).encode())
            sent = due
            rows = look()
            if elapsed > BEGIN and before:
                different = [at for at, (one, other) in enumerate(zip(before, rows)) if one != other]
                changes.update(different)
                looks, repainted = looks + 1, repainted + (len(different) > len(rows) / 3)
                # The first look at the wave in each row is kept, to be shown if it moved.
                for at in (at for at, row in enumerate(rows) if "POGGERS" in row and "by" in row):
                    places.setdefault(at, (elapsed, rows))
            before = rows
            time.sleep(max(0, INTERVAL - (time.monotonic() - begun - elapsed)))
    rate = changes.total() / SECONDS
    [(nervous, most)] = changes.most_common(1)
    print(f"{sent} messages; {rate:.1f} of {len(before)} rows change per second, more than a third of them at once "
          f"{repainted} times in {looks} looks, row {nervous} {most} times; the wave is in row {sorted(places)}")
    assert looks > SECONDS * 4, "too few looks"
    # Its figures once per second, and between them another name of who writes most, which is no figure.
    assert most <= 2 * SECONDS, f"a row is not calm: {before[nervous]}"
    assert rate <= len(before), "the screen is not calm"
    assert repainted <= 1.5 * SECONDS, "the screen is repainted more than once per second"
    if len(places) != 1:
        for at, (elapsed, rows) in sorted(places.items()):
            print(f"the wave in row {at}, {elapsed:.1f} s after the first message:", *rows, sep="\n")
    assert len(places) == 1, "the wave does not stay where it is"


main()
