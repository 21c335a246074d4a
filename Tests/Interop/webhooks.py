"""What others post to livehost-source, and what Social Stream Ninja sends it; for eventsub.py."""
import asyncio
import glob
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

from aiohttp import WSMsgType, web

import sources
from harness.programs import free_port
from harness.waiting import PATIENCE, wait_for

SECRET = "secretthatnobodymaysee"
MAPPING = """
identifier: id
events:
  - when: {kind: message}
    type: chat.message
    members: {user.id: who, user.name: who, text: words}
"""


class Source(sources.Source):
    def __init__(self, test, *arguments):
        self.reports = []
        self.process = subprocess.Popen(
            [f"{test.bin}/livehostctl", "--socket", test.control, *arguments, "--json=short"],
            stdout=subprocess.PIPE, stderr=open(f"{test.directory}/source.log", "a"), text=True)
        threading.Thread(target=self.read, daemon=True).start()


class Sender:
    """Somebody who posts deliveries over one connection, and again until they are taken."""

    def __init__(self, port, path="/"):
        self.port, self.path = port, path
        self.statuses = []
        self.connection = None

    def post(self, value, headers={}):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            self.connection.request("POST", self.path, body, {"Content-Type": "application/json", **headers})
            answer = self.connection.getresponse()
            answer.read()
            status = answer.status
            if answer.will_close:
                self.connection = None
        except (OSError, http.client.HTTPException):
            status, self.connection = 0, None
        self.statuses.append(status)
        return status

    def until_taken(self, value):
        end = time.monotonic() + PATIENCE
        while (status := self.post(value)) != 200 and time.monotonic() < end:
            time.sleep(0.05)
        return status


def receive(test, room, *arguments):
    """A receiver with the mapping, and its port."""
    port = free_port()
    with open(f"{test.directory}/mapping.yaml", "w") as file:
        file.write(MAPPING)
    with open(f"{test.directory}/secret", "w") as file:
        file.write(SECRET + "\n")
    source = Source(test, "connect", "webhook", "--listen", f"127.0.0.1:{port}", "--mapping",
                    f"{test.directory}/mapping.yaml", "--secret-file", f"{test.directory}/secret", "--room", room,
                    *arguments)
    source.live()
    return source, port


def message(number):
    return {"kind": "message", "id": f"m{number}", "who": "bo", "words": f"hi {number}"}


def seen_everywhere(test, source):
    """All that others could read."""
    seen = [json.dumps(source.reports).encode()]
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            seen.append(open(name, "rb").read())
        except OSError:
            pass
    for path, _, names in os.walk(test.directory):
        for name in names:
            if os.path.isfile(f"{path}/{name}") and name != "secret":
                seen.append(open(f"{path}/{name}", "rb").read())
    return seen


def webhook(test):
    """Senders that repeat what was not taken, while the daemon and the source are killed."""
    source, port = receive(test, "hook")
    senders = [Sender(port, f"/?secret={SECRET}") for _ in range(4)]
    answers = {}

    def send(sender, numbers):
        for number in numbers:
            answers[number] = sender.until_taken(message(number))

    threads = [threading.Thread(target=send, args=(sender, range(start, 1000, 4)))
               for start, sender in enumerate(senders)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(answers) > 200, "the first deliveries")
    test.daemon.send_signal(signal.SIGKILL)
    test.daemon.wait()
    test.start()
    wait_for(lambda: len(answers) > 500, "more deliveries")
    source.process.kill()
    source.process.wait()
    source = Source(test, "connect", "webhook", "--listen", f"127.0.0.1:{port}", "--mapping",
                    f"{test.directory}/mapping.yaml", "--secret-file", f"{test.directory}/secret", "--room", "hook")
    for thread in threads:
        thread.join(PATIENCE)
    total = test.total("hook")
    test.check("webhook: 1,000 deliveries over kills of daemon and receiver: each that was answered with 200 is there, "
               "once", total == 1000 and all(status == 200 for status in answers.values()) and len(answers) == 1000,
               (total, len(answers), [sender.statuses.count(200) for sender in senders]))
    stranger = Sender(port, "/?secret=wrong")
    refused = [stranger.post(message(0)), Sender(port).post(message(0)),
               Sender(port, f"/?secret={SECRET}").post(b"nonsense"),
               Sender(port, f"/?secret={SECRET}").post({"kind": "message", "id": "x"}),
               Sender(port, f"/?secret={SECRET}").post(b" " * 300_000),
               Sender(port, f"/?secret={SECRET}").post(message(0), {"Origin": "https://evil.example"})]
    wait_for(lambda: any(one.get("refused") == 6 for one in source.reports), lambda: source.reports[-1:])
    test.check("webhook: a wrong secret, no JSON, missing members, long bodies and browsers are refused and counted",
               refused == [401, 401, 400, 422, 413, 403] and test.total("hook") == 1000, refused)
    seen = seen_everywhere(test, source)
    test.check("webhook: the secret is in no argument, log, report or state",
               not any(SECRET.encode() in text for text in seen))
    test.check("webhook: Ctrl-C ends it with 0", source.stop() == 0)


