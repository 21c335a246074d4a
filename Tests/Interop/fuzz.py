#!/usr/bin/env python3
"""Sends malformed and adversarial input to a daemon, and checks that it follows the rules.

    fuzz.py CONTROL INGEST PID [--messages N] [--lines N] [--seed S]

Varlink messages come from a grammar of calls, mutated in many ways; what must happen to each is decided by a
second, independent reading of the rules (UAPI.20): closed, answered by one error or reply, or, for a
one-way call, not answered. Lines for the ingest socket come from a grammar of events; each must be counted,
and the bad ones as rejected. Prints the seed; on a failure the shortest message that shows it. The daemon,
the process PID, must survive and its memory stay flat. Ends with `N passed, N failed`.
"""
import argparse
import json
import math
import random
import socket
import sys
import time

MAXIMUM_DEPTH = 128
MAXIMUM_MEMBERS = 4096
# In bytes of UTF-8.
MAXIMUM_NAME = 256
# Growth of resident memory after the first tenth of the input that does not count as a leak, in KiB.
ALLOWED_GROWTH = 16 << 10

CLOSE, NOTHING, ANSWER = "close", "nothing", "answer"
SERVICE = "org.varlink.service."
CONTROL = "io.livehost.Control."

# The methods to call, with the types of their parameters. A type with ? may be absent; the room 'fuzz' is open.
METHODS = {
    SERVICE + "GetInfo": {},
    SERVICE + "GetInterfaceDescription": {"interface": "string"},
    CONTROL + "GetStatus": {},
    CONTROL + "ListRooms": {},
    CONTROL + "GetRoom": {"room": "string", "feature": "?feature"},
    CONTROL + "ListHangs": {"since": "?int"},
    CONTROL + "ListTasks": {},
    CONTROL + "ListRecordings": {"room": "?string", "before": "?string"},
    CONTROL + "Explain": {"room": "string", "view": "string"},
    CONTROL + "GetPositions": {"room": "string"},
    CONTROL + "ListSources": {"room": "?string"},
    CONTROL + "CloseRoom": {"room": "string"},
    CONTROL + "SetControl": {"room": "string", "control": "string", "value": "?float", "on": "?bool"},
    CONTROL + "SendEvents": {"room": "?string", "events": "objects"},
    CONTROL + "CancelTask": {"task": "string"},
    "io.systemd.service.Ping": {},
}
INTERFACES = ["org.varlink.service", "io.livehost.Control", "io.systemd.service"]
FEATURES = ["activity", "chat", "control", "header", "liveRoomStats", "poll", "recorder", "sources", "waitingRoom"]
# Methods that are defined but not called with good parameters; the oracle knows their names.
OTHERS = {"io.livehost.Control." + name for name in (
    "OpenRoom MonitorRoom MonitorScreen MonitorHangs StartRecording StopRecording StartTask Simulate "
    "VerifyRecordings DeleteRecording"
).split()} | {"io.systemd.service.Reload", "io.systemd.service.SetLogLevel"}


# The rules, implemented a second time.

class Malformed(Exception):
    pass


def parse(message):
    """The value of a message, by RFC 8259 read strictly."""
    def members(pairs):
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise Malformed("a member twice")
        if len(names) > MAXIMUM_MEMBERS:
            raise Malformed("too many members")
        if any(len(name.encode("utf-8", "surrogatepass")) > MAXIMUM_NAME for name in names):
            raise Malformed("a name that is too long")
        return dict(pairs)

    def constant(name):
        raise Malformed(name)

    def number(text):
        if math.isinf(value := float(text)):
            raise Malformed("out of range")
        return value

    def integer(text):
        value = number(text)
        # A number too large for Int64 is read as a double.
        return int(text) if len(text) < 25 and -2**63 <= int(text) < 2**63 else value

    def check(value, depth):
        if isinstance(value, (dict, list)):
            if depth > MAXIMUM_DEPTH:
                raise Malformed("too deep")
            for part in [*value, *value.values()] if isinstance(value, dict) else value:
                check(part, depth + 1)
        elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            raise Malformed("a lone surrogate")

    try:
        value = json.loads(message.decode("utf-8"), object_pairs_hook=members, parse_constant=constant,
                           parse_float=number, parse_int=integer)
        check(value, 1)
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from error
    return value


