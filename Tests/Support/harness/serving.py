"""Peers of a program under test, each on its own thread."""
import contextlib
import json
import logging
import socket
import threading

import websockets.sync.server
import werkzeug.serving

logging.getLogger("werkzeug").setLevel("ERROR")


def start_thread(body, *arguments):
    threading.Thread(target=body, args=arguments, daemon=True).start()


def serve(handle, listener=None):
    """Calls `handle(connection)` for each connection on a new thread. Returns the port."""
    listener = listener or socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            start_thread(handle, listener.accept()[0])
    start_thread(accept)
    return listener.getsockname()[1]


def serve_http(answer):
    """Serves JSON, or pages of text. `answer(request)` returns a status, a value and optional headers. Returns the
    URL."""
    @werkzeug.Request.application
    def application(request):
        status, value, *headers = answer(request)
        is_page = isinstance(value, str)
        return werkzeug.Response(value if is_page else json.dumps(value), status, *headers,
                                 content_type="text/html" if is_page else "application/json")
    server = werkzeug.serving.make_server("127.0.0.1", 0, application, threaded=True)
    start_thread(server.serve_forever)
    return f"http://127.0.0.1:{server.port}"


def serve_websocket(handle, **options):
    """Calls `handle(connection)` for each WebSocket on a new thread. Returns the URL."""
    def run(connection):
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            handle(connection)
    server = websockets.sync.server.serve(run, "127.0.0.1", 0, **options)
    start_thread(server.serve_forever)
    return f"ws://127.0.0.1:{server.socket.getsockname()[1]}"


def serve_irc(joined):
    """Serves IRC as Twitch does, and calls `joined(connection, channels)` after a client joined channels. Returns the
    address."""
    def handle(client):
        for line in client.makefile():
            command, _, rest = line.rstrip().partition(" ")
            if command == "CAP" and rest.startswith("REQ"):
                client.sendall(b":t CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n")
            elif command == "NICK":
                nick = rest
                client.sendall(f":t 001 {nick} :hi\r\n".encode())
            elif command == "JOIN":
                channels = rest.split(",")
                client.sendall("".join(f":{nick}!x@x JOIN {channel}\r\n" for channel in channels).encode())
                joined(client, channels)
            elif command == "PING":
                client.sendall(f":tmi.twitch.tv PONG tmi.twitch.tv {rest}\r\n".encode())
    return f"127.0.0.1:{serve(handle)}"
