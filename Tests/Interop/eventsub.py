#!/usr/bin/env python3
"""Reads a scripted Twitch EventSub, and takes what others send: `eventsub.py BIN`, where BIN is the directory of the
programs. The scripted EventSub is checked with twitchAPI, a client by others. Ends with `N passed, N failed`.
"""
import asyncio
import glob
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time

from aiohttp import WSMsgType, web
from twitchAPI.eventsub.websocket import EventSubWebsocket
from twitchAPI.twitch import Twitch
from twitchAPI.type import AuthScope

import sources
from harness.waiting import PATIENCE, wait_for

SCOPES = ["user:read:chat", "moderator:read:followers", "channel:read:polls"]
TOKENS = ["tokenthatnobodymaysee%d" % number for number in range(100)]


class Twitchlike:
    """EventSub's WebSocket, the interface of requests and the server of logins, on one port."""

    def __init__(self, keepalive=2):
        self.keepalive = keepalive
        self.subscriptions = {}  # identifier: (type, condition, session)
        self.sockets = {}  # session: socket
        self.held = set()  # sessions that are lost and not forgotten
        self.moved = {}  # reconnect identifier: session
        self.token, self.renewals, self.conflicts, self.last = 0, 0, 0, 0
        self.confirmed = False
        self.faults = []
        self.asked, self.lines = [], []  # of the history
        self.sent = {}  # message identifier: when, if anybody was sent it
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait(PATIENCE)

    def serve(self, ready):
        asyncio.set_event_loop(self.loop)
        app = web.Application()
        app.add_routes([
            web.get("/ws", self.socket), web.get("/oauth2/validate", self.validate),
            web.post("/oauth2/token", self.renew), web.post("/oauth2/device", self.device),
            web.get("/recent/{channel}", self.history),
            web.get("/helix/users", self.users), web.get("/helix/streams", self.streams),
            web.get("/helix/eventsub/subscriptions", self.list),
            web.post("/helix/eventsub/subscriptions", self.subscribe),
            web.delete("/helix/eventsub/subscriptions", self.delete)])
        runner = web.AppRunner(app)
        self.loop.run_until_complete(runner.setup())
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.loop.run_until_complete(web.SockSite(runner, listener).start())
        ready.set()
        self.loop.run_forever()

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE)

    @property
    def http(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws(self):
        return f"ws://127.0.0.1:{self.port}/ws"

    def number(self):
        self.last += 1
        return self.last

    # Requests

    def is_allowed(self, request):
        return request.headers.get("Authorization", "").split(" ")[-1] == TOKENS[self.token]

    async def validate(self, request):
        if not self.is_allowed(request):
            return web.json_response({"message": "invalid access token"}, status=401)
        return web.json_response({"client_id": "client", "login": "ada", "user_id": "42", "scopes": SCOPES,
                                  "expires_in": 5000})

    async def renew(self, request):
        form = await request.post()
        if form["grant_type"] == "refresh_token":
            # Works once only.
            if form["refresh_token"] != f"renew{self.renewals}":
                return web.json_response({"message": "Invalid refresh token"}, status=400)
            self.renewals += 1
        elif not self.confirmed:
            return web.json_response({"status": 400, "message": "authorization_pending"}, status=400)
        return web.json_response({"access_token": TOKENS[self.token], "refresh_token": f"renew{self.renewals}",
                                  "token_type": "bearer", "scope": SCOPES})

    async def device(self, request):
        form = await request.post()
        return web.json_response({"device_code": "device" + form["client_id"], "user_code": "ABCD-EFGH",
                                  "verification_uri": "https://twitch.example/activate", "expires_in": 600,
                                  "interval": 1})

    async def users(self, request):
        if not self.is_allowed(request):
            return web.json_response({}, status=401)
        return web.json_response({"data": [{"id": "42", "login": request.query["login"]}]})

    async def history(self, request):
        self.asked.append((request.match_info["channel"], dict(request.query)))
        return web.json_response({"messages": self.lines, "error": None})

    async def streams(self, request):
        return web.json_response({"data": [{"viewer_count": 1234}]})

    async def list(self, request):
        return web.json_response({"data": [self.report(one) for one in self.subscriptions], "pagination": {}})

    def report(self, identifier):
        kind, condition, session = self.subscriptions[identifier]
        return {"id": identifier, "type": kind, "version": "1", "status": "enabled", "cost": 0,
                "condition": condition, "created_at": "2026-11-23T20:00:00Z",
                "transport": {"method": "websocket", "session_id": session}}

    async def subscribe(self, request):
        if not self.is_allowed(request) or request.headers.get("Client-Id") != "client":
            return web.json_response({"message": "invalid access token"}, status=401)
        body = await request.json()
        session = body["transport"]["session_id"]
        if session not in self.sockets:
            return web.json_response({"message": "session does not exist"}, status=400)
        if any(one[:2] == (body["type"], body["condition"]) for one in self.subscriptions.values()):
            self.conflicts += 1
            return web.json_response({"message": "subscription already exists"}, status=409)
        identifier = f"sub{self.number()}"
        self.subscriptions[identifier] = (body["type"], body["condition"], session)
        return web.json_response({"data": [self.report(identifier)], "total": 1, "total_cost": 0,
                                  "max_total_cost": 10}, status=202)

    async def delete(self, request):
        self.subscriptions.pop(request.query["id"], None)
        return web.Response(status=204)

    # The WebSocket

    def message(self, kind, payload, **metadata):
        return {"metadata": {"message_id": f"id{self.number()}", "message_type": kind,
                             "message_timestamp": "2026-11-23T20:00:00.123456789Z", **metadata}, "payload": payload}

    async def socket(self, request):
        name = self.moved.pop(request.query.get("reconnect_id"), None)
        is_moved = name is not None
        name = name or f"session{self.number()}"
        connection = web.WebSocketResponse(autoping=True)
        await connection.prepare(request)
        connection.transport_ = request.transport
        old = self.sockets.get(name) if is_moved else None
        await connection.send_json(self.message("session_welcome", {"session": {
            "id": name, "status": "connected", "keepalive_timeout_seconds": self.keepalive,
            "reconnect_url": None, "connected_at": "2026-11-23T20:00:00Z"}}))
        self.sockets[name] = connection
        tasks = [asyncio.ensure_future(self.alive(connection)), asyncio.ensure_future(self.unused(name, connection))]
        if old:
            tasks.append(asyncio.ensure_future(self.grace(old)))
        async for message in connection:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self.faults.append(f"the client sent {message.data!r}")
                await connection.close(code=4001, message=b"sent traffic")
        for task in tasks:
            task.cancel()
        if self.sockets.get(name) is connection:
            del self.sockets[name]
        return connection

    async def alive(self, connection):
        while not connection.closed:
            await asyncio.sleep(self.keepalive * 0.5)
            await connection.send_json(self.message("session_keepalive", {}))
            await connection.ping()

    async def unused(self, name, connection):
        await asyncio.sleep(10)
        if not any(one[2] == name for one in self.subscriptions.values()):
            await connection.close(code=4003, message=b"connection unused")

    async def grace(self, connection):
        await asyncio.sleep(30)
        await connection.close(code=4004, message=b"reconnect grace time expired")

    # What a test makes it do

    async def say(self, kind, event, twice=False):
        reached = False
        for identifier, (wanted, condition, session) in list(self.subscriptions.items()):
            connection = self.sockets.get(session)
            if wanted != kind or connection is None or connection.closed:
                continue
            message = self.message("notification", {"subscription": self.report(identifier), "event": event},
                                   subscription_type=kind, subscription_version="1")
            for _ in range(2 if twice else 1):
                await connection.send_json(message)
            reached = True
        return reached

    def chat(self, identifier, twice=False):
        event = {"broadcaster_user_id": "42", "broadcaster_user_login": "ada", "broadcaster_user_name": "Ada",
                 "chatter_user_id": "7", "chatter_user_login": "bo", "chatter_user_name": "Bo",
                 "message_id": identifier, "message": {
                     "text": identifier, "fragments": [{"type": "text", "text": identifier, "cheermote": None,
                                                        "emote": None, "mention": None}]},
                 "color": "#FF0000", "badges": [{"set_id": "vip", "id": "1", "info": ""}], "message_type": "text",
                 "cheer": None, "reply": None, "channel_points_custom_reward_id": None}
        now = time.time() * 1000
        if self.do(self.say("channel.chat.message", event, twice)):
            self.sent[identifier] = now
            return True
        return False

    def is_subscribed(self):
        return any(kind == "channel.chat.message" and session in self.sockets
                   for kind, _, session in self.subscriptions.values())

    def reconnect(self):
        async def move():
            for name, connection in list(self.sockets.items()):
                identifier = f"r{self.number()}"
                self.moved[identifier] = name
                await connection.send_json(self.message("session_reconnect", {"session": {
                    "id": name, "status": "reconnecting", "keepalive_timeout_seconds": None,
                    "reconnect_url": f"{self.ws}?reconnect_id={identifier}", "connected_at": "2026-11-23T20:00:00Z"}}))
        before = dict(self.sockets)
        self.do(move())
        wait_for(lambda: all(self.sockets.get(name) is not before[name] for name in before), "the new connection")

    def cut(self):
        """Without a word; the subscriptions stay, as Twitch's do for a while."""
        async def abort():
            for connection in list(self.sockets.values()):
                connection.transport_.abort()
            self.sockets.clear()
        self.do(abort())

    def revoke(self, kind):
        async def tell():
            for identifier, (wanted, _, session) in list(self.subscriptions.items()):
                if wanted == kind and session in self.sockets:
                    report = {**self.report(identifier), "status": "authorization_revoked"}
                    del self.subscriptions[identifier]
                    await self.sockets[session].send_json(
                        self.message("revocation", {"subscription": report}, subscription_type=kind,
                                     subscription_version="1"))
        self.do(tell())


class Source(sources.Source):
    def __init__(self, test, *arguments):
        self.reports = []
        self.process = subprocess.Popen(
            [f"{test.bin}/livehostctl", "--socket", test.control, *arguments, "--json=short"],
            stdout=subprocess.PIPE, stderr=open(f"{test.directory}/source.log", "a"), text=True)
        threading.Thread(target=self.read, daemon=True).start()


class Test(sources.Test):
    def servers(self, twitch):
        return ["--login-file", f"{self.directory}/twitch.json", "--url", twitch.ws, "--api", twitch.http,
                "--auth", twitch.http]

    def room(self, name):
        return json.loads(subprocess.run(
            [f"{self.bin}/livehostctl", "--socket", self.control, "show", name, "--json=short"],
            stdout=subprocess.PIPE, text=True).stdout or "{}")

    def client(self):
        """The server is one that a client by others understands."""
        twitch = Twitchlike(keepalive=10)
        seen = []

        async def run():
            client = await Twitch("client", authenticate_app=False, base_url=twitch.http + "/helix/",
                                  auth_base_url=twitch.http + "/oauth2/")
            client.auto_refresh_auth = False
            await client.set_user_authentication(TOKENS[0], [AuthScope.USER_READ_CHAT], validate=False)
            events = EventSubWebsocket(client, connection_url=twitch.ws, subscription_url=twitch.http + "/helix/")

            async def take(data):
                seen.append(data.event.message_id)
            events.start()
            await events.listen_channel_chat_message("42", "42", take)

            def script():
                for number in range(50):
                    twitch.chat(f"a{number}")
                wait_for(lambda: len(seen) == 50, "the messages")
                twitch.reconnect()
                wait_for(twitch.is_subscribed, "the subscription")
                for number in range(50):
                    twitch.chat(f"b{number}")
                wait_for(lambda: len(seen) == 100, "the messages after the reconnect")
            try:
                await asyncio.get_running_loop().run_in_executor(None, script)
            finally:
                await events.stop()
                await client.close()
        asyncio.run(run())
        self.check("twitchAPI reads the scripted EventSub: each message once, over a reconnect",
                   sorted(seen) == sorted([f"a{n}" for n in range(50)] + [f"b{n}" for n in range(50)]), len(seen))

    def login(self):
        twitch = Twitchlike()
        file = f"{self.directory}/login/twitch.json"
        source = Source(self, "login", "twitch", "--client-id", "client", "--file", file, "--auth", twitch.http)

        # Its lines are not reports.
        wait_for(lambda: source.reports, "the code")
        code = source.reports[0]
        twitch.confirmed = True
        status = source.process.wait(PATIENCE)
        wait_for(lambda: len(source.reports) == 2, "the account")
        self.check("login twitch shows a code, and writes the login once it is confirmed",
                   status == 0 and code["code"] == "ABCD-EFGH" and source.reports[1] == {"account": "ada"}
                   and os.stat(file).st_mode & 0o777 == 0o600
                   and json.load(open(file))["accessToken"] == TOKENS[0], (status, source.reports))
        os.makedirs(self.directory, exist_ok=True)
        self.write_login(0, 0)

    def write_login(self, token, renewal):
        with open(f"{self.directory}/twitch.json", "w") as file:
            json.dump({"clientId": "client", "accessToken": TOKENS[token], "refreshToken": f"renew{renewal}"}, file)

    def schedule(self, seed):
        """Faults in an order that the seed decides."""
        generator = random.Random(seed)
        twitch = Twitchlike()
        room = f"seed{seed}"
        self.write_login(0, 0)
        source = Source(self, "connect", "eventsub", "ada", "--room", room, *self.servers(twitch))
        source.live()
        lives, cuts, number = 1, 0, 0
        steps = ["say"] * 6 + ["reconnect", "reconnect", "cut", "cut", "expire"]
        generator.shuffle(steps)
        for step in steps:
            if step == "say":
                for _ in range(generator.randrange(20, 200)):
                    twitch.chat(f"m{number}", twice=generator.random() < 0.1)
                    number += 1
            elif step == "reconnect":
                twitch.reconnect()
            elif step == "expire":
                twitch.token += 1
            else:
                cuts += 1
                twitch.cut()
                for _ in range(20):
                    twitch.chat(f"m{number}")
                    number += 1
                lives += 1
                source.live(lives)
        gaps = source.said("gap")
        missing_at_most = [one for one in twitch.sent
                           if any(gap["from"] - 5 <= twitch.sent[one] <= gap["to"] + 5 for gap in gaps)]
        total = self.settled(room, len(twitch.sent) - len(missing_at_most))
        state = self.room(room)
        status = source.stop()
        least = len(twitch.sent) - len(missing_at_most)
        self.check(f"schedule {seed} over real sockets: each message that was sent is there once, each gap is told",
                   least <= total <= len(twitch.sent) and len(gaps) == cuts and not twitch.faults and status == 0
                   and not state["rejectedByReason"] and least > 100,
                   (least, total, len(twitch.sent), len(gaps), cuts, twitch.faults, status,
                    state["rejectedByReason"], source.reports[-3:]))
        return twitch

    def schedules(self):
        servers = [self.schedule(seed) for seed in (1, 2, 3)]
        self.check("subscriptions of lost sessions were in the way (409), and logins renewed",
                   sum(one.conflicts for one in servers) > 0 and sum(one.renewals for one in servers) > 0,
                   [(one.conflicts, one.renewals) for one in servers])

    def revocation(self):
        twitch = Twitchlike()
        self.write_login(0, 0)
        source = Source(self, "connect", "eventsub", "ada", "--room", "revoked", *self.servers(twitch))
        source.live()
        twitch.revoke("channel.follow")
        wait_for(lambda: any("channel.follow: revoked" in (one.get("reason") or "") for one in source.reports),
              "the revocation")
        self.check("a revocation is told, and the others stay",
                   twitch.chat("still") and self.settled("revoked", 1) == 1)
        viewers = self.room("revoked")["features"]["header"]["viewers"]
        self.check("viewers are polled", viewers == 1234, viewers)
        source.stop()

    def both(self):
        """The chat of a channel over IRC and over EventSub, by one command."""
        twitch = Twitchlike()
        self.write_login(0, 0)
        listener = socket.create_server(("127.0.0.1", 0))
        said = threading.Event()

        def serve():
            client, _ = listener.accept()
            for line in client.makefile("rb"):
                if line.startswith(b"CAP REQ"):
                    client.sendall(b":t CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n")
                elif line.startswith(b"NICK"):
                    nick = line.split()[1]
                    client.sendall(b":t 001 %s :hi\r\n" % nick)
                elif line.startswith(b"JOIN"):
                    client.sendall(b":%s!x@x JOIN #ada\r\n" % nick)
                    said.wait(PATIENCE)
                    for number in range(300):
                        client.sendall(b"@id=m%d;user-id=7;display-name=Bo :bo!bo@bo PRIVMSG #ada :hi %d\r\n"
                                       % (number, number))
                    for number in range(20):
                        client.sendall(b"@id=g%d;login=bo;user-id=7;msg-id=submysterygift;msg-param-mass-gift-count=5;"
                                       b"msg-param-community-gift-id=c%d :t USERNOTICE #ada\r\n" % (number, number))
        threading.Thread(target=serve, daemon=True).start()
        source = Source(self, "connect", "twitch", "ada", "--room", "both", "--no-tls", "--server",
                        f"127.0.0.1:{listener.getsockname()[1]}", *self.servers(twitch))
        wait_for(lambda: source.said("state", channel="ada", state="live")
              and source.said("state", channel="ada (events)", state="live"), "both")
        said.set()
        for number in range(400):
            twitch.chat(f"m{number}")
        for number in range(20):
            twitch.do(twitch.say("channel.chat.notification", {
                "broadcaster_user_login": "ada", "chatter_user_id": "7", "chatter_user_name": "Bo",
                "message_id": f"g{number}", "notice_type": "community_sub_gift",
                "community_sub_gift": {"id": f"c{number}", "total": 5}}))
        try:
            wait_for(lambda: self.room("both")["rejectedByReason"].get("duplicate") == 320, "the copies")
        except TimeoutError:
            pass
        found = self.room("both")
        self.check("connect twitch reads IRC and EventSub: each message and each gift once",
                   found["features"]["chat"]["total"] == 400 and found["rejectedByReason"] == {"duplicate": 320},
                   (found["features"]["chat"]["total"], found["rejectedByReason"]))
        seen = [json.dumps(source.reports).encode()]
        for name in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                seen.append(open(name, "rb").read())
            except OSError:
                pass
        source.stop()
        os.unlink(f"{self.directory}/twitch.json")
        for path, _, names in os.walk(self.directory):
            for name in names:
                if os.path.isfile(f"{path}/{name}") and "/login" not in path:
                    seen.append(open(f"{path}/{name}", "rb").read())
        self.check("tokens are in no argument, log, report or state",
                   not any(b"tokenthatnobodymaysee" in text or b"renew0" in text for text in seen))

    def history(self):
        """What was missed is asked for, and counts if it is of the gap."""
        twitch = Twitchlike()
        listener = socket.create_server(("127.0.0.1", 0))
        clients = []

        def line(identifier, sent):
            return (f"@historical=1;id={identifier};tmi-sent-ts={sent};user-id=7;display-name=Bo "
                    f":bo!bo@bo PRIVMSG #past :hi")

        def serve():
            while True:
                client, _ = listener.accept()
                for text in client.makefile("rb"):
                    if text.startswith(b"CAP REQ"):
                        client.sendall(b":t CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n")
                    elif text.startswith(b"NICK"):
                        nick = text.split()[1]
                        client.sendall(b":t 001 %s :hi\r\n" % nick)
                    elif text.startswith(b"JOIN"):
                        client.sendall(b":%s!x@x JOIN #past\r\n" % nick)
                        clients.append(client)
                        break
        threading.Thread(target=serve, daemon=True).start()
        source = Source(self, "connect", "twitch", "past", "--no-tls", "--server",
                        f"127.0.0.1:{listener.getsockname()[1]}", "--history", twitch.http + "/recent")
        source.live()
        now = int(time.time() * 1000)
        clients[0].sendall((line("a", now) + "\r\n").encode())
        self.settled("past", 1)
        later = int(time.time() * 1000) + 1_000
        twitch.lines = [line("old", now - 60_000), line("a", later), line("b", later), line("c", later),
                        line("b", later), "nonsense", 5, line("d", later) + "\r\n" + line("e", later)]
        clients[0].shutdown(socket.SHUT_RDWR)
        source.live(2)
        total = self.settled("past", 3)
        wait_for(lambda: any(one.get("backfilled") == 2 for one in json.loads(subprocess.run(
            [f"{self.bin}/livehostctl", "--socket", self.control, "sources", "--json=short"],
            stdout=subprocess.PIPE, text=True).stdout)), "the number")
        self.check("messages of a gap are got from a service, once, and the gap is told",
                   total == 3 and len(source.said("gap")) == 1 and len(twitch.asked) == 1
                   and twitch.asked[0][0] == "past" and int(twitch.asked[0][1]["after"]) <= later,
                   (total, twitch.asked, source.said("gap")))
        source.stop()

    def refused(self):
        """A login that cannot be renewed is final."""
        twitch = Twitchlike()
        twitch.token = 5
        self.write_login(0, 99)
        source = Source(self, "connect", "eventsub", "ada", *self.servers(twitch))
        status = source.process.wait(PATIENCE)
        self.check("a login that Twitch does not renew is final: 77", status == 77, status)


def main():
    test = Test(sys.argv[1], None)
    test.run("twitchAPI", test.client)
    test.run("login", test.login)
    test.run("schedules", test.schedules)
    test.run("a revocation", test.revocation)
    test.run("both", test.both)
    test.run("history", test.history)
    test.run("a refused login", test.refused)
    webhooks.run(test)
    sys.exit(test.end())


if __name__ == "__main__":
    import webhooks
    main()
