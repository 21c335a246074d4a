"""Sends malformed and adversarial input to a daemon, and checks that the daemon follows the specification.

What must happen to each Varlink message is decided by a second, independent reading of the rules (UAPI.20): the
connection is closed, or it is answered by one error or reply, or, for a one-way call, not answered. Of the lines for
the ingest socket each must be counted, and the bad ones as rejected. On a failure the shortest message that shows it
is printed. FUZZ_INPUTS is the number of messages, and of lines (20,000); FUZZ_SEED repeats a run.
"""
import collections
import contextlib
import json
import math
import os
import random
import socket
import time

from fuzz_inputs import ACTS, CONTROL, FEATURES, FLAGS, METHODS, SERVICE, Lines, Messages
from harness.ingest import Ingest
from harness.varlink import Client

INPUTS = int(os.environ.get("FUZZ_INPUTS", 20_000))
SEED = int(os.environ.get("FUZZ_SEED", time.time()))
# The last limit is in bytes of UTF-8.
MAXIMUM_DEPTH, MAXIMUM_MEMBERS, MAXIMUM_NAME = 128, 4096, 256
# The allowed growth of resident memory after the first tenth of the messages, in KiB.
ALLOWED_GROWTH = 16 << 10

# The time limit for an answer, in seconds.
LIMIT = 120

CLOSE, NOTHING, ANSWER = "close", "nothing", "answer"
INTERFACES = ["org.varlink.service", "io.livehost.Control", "io.systemd.service"]
# Methods that reply repeatedly or lack valid parameters. The results of these methods are not
# checked.
OTHERS = {CONTROL + name for name in (
    "OpenRoom MonitorRoom MonitorScreen MonitorHangs StartRecording StopRecording StartTask Simulate "
    "VerifyRecordings DeleteRecording").split()} | {"io.systemd.service.Reload", "io.systemd.service.SetLogLevel"}
FITS = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) in (int, float),
    "feature": lambda value: value in FEATURES,
    "act": lambda value: value in ACTS,
    "objects": lambda value: isinstance(value, list) and all(isinstance(part, dict) for part in value),
}


def parse(message):
    """Returns the value of a message by a strict reading of RFC 8259. Raises ValueError or RecursionError."""
    def members(pairs):
        value = dict(pairs)
        if not len(value) == len(pairs) <= MAXIMUM_MEMBERS:
            raise ValueError("too many members, or one twice")
        if any(len(name.encode("utf-8", "surrogatepass")) > MAXIMUM_NAME for name in value):
            raise ValueError("a name that is too long")
        return value

    def refuse(name):
        raise ValueError(name)

    def number(text):
        if math.isinf(value := float(text)):
            raise ValueError("out of range")
        return value

    def integer(text):
        value = number(text)
        # A number too large for Int64 is read as a double.
        return int(text) if len(text) < 25 and -2**63 <= int(text) < 2**63 else value

    def depth(value):
        if not isinstance(value, (dict, list)):
            return 0
        return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)

    value = json.loads(message.decode("utf-8"), object_pairs_hook=members, parse_constant=refuse, parse_float=number,
                       parse_int=integer)
    if depth(value) > MAXIMUM_DEPTH:
        raise ValueError("too deep")
    # Fails for a lone surrogate.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def expected(message):
    """Returns the required result of a message: CLOSE, NOTHING, ANSWER (any) or the name of an error.
    Returns None if the result is unspecified."""
    try:
        call = parse(message)
    except (ValueError, RecursionError):
        return CLOSE
    if not isinstance(call, dict) or not isinstance(call.get("method"), str):
        return CLOSE
    flags, parameters, method = [call.get(name) for name in FLAGS], call.get("parameters"), call["method"]
    if (any(flag is not None and not isinstance(flag, bool) for flag in flags) or flags.count(True) > 1
            or parameters is not None and not isinstance(parameters, dict)
            or any("." not in name for name in call if name not in ("method", "parameters", *FLAGS))):
        return CLOSE
    oneway, _, upgrade = flags
    if oneway:
        return NOTHING
    if method.rpartition(".")[0] not in INTERFACES:
        return SERVICE + "InterfaceNotFound"
    if method in OTHERS:
        return None
    if method not in METHODS:
        return SERVICE + "MethodNotFound"
    if upgrade:
        return SERVICE + "MethodNotImplemented"
    parameters = parameters or {}
    for name, kind in METHODS[method].items():
        value = parameters.get(name)
        # The reader may accept 1.0 as an integer.
        if isinstance(value, float) and kind.endswith("int"):
            return ANSWER
        if not FITS[kind.removeprefix("?")](value) and not (kind.startswith("?") and value is None):
            return SERVICE + "InvalidParameter"
    return ANSWER if set(parameters) <= set(METHODS[method]) else SERVICE + "InvalidParameter"


def exchange(path, messages, cut):
    """Sends messages over one connection in pieces of the size `cut`.
    Returns the replies and the bytes after the last reply."""
    block, received = b"".join(message + b"\0" for message in messages), b""
    with Client(path, LIMIT).socket as connection:
        # The connection may be closed already. Earlier replies can still be read.
        with contextlib.suppress(OSError):
            for start in range(0, len(block), cut):
                connection.sendall(block[start:start + cut])
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(1 << 18):
                received += piece
    *replies, rest = received.split(b"\0")
    return [json.loads(reply) for reply in replies], rest


