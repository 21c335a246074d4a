"""Schedules of rooms: acts, moves, closed rooms, limits, parts of snapshots, and the page."""
import itertools
import json

from cluster_load import message
from cluster_nodes import LIMIT, ROOMS, token, wait
from harness.varlink import CallError, call
from harness.web import Page


def test_host_actions_work_at_any_node_and_outlive_the_owner_of_the_room(cluster, check):
    """The owner of a room answers acts that reach any node, and their effects outlive it."""
    first, second, third = cluster.nodes
    for n, room in enumerate(ROOMS):
        for m, node in enumerate(cluster.nodes):
            slider = {"room": room, "control": f"slider{m}", "value": (n + m) % 10 / 10}
            reply = wait("a slider to be set", lambda: node.call("SetControl", **slider))
            check.equal(f"acts: a slider of {room} is set at {node}", reply["value"], slider["value"])
            cluster.sliders.append(slider)
    room = "door"
    first.call("OpenRoom", room=room)
    people = [{"type": "waiting.join", "user": {"id": f"p{n}", "name": f"p{n}"}} for n in range(12)]
    second.call("SendEvents", room=room, events=people)
    admitted = [person["id"] for n in range(6) for person in cluster.nodes[n % 3].call("Admit", room=room)["people"]]
    check.equal("acts: people are admitted in order, whichever node is called", admitted, [f"p{n}" for n in range(6)])
    cluster.owner(room).kill_and_lose()
    cluster.wait_until_whole()

    def at_the_door():
        queue = first.call("GetRoom", room=room)["features"]["waitingRoom"]
        return queue["admitted"], queue["waiting"]
    cluster.eventually("acts: their effects outlive the owner and its disk", at_the_door, (6, 6))
    third.call("CloseRoom", room=room)
    check.contains("acts: a closed room does not exist", str(third.reply("Admit", room=room)), "NoSuchRoom")


def test_a_closed_room_stays_closed(cluster, check):
    """A closed room stays closed, despite repeats in the log and whichever node leads it."""
    room = "cellar"
    cluster.nodes[0].call("OpenRoom", room=room)
    subject = f"lh.log.{cluster.partition(room)}.{token(room)}"
    opened = cluster.message(cluster.log(room), last_by_subj=subject)["data"]
    first = cluster.owner(room)
    second, third = cluster.others(first)
    cluster.move(room, second)
    third.call("CloseRoom", room=room)
    cluster.eventually("closed rooms: the store has only a header without parts",
                       lambda: (cluster.headers(room)[-1]["parts"], len(cluster.stored(room))), (0, 1))
    listed = [listed["room"] for listed in third.call("ListRooms")["rooms"]]
    check("closed rooms: the room is not listed, although another node has it on its disk", room not in listed, listed)
    # A gateway that got no answer repeats a message from before the room was closed.
    cluster.request(subject, opened)
    for node, name in ((third, "a node that never had it"), (first, "a node that had it before")):
        cluster.move(room, node)
        # The host action is performed after everything before it in the log.
        check.contains(f"closed rooms: the room is closed at {name}", str(second.reply("Admit", room=room)), "NoSuchRoom")
    second.call("OpenRoom", room=room)
    check("closed rooms: the room can be opened again", third.call("GetRoom", room=room)["features"], "no state")
    owner = cluster.owner(room)
    owner.daemon.kill()
    owner.begin(owner.daemon)
    cluster.eventually("closed rooms: the room is open after a crash of the daemon", lambda: third.call("GetRoom", room=room))
    second.call("CloseRoom", room=room)


def test_viewers_stay_with_a_room_that_moves(cluster, check):
    """Viewers at each gateway stay with a room that moves, and former owners close their copies."""
    room = ROOMS[0]
    viewers = [node.client(LIMIT) for node in cluster.nodes]
    for viewer in viewers:
        viewer.send("MonitorRoom", {"room": room, "features": ["chat"], "maximumRate": 10}, more=True)
    first = cluster.owner(room)
    second, third = cluster.others(first)
    for target in (second, third, first, third):
        cluster.move(room, target)
        known = cluster.senders[0].acknowledged
        with check.attempt(f"moved rooms: viewers see new messages once {target} leads the room"):
            for viewer in viewers:
                total = 0
                while total <= known:
                    seen = viewer.receive()["parameters"]
                    seen = seen.get("room") or seen.get("patch") or {}
                    total = seen.get("features", {}).get("chat", {}).get("total", total)
    for viewer in viewers:
        viewer.close()
    owner = cluster.owner(room)
    cluster.eventually("moved rooms: former owners close their copies", lambda: [
        node for node in cluster.nodes if room in str(node.daemon.call("ListRooms"))], [owner])


