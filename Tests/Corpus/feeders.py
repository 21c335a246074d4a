"""Feeders of the folders whose inputs come from a peer of livehost-source.

Each feeder simulates the peer and the daemon's ingest socket. The result has the native lines that
the source writes, without their times, and the remarks in the source's state. Other tests check how
a room handles such lines.
"""
import http.server
import json
import socketserver
import threading
import urllib.error
import urllib.request

from websockets.sync.server import serve

from harness.programs import Program, accepts, free_port
from harness.waiting import PATIENCE, wait_for

MEDIA_TYPES = {".form": "application/x-www-form-urlencoded", ".json": "application/json"}
# The name of a case begins with the name of its mapping.
MAPPINGS = ["buy-me-a-coffee", "ko-fi", "owncast", "patreon", "streamelements", "streamlabs"]
SECRET = "t"


class Ingest(socketserver.ThreadingUnixStreamServer):
    """A simulated ingest socket that accepts everything."""

    daemon_threads = True

    def __init__(self, path):
        self.lines, self.reasons = [], []
        super().__init__(str(path), IngestConnection)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def record(self, line):
        if line["type"] == "source.state":
            if line.get("state") == "live":
                self.reasons.append(line.get("reason"))
        elif line["type"] not in ("options", "position", "gap"):
            self.lines.append({name: value for name, value in line.items() if name not in ("ts", "room")})


class IngestConnection(socketserver.StreamRequestHandler):
    def handle(self):
        for text in self.rfile:
            line = json.loads(text)
            if line["type"] == "sync":
                reply = {"type": "synced", "token": line["token"], "received": 1, "rejected": 0}
                self.wfile.write(json.dumps(reply).encode() + b"\n")
            else:
                self.server.record(line)


class Source:
    """livehost-source between a peer and an ingest socket."""

    def __init__(self, daemon, *arguments):
        self.directory = daemon.directory
        path = self.directory / "corpus-ingest"
        path.unlink(missing_ok=True)
        self.ingest = Ingest(path)
        self.program = Program(
            [daemon.programs / "livehost-source", *arguments, "--ingest", path, "--control", path.with_name("none")],
            self.directory / "livehost-source.log")

    def wait_for(self, condition, what):
        return self.program.wait_for(condition, what)

    def end(self):
        """Stops the source. Returns its lines and its last remark."""
        assert self.program.stop() == 0, self.program.log_tail()
        self.ingest.shutdown()
        self.ingest.server_close()
        reasons = [reason for reason in self.ingest.reasons if reason]
        return {"lines": self.ingest.lines, "says": reasons[-1] if reasons else None}


# MARK: Webhooks

def delivery(path):
    """Returns the headers and the body of a delivery. An `.http` file contains both."""
    content = path.read_bytes()
    if path.suffix != ".http":
        return {"Content-Type": MEDIA_TYPES.get(path.suffix, "application/octet-stream")}, content.rstrip(b"\n")
    head, _, body = content.partition(b"\n\n")
    return dict(line.split(": ", 1) for line in head.decode().splitlines()), body.rstrip(b"\n")


def post(port, path):
    """Posts a delivery. Returns the status, with the text of an answer other than 200."""
    headers, body = delivery(path)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, headers)
    try:
        return urllib.request.urlopen(request, timeout=PATIENCE).status
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode().strip()}"


def webhooks(daemon, paths):
    name, folder, port = paths[0].name.split(".")[0].split("@")[0], paths[0].parent, free_port()
    mapping = next((known for known in MAPPINGS if name.startswith(known)), None) or folder / "mappings" / f"{name}.yaml"
    arguments = ["webhook", "--listen", f"127.0.0.1:{port}", "--mapping", mapping]
    if mapping == "ko-fi":
        (daemon.directory / "secret").write_text(SECRET)
        arguments += ["--secret-file", daemon.directory / "secret"]
    source = Source(daemon, *arguments)
    source.wait_for(lambda: accepts(("127.0.0.1", port)), "the webhook server to listen")
    answers = [post(port, path) for path in paths]
    if not source.ingest.lines:
        source.wait_for(lambda: any(";" in (reason or "") for reason in source.ingest.reasons), "a remark")
    result = source.end()
    result["says"] = (result["says"] or "").replace(f"listening on 127.0.0.1:{port}", "").removeprefix("; ")
    return result | {"answers": answers}


# MARK: Social Stream Ninja

END = {"type": "corpus", "id": "end", "chatname": "corpus", "chatmessage": "end"}