def wrong(path, messages, cut):
    """Returns why the daemon's replies to these messages are wrong, or None if they are correct."""
    outcomes = [expected(message) for message in messages]
    if None in outcomes:
        return None
    try:
        replies, rest = exchange(path, messages, cut)
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    if rest:
        return f"a reply without an end: {rest[:80]!r}"
    outcomes = outcomes[:outcomes.index(CLOSE)] if CLOSE in outcomes else outcomes
    wanted = [outcome for outcome in outcomes if outcome != NOTHING]
    found = [reply.get("error") for reply in replies]
    if len(found) != len(wanted):
        return f"{len(found)} replies instead of {len(wanted)}: {found} instead of {wanted}"
    for error, outcome in zip(found, wanted):
        is_answer = not (error or "").startswith(SERVICE) or error.endswith(("InvalidParameter", "InterfaceNotFound"))
        if not (is_answer if outcome == ANSWER else error == outcome):
            return f"{error or 'a reply'} instead of {outcome}"
    return None


def shortest(path, messages, cut):
    """Returns fewer and shorter messages that still cause a wrong result."""
    found = [message for message in messages if wrong(path, [message], cut)][:1]
    size = len(found[0]) // 2 if found else 0
    while size:
        message = found[0]
        shorter = (message[:start] + message[start + size:] for start in range(0, len(message), size))
        better = next((text for text in shorter if wrong(path, [text], cut)), None)
        found, size = ([better], size) if better is not None else (found, size // 2)
    return found or messages


def call_badly(path, messages, generator, check):
    """Sends some messages. At most one of them closes the connection. Returns the required results, and a description
    of a wrong result."""
    batch, outcomes = [], []
    for _ in range(generator.randrange(1, 24)):
        batch.append(messages.message())
        outcomes.append(expected(batch[-1]))
        if outcomes[-1] == CLOSE:
            break
    cut = generator.choice([1 << 20, 1 << 20, 100, 7])
    if generator.random() < 0.02:
        # Disconnects without waiting for a reply, which cancels calls in progress.
        with Client(path, LIMIT) as client:
            client.socket.sendall(b"\0".join(batch))
    elif reason := wrong(path, batch, cut):
        for message in shortest(path, batch, cut):
            check.write(f"  {message!r}: {wrong(path, [message], cut)}")
        return outcomes, reason
    return outcomes, None


def feed(path, lines, count):
    """Sends lines over one connection. Returns why the counts are wrong, or None."""
    sent = [lines.line() for _ in range(count)]
    end = b"\r\n" if lines.random.random() < 0.3 else b"\n"
    # One CR belongs to the line end. Blank lines do not count.
    counted = [rejected for line, rejected in sent if (line + end)[:-1].removesuffix(b"\r").strip(b" \t")]
    with Ingest(path, LIMIT) as ingest:
        ingest.socket.sendall(end.join(line for line, _ in sent) + end)
        counts = ingest.sync() or {}
    # A changed line may be valid or rejected. It may also be a blank line or a control line, and neither is counted.
    changed, bad = counted.count(None), counted.count(True)
    for name, least, most in (("received", len(counted) - changed, len(counted)), ("rejected", bad, bad + changed)):
        if not least <= counts.get(name, -1) <= most:
            return f"{name} is not from {least} to {most}: {counts}"
    return None


def test_hostile_messages_and_lines_neither_stop_nor_grow_the_daemon(check, daemon):
    check.write(f"{INPUTS} messages and lines, seed {SEED}")
    generator = random.Random(SEED)
    messages, lines = Messages(generator), Lines(generator)
    daemon.call("OpenRoom", room="fuzz")
    outcomes, memory, reason = collections.Counter(), None, None
    while outcomes.total() < INPUTS and not reason:
        more, reason = call_badly(daemon.control, messages, generator, check)
        outcomes.update(more)
        if memory is None and outcomes.total() > INPUTS / 10:
            memory = daemon.resident()
    for outcome, count in outcomes.most_common():
        check.write(f"  {count} messages: {outcome or 'not judged'}")
    if not check("each message has the specified result", not reason,
                 f"seed {SEED}, near message {outcomes.total()}: {reason}"):
        return
    large = json.dumps({"method": CONTROL + "GetStatus", "org.example.large": "x" * (6 << 20)}).encode()
    check.equal("a message beyond the maximum size is not answered", exchange(daemon.control, [large], 1 << 16)[0], [])
    for fed in range(0, INPUTS, 500):
        if reason := feed(daemon.ingest, lines, 500):
            break
    check("each line is counted, and each invalid line is counted as rejected", not reason, f"seed {SEED}, after line {fed}: {reason}")
    growth = (daemon.resident() - memory) >> 10
    check(f"memory stays flat, with {growth} KiB more than after the first tenth of the messages",
          growth <= ALLOWED_GROWTH, f"at most {ALLOWED_GROWTH} KiB more are allowed")
    totals = daemon.call("GetStatus")["totals"]
    check.equal("every event is counted exactly once", totals["received"],
                sum(totals[name] for name in ("applied", "coalesced", "rejected", "pending")))
