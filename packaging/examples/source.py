#!/usr/bin/env python3
"""Reports the number of viewers every ten seconds: an example of a source of events."""
import json
import random
import socket
import time

PATH = "/run/livehost/ingest"

while True:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(PATH)
            while True:
                event = {"type": "viewers", "room": "main", "count": random.randrange(100)}
                connection.sendall(json.dumps(event).encode() + b"\n")
                time.sleep(10)
    except OSError:
        time.sleep(1)  # The daemon is restarting.
