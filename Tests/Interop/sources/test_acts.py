"""Tests acts on Owncast and Social Stream Ninja: scripted servers, and calls of the method Act."""
import json
import socket

from sources_support import act, connect, leaks, settle

from harness.programs import free_port
from harness.serving import serve_http, serve_websocket
from harness.waiting import wait_for

TOKEN = "tokenthatnobodymaysee"


class Owncast:
    """A server that carries out what the scopes of its only access token allow."""

    def __init__(self):
        self.requests = []
        self.scopes = {"chat/send"}
        self.breaks = False
        self.url = serve_http(self.answer)

    def answer(self, request):
        if request.path == "/api/status":
            return 200, {"online": True, "viewerCount": 7}
        path = request.path.removeprefix("/api/integrations/")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}" or path not in self.scopes:
            return 401, "unauthorized"
        self.requests.append((request.method, path, request.get_json()))
        if self.breaks:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return 200, {"success": True, "message": "sent"}


def test_owncast_carries_out_acts_once(check, daemon, start_source, tmp_path):
    """Says, deletes and sets the title on a scripted Owncast server."""
    (tmp_path / "token").write_text(TOKEN + "\n")
    server, port = Owncast(), free_port()
    source = start_source("connect", "owncast", server.url, "--listen", f"127.0.0.1:{port}",
                          "--token-file", tmp_path / "token", "--room", "cast")
    source.live(2)
    text = 'a "quoted" \\ text, \u00fc'
    check.equal("owncast: a message is confirmed", act(daemon, "cast", kind="say", text=text), ("confirmed", None))
    check.equal("owncast: the message arrives unchanged, once", server.requests,
                [("POST", "chat/send", {"body": text})])

    outcome, reason = act(daemon, "cast", kind="setTitle", text="New")
    check.equal("owncast: an act beyond the token's scopes is refused", outcome, "refused")
    check.contains("owncast: the reason names the missing scope", reason or "", "HAS_ADMIN_ACCESS")
    server.scopes |= {"chat/messagevisibility", "streamtitle"}
    server.requests.clear()
    check.equal("owncast: a title is confirmed", act(daemon, "cast", kind="setTitle", text="New"), ("confirmed", None))

    user = {"id": "u1", "displayName": "Ada", "isBot": False}
    connect(port)({"type": "CHAT", "eventData": {"id": "c1", "timestamp": "2026-11-24T20:00:00.5Z", "user": user,
                                                 "body": "hi", "rawBody": "hi", "visible": True}})
    daemon.settled("cast", 1)
    check.equal("owncast: a message in the chat is deleted by its number",
                act(daemon, "cast", kind="delete", number=1), ("confirmed", None))
    check.equal("owncast: each act is one request", server.requests, [
        ("POST", "streamtitle", {"value": "New"}),
        ("POST", "chat/messagevisibility", {"idArray": ["c1"], "visible": False})])

    server.requests.clear()
    refused = [daemon.reply("Act", room="cast", kind="delete", **members).get("error", "").rpartition(".")[2]
               for members in ({}, {"message": ""})]
    check.equal("owncast: a deletion without a message is not possible", (refused, server.requests),
                (["InvalidParameter"] * 2, []))
    check.equal("owncast: no source can ban a person on Owncast",
                daemon.reply("Act", room="cast", kind="ban", user={"id": "u1", "name": "Ada"}).get("error"),
                "io.livehost.Control.NoController")

    server.breaks = True
    outcome, reason = act(daemon, "cast", kind="say", text="once")
    check.equal("owncast: a broken connection leaves the outcome unknown",
                (outcome, (reason or "").startswith("the outcome is unknown: ")), ("refused", True))
    server.breaks = False
    # The next act is sent after anything that the source might have repeated.
    act(daemon, "cast", kind="say", text="twice")
    check.equal("owncast: an act with an unknown outcome is not repeated",
                [body["body"] for _, _, body in server.requests], ["once", "twice"])
    check.equal("owncast: the token appears in no argument, log, report or state",
                leaks(daemon, source, TOKEN, "/proc/[0-9]*/cmdline"), [])
    source.stop()


def test_a_source_without_a_token_offers_no_acts(check, daemon, start_source):
    """Watches an Owncast server without an access token."""
    server = Owncast()
    source = start_source("connect", "owncast", server.url, "--room", "watched")
    source.live()
    settle(lambda: daemon.room("watched", "features.header.viewers"), [7])
    check.equal("owncast: without a token no act is possible",
                (daemon.reply("Act", room="watched", kind="say", text="hi").get("error"), server.requests),
                ("io.livehost.Control.NoController", []))
    source.stop()


def test_options_for_acts_are_checked(check, start_source, tmp_path):
    """Errors about options for acts name the option and the remedy."""
    (tmp_path / "token").write_text(TOKEN + "\n")
    token = ("--token-file", tmp_path / "token")
    sources = [start_source("connect", "owncast", "http://stream.example", *token),
               start_source("connect", "owncast", "http://127.0.0.1:9", "--acts", "say"),
               start_source("connect", "owncast", "http://127.0.0.1:9", *token, "--acts", "say,shout")]
    found = [(source.wait(), source.log.read_text()) for source in sources]
    wanted = [(64, "must use https"), (64, "--acts needs --token-file"), (64, "'shout' is not an act")]
    check("owncast: errors about acts name the remedy",
          all(status == code and part in text for (status, text), (code, part) in zip(found, wanted)),
          f"expected {wanted}, seen {found}")


def test_social_stream_passes_on_acts(check, daemon, start_source):
    """Says and blocks through a scripted server of Social Stream Ninja."""
    session, connections, commands = "sessionforacts", [], []

    def join(connection):
        connections.append(connection)
        for message in connection:
            commands.append(json.loads(message))

    source = start_source("connect", "social-stream", session, "--server", serve_websocket(join), "--room", "ninja")
    source.live()
    wait_for(lambda: connections, "a connection")
    connections[0].send(json.dumps(
        {"id": 1, "type": "youtube", "userid": "UC1", "chatname": "Ada", "chatmessage": "hi"}))
    daemon.settled("ninja", 1)
    text = 'hi"}, {"action": "clearAll'
    outcomes = [act(daemon, "ninja", kind="say", text=text), act(daemon, "ninja", kind="ban", number=1),
                act(daemon, "ninja", kind="say", text="/clear")]
    wait_for(lambda: len(commands) >= 2, lambda: f"two commands, seen {commands}")
    check.equal("social-stream: acts are sent, not confirmed, and commands of the chats are refused",
                outcomes, [("sent", None), ("sent", None),
                           ("refused", "the chats would execute the text as a command")])
    check.equal("social-stream: the server receives a message and a block", commands, [
        {"action": "sendChat", "value": text},
        {"action": "blockUser", "value": {"chatname": "Ada", "type": "youtube"}}])
    check.equal("social-stream: commands use their own channel", connections[0].request.path, f"/join/{session}/4/1")
    source.stop()
