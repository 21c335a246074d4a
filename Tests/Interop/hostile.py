"""Text and messages that cost a daemon more than they should, and a client that sends them."""
import json
import socket

CONTROL = "io.livehost.Control."


class Closed(Exception):
    pass


class Client:
    """A connection to the control socket."""

    def __init__(self, path, timeout):
        self.socket = socket.socket(socket.AF_UNIX)
        # Without a time limit, which would have it fail while more wait to be accepted than the kernel keeps.
        self.socket.connect(path)
        self.socket.settimeout(timeout)
        self.rest = b""

    def send(self, data):
        """Whether all of it could be sent."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def receive(self):
        while b"\0" not in self.rest:
            try:
                piece = self.socket.recv(1 << 16)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise Closed
            self.rest += piece
        reply, self.rest = self.rest.split(b"\0", 1)
        return json.loads(reply)

    def call(self, method, parameters=None, **flags):
        message = {"method": method, "parameters": parameters or {}, **flags}
        self.send(json.dumps(message, ensure_ascii=False).encode() + b"\0")
        return self.receive()

    def close(self):
        self.socket.close()


# Text that is cheap to send and slow to compare, search or hash by the rules of Unicode.

def nasty(size):
    yield "regional indicators", "\U0001F1E6" * (size // 4)
    yield "alternating marks", "\u0301\u0316" * (size // 4)
    yield "unordered marks", "\u0301" * (size // 4) + "\u0316" * (size // 4)
    yield "joiners", "\U0001F469\u200D" * (size // 7)
    yield "jamo", "\u1100\u1161" * (size // 6)


def messages(text):
    """A message with the text in each place that takes one."""
    def call(method, parameters, **more):
        return {"method": method, "parameters": parameters, **more}

    service, room = "org.varlink.service.", "main"
    yield "method", {"method": text}
    yield "method of an interface", {"method": CONTROL + text}
    yield "interface", {"method": text + ".Echo"}
    yield "member", {"method": CONTROL + "GetStatus", text: 0}
    yield "parameter", call(CONTROL + "GetStatus", {text: 0})
    yield "two members", call(CONTROL + "GetStatus", {text: 0, text + "x": 1})
    yield "interface description", call(service + "GetInterfaceDescription", {"interface": text})
    yield "room", call(CONTROL + "GetRoom", {"room": text})
    yield "feature", call(CONTROL + "GetRoom", {"room": room, "feature": text})
    yield "features", call(CONTROL + "MonitorRoom", {"room": room, "features": [text]})
    yield "view", call(CONTROL + "Explain", {"room": room, "view": text})
    yield "recordings of a room", call(CONTROL + "ListRecordings", {"room": text})
    yield "task", call(CONTROL + "CancelTask", {"task": text})
    yield "recording", call(CONTROL + "StartTask", {"kind": "export", "recording": text}, more=True)
    yield "kind", call(CONTROL + "StartTask", {"kind": text})
    yield "control", call(CONTROL + "SetControl", {"room": room, "control": text, "value": 1})
    yield "filter", call(CONTROL + "SetChatFilter", {"room": room, "words": text})
    yield "names", call(CONTROL + "SetMentionedNames", {"room": room, "names": [text]})
    yield "thread", call(CONTROL + "ShowThread", {"room": room, "message": text})
    yield "positions", call(CONTROL + "GetPositions", {"room": text})
    yield "sources", call(CONTROL + "ListSources", {"room": text})
    yield "recording to delete", call(CONTROL + "DeleteRecording", {"recording": text})
    yield "recording to verify", call(CONTROL + "VerifyRecordings", {"recording": text}, more=True)
    yield "request", call(CONTROL + "ReportOutcome", {"identifier": text, "outcome": "confirmed"})
    simulation = {"path": "a", "scenario": "", "files": [], "devices": [], "variants": [], "settings": [],
                  "thresholds": [], "wantsPage": False, "wantsTrace": False}
    for name, value in {
            "path": text, "scenario": text, "files": [{"path": text + end, "contents": ""} for end in "ab"],
            "devices": [text], "variants": [text], "settings": [text], "thresholds": [text]}.items():
        yield f"{name} of a simulation", call(CONTROL + "Simulate", {**simulation, name: value})
    yield "key of a scenario", call(CONTROL + "Simulate", {**simulation, "scenario": f'"{text}": 1'})
    yield "event", call(CONTROL + "SendEvents", {"events": [{"type": "title", "title": text}]})
    yield "member of an event", call(CONTROL + "SendEvents", {"events": [{"type": "viewers", text: 1}]})
    yield "type of an event", call(CONTROL + "SendEvents", {"events": [{"type": text}]})


def encoded(message):
    return json.dumps(message, ensure_ascii=False).encode() + b"\0"


def lines(text):
    """Lines of a sender with the text in each place that takes one."""
    for place, event in {
            "type": {"type": text}, "title": {"type": "title", "title": text},
            "member": {"type": "title", text: "a"}, "room": {"type": "title", "title": "a", "room": text},
            "state": {"type": "stream", "state": text},
            "control": {"type": "slider", "control": text, "phase": "begin"},
            "phase": {"type": "slider", "control": "a", "phase": text, "value": 0},
            "recorder": {"type": "recorder.state", "state": text}, "tap": {"type": "tap", "control": text},
            "reaction": {"type": "reaction", "kind": text, "count": 1},
            "person": {"type": "waiting.join", "user": {"id": text, "name": "b"}},
            "name": {"type": "waiting.join", "user": {"id": "a", "name": text}},
            "text": {"type": "chat.message", "id": "a", "user": {"id": "b", "name": "b"}, "text": text},
            "author": {
                "type": "chat.message", "id": "a", "user": {"id": "b", "name": text}, "text": "a"},
            "notice": {
                "type": "chat.notice", "kind": text, "user": {"id": "b", "name": "b"}, "count": 1},
    }.items():
        yield place, json.dumps(event, ensure_ascii=False).encode() + b"\n"


def shapes(size):
    """Messages whose shape is the problem: `size` members, and of the rest in proportion."""
    many = ",".join(f'"m{index}":0' for index in range(size))
    yield f"{size} members", b'{"method":"a.b",' + many.encode() + b"}\0"
    yield f"{size} parameters", b'{"method":"a.b","parameters":{' + many.encode() + b"}}\0"
    yield f"depth {size // 40}", b'{"method":"a.b","parameters":' + b'{"a":' * (size // 40) + b"\0"
    yield f"{size * 5} elements", b'{"method":"a.b","parameters":{"a":[' + b"0," * size * 5 + b"0]}}\0"
    yield "a long number", b'{"method":"a.b","parameters":{"a":' + b"7" * size * 10 + b"}}\0"
    yield "a long name", b'{"' + b"\xcc\x81\xcc\x96" * (size * 5 // 2) + b'":0}\0'