def mistakes(test):
    """A receiver that cannot begin says why, with the exit codes of the manual."""
    def run(mapping, *arguments, listen="127.0.0.1:0"):
        with open(f"{test.directory}/wrong.yaml", "w") as file:
            file.write(mapping)
        listen = listen.replace(":0", f":{free_port()}")
        before = os.path.getsize(f"{test.directory}/source.log")
        source = Source(test, "connect", "webhook", "--listen", listen, "--mapping", f"{test.directory}/wrong.yaml",
                        *arguments)
        status = source.process.wait(PATIENCE)
        with open(f"{test.directory}/source.log") as log:
            return status, log.read()[before:]
    found = [run("events:\n  - type: viewer\n    members: {count: n}\n"),
             run(MAPPING, listen="0.0.0.0:0"), run(MAPPING, "--allow-remote", listen="0.0.0.0:0")]
    holder = socket.create_server(("127.0.0.1", 0))
    found.append(run(MAPPING, listen=f"127.0.0.1:{holder.getsockname()[1]}"))
    holder.close()
    wanted = [(78, "wrong.yaml:2: events[0].type: there is no event 'viewer'; did you mean 'viewers'?"),
              (64, "--allow-remote"), (64, "needs --secret-file"), (1, "in use")]
    test.check("webhook: mistakes name file, line and remedy, and other machines only if asked for",
               all(status == code and part in text for (status, text), (code, part) in zip(found, wanted)), found)


