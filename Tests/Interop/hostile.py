"""Text and messages that cost a daemon more than they should, and a client that sends them."""
import base64
import itertools
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


# Further places that take a text. Several may have one name.

PERSON = {"id": "b", "name": "b"}
CALLS_OF_ROOMS = {
    "OpenRoom": {}, "CloseRoom": {}, "StartRecording": {}, "PauseRecording": {}, "ResumeRecording": {},
    "StopRecording": {}, "VerifyRecordings": {}, "StartTask": {"kind": "export"}, "MonitorRoom": {},
    "MonitorScreen": {}, "MonitorRequests": {}, "Explain": {"view": "a"}, "RecordElsewhere": {"wish": "start"},
    "SetControl": {"control": "a", "value": 1}, "Admit": {"all": True}, "SetChatFilter": {"words": "a"},
    "SetMentionedNames": {"names": []}, "ScrollChat": {"position": "end"}, "ShowThread": {"message": "a"},
    "HandleNotice": {"notice": 1, "handling": "pin"}, "HandleActivity": {"activity": 1, "handling": "pin"},
    "SendEvents": {"events": []},
}
STREAMS = ("VerifyRecordings", "StartTask", "MonitorRoom", "MonitorScreen", "MonitorRequests")


def more_messages(text):
    def call(method, parameters, interface=CONTROL, more=False):
        return {"method": interface + method, "parameters": parameters, "more": more}

    for method, parameters in CALLS_OF_ROOMS.items():
        yield "rooms", call(method, {"room": text, **parameters}, more=method in STREAMS)
    for name in ("before", "room"):
        yield "recordings", call("ListRecordings", {name: text})
    yield "recordings", call("StartTask", {"kind": "verify", "recording": text}, more=True)
    yield "requests", call("MonitorRequests", {"room": "main", "controls": [text]}, more=True)
    for outcome in ({"outcome": text}, {"outcome": "refused", "reason": text}):
        yield "requests", call("ReportOutcome", {"identifier": "a", **outcome})
    for method, parameters in (
            ("RecordElsewhere", {"wish": text}), ("Admit", {"user": text}), ("SetChatFilter", {"user": text}),
            ("SetChatFilter", {"platform": text}), ("ScrollChat", {"position": text}),
            ("HandleNotice", {"notice": 1, "handling": text}),
            ("HandleActivity", {"activity": 1, "handling": text})):
        yield "acts of the host", call(method, {"room": "main", **parameters})
    for event in (
            {"type": "title", "title": "a", "room": text}, {"type": "title", "title": "a", "platform": text},
            {"type": "chat.message", "id": "a", "user": PERSON, "text": text},
            {"type": "chat.message", "id": "a", "user": {"id": text, "name": text, "badges": [text]}, "text": "a"},
            {"type": "poll.begin", "id": "a", "title": text, "options": ["a"]},
            {"type": "poll.begin", "id": "a", "title": "a", "options": [text]},
            {"type": "source.state", "source": "a", "state": "live", "reason": text},
            {"type": "host.filter", "words": text}, {"type": "host.highlight", "names": [text]}):
        yield "members of events", call("SendEvents", {"events": [event]})
    for method, parameters in (
            ("SaveRoom", {"room": text}), ("OpenRoom", {"room": text, "source": "a", "sequence": 1}),
            ("OpenRoom", {"room": "main", "source": text, "sequence": 1}),
            ("LoadRoom", {"room": text, "index": 0, "part": "", "isLast": True}),
            ("LoadRoom", {"room": "copy", "index": 0, "part": text, "isLast": True}),
            ("LoadRoom", {"room": "copy", "index": 0, "isLast": True,
                          "part": base64.b64encode(json.dumps({"room": text}).encode()).decode()}),
            ("PerformAct", {"room": text, "source": "a", "sequence": 1, "event": "{}"}),
            ("PerformAct", {"room": "main", "source": text, "sequence": 1, "event": "{}"}),
            ("PerformAct", {"room": "main", "source": "a", "sequence": 1, "event": text}),
            ("FindMessage", {"room": text, "number": 1})):
        yield "replication", call(method, parameters, "io.livehost.Replication.", method in ("SaveRoom", "PerformAct"))


