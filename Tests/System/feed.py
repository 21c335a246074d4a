#!/usr/bin/env python3
"""Sends numbered chat messages for room `main` to an ingest socket as fast as it accepts them, each batch
with a sync, until the other side goes away: `feed.py SOCKET`. Prints the number of messages that were
acknowledged as saved, a line for each answer."""
import json, random, socket, sys, threading


def feed(path, acknowledged):
    """Sends to the socket at `path`; calls `acknowledged` with the number of messages saved so far, on
    another thread."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    answers = connection.makefile("rb")

    def listen():
        try:
            for line in answers:
                answer = json.loads(line)
                if answer["type"] == "synced":
                    acknowledged(int(answer["token"]))
        except OSError:
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    number = 0
    try:
        while True:
            block = bytearray()
            for _ in range(random.randrange(1, 400)):
                block += (b'{"type":"chat.message","room":"main","id":"%d",'
                          b'"user":{"id":"u%d","name":"n"},"text":"number %d"}\n'
                          % (number, number % 999, number))
                number += 1
            block += b'{"type":"sync","token":"%d"}\n' % number
            connection.sendall(block)
    except OSError:
        listener.join()


if __name__ == "__main__":
    feed(sys.argv[1], lambda count: print(count, flush=True))