def test_batches_may_be_larger_than_a_message_of_the_log(cluster, check):
    """A call and a batch may be larger than a message of the log."""
    first, second, third = cluster.nodes
    room = "large"
    first.call("OpenRoom", room=room)
    events = [message(room, n, "x" * 150) for n in range(12_000)]
    check.equal("large batches: a call is accepted", call(first.control, "SendEvents", LIMIT, room=room, events=events),
                {"received": 12_000, "rejected": 0})
    answer = second.send(*(message(room, f"b{n}") for n in range(4_000)))
    check.equal("large batches: lines are accepted", (answer["received"], answer["rejected"]), (4_000, 0))
    cluster.eventually("large batches: the room has all messages", lambda: third.messages(room), 16_000)
    third.call("CloseRoom", room=room)


def test_a_room_beyond_the_limit_of_the_daemon_opens_later(cluster, check):
    """A room beyond the daemon's limit stays in the log, and opens whole once there is space."""
    first, second, third = cluster.nodes
    owner = cluster.owner(ROOMS[0])
    room = next(name for n in range(1000) if cluster.owner(name := f"attic{n}") is owner)
    try:
        for fillers in itertools.count():
            owner.daemon.call("OpenRoom", room=f"filler{fillers}")
    except CallError as error:
        check.contains("full daemon: the daemon opens no more rooms", str(error), "LimitReached")

    def send(batch):
        # Each schedule needs another sender's name: earlier batch numbers are known, also of closed
        # rooms.
        position = {"type": "position", "source": f"attic-{cluster.schedules}", "sequence": batch}
        return first.send(position, *(message(room, f"{batch}-{n}") for n in range(100)))["type"]

    def is_reported():
        return any(room in text and "rooms.maximum" in text for text in owner.status()["problems"])
    check.equal("full daemon: the first batch is in the log", send(1), "synced")
    cluster.eventually("full daemon: its gateway reports the problem", is_reported)
    check.equal("full daemon: the second batch is in the log", send(2), "synced")
    try:
        check("full daemon: an act on the room fails", False, call(second.control, "Admit", 5, room=room))
    except (OSError, CallError):
        check("full daemon: an act on the room fails", True)
    for n in range(fillers):
        owner.daemon.call("CloseRoom", room=f"filler{n}")
    send(3)
    cluster.eventually("full daemon: the room opens with all messages", lambda: third.messages(room), 300)
    cluster.eventually("full daemon: its gateway reports the end of the problem", is_reported, False)
    third.call("CloseRoom", room=room)


def test_parts_of_an_interrupted_upload_are_removed(cluster):
    """The next snapshot or owner removes the parts of an interrupted upload."""
    room, number = ROOMS[0], cluster.partition(ROOMS[0])
    ghost = next(name for n in range(9999) if cluster.partition(name := f"ghost{n}") == number)
    for each in (room, ghost):
        # The uploaded parts have an older epoch than all other parts.
        cluster.request(f"lh.snap.{number}.{token(each)}.1-1.0", b"cut")
    cluster.eventually("interrupted uploads: the next snapshot removes the parts", lambda: [
        subject for subject in cluster.stored(room) if ".1-1." in subject], [])
    # An owner that finds an unreadable header removes nothing, because a newer gateway may have written the header.
    wait("readable snapshots", lambda: all("node" in header for header in cluster.headers(room)))
    cluster.move(room, cluster.others(cluster.owner(room))[0])
    cluster.eventually("interrupted uploads: the next owner removes the parts of a room without snapshots",
                       lambda: cluster.stored(ghost), [])


def test_the_page_shows_the_rooms_of_all_nodes(cluster, check):
    """livehost-web shows the rooms of all nodes through a gateway, and sends acts to them."""
    node = cluster.nodes[0]
    page = Page(node)
    status, _, body = page.request("GET", "/", token=page.token)
    check("page: it is served", status == 200 and b"<script" in body, status)
    cluster.eventually("page: it lists the rooms of all nodes", lambda: set(ROOMS) - {
        room["room"] for room in page.call("ListRooms")[1]["rooms"]}, set())
    room = next(room for room in ROOMS if cluster.owner(room) is not node)
    before = node.messages(room)
    connection, stream = page.events(room)
    kinds, total = [], 0
    for name, _, value in (line.decode().partition(": ") for line in stream):
        if name == "event":
            kinds.append(value.strip())
        elif name == "data":
            total = json.loads(value).get("features", {}).get("chat", {}).get("total", total)
        if total > before:
            break
    check("page: the stream of another node's room has its state, then new messages",
          kinds[:1] == ["state"] and total > before, f"{stream.status} {kinds} {total}, {before} before")
    connection.close()
    slider = {"room": room, "control": "slider3", "value": 0.5}
    status, answer = page.call("SetControl", slider)
    check("page: the owner carries out an act", status == 200 and answer.get("value") == 0.5, answer)
    cluster.sliders.append(slider)
    status = page.stop()
    check("page: livehost-web ends although a browser watches", status in (0, 143, -15), status)