def more_events(text):
    message = {"type": "chat.message", "user": PERSON, "text": "a"}
    notice = {"type": "chat.notice", "kind": "gift", "user": PERSON, "count": 1}
    poll, prediction = {"id": "a", "title": "a", "options": ["a", "b"]}, {"type": "prediction", "state": "open"}
    for place, events in {
            "chat.message": [
                {**message, "id": text}, {**message, "id": "a", "replyTo": text},
                {**message, "id": "a", "channel": text}, {**message, "id": "a", "platform": text},
                {**message, "id": "a", "source": text}, {**message, "id": "a", "user": {**PERSON, "id": text}},
                {**message, "id": "a", "user": {**PERSON, "badges": [text]}},
                {**message, "id": "a", "user": {**PERSON, "color": text}},
                {**message, "id": "a", "user": {**PERSON, text: "a"}}, {**message, "id": "a", "ts": text}],
            "moderation": [
                {"type": "chat.delete", "id": text}, {"type": "chat.timeout", "user": text},
                {"type": "chat.timeout", "user": {"id": text, "name": text}}],
            "chat.notice": [
                {**notice, "group": text}, {**notice, "id": text}, {**notice, "user": {"id": text, "name": "b"}},
                {**notice, "user": {"id": "b", "name": text}}],
            "polls": [
                {**poll, "type": "poll.begin", "id": text}, {**poll, "type": "poll.begin", "title": text},
                {**poll, "type": "poll.begin", "options": [text, text]},
                {"type": "poll.votes", "id": text, "totals": [1, 2]}, {"type": "poll.end", "id": text}],
            "predictions": [
                {**prediction, **poll, name: value} for name, value in (
                    ("id", text), ("title", text), ("state", text), ("options", [text, text]))],
            "goals and hype trains": [
                {"type": "goal", "title": text, "count": 1, "target": 2},
                {"type": "hypeTrain", "phase": text, "level": 1}],
            "follows, redemptions, announcements": [
                {"type": "follow", "user": {"id": text, "name": text}},
                {"type": "follow", "user": PERSON, "id": text},
                {"type": "redemption", "user": PERSON, "title": text},
                {"type": "redemption", "user": PERSON, "title": "a", "text": text},
                {"type": "redemption", "user": PERSON, "title": "a", "id": text},
                {"type": "announcement", "text": text}, {"type": "announcement", "text": "a", "id": text},
                {"type": "announcement", "text": "a", "user": {"id": text, "name": text}}],
            "controls": [
                {"type": "meter", "input": text, "levels": [0.5]},
                {"type": "control.state", "control": text, "value": 0.5},
                {"type": "tap", "control": text, "on": True}],
            "people who wait": [
                {"type": kind, "user": user} for kind in ("waiting.leave", "waiting.admit")
                for user in (text, {"id": text, "name": text})],
            "sources": [
                {"type": "source.state", "source": "a", "state": "live", name: text}
                for name in ("source", "state", "platform", "reason")] + [
                {"type": "gap", "source": "a", "from": 1, "to": 2, "reason": "a", name: text}
                for name in ("source", "reason")],
            "acts": [
                {"type": "host.admit", "user": text}, {"type": "host.set", "control": text, "value": 0.5},
                {"type": "host.filter", "user": text}, {"type": "host.filter", "words": text},
                {"type": "host.filter", "platform": text}, {"type": "host.highlight", "names": [text] * 2},
                {"type": "host.scroll", "position": text}, {"type": "host.thread", "message": text},
                {"type": "host.activity", "activity": 1, "handling": text},
                {"type": "host.notice", "notice": 1, "handling": text}, {"type": "host.filter"}],
    }.items():
        for event in events:
            yield place, event


