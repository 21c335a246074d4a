#!/usr/bin/env python3
"""Sends 300 messages per second, two thirds of them one wave, to the room main, and looks at a terminal of tmux that
watches it: `flood.py INGEST TMUX-SERVER`. Prints how many of its rows change per second; fails if the screen is not
calm."""
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
    changed, repainted, looks, places, before = 0, 0, 0, set(), None
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
                different = sum(one != other for one, other in zip(before, rows))
                changed, looks, repainted = changed + different, looks + 1, repainted + (different > len(rows) / 3)
                places.update(at for at, row in enumerate(rows) if "POGGERS" in row and "by" in row)
            before = rows
            time.sleep(max(0, INTERVAL - (time.monotonic() - begun - elapsed)))
    rate = changed / SECONDS
    print(f"{sent} messages; {rate:.1f} of {len(before)} rows change per second, more than a third of them at once "
          f"{repainted} times in {looks} looks; the wave is in row {sorted(places)}")
    assert looks > SECONDS * 4, "too few looks"
    # Each row once per second, and a few figures with each look.
    assert rate <= 1.6 * len(before), "the screen is not calm"
    assert repainted <= 1.5 * SECONDS, "the screen is repainted more than once per second"
    assert len(places) == 1, "the wave does not stay where it is"


main()