def fits(value, kind):
    if kind.startswith("?"):
        return value is None or fits(value, kind[1:])
    if kind == "string":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "float":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "feature":
        return value in FEATURES if isinstance(value, str) else False
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def expected(message):
    """What must happen to a message: CLOSE, NOTHING, ANSWER (whatever it is), or the name of an error."""
    try:
        call = parse(message)
    except Malformed:
        return CLOSE
    if not isinstance(call, dict) or not isinstance(call.get("method"), str):
        return CLOSE
    flags = [call.get(name) for name in ("oneway", "more", "upgrade")]
    if any(flag not in (None, True, False) or isinstance(flag, (int, float)) and not
           isinstance(flag, bool) for flag in flags) or flags.count(True) > 1:
        return CLOSE
    parameters = call.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        return CLOSE
    if any("." not in name for name in call
           if name not in ("method", "parameters", "oneway", "more", "upgrade")):
        return CLOSE
    if flags[0]:
        return NOTHING
    interface, _, name = call["method"].rpartition(".")
    if interface not in INTERFACES:
        return SERVICE + "InterfaceNotFound"
    if call["method"] in OTHERS:
        return None
    if call["method"] not in METHODS:
        return SERVICE + "MethodNotFound"
    if flags[2]:
        return SERVICE + "MethodNotImplemented"
    return expected_of_parameters(call["method"], parameters or {})


def expected_of_parameters(method, parameters):
    kinds = METHODS[method]
    for name, kind in kinds.items():
        value = parameters.get(name)
        # The reader may accept 1.0 as an integer.
        if isinstance(value, float) and kind.endswith("int"):
            return ANSWER
        if not fits(value, kind):
            return SERVICE + "InvalidParameter"
    if not set(parameters) <= set(kinds):
        return SERVICE + "InvalidParameter"
    return ANSWER


# Messages from a grammar, mutated.