def social_stream(daemon, paths):
    def talk(connection):
        for path in paths:
            connection.send(path.read_text())
        connection.send(json.dumps(END))
        for _ in connection:
            pass

    with serve(talk, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        source = Source(daemon, "social-stream", "--server", f"ws://127.0.0.1:{port}", "corpus")
        source.wait_for(lambda: any(line.get("id") == "corpus/end" for line in source.ingest.lines), "the last message")
        result = source.end()
        server.shutdown()
    result["lines"] = [
        without_run(line) for line in result["lines"] if line.get("id") != "corpus/end"]
    return result


def without_run(line):
    """Removes an identifier that the source has generated, since it differs in each run."""
    return {name: value for name, value in line.items() if name != "id" or "/" in value and not value.startswith("social")}


# MARK: Ingest servers

def server(kind, resource):
    """Returns a feeder that simulates a server of this kind, with its statistics at `resource`."""
    return lambda daemon, paths: statistics(kind, resource, daemon, paths)


def statistics(kind, resource, daemon, paths):
    """Answers requests with the parts in order, each twice."""
    enough = threading.Event()
    turns = [path.read_bytes() for path in paths] * 2

    class Statistics(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if not self.path.startswith(resource):
                return self.send_error(404)
            if not turns:
                # The source has processed the last answer before it polls again.
                enough.set()
                return
            body = turns.pop(0)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Statistics) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name = paths[0].name.split(".")[0].split("@")[0]
        chosen = ["--stream", name.split("=")[1]] if "=" in name else []
        address = f"http://127.0.0.1:{server.server_port}"
        source = Source(daemon, kind, *chosen, address + (resource if kind == "nginx-rtmp" else ""))
        source.wait_for(enough.is_set, "all answers")
        result = source.end()
        server.shutdown()
    distinct = []
    for line in result["lines"]:
        if line not in distinct:
            distinct.append(line)
    return result | {"lines": distinct}


# MARK: OBS

def obs(daemon, paths):
    """Simulates an OBS with the inputs, scenes and events of the file."""
    script = json.loads(paths[0].read_text())
    inputs = script["inputs"] | {"End": {"inputVolumeDb": 0}}

    def data_of(request):
        data, chosen = request.get("requestData") or {}, None
        kind = request["requestType"]
        if kind == "GetSceneList":
            chosen = {"currentProgramSceneName": script["scenes"][-1],
                      "scenes": [{"sceneName": scene} for scene in script["scenes"]]}
        elif kind == "GetInputList":
            chosen = {"inputs": [{"inputName": name} for name in inputs]}
        elif kind == "GetInputVolume":
            chosen = {"inputVolumeDb": inputs[data["inputName"]].get("inputVolumeDb")}
        elif kind == "GetInputMute":
            chosen = {"inputMuted": inputs[data["inputName"]].get("inputMuted", False)}
        return script.get("responses", {}).get(kind) or chosen or {}

    def response(request):
        return {"requestType": request["requestType"], "requestId": request["requestId"],
                "requestStatus": {"result": True, "code": 100}, "responseData": data_of(request)}

    def talk(connection):
        def say(code, data):
            connection.send(json.dumps({"op": code, "d": data}))
        say(0, {"obsWebSocketVersion": "5.5.0", "rpcVersion": 1})
        hasVolumes = False
        for text in connection:
            message = json.loads(text)
            data = message["d"]
            if message["op"] == 1:
                say(2, {"negotiatedRpcVersion": 1})
            elif message["op"] == 6:
                say(7, response(data))
            elif message["op"] == 8:
                say(9, {"requestId": data["requestId"], "results": [response(request) for request in data["requests"]]})
                asked = {request["requestType"] for request in data["requests"]}
                if "GetInputMute" in asked and not hasVolumes:
                    hasVolumes = True
                    for event in script.get("events", []) + [
                            {"eventType": "InputMuteStateChanged", "eventData": {"inputName": "End", "inputMuted": True}}]:
                        say(5, {"eventIntent": 1} | event)

    with serve(talk, "127.0.0.1", 0, subprotocols=["obswebsocket.json"]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = Source(daemon, "obs", f"127.0.0.1:{server.socket.getsockname()[1]}")
        last = {"control": "mute End", "on": True}
        source.wait_for(lambda: any(last.items() <= line.items() for line in source.ingest.lines), "the last event")
        result = source.end()
        server.shutdown()
    shown = [line for line in result["lines"] if "End" not in str(line.get("control", line.get("input")))]
    return result | {"lines": [line for line in shown if line["type"] not in ("stats", "recorder.progress")]}


FEEDERS = {
    "webhooks": webhooks, "social-stream": social_stream, "obs": obs, "nginx-rtmp": server("nginx-rtmp", "/stat"),
    "mediamtx": server("mediamtx", "/v3/paths/list"), "owncast": server("owncast", "/api/status")}
