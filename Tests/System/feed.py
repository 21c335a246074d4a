"""A load of numbered chat messages for room `main`."""
import json
import random
import socket
import threading

MESSAGE = b'{"type":"chat.message","room":"main","id":"%d","user":{"id":"u%d","name":"n"},"text":"number %d"}\n'


def feed(path, acknowledged):
    """Sends to the ingest socket at `path` as fast as it accepts, each batch with a sync, until the other side goes
    away. Calls `acknowledged` with the number of messages saved so far, on another thread."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
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
            end = number + random.randrange(1, 400)
            block = b"".join(MESSAGE % (number, number % 999, number) for number in range(number, end))
            connection.sendall(block + b'{"type":"sync","token":"%d"}\n' % end)
            number = end
    except OSError:
        listener.join()
