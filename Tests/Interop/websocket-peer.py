#!/usr/bin/env python3
"""Plays an OBS that breaks off, splits and spoils its messages: `websocket-peer.py BIN`, where BIN is the directory
of the programs. The WebSocket is that of PyPI's `websockets`. Ends with `N passed, N failed`.
"""
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from harness.waiting import wait_for

HELLO = {"op": 0, "d": {"obsWebSocketVersion": "5.1.0", "rpcVersion": 1}}
ANSWERS = {
    "GetSceneList": {"currentProgramSceneName": "Main", "scenes": [{"sceneName": "Main"}]},
    "GetInputList": {"inputs": [{"inputName": "Mic"}]},
    "GetInputVolume": {"inputVolumeDb": 0.0},
    "GetInputMute": {"inputMuted": False},
    "GetStreamStatus": {"outputActive": False},
    "GetRecordStatus": {"outputActive": False},
    "GetStats": {"activeFps": 30.0},
}


class Peer:
    """Serves connections one after the other, each by the next script."""

    def __init__(self):
        self.scripts = queue.Queue()
        self.ends = queue.Queue()
        self.server = serve(self.handle, "127.0.0.1", 0, subprotocols=["obswebsocket.json"],
                            compression=None, close_timeout=5)
        self.address = "127.0.0.1:%d" % self.server.socket.getsockname()[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handle(self, connection):
        script = self.scripts.get()
        try:
            script(connection)
            while True:
                connection.recv(timeout=20)
        except ConnectionClosed as closed:
            self.ends.put(closed.rcvd.code if closed.rcvd else None)
        except TimeoutError:
            self.ends.put("still open")


def greet(connection, say=None):
    """Greets, and answers what is asked until it is live."""
    say = say or (lambda message: connection.send(json.dumps(message)))
    say(HELLO)
    assert json.loads(connection.recv(timeout=20))["op"] == 1
    say({"op": 2, "d": {"negotiatedRpcVersion": 1}})
    for _ in range(3):
        asked = json.loads(connection.recv(timeout=20))["d"]
        say({"op": 9, "d": {"requestId": asked["requestId"], "results": [
            {"requestType": request["requestType"], "requestId": request["requestId"],
             "requestStatus": {"result": True, "code": 100},
             "responseData": ANSWERS[request["requestType"]]} for request in asked["requests"]]}})


def in_pieces(connection):
    """Every byte is a fragment, with pings between them."""
    def say(message):
        text = json.dumps(message)
        def pieces():
            for index, character in enumerate(text):
                if index % 50 == 0:
                    connection.ping().wait(20)
                yield character
        connection.send(pieces())
    greet(connection, say)
    connection.send("\u00e9 is not JSON")
    connection.send(json.dumps({"op": 5, "d": {"eventType": "InputVolumeChanged", "eventData": {
        "inputName": "Mic", "inputVolumeDb": -100.0}}}))


def raw(data):
    """After the greeting, bytes as they are."""
    def script(connection):
        greet(connection)
        connection.socket.sendall(data)
    return script


def too_long(connection):
    greet(connection)
    connection.send("x" * 70_000 for _ in range(16))


def half_closed(connection):
    greet(connection)
    connection.socket.shutdown(socket.SHUT_WR)


class Test:
    def __init__(self, bin):
        self.bin = bin
        self.passed = self.failed = 0
        self.directory = tempfile.mkdtemp()
        self.control = f"{self.directory}/run/io.livehost.Control"
        self.daemon = subprocess.Popen(
            [f"{bin}/livehostd", "--runtime-dir", f"{self.directory}/run", "--state-dir",
             f"{self.directory}/state"], stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(self.control), "the daemon")
        self.peer = Peer()
        self.reports = f"{self.directory}/reports"
        self.source = self.connect(self.peer.address, self.reports)

    def connect(self, address, reports):
        return subprocess.Popen(
            [f"{self.bin}/livehostctl", "--socket", self.control, "connect", "obs", address, "--json=short"],
            stdout=open(reports, "w"), stderr=subprocess.STDOUT)

    def check(self, name, is_right, detail=""):
        self.passed += bool(is_right)
        self.failed += not is_right
        print(f"ok: {name}" if is_right else f"FAILED: {name}\n{detail}", flush=True)

    def panel(self):
        output = subprocess.run(
            [f"{self.bin}/livehostctl", "--socket", self.control, "show", "main", "control", "--json=short"],
            capture_output=True, text=True).stdout
        return json.loads(output or "{}")

    def ends(self, name, script, code):
        self.peer.scripts.put(script)
        end = self.peer.ends.get(timeout=60)
        self.check(name, end == code, f"{end} {open(self.reports).read()[-1000:]}")

    def pieces(self):
        def script(connection):
            in_pieces(connection)
            try:
                wait_for(lambda: '"Mic": 0' in json.dumps(self.panel()), "the slider")
                self.check("messages in pieces, with pings between them, are read", True)
            except TimeoutError:
                self.check("messages in pieces, with pings between them, are read", False, self.panel())
            connection.close(4011, "kicked")
        self.ends("a close is answered with its code", script, 4011)

    def run(self):
        try:
            self.pieces()
            self.ends("a message that is too long is refused", too_long, 1009)
            self.ends("a frame that is too long is refused", raw(b"\x81\x7f\0\0\0\0\0\x20\0\0"), 1009)
            self.ends("a masked frame is refused", raw(b"\x81\x82abcdxy"), 1002)
            self.ends("a continuation of nothing is refused", raw(b"\x80\x01x"), 1002)
            self.ends("a ping in fragments is refused", raw(b"\x09\x01x"), 1002)
            self.ends("binary messages are refused", raw(b"\x82\x01x"), 1003)
            self.ends("a connection that is half closed is left", half_closed, None)
            plain = socket.create_server(("127.0.0.1", 0))
            other = self.connect("127.0.0.1:%d" % plain.getsockname()[1], f"{self.directory}/other")
            client, _ = plain.accept()
            client.recv(4096)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            try:
                wait_for(lambda: "speaks no WebSocket" in open(f"{self.directory}/other").read(), "")
                self.check("a server of something else is told", True)
            except TimeoutError:
                self.check("a server of something else is told", False, open(f"{self.directory}/other").read())
            other.send_signal(signal.SIGINT)
            self.check("it ends with 0", other.wait(20) == 0)
        except Exception as error:
            self.check("the script", False, f"{type(error).__name__}: {error} {open(self.reports).read()[-1000:]}")
        finally:
            for process in (self.source, self.daemon):
                process.terminate()
                process.wait(20)
            shutil.rmtree(self.directory, ignore_errors=True)
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed > 0


if __name__ == "__main__":
    os._exit(Test(sys.argv[1]).run())
