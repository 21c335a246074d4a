"""A room that is flooded, two thirds of it by one wave, is watched in a terminal whose rows must stay calm."""
import collections
import itertools
import random
import time

from harness.ingest import Ingest

PER_SECOND = 300
# While the first waves are found, nothing is counted; then there are ten looks per second.
BEGIN, SECONDS, INTERVAL = 4, 10, 0.1


def message(number, chance):
    user = chance.randrange(2_000)
    text = (f"POGGERS POGGERS {'!' * chance.randrange(4)}" if number % 3
            else "".join(chance.choices("abcdefghij klmnopqr stuvwxyz", k=40)))
    return {"type": "chat.message", "room": "main", "id": f"f{number}", "text": text,
            "user": {"id": f"u{user}", "name": f"viewer{user}"}}


def flood(daemon, terminal):
    """Sends the messages and looks at the terminal; yields the seconds since the first, and the rows."""
    chance, begun, sent, elapsed = random.Random(1), time.monotonic(), 0, 0
    with Ingest(daemon.ingest) as ingest:
        while elapsed < BEGIN + SECONDS:
            due = int(elapsed * PER_SECOND)
            ingest.send(*(message(number, chance) for number in range(sent, due)))
            sent = due
            yield elapsed, terminal.picture().split("\n")
            # The pace of the load.
            time.sleep(max(0, begun + elapsed + INTERVAL - time.monotonic()))
            elapsed = time.monotonic() - begun


def test_flood(check, start_daemon, open_terminal):
    if check.lacks("tmux", count=2):
        return
    daemon, terminal = start_daemon("rooms: {chatWaves: true}"), open_terminal(100, 30)
    # Without a message there is no chat on the screen.
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
    # The first look at the wave in each row is kept, to be shown if it moved.
    for elapsed, picture in looks:
        for at in (at for at, row in enumerate(picture) if "POGGERS" in row and "by" in row):
            places.setdefault(at, "\n".join([f"after {elapsed:.1f} s:", *picture]))
    check.write(f"{rate:.1f} of {len(rows)} rows change per second, more than a third of them at once {repainted} "
                f"times in {len(looks)} looks, row {nervous} {most} times; the wave is in row {sorted(places)}")
    with check.attempt(f"at {PER_SECOND} messages/s rows change once per second, and a wave stays where it is"):
        assert len(looks) > SECONDS * 4, "too few looks"
        # Its figures once per second, and between them another name of who writes most, which is no figure.
        assert most <= 2 * SECONDS, f"a row is not calm: {rows[nervous]}"
        assert rate <= len(rows), "the screen is not calm"
        assert repainted <= 1.5 * SECONDS, "the screen is repainted more than once per second"
        assert len(places) == 1, "\n".join(["the wave does not stay in its row", *places.values()])
    terminal.shows("the wave is one row with its messages and people", "[0-9,]+ messages by [0-9,]+ people: POGGERS")
