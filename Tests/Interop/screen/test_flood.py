"""Watches a flooded room in a terminal whose rows must stay calm. Two thirds of the flood are
one burst of duplicates."""
import collections
import itertools
import random
import time

from harness.ingest import Ingest

PER_SECOND = 300
# Nothing is counted while the first bursts are found. After these seconds, the terminal is read ten
# times per second.
BEGIN, SECONDS, INTERVAL = 4, 10, 0.1


def message(number, chance):
    user = chance.randrange(2_000)
    text = (f"POGGERS POGGERS {'!' * chance.randrange(4)}" if number % 3
            else "".join(chance.choices("abcdefghij klmnopqr stuvwxyz", k=40)))
    return {"type": "chat.message", "room": "main", "id": f"f{number}", "text": text,
            "user": {"id": f"u{user}", "name": f"viewer{user}"}}


def flood(daemon, terminal):
    """Sends the messages and reads the terminal; yields the seconds since the first message, and
    the rows."""
    chance, begun, sent, elapsed = random.Random(1), time.monotonic(), 0, 0
    with Ingest(daemon.ingest) as ingest:
        while elapsed < BEGIN + SECONDS:
            due = int(elapsed * PER_SECOND)
            ingest.send(*(message(number, chance) for number in range(sent, due)))
            sent = due
            yield elapsed, terminal.picture().split("\n")
            # Sets the pace of the load.
            time.sleep(max(0, begun + elapsed + INTERVAL - time.monotonic()))
            elapsed = time.monotonic() - begun


def test_a_flooded_room_is_drawn_calmly(check, start_daemon, open_terminal):
    if check.lacks("tmux", count=2):
        return
    daemon, terminal = start_daemon("rooms: {chatWaves: true}"), open_terminal(100, 30)
    # Without a message, the screen has no chat.
    daemon.send(message(-3, random.Random(0)))
    terminal.enter(f"{daemon.programs}/livehostctl --socket {daemon.control} watch main")
    terminal.wait("━ Chat")
    looks = [(elapsed, rows) for elapsed, rows in flood(daemon, terminal) if elapsed > BEGIN]
    changed = [[at for at, (one, other) in enumerate(zip(before, rows)) if one != other]
               for (_, before), (_, rows) in itertools.pairwise(looks)]
    rows, places = looks[-1][1], {}
    repainted = sum(len(different) > len(rows) / 3 for different in changed)
    changes = collections.Counter(itertools.chain(*changed))
    rate, [(nervous, most)] = changes.total() / SECONDS, changes.most_common(1)
    # For each row, stores the first screen on which the burst is in this row, to be printed if the burst has moved.
    for elapsed, picture in looks:
        for at in (at for at, row in enumerate(picture) if "POGGERS" in row and "by" in row):
            places.setdefault(at, "\n".join([f"after {elapsed:.1f} s:", *picture]))
    check.write(f"{rate:.1f} of {len(rows)} rows change per second, more than a third of them at once {repainted} "
                f"times in {len(looks)} reads, row {nervous} {most} times; the burst is in row {sorted(places)}")
    with check.attempt(f"at {PER_SECOND} messages/s, rows change once per second, and a burst stays in its row"):
        assert len(looks) > SECONDS * 4, "the terminal was read too rarely"
        # The figures change once per second. In between, the name of the most active person may
        # change, which is not a figure.
        assert most <= 2 * SECONDS, f"a row changes too often: {rows[nervous]}"
        assert rate <= len(rows), "the screen changes too often"
        assert repainted <= 1.5 * SECONDS, "the screen is repainted more than once per second"
        assert len(places) == 1, "\n".join(["the burst does not stay in its row", *places.values()])
    terminal.shows("the burst is shown as one row with counts of messages and people", "[0-9,]+ messages by [0-9,]+ people: POGGERS")
