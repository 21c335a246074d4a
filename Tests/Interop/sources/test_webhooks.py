"""Tests webhooks and the messages of Social Stream Ninja with livehostctl connect."""
import concurrent.futures
import json
import socket

import pytest
from sources_support import connect, leaks, settle

from harness.programs import free_port
from harness.serving import serve_http, serve_websocket
from harness.waiting import PATIENCE, wait_for

SECRET = "secretthatnobodymaysee"
MAPPING = """
identifier: id
events:
  - when: {kind: message}
    type: chat.message
    members: {user.id: who, user.name: who, text: words}
"""


def message(number):
    return {"kind": "message", "id": f"m{number}", "who": "bo", "words": f"hi {number}"}


@pytest.fixture
def receive(start_source, tmp_path):
    """Returns a function that starts a webhook source with a mapping and options."""
    def receive(address, *options, mapping=MAPPING):
        file = tmp_path / ("mapping.yaml" if mapping == MAPPING else "wrong.yaml")
        file.write_text(mapping)
        return start_source("connect", "webhook", "--listen", address, "--mapping", file, *options)
    return receive


def test_confirmed_deliveries_count_once_despite_kills(check, daemon, receive, tmp_path):
    """Senders repeat unconfirmed deliveries while the daemon and the source are killed."""
    (tmp_path / "secret").write_text(SECRET + "\n")
    port, right = free_port(), f"/?secret={SECRET}"
    command = [f"127.0.0.1:{port}", "--secret-file", tmp_path / "secret", "--room", "hook"]
    source = receive(*command)
    source.live()
    confirmed = []

    def send(start):
        post = connect(port, right)
        for number in range(start, 1000, 4):
            wait_for(lambda: post(message(number)) == 200, f"200 for {number}", pause=0.05)
            confirmed.append(number)

    def reach(count):
        # Each delivery waits for a sync of the disk, which takes long on a busy machine. A sender that waits too long
        # for a sync ends early, and reading its result raises the error.
        wait_for(lambda: len(confirmed) > count or any(sender.done() for sender in senders),
                 lambda: f"{len(confirmed)} deliveries", limit=20 * PATIENCE)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        senders = [pool.submit(send, start) for start in range(4)]
        reach(200)
        daemon.kill()
        daemon.start()
        reach(500)
        source.kill()
        source = receive(*command)
        for sender in senders:
            sender.result()
    check.equal("webhook: each of 1,000 confirmed deliveries counts once, although the daemon and the source "
                "are killed", (daemon.total("hook"), sorted(confirmed)), (1000, list(range(1000))))

    refused = [connect(port, path)(*delivery) for path, *delivery in [
        ("/?secret=wrong", message(0)), ("/", message(0)), (right, b"nonsense"),
        (right, {"kind": "message", "id": "x"}), (right, b" " * 300_000),
        (right, message(0), {"Origin": "https://evil.example"})]]
    wait_for(lambda: any(one.get("refused") == 6 for one in source.reports), lambda: source.reports[-1:])
    check.equal("webhook: a wrong secret, invalid JSON, missing members, long bodies and browsers are refused",
                (refused, daemon.total("hook")), ([401, 401, 400, 422, 413, 403], 1000))
    check.equal("webhook: the secret appears in no argument, log, report or state",
                leaks(daemon, source, SECRET, "/proc/[0-9]*/cmdline"), [])
    check.equal("webhook: after Ctrl-C the source exits with 0", source.stop(), 0)


