"""Sends the most harmful input within the limits of the ingest socket: the longest texts in
every room, search words that nearly occur in them, forged identifiers, jumping timestamps and
empty sync lines."""
from harness.ingest import Ingest

ROOMS = 48
NAMES = ["@" * (254 - number) + "x" for number in range(32)]
SYNC = {"type": "sync", "token": ""}


def event(type, **members):
    return {"type": type, **members}


def large_texts(room):
    for number in range(30):
        user = {"id": f"u{number}", "name": "n" * 200}
        yield event("chat.message", room=room, id=f"{room}-{number}", user=user, text="@" * 64_000)
        if number % 10 == 5:
            yield event("host.highlight", room=room, names=NAMES)
            yield event("host.filter", room=room, words="@" * 200)


def forged_identifiers():
    for number in range(60_000):
        user, room = {"id": f"a-forged-identifier-{number}", "name": "n" * 200}, f"hostile{number % 8}"
        yield event("chat.message", room=room, id=f"f{number}", user=user, text="hi")
        yield event("waiting.join", room=room, user=user)


def jumping_times():
    yield event("options", clock="event")
    yield event("stream", room="jumps", ts=1000, state="live")
    for number in range(1, 1000):
        yield event("viewers", room="jumps", ts=number * 65_000, count=number)


def sync(ingest, count=1):
    """Waits until all events are applied, with several sync lines."""
    ingest.send(*[SYNC] * count)
    for _ in range(count):
        answer = next(ingest.answers)
    assert answer["rejected"] == 0, answer


def send_hostile_events(path):
    """Returns when all input is acknowledged."""
    with Ingest(path, timeout=300) as ingest, Ingest(path, timeout=300) as jumping:
        for room in range(ROOMS):
            ingest.send(*large_texts(f"hostile{room}"))
        sync(ingest)
        ingest.send(*forged_identifiers())
        sync(ingest)
        jumping.send(*jumping_times())
        sync(jumping)
        for _ in range(5000):  # One million sync lines.
            sync(ingest, 200)
