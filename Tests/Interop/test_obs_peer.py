"""Simulates an OBS that truncates, splits and corrupts its messages, using PyPI's `websockets`."""
import json
import queue
import socket

from websockets.exceptions import ConnectionClosed

from harness.serving import serve_websocket
from harness.waiting import PATIENCE, wait_for

ANSWERS = {
    "GetSceneList": {"currentProgramSceneName": "Main", "scenes": [{"sceneName": "Main"}]},
    "GetInputList": {"inputs": [{"inputName": "Mic"}]}, "GetStats": {"activeFps": 30.0},
    "GetInputVolume": {"inputVolumeDb": 0.0}, "GetInputMute": {"inputMuted": False},
    "GetStreamStatus": {"outputActive": False}, "GetRecordStatus": {"outputActive": False},
}


class Peer:
    """Serves connections one after another, each with the next script. Records their close
    codes."""

    def __init__(self):
        self.scripts, self.ends = queue.Queue(), []
        url = serve_websocket(self.handle, subprotocols=["obswebsocket.json"], compression=None, close_timeout=5)
        self.address = url.removeprefix("ws://")

    def handle(self, connection):
        script = self.scripts.get(timeout=PATIENCE)
        try:
            script(connection)
            while True:
                connection.recv(timeout=20)
        except ConnectionClosed as closed:
            self.ends.append(closed.rcvd.code if closed.rcvd else None)
        except TimeoutError:
            self.ends.append("still open")


def greet(connection, send=None):
    """Sends the greeting, and answers requests until the source is live."""
    send = send or connection.send
    send(json.dumps({"op": 0, "d": {"obsWebSocketVersion": "5.1.0", "rpcVersion": 1}}))
    assert json.loads(connection.recv(timeout=20))["op"] == 1
    send(json.dumps({"op": 2, "d": {"negotiatedRpcVersion": 1}}))
    for _ in range(3):
        asked = json.loads(connection.recv(timeout=20))["d"]
        send(json.dumps({"op": 9, "d": {"requestId": asked["requestId"], "results": [
            {"requestType": request["requestType"], "requestId": request["requestId"],
             "requestStatus": {"result": True, "code": 100}, "responseData": ANSWERS[request["requestType"]]}
            for request in asked["requests"]]}}))


def in_pieces(connection):
    """Sends every byte as a fragment, with pings in between; then invalid JSON, and an event."""
    def pieces(text):
        for index, character in enumerate(text):
            if index % 50 == 0:
                connection.ping().wait(20)
            yield character
    greet(connection, lambda text: connection.send(pieces(text)))
    connection.send("\u00e9 is not JSON")
    connection.send(json.dumps({"op": 5, "d": {"eventType": "InputVolumeChanged", "eventData": {
        "inputName": "Mic", "inputVolumeDb": -100.0}}}))


def after_greeting(act):
    def script(connection):
        greet(connection)
        act(connection)
    return script


def raw(data):
    """Returns a script that sends raw bytes after the greeting."""
    return after_greeting(lambda connection: connection.socket.sendall(data))


def test_an_independent_websocket_server_is_read_as_obs(check, daemon):
    peer = Peer()
    source = daemon.start_ctl("connect", "obs", peer.address, "--json=short")

    def pieces(connection):
        in_pieces(connection)
        features = {}

        def has_moved():
            features.update(daemon.reply("GetRoom", room="main")["parameters"].get("features", {}))
            return features.get("control", {}).get("values", {}).get("Mic") == 0
        check.becomes("fragmented messages with pings in between are read", has_moved,
                      lambda: f"the slider Mic is not 0: {features}")
        connection.close(4011, "kicked")

    for number, (name, script, code) in enumerate([
        ("a close frame is answered with its code", pieces, 4011),
        ("a message that is too long is refused",
         after_greeting(lambda connection: connection.send("x" * 70_000 for _ in range(16))), 1009),
        ("a frame that is too long is refused", raw(b"\x81\x7f\0\0\0\0\0\x20\0\0"), 1009),
        ("a masked frame is refused", raw(b"\x81\x82abcdxy"), 1002),
        ("a continuation without a beginning is refused", raw(b"\x80\x01x"), 1002),
        ("a fragmented ping is refused", raw(b"\x09\x01x"), 1002),
        ("binary messages are refused", raw(b"\x82\x01x"), 1003),
        ("a half-closed connection is closed",
         after_greeting(lambda connection: connection.socket.shutdown(socket.SHUT_WR)), None),
    ]):
        peer.scripts.put(script)
        wait_for(lambda: len(peer.ends) > number, f"{name}: the connection is still open")
        check.equal(name, peer.ends[number], code)
    # A connection that waits for its script would keep this process alive.
    peer.scripts.put(lambda connection: None)
    source.stop()


def test_a_server_that_is_not_obs_is_reported(check, daemon):
    with socket.create_server(("127.0.0.1", 0)) as plain:
        source = daemon.start_ctl("connect", "obs", f"127.0.0.1:{plain.getsockname()[1]}", "--json=short")
        client, _ = plain.accept()
        with client:
            client.recv(4096)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        check.becomes("a server without WebSocket is reported",
                      lambda: "does not support WebSocket" in source.log.read_text(),
                      lambda: f"expected 'does not support WebSocket' in {source.log_tail()!r}")
        check.equal("after Ctrl-C the source exits with 0", source.interrupt(), 0)
