"""The load on a cluster, and the check that all of it arrived."""
import contextlib
import difflib
import itertools
import json
import os
import random
import threading
import time

from cluster_nodes import LIMIT, ROOMS
from harness.ingest import Ingest
from harness.programs import Daemon

USER = {"id": "u", "name": "u"}


def message(room, number, text="x"):
    return {"type": "chat.message", "room": room, "id": f"{room}-{number}", "user": USER, "text": text}


class Sender(threading.Thread):
    """Sends numbered messages to a room, through each gateway in turn.

    Batches that are not acknowledged are sent again.
    """

    # The number of messages in a batch. With 5 all senders send some 1,000 messages a second, with
    # 20 some 3,000.
    BATCH = int(os.environ.get("CLUSTER_BATCH") or 5)

    def __init__(self, room, nodes, acknowledged=0):
        super().__init__(daemon=True)
        self.room, self.nodes, self.acknowledged = room, list(nodes), acknowledged
        self.ending = threading.Event()
        # When the unanswered batch was first sent, and the longest time until an answer.
        self.waiting_since, self.longest = None, 0.0
        self.start()

    def run(self):
        for turn in itertools.count(random.randrange(3)):
            with contextlib.suppress(OSError, ValueError), Ingest(self.nodes[turn % 3].ingest, 20) as ingest:
                # After an error or 50 batches the next gateway is used.
                for _ in range(50):
                    if self.ending.is_set() and not self.waiting_since:
                        return
                    self.write(ingest)
                    self.ending.wait(0.02)
            time.sleep(0.05)

    def write(self, ingest):
        self.waiting_since = self.waiting_since or time.monotonic()
        batch = self.acknowledged // self.BATCH + 1
        answer = ingest.sync(*self.events(batch), token=f"{batch}")
        if not answer or answer["type"] != "synced":
            raise OSError("not acknowledged")
        self.longest = max(self.longest, time.monotonic() - self.waiting_since)
        self.waiting_since = None
        self.acknowledged += self.BATCH

    def events(self, batch):
        numbers = range((batch - 1) * self.BATCH + 1, batch * self.BATCH + 1)
        return [{"type": "position", "source": f"s-{self.room}", "sequence": batch},
                *(message(self.room, number, f"{number}") for number in numbers)]


def send(cluster):
    """Starts new senders, which continue after the last acknowledged messages of former ones."""
    acknowledged = {sender.room: sender.acknowledged for sender in cluster.senders}
    cluster.senders = [Sender(room, cluster.nodes, acknowledged.get(room, 0)) for room in ROOMS]


def verify(cluster, name):
    """Ends the senders, and checks that each node shows each message exactly once, in order."""
    end = time.monotonic() + LIMIT
    for sender in cluster.senders:
        sender.ending.set()
    for sender in cluster.senders:
        sender.join(max(0, end - time.monotonic()))
    unanswered = [sender.room for sender in cluster.senders if sender.is_alive()]
    cluster.check(f"{name}: every sender gets its answer", not unanswered, unanswered)
    for sender in cluster.senders:
        room, expected = sender.room, sender.acknowledged

        def seen():
            """Yields each node's total, rejections, and offsets of the newest messages."""
            for state in [node.call("GetRoom", room=room) for node in cluster.nodes]:
                chat = state["features"]["chat"]
                newest = [int(message["text"]) for message in chat["messages"]]
                yield chat["total"], state.get("rejectedByReason") or {}, {
                    number - n for n, number in enumerate(newest, expected + 1 - len(newest))}
        cluster.eventually(f"{name}: every node shows {expected} messages in {room}", lambda: list(seen()),
                           [(expected, {}, {0})] * 3)


def comparable(state):
    """Returns the state of a room as lines, without the parts that depend on timing."""
    chat = state["features"]["chat"]
    for name in ("rate", "recent", "busiestSecond", "highlights", "waves"):
        chat.pop(name, None)
    for each, name in itertools.product(chat["messages"], ("ts", "time", "timestamp", "at")):
        each.pop(name, None)
    return json.dumps([chat, state["features"].get("control")], indent=1, sort_keys=True).splitlines()


def compare_with_one_daemon(cluster):
    """Checks that a single daemon with the same input has the same rooms."""
    directory = cluster.directory / "alone"
    directory.mkdir()
    alone = Daemon(cluster.programs, directory)
    for sender in cluster.senders:
        room, batches = sender.room, range(1, sender.acknowledged // sender.BATCH + 1)
        for first in range(0, len(batches), 1000):
            alone.send(*(event for batch in batches[first:first + 1000] for event in sender.events(batch)))
        for slider in cluster.sliders:
            if slider["room"] == room:
                alone.call("SetControl", **slider)
        one, other = (comparable(owner.call("GetRoom", room=room)) for owner in (alone, cluster.nodes[0]))
        different = list(difflib.unified_diff(one, other, "one daemon", "the cluster", n=1))
        cluster.check(f"{room} has the state that a single daemon has after the same input", not different, "\n".join(different[:40]))
    alone.kill()
