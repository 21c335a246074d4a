"""Generates Varlink messages from a grammar of calls, with mutations, and lines for the ingest socket."""
import json

FLAGS = ["oneway", "more", "upgrade"]
SERVICE = "org.varlink.service."
CONTROL = "io.livehost.Control."

# The methods to call, with the types of their parameters. A type with ? may be absent; the room 'fuzz' is open.
METHODS = {
    SERVICE + "GetInfo": {}, CONTROL + "GetStatus": {}, CONTROL + "ListRooms": {}, CONTROL + "ListTasks": {},
    "io.systemd.service.Ping": {},
    SERVICE + "GetInterfaceDescription": {"interface": "string"},
    CONTROL + "GetRoom": {"room": "string", "feature": "?feature"},
    CONTROL + "ListHangs": {"since": "?int"},
    CONTROL + "ListRecordings": {"room": "?string", "before": "?string"},
    CONTROL + "Explain": {"room": "string", "view": "string"},
    CONTROL + "GetPositions": {"room": "string"},
    CONTROL + "ListSources": {"room": "?string"},
    CONTROL + "CloseRoom": {"room": "string"},
    CONTROL + "SetControl": {"room": "string", "control": "string", "value": "?float", "on": "?bool"},
    CONTROL + "Act": {"room": "string", "kind": "act", "number": "?int", "text": "?string", "message": "?string",
                      "seconds": "?int", "on": "?bool", "platform": "?string", "by": "?string"},
    CONTROL + "SendEvents": {"room": "?string", "events": "objects"},
    CONTROL + "CancelTask": {"task": "string"},
}
# Some of the valid kinds of act, and an invalid one.
ACTS = ["say", "reply", "delete", "timeOut", "ban", "mark", "setShield"]
NO_ACT = "dance"
FEATURES = ["activity", "chat", "control", "header", "liveRoomStats", "poll", "recorder", "sources", "waitingRoom"]

ATOMS = [None, True, False, 0, -1, 2**63 - 1, 2**63, -2**70, 1.5, 1e300, -0.0, "", "main", "\0", "\U0001f600",
         "x" * 300, "\u2028"]
NAMES = ["a", "b", "", "x.y", "room", "n" * 256, "n" * 257]
ROOMS = ["fuzz", "nobody", "", "Bad Room", "x" * 70, "../../etc"]
BAD_METHODS = ["", ".", "GetInfo", "org.varlink.service", "org.varlink.service.", "a.b.C",
               "io.livehost.Control.getStatus", CONTROL + "Nonsense", "x" * 5_000, "..", "\0"]
ODD_NUMBERS = ["00", "1e999", "-", "0x1", "+1", "1.", ".5", "NaN", "Infinity", "9" * 400, "1E+2"]
EVENTS = [{"type": "viewers", "count": 3}, {"type": "viewers", "count": "x"}, {"type": "wave"}, {},
          {"type": "chat.message", "id": "1", "user": {"id": "u", "name": "n"}, "text": "hi"}]