IDENTIFIERS = itertools.count()


def more_lines(text):
    for place, event in more_events(text):
        yield place, json_line(event)
    # Under an identifier of its own, so that it is not refused as one that was there; and compared with what a
    # host filters by and highlights, which is as long as a name.
    short = text[:40]
    message = {"type": "chat.message", "id": f"m{next(IDENTIFIERS)}", "user": PERSON, "text": text}
    yield "a message that is taken", json_line(message)
    yield "a message that is filtered", b"".join(map(json_line, (
        {"type": "host.filter", "words": short}, {"type": "host.highlight", "names": [short]},
        {**message, "id": f"m{next(IDENTIFIERS)}"}, {"type": "host.filter"},
        {"type": "host.highlight", "names": []})))
    tags = {"id": "a", "user-id": "b", "display-name": "b", "tmi-sent-ts": "1"}
    for name in (
            "id", "user-id", "display-name", "badges", "tmi-sent-ts", "bits", "reply-parent-msg-id",
            "source-room-id", "color", "emotes", text):
        yield "tags of IRC", irc_line({**tags, name: text}, "b", "PRIVMSG", "#main :a")
    for name in (
            "login", "msg-id", "msg-param-community-gift-id", "msg-param-origin-id", "msg-param-cumulative-months"):
        yield "tags of IRC", irc_line({**tags, "msg-id": "subgift", name: text}, "b", "USERNOTICE", "#main :a")
    yield "tags of IRC", irc_line({"target-msg-id": text}, "b", "CLEARMSG", "#main :a")
    yield "tags of IRC", irc_line({"target-user-id": text, "ban-duration": text}, "b", "CLEARCHAT", "#main :a")
    yield "tags of IRC", irc_line({"slow": text}, "b", "ROOMSTATE", "#main")
    for command, parameters in (
            (text, "#main :a"), ("PRIVMSG", f"#{text} :a"), ("PRIVMSG", f"{text} :a"), ("PRIVMSG", f"#main :{text}"),
            ("PRIVMSG", f"#main :\x01ACTION {text}\x01"), ("USERNOTICE", f"#main :{text}"),
            ("CLEARCHAT", f"#main :{text}"), ("PING", f":{text}"), ("PRIVMSG", f"#main {text} {text[:9]} :a")):
        yield "commands of IRC", irc_line(tags, "b", command, parameters)
    yield "commands of IRC", irc_line(tags, text, "PRIVMSG", "#main :a")


def lines_to_connection(text):
    """They change what later lines of their connection mean."""
    yield "sync", json_line({"type": "sync", "token": text})
    for name in ("room", "format", "platform", "source", "clock"):
        yield "options", json_line({"type": "options", name: text})
    yield "position", json_line({"type": "position", "source": text, "sequence": 1})


def json_line(event):
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def irc_line(tags, nick, command, parameters):
    tags = ";".join(f"{name}={value}" for name, value in tags.items())
    return f"@{tags} :{nick}!{nick}@tmi.twitch.tv {command} {parameters}\r\n".encode()


def shapes(size):
    """Messages whose shape is the problem: `size` members, and of the rest in proportion."""
    many = ",".join(f'"m{index}":0' for index in range(size))
    yield f"{size} members", b'{"method":"a.b",' + many.encode() + b"}\0"
    yield f"{size} parameters", b'{"method":"a.b","parameters":{' + many.encode() + b"}}\0"
    yield f"depth {size // 40}", b'{"method":"a.b","parameters":' + b'{"a":' * (size // 40) + b"\0"
    yield f"{size * 5} elements", b'{"method":"a.b","parameters":{"a":[' + b"0," * size * 5 + b"0]}}\0"
    yield "a long number", b'{"method":"a.b","parameters":{"a":' + b"7" * size * 10 + b"}}\0"
    yield "a long name", b'{"' + b"\xcc\x81\xcc\x96" * (size * 5 // 2) + b'":0}\0'