def serve(route):
    """Serves one route on a thread of its own; gives its event loop and its port."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def run_server():
        asyncio.set_event_loop(loop)
        app = web.Application()
        app.add_routes([route])
        runner = web.AppRunner(app)
        loop.run_until_complete(runner.setup())
        loop.run_until_complete(web.SockSite(runner, listener).start())
        ready.set()
        loop.run_forever()
    threading.Thread(target=run_server, daemon=True).start()
    assert ready.wait(PATIENCE), "the server does not begin"
    return loop, listener.getsockname()[1]


def owncast(test):
    """The chat of an Owncast by webhooks, beside its status."""
    port = free_port()
    status = {"online": True, "viewerCount": 7}

    async def answer(request):
        return web.json_response(status)
    _, owncast_port = serve(web.get("/api/status", answer))
    source = Source(test, "connect", "owncast", f"http://127.0.0.1:{owncast_port}", "--listen",
                    f"127.0.0.1:{port}", "--room", "owncast")
    source.live(2)
    sender = Sender(port)
    for number in range(100):
        user = {"id": "u1", "displayName": "Ada", "isBot": False}
        sender.post({"type": "CHAT", "eventData": {
            "id": f"c{number}", "timestamp": "2026-11-24T20:00:00.5Z", "user": user, "clientId": 1,
            "body": f"hi <b>{number}</b>", "rawBody": f"hi **{number}**", "visible": True}})
    sender.post({"type": "VISIBILITY-UPDATE", "eventData": {"id": "v", "ids": ["c1", "c2"], "visible": False}})
    sender.post({"type": "STREAM_TITLE_UPDATED", "eventData": {"id": "t", "streamTitle": "A title"}})
    sender.post({"type": "USER_JOINED", "eventData": {"id": "j", "user": user}})

    def is_complete():
        features = test.room("owncast").get("features") or {}
        chat, header = features.get("chat") or {}, features.get("header") or {}
        return (chat.get("total"), chat.get("deleted"), header.get("title"), header.get("viewers")) \
            == (100, 2, "A title", 7)
    try:
        wait_for(is_complete, "Owncast")
    except TimeoutError:
        pass
    text = test.room("owncast")["features"]["chat"]["messages"][-1]["text"]
    test.check("owncast: chat, deleted messages and title by webhooks, viewers by its status",
               is_complete() and text == "hi 99" and set(sender.statuses) == {200}, (sender.statuses[-3:], text))
    source.stop()


def social_stream(test):
    """A server of Social Stream Ninja that cuts the connection, repeats messages and answers nothing."""
    session = "sessionthatnobodymaysee"
    sockets, paths = [], []

    async def join(request):
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        connection.transport_ = request.transport
        sockets.append(connection)
        paths.append(request.path)
        async for one in connection:
            if one.type == WSMsgType.TEXT:
                break
        return connection
    loop, server_port = serve(web.get("/join/{session}/{channel}", join))

    def do(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(PATIENCE)

    def say(number, times=1, **members):
        value = {"id": number, "type": "youtube", "userid": "UC1", "chatname": "Ada", "chatmessage": f"hi <b>{number}</b>",
                 **members}
        for _ in range(times):
            do(sockets[-1].send_str(json.dumps(value)))
    source = Source(test, "connect", "social-stream", session, "--server",
                    f"ws://127.0.0.1:{server_port}", "--room", "ssn")
    source.live()
    for number in range(300):
        say(number, times=2 if number % 10 == 0 else 1)
    do(sockets[-1].send_str("nonsense"))
    say(1000, event="new_follower")
    say(1001, event="something_new")
    total = test.settled("ssn", 300)

    async def cut():
        sockets[-1].transport_.abort()
    do(cut())
    source.live(2)
    # It has begun anew, and counts from 0 again.
    for number in range(50):
        say(number, chatmessage=f"after {number}")
    total = test.settled("ssn", 350)
    state = test.room("ssn")
    test.check("social-stream: each message counts once, also after a cut, which is told as a gap",
               total == 350 and len(source.said("gap")) == 1 and not state["rejectedByReason"]
               and state["features"]["chat"]["messages"][-1]["text"] == "after 49"
               and set(paths) == {f"/join/{session}/4"}, (total, source.said("gap"), state["rejectedByReason"], paths))
    say(2000, type="kick", chatmessage="from afar")
    test.settled("ssn", 351)
    filtered = subprocess.run([f"{test.bin}/livehostctl", "--socket", test.control, "chat", "filter", "ssn",
                               "--platform", "kick", "--json=short"], capture_output=True, text=True, timeout=PATIENCE)
    state = test.room("ssn")["features"]
    newest = [(message.get("platform"), message["text"]) for message in state["chat"]["messages"][-2:]]
    follows = [row.get("platform") for row in state["activity"]["rows"]]
    test.check("social-stream: each message and follow says of which platform it is, and those of one can be shown",
               newest == [("youtube", "after 49"), ("kick", "from afar")] and follows == ["youtube"]
               and json.loads(filtered.stdout or "{}").get("passing") == 1, (newest, follows, filtered))
    seen = [json.dumps(source.reports).encode()]
    for path, _, names in os.walk(test.directory):
        for name in names:
            if os.path.isfile(f"{path}/{name}"):
                seen.append(open(f"{path}/{name}", "rb").read())
    test.check("social-stream: the session is in no log, report or state",
               not any(session.encode() in text for text in seen))
    source.stop()


def run(test):
    test.run("webhook", lambda: webhook(test))
    test.run("mistakes", lambda: mistakes(test))
    test.run("owncast", lambda: owncast(test))
    test.run("social-stream", lambda: social_stream(test))