class Messages:
    def __init__(self, random):
        self.random, self.pick = random, random.choice

    def value(self, depth=0):
        """Returns a random JSON value."""
        kind = self.random.randrange(len(ATOMS) + (4 if depth < 4 else 0))
        if kind < len(ATOMS):
            return ATOMS[kind]
        count = self.random.randrange(4)
        if kind % 2:
            return [self.value(depth + 1) for _ in range(count)]
        return {self.pick(NAMES): self.value(depth + 1) for _ in range(count)}

    def good_value(self, kind):
        if kind.startswith("?"):
            return None if self.random.random() < 0.3 else self.good_value(kind[1:])
        if kind == "objects":
            return [self.pick(EVENTS) for _ in range(self.random.randrange(3))]
        return self.pick({
            "string": [self.pick(ROOMS), "ChatView", "zoom", CONTROL[:-1], "\u0001"], "bool": [False, True],
            "int": [0, -1, 2**62], "float": [0, 0.5, 7, -1e9], "feature": FEATURES,
            "act": [*ACTS, NO_ACT]}[kind])

    def call(self):
        method = self.pick(list(METHODS))
        if self.random.random() < 0.1:
            return {"method": method}
        return {"method": method,
                "parameters": {name: self.good_value(kind) for name, kind in METHODS[method].items()}}

    def bend(self, call):
        """Changes a call so that it breaks one rule or is at the limit of a rule."""
        pick, value, parameters = self.pick, self.value, call.get("parameters", {})
        return pick([
            lambda: call,
            lambda: value(),
            lambda: {"parameters": parameters},
            lambda: call | {pick(FLAGS): value()},
            lambda: call | {pick(FLAGS): True},
            lambda: call | {"oneway": True, "more": True},
            lambda: call | {pick(["extra", "Method", "", "continues", "error"]): value()},
            lambda: call | {pick(["org.example.a", "org.example."]): value()},
            lambda: call | {"parameters": value()},
            lambda: call | {"parameters": parameters | {pick([*parameters] or ["extra"]): value()}},
            lambda: call | {"parameters": parameters | {pick(["extra", ""]): value()}},
            lambda: call | {"method": value()},
            lambda: call | {"method": pick(BAD_METHODS)},
            lambda: call | {"org.example.deep": json.loads("[" * (deep := pick([126, 127, 128, 900])) + "]" * deep)},
        ])()

    def text(self, value):
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5,
                          separators=self.pick([(",", ":"), (", ", ": "), (" ,\n", "\t:\r ")]))
        # Two thirds of the texts remain as they are.
        text = self.pick([
            # Equivalent escapes.
            lambda: text.replace("GetInfo", "Get\\u0049nfo").replace("/", "\\/"),
            lambda: text.replace('"main"', self.pick(['"\\ud800"', '"\\udc00x"', '"\\uZZZZ"', '"\\x"'])),
            lambda: text.replace("0", self.pick(ODD_NUMBERS), 1),
            lambda: '{"method":"a.B",' + text[1:] if text.startswith("{") and len(text) > 2 else text,
            lambda: self.pick([" ", "\n\r\t", "\ufeff", "x", ","]) + text,
            lambda: text + self.pick([" ", "\n", "}", "{}", ",", "x"]),
            *[lambda: text] * 10,
        ])()
        return text.encode("utf-8", "surrogatepass")

    def mutated(self, message):
        """Returns the message with some bytes inserted, removed, replaced or repeated."""
        message = bytearray(message)
        for _ in range(self.random.randrange(1, 4)):
            place, size = self.random.randrange(len(message) + 1), self.random.randrange(1, 4)
            message[place:place + self.pick([0, 1, size])] = self.pick([
                b"", self.random.randbytes(1), message[place // 2:place]])
        return bytes(message[:20_000])

    def message(self):
        way = self.random.random()
        if way < 0.03:
            message = self.random.randbytes(self.random.randrange(200))
        else:
            message = self.text(self.bend(self.call()) if way < 0.7 else self.call())
        if self.random.random() < 0.25:
            message = self.mutated(message)
        # A NUL would end the message.
        return message.replace(b"\0", b"\1")


class Lines:
    GOOD = [
        b'{"type":"viewers","count":3,"room":"fuzz"}', b'{"type":"title","title":"t","room":"fuzz"}',
        b'{"type":"reaction","kind":"like","count":2,"room":"fuzz"}', b'  {"type":"chat.clear","room":"fuzz"} ',
        b'{"type":"poll.begin","room":"fuzz","id":"p","title":"t","options":["a","b"]}',
    ]
    BAD = [
        b"{", b"}", b"[]", b"null", b'{"type":}', b'{"type":"wave"}', b'{"type":"viewers"}', b"\x80\xff",
        b'{"type":"viewers","count":"x"}', b'{"type":"viewers","count":1,"room":"Bad Room"}', b"PING :x",
        b'{"type":"title","title":"\xff"}', b"@badge-info=;badges", b"x" * 70_000, b'{"type":"viewers","count":1',
        b'{"type":"poll.begin","room":"fuzz","id":"p","title":"t","options":[]}',
        b'{"type":"poll.votes","room":"fuzz","id":"none","totals":[1,2]}',
        b'{"type":"poll.end","room":"fuzz","id":"none"}',
        b'{"type":"gap","room":"fuzz","source":"s","from":2,"to":1,"reason":"r"}',
        b'{"type":"source.state","room":"fuzz","source":"s","state":"good"}',
        b'{"type":"hypeTrain","room":"fuzz","phase":"begin","level":-1}',
        b"\0" * 50, b'{"a":' * 2_000,
    ]

    def __init__(self, random):
        self.random = random

    def line(self):
        """Returns a line and whether it must be rejected, or None if both outcomes are correct."""
        way = self.random.random()
        if way < 0.8:
            return self.random.choice(self.BAD if way < 0.4 else self.GOOD), way < 0.4
        line = bytearray(self.random.choice(self.GOOD + self.BAD[:-1]))
        for _ in range(self.random.randrange(1, 5)):
            line[self.random.randrange(len(line))] = self.random.choice([self.random.randrange(256), *b'"\\{'])
        return bytes(line).replace(b"\n", b" "), None
