#!/usr/bin/env python3
"""Sends numbered chat messages of room `main` to an ingest socket, as fast as it takes them, each batch
with a sync, until the other side goes away: `feed.py SOCKET`. Prints the number of messages that were
acknowledged, a line for each answer."""
import json, random, socket, sys, threading

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
answers = connection.makefile("rb")


def listen():
    try:
        for line in answers:
            print(json.loads(line)["token"], flush=True)
    except OSError:
        pass


listener = threading.Thread(target=listen)
listener.start()
number = 0
try:
    while True:
        block = bytearray()
        for _ in range(random.randrange(1, 400)):
            block += (b'{"type":"chat.message","room":"main","id":"%d","user":{"id":"u%d","name":"n"},'
                      b'"text":"number %d"}\n' % (number, number % 999, number))
            number += 1
        block += b'{"type":"sync","token":"%d"}\n' % number
        connection.sendall(block)
except OSError:
    listener.join()