def test_a_webhook_source_that_cannot_start_reports_why(check, receive):
    """A webhook source that cannot start reports why, with the exit codes of the manual."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        sources = [receive(f"127.0.0.1:{free_port()}", mapping="events:\n  - type: viewer\n    members: {count: n}\n"),
                   receive(f"0.0.0.0:{free_port()}"), receive(f"0.0.0.0:{free_port()}", "--allow-remote"),
                   receive(f"127.0.0.1:{holder.getsockname()[1]}")]
        found = [(source.wait(), source.log.read_text()) for source in sources]
    wanted = [(78, "wrong.yaml:2: events[0].type: unknown event type 'viewer'; did you mean 'viewers'?"),
              (64, "--allow-remote"), (64, "needs --secret-file"), (1, "in use")]
    check("webhook: errors name the file, the line and the remedy; remote access needs options",
          all(status == code and part in text for (status, text), (code, part) in zip(found, wanted)),
          f"expected {wanted}, seen {found}")


def test_owncast_chat_is_read_from_webhooks(check, daemon, start_source):
    """Reads the chat of Owncast from webhooks, in addition to its status."""
    def status(request):
        return (200, {"online": True, "viewerCount": 7}) if request.path == "/api/status" else (404, {})
    url, port = serve_http(status), free_port()
    start_source("connect", "owncast", url, "--listen", f"127.0.0.1:{port}", "--room", "owncast").live(2)
    user = {"id": "u1", "displayName": "Ada", "isBot": False}
    events = [("CHAT", {"id": f"c{number}", "timestamp": "2026-11-24T20:00:00.5Z", "user": user, "clientId": 1,
                        "body": f"hi <b>{number}</b>", "rawBody": f"hi **{number}**", "visible": True})
              for number in range(100)]
    events += [("VISIBILITY-UPDATE", {"id": "v", "ids": ["c1", "c2"], "visible": False}),
               ("STREAM_TITLE_UPDATED", {"id": "t", "streamTitle": "A title"}),
               ("USER_JOINED", {"id": "j", "user": user})]
    post = connect(port)
    statuses = {post({"type": kind, "eventData": data}) for kind, data in events}
    wanted = [100, 2, "A title", 7]
    shown = settle(lambda: daemon.room("owncast", "features.chat.total", "features.chat.deleted",
                                       "features.header.title", "features.header.viewers"), wanted)
    (messages,) = daemon.room("owncast", "features.chat.messages")
    check.equal("owncast: chat, deletions and title come from webhooks, and viewers from the status",
                (shown, messages[-1]["text"], statuses), (wanted, "hi 99", {200}))


def test_social_stream_messages_count_once_across_a_cut(check, daemon, start_source):
    """A server of Social Stream Ninja cuts the connection and repeats messages."""
    session, connections = "sessionthatnobodymaysee", []

    def join(connection):
        connections.append(connection)
        connection.recv()  # Ends if the source sends anything.

    def say(number, times=1, **members):
        for _ in range(times):
            connections[-1].send(json.dumps({
                "id": number, "type": "youtube", "userid": "UC1", "chatname": "Ada",
                "chatmessage": f"hi <b>{number}</b>", **members}))

    def joined(times):
        source.live(times)
        # The source may be live before the server's thread has added the connection.
        wait_for(lambda: len(connections) == times, lambda: f"{times} connections, seen {len(connections)}")
    source = start_source("connect", "social-stream", session, "--server", serve_websocket(join), "--room", "ssn")
    joined(1)
    for number in range(300):
        say(number, times=2 if number % 10 == 0 else 1)
    connections[-1].send("nonsense")
    say(1000, event="new_follower")
    say(1001, event="something_new")
    daemon.settled("ssn", 301)
    connections[-1].socket.shutdown(socket.SHUT_RDWR)
    joined(2)
    # The server has restarted, and its numbers start from 0 again.
    for number in range(50):
        say(number, chatmessage=f"after {number}")
    total = daemon.settled("ssn", 351)
    messages, rejected = daemon.room("ssn", "features.chat.messages", "rejectedByReason")
    check.equal("social-stream: each message counts once, and a cut connection is reported as a gap",
                (total, len(source.said("gap")), rejected, messages[-1]["text"],
                 {one.request.path for one in connections}), (351, 1, {}, "after 49", {f"/join/{session}/4/1"}))
    say(2000, type="kick", chatmessage="from afar")
    daemon.settled("ssn", 352)
    passing = daemon.show("chat", "filter", "ssn", "--platform", "kick").get("passing")
    messages, rows = daemon.room("ssn", "features.chat.messages", "features.activity.rows")
    newest = [(message.get("platform"), message["text"]) for message in messages[-2:]]
    follows = [row.get("platform") for row in rows]
    check.equal("social-stream: messages and follows name their platform, and the chat filters by platform",
                (newest, follows, passing), ([("youtube", "after 49"), ("kick", "from afar")], ["youtube"], 1))
    check.equal("social-stream: the session appears in no log, report or state", leaks(daemon, source, session), [])