class Messages:
    def __init__(self, random):
        self.random = random

    def value(self, depth=0):
        """Any JSON."""
        kinds = [None, True, False, 0, -1, 2**63 - 1, 2**63, -2**70, 1.5, 1e300, -0.0, "", "main", "\0",
                 "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "x" * 300, "\u2028"]
        pick = self.random.randrange(len(kinds) + (4 if depth < 4 else 0))
        if pick < len(kinds):
            return kinds[pick]
        if pick % 2:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(["a", "b", "", "x.y", "room", "n" * 256, "n" * 257]): self.value(depth + 1)
                for _ in range(self.random.randrange(4))}

    def good_value(self, kind):
        if kind.startswith("?"):
            return None if self.random.random() < 0.3 else self.good_value(kind[1:])
        room = self.random.choice(["fuzz", "nobody", "", "Bad Room", "x" * 70, "../../etc"])
        return {"string": self.random.choice([room, "ChatView", "zoom", CONTROL[:-1], "\u0001"]),
                "bool": self.random.random() < 0.5,
                "int": self.random.choice([0, -1, 2**62]), "float": self.random.choice([0, 0.5, 7, -1e9]),
                "feature": self.random.choice(FEATURES),
                "objects": [self.event() for _ in range(self.random.randrange(3))]}[kind]

    def event(self):
        return self.random.choice([
            {"type": "viewers", "count": 3}, {"type": "viewers", "count": "x"}, {"type": "wave"}, {},
            {"type": "chat.message", "id": "1", "user": {"id": "u", "name": "n"}, "text": "hi"}])

    def call(self):
        method = self.random.choice(list(METHODS))
        call = {"method": method, "parameters": {
            name: self.good_value(kind) for name, kind in METHODS[method].items()}}
        if self.random.random() < 0.1:
            del call["parameters"]
        return call

    def bend(self, call):
        """Breaks one rule, or goes up to its limit."""
        flag = self.random.choice(["oneway", "more", "upgrade"])
        way = self.random.randrange(14)
        if way == 0:
            call[flag] = self.value()
        elif way == 1:
            call[flag] = True
        elif way == 2:
            call["oneway"] = call["more"] = True
        elif way == 3:
            call[self.random.choice(["extra", "Method", "", "continues", "error"])] = self.value()
        elif way == 4:
            call["org.example." + self.random.choice(["a", ""])] = self.value()
        elif way == 5:
            call["parameters"] = self.value()
        elif way == 6:
            call["method"] = self.value()
        elif way == 7:
            call.pop("method")
        elif way == 8:
            call["method"] = self.random.choice([
                "", ".", "GetInfo", "org.varlink.service", "org.varlink.service.", "a.b.C",
                "io.livehost.Control.getStatus", CONTROL + "Nonsense", "x" * 5_000, "..", "\0"])
        elif way == 9 and call.get("parameters"):
            call["parameters"][self.random.choice(list(call["parameters"]))] = self.value()
        elif way == 10:
            call.setdefault("parameters", {})[self.random.choice(["extra", ""])] = self.value()
        elif way == 11:
            deep = self.random.choice([125, 126, 127, 128, 1_000])
            call["org.example.deep"] = json.loads("[" * min(deep, 900) + "]" * min(deep, 900))
        elif way == 12:
            return self.value()
        return call

    def text(self, value):
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5,
                          separators=self.random.choice([(",", ":"), (", ", ": "), (" ,\n", "\t:\r ")]))
        way = self.random.randrange(16)
        if way == 0:
            # Equivalent escapes.
            text = text.replace("GetInfo", "Get\\u0049nfo").replace("/", "\\/")
        elif way == 1:
            text = text.replace('"main"', self.random.choice(['"\\ud800"', '"\\udc00x"', '"\\uZZZZ"', '"\\x"']))
        elif way == 2:
            text = text.replace("0", self.random.choice(
                ["00", "1e999", "-", "0x1", "+1", "1.", ".5", "NaN", "Infinity", "9" * 400, "1E+2"]), 1)
        elif way == 3 and text.startswith("{"):
            text = '{"method":"a.B",' + text[1:] if len(text) > 2 else text
        elif way == 4:
            text = self.random.choice([" ", "\n\r\t", "\ufeff", "x", ","]) + text
        elif way == 5:
            text += self.random.choice([" ", "\n", "}", "{}", ",", "x"])
        return text.encode("utf-8", "surrogatepass")

    def message(self):
        way = self.random.random()
        if way < 0.03:
            message = self.random.randbytes(self.random.randrange(200))
        else:
            call = self.call()
            message = self.text(self.bend(call) if way < 0.7 else call)
        if self.random.random() < 0.25 and message:
            message = bytearray(message)
            for _ in range(self.random.randrange(1, 4)):
                place = self.random.randrange(len(message) + 1)
                how = self.random.randrange(4)
                if how == 0:
                    message[place:place] = self.random.randbytes(1)
                elif how == 1:
                    del message[place:place + self.random.randrange(1, 4)]
                elif how == 2 and place < len(message):
                    message[place] = self.random.randrange(256)
                else:
                    message[place:place] = message[place // 2:place]
            message = bytes(message[:20_000])
        # A NUL would end the message.
        return bytes(message).replace(b"\0", b"\1")


def exchange(path, messages, cut, ends_with_nul=True):
    """Sends messages over one connection, closes it, and returns the replies.

    `cut` is the size of the pieces."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    block = b"\0".join(messages) + (b"\0" if ends_with_nul else b"")
    received = bytearray()
    try:
        for start in range(0, len(block), cut):
            connection.sendall(block[start:start + cut])
        connection.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError, OSError):
        # Closed already; earlier replies can still be read.
        pass
    try:
        while piece := connection.recv(1 << 18):
            received += piece
    except ConnectionResetError:
        pass
    connection.close()
    return [json.loads(reply) for reply in received.split(b"\0")[:-1]], bytes(received.split(b"\0")[-1])


def wrong(path, messages, cut):
    """Why the daemon's replies to these messages are wrong; None if they are right."""
    outcomes = [expected(message) for message in messages]
    if None in outcomes:
        # It called a method that keeps replying; its replies cannot be judged.
        return None
    try:
        replies, rest = exchange(path, messages, cut)
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    if rest:
        return f"a reply without an end: {rest[:80]!r}"
    wanted = []
    for outcome in outcomes:
        if outcome == CLOSE:
            break
        if outcome != NOTHING:
            wanted.append(outcome)
    found = [reply.get("error") for reply in replies]
    if len(found) != len(wanted):
        return f"{len(found)} replies instead of {len(wanted)}: {found} instead of {wanted}"
    for error, outcome in zip(found, wanted):
        if outcome != ANSWER and error != outcome:
            return f"{error or 'a reply'} instead of {outcome}"
        if outcome == ANSWER and error is not None and error.startswith(SERVICE) and \
                not error.endswith(("InvalidParameter", "InterfaceNotFound")):
            return f"{error} instead of an answer"
    return None


def shortest(path, messages, cut):
    """Fewer and shorter messages that still go wrong."""
    for message in messages:
        if wrong(path, [message], cut):
            messages = [message]
            break
    if len(messages) > 1:
        return messages
    message, size = messages[0], max(1, len(messages[0]) // 2)
    while size:
        for start in range(0, len(message), size):
            shorter = message[:start] + message[start + size:]
            if wrong(path, [shorter], cut):
                message = shorter
                break
        else:
            size //= 2
    return [message]


# Lines for the ingest socket.

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
        """A line, and whether it must be rejected; None if either is right."""
        way = self.random.random()
        if way < 0.4:
            return self.random.choice(self.GOOD), False
        if way < 0.8:
            return self.random.choice(self.BAD), True
        line = bytearray(self.random.choice(self.GOOD + self.BAD[:-1]))
        for _ in range(self.random.randrange(1, 5)):
            place = self.random.randrange(len(line))
            line[place] = self.random.choice([self.random.randrange(256), 0x22, 0x5C, 0x7B])
        return bytes(line).replace(b"\n", b" "), None


def feed(path, lines, generator):
    """Sends lines over one connection; returns why the counts are wrong, or None."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(120)
    connection.connect(path)
    sent = [generator.line() for _ in range(lines)]
    end = b"\r\n" if generator.random.random() < 0.3 else b"\n"
    # One CR belongs to the line end; lines of nothing but blanks do not count.
    counted = [rejected for line, rejected in sent
               if (line + end)[:-1].removesuffix(b"\r").strip(b" \t")]
    connection.sendall(end.join(line for line, _ in sent) + end + b'{"type":"sync","token":"t"}\n')
    answer = b""
    while not answer.endswith(b"\n"):
        piece = connection.recv(1 << 16)
        if not piece:
            return "the connection was closed"
        answer += piece
    connection.close()
    counts = json.loads(answer)
    least = counted.count(True)
    most = least + counted.count(None)
    # A changed line may have become a blank one, or a control line, which do not count.
    if not len(counted) - counted.count(None) <= counts["received"] <= len(counted):
        return f"received {counts['received']} of {len(counted)}"
    if not least <= counts["rejected"] <= most:
        return f"rejected {counts['rejected']}, which is not from {least} to {most}"
    return None


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def call(path, method, parameters=None):
    replies, _ = exchange(path, [json.dumps({"method": method, "parameters": parameters or {}}).encode()], 1 << 20)
    return replies[0]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("control")
    arguments.add_argument("ingest")
    arguments.add_argument("pid", type=int)
    arguments.add_argument("--messages", type=int, default=20_000)
    arguments.add_argument("--lines", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    options = arguments.parse_args()
    print(f"fuzz: {options.messages} messages, {options.lines} lines, seed {options.seed}", flush=True)
    generator = random.Random(options.seed)
    messages, lines = Messages(generator), Lines(generator)
    failures = []
    passed = 0
    call(options.control, CONTROL + "OpenRoom", {"room": "fuzz"})

    outcomes = {}
    sent = 0
    memory = None
    while sent < options.messages and not failures:
        batch = []
        for _ in range(generator.randrange(1, 24)):
            batch.append(messages.message())
            outcomes_of = expected(batch[-1])
            outcomes[outcomes_of] = outcomes.get(outcomes_of, 0) + 1
            if outcomes_of == CLOSE:
                break
        sent += len(batch)
        cut = generator.choice([1 << 20, 1 << 20, 100, 7])
        if generator.random() < 0.02:
            # Disconnects without waiting for a reply: calls under way are cancelled.
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(options.control)
            connection.sendall(b"\0".join(batch))
            connection.close()
        elif reason := wrong(options.control, batch, cut):
            print(f"seed {options.seed}, near message {sent}: {reason}")
            for message in shortest(options.control, batch, cut):
                print(f"  {message!r}: {wrong(options.control, [message], cut)}")
            failures.append("a message was not treated as the specification says")
        if memory is None and sent > options.messages / 10:
            memory = resident(options.pid)
    for outcome, count in sorted(outcomes.items(), key=lambda pair: -pair[1]):
        print(f"  {count} messages: {outcome or 'not judged'}")

    passed += not failures

    # A message beyond the size limit: the connection is closed and nothing is stored.
    block = b'{"method":"' + b"x" * (6 << 20)
    replies, _ = exchange(options.control, [block], 1 << 16)
    if replies:
        failures.append(f"a message of 6 MiB is answered: {replies}")
    else:
        passed += 1

    fed = 0
    while fed < options.lines and not failures:
        if reason := feed(options.ingest, 500, lines):
            failures.append(f"seed {options.seed}, near line {fed}: {reason}")
        fed += 500
    passed += not failures

    growth = resident(options.pid) - (memory or resident(options.pid))
    print(f"  memory grew by {growth} KiB after the first tenth of the messages")
    if growth > ALLOWED_GROWTH:
        failures.append(f"memory grew by {growth} KiB")
    else:
        passed += 1
    totals = call(options.control, CONTROL + "GetStatus")["parameters"]["totals"]
    if totals["received"] != sum(totals[name] for name in ("applied", "coalesced", "rejected", "pending")):
        failures.append(f"events were lost or made up: {totals}")
    else:
        passed += 1
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
