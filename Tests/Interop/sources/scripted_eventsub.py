"""A scripted Twitch: EventSub's WebSocket, the API server and the login server."""
import itertools
import json
import socket
import time


from harness.serving import serve_http, serve_websocket
from harness.waiting import wait_for

SCOPES = ["user:read:chat", "moderator:read:followers", "channel:read:polls"]
TOKENS = ["tokenthatnobodymaysee%d" % number for number in range(100)]
TIME = "2026-11-23T20:00:00Z"


def chat_event(identifier):
    fragment = {"type": "text", "text": identifier, "cheermote": None, "emote": None, "mention": None}
    return {"broadcaster_user_id": "42", "broadcaster_user_login": "ada", "broadcaster_user_name": "Ada",
            "chatter_user_id": "7", "chatter_user_login": "bo", "chatter_user_name": "Bo", "message_id": identifier,
            "message": {"text": identifier, "fragments": [fragment]}, "color": "#FF0000",
            "badges": [{"set_id": "vip", "id": "1", "info": ""}], "message_type": "text", "cheer": None, "reply": None,
            "channel_points_custom_reward_id": None}


def gift_event(number):
    return {"broadcaster_user_login": "ada", "chatter_user_id": "7", "chatter_user_name": "Bo",
            "message_id": f"g{number}", "notice_type": "community_sub_gift",
            "community_sub_gift": {"id": f"c{number}", "total": 5}}


class ScriptedEventSub:
    """Writes a login with scopes into a directory. `arguments` are the arguments for a source that uses it."""

    def __init__(self, directory, keepalive=2, renewal=0, scopes=()):
        self.keepalive, self.numbers, self.scopes = keepalive, itertools.count(1), [*SCOPES, *scopes]
        self.subscriptions = {}  # identifier: (type, condition, session)
        self.sockets = {}  # session: connection
        self.moved = {}  # reconnect identifier: session
        self.token, self.renewals, self.conflicts = 0, 0, 0
        self.confirmed, self.faults = False, []
        self.asked, self.lines = [], []  # requests for history, and its lines
        self.sent = {}  # message identifier: time of sending
        self.http, self.ws = serve_http(self.answer), serve_websocket(self.serve_session)
        file = directory / "twitch.json"
        file.write_text(json.dumps({"clientId": "client", "accessToken": TOKENS[0], "refreshToken": f"renew{renewal}"}))
        self.arguments = ["--login-file", file, "--url", self.ws, "--api", self.http, "--auth", self.http]

    def is_allowed(self, request):
        return request.headers.get("Authorization", "").split(" ")[-1] == TOKENS[self.token] and (
            request.headers.get("Client-Id") == "client" or "/helix/" not in request.path)

    def answer(self, request):
        match request.method, request.path:
            case "POST", "/oauth2/device":
                return 200, {"device_code": "device" + request.form["client_id"], "user_code": "ABCD-EFGH",
                             "verification_uri": "https://twitch.example/activate", "interval": 1, "expires_in": 600}
            case "POST", "/oauth2/token":
                is_renewal = request.form["grant_type"] == "refresh_token"
                # A renewal token works only once.
                if is_renewal and request.form["refresh_token"] != f"renew{self.renewals}":
                    return 400, {"message": "Invalid refresh token"}
                if not is_renewal and not self.confirmed:
                    return 400, {"status": 400, "message": "authorization_pending"}
                self.renewals += is_renewal
                return 200, {"access_token": TOKENS[self.token], "refresh_token": f"renew{self.renewals}",
                             "token_type": "bearer", "scope": self.scopes}
            case "GET", "/recent/ada":
                self.asked.append(request.args)
                return 200, {"messages": self.lines, "error": None}
            case _ if not self.is_allowed(request):
                return 401, {"message": "invalid access token"}
            case "GET", "/oauth2/validate":
                return 200, {"client_id": "client", "login": "ada", "user_id": "42", "scopes": self.scopes,
                             "expires_in": 5000}
            case "GET", "/helix/users":
                return 200, {"data": [{"id": "42", "login": request.args["login"]}]}
            case "GET", "/helix/streams":
                return 200, {"data": [{"viewer_count": 1234}]}
            case "GET", "/helix/eventsub/subscriptions":
                return 200, {"data": [self.report(one) for one in list(self.subscriptions)], "pagination": {}}
            case "POST", "/helix/eventsub/subscriptions":
                return self.subscribe(**request.json)
            case "DELETE", "/helix/eventsub/subscriptions":
                self.subscriptions.pop(request.args["id"], None)
                return 204, None
        return 404, {"message": request.path}

    def subscribe(self, type, version, condition, transport):
        session = transport["session_id"]
        if session not in self.sockets:
            return 400, {"message": "session does not exist"}
        if any(one[:2] == (type, condition) for one in self.subscriptions.copy().values()):
            self.conflicts += 1
            return 409, {"message": "subscription already exists"}
        identifier = f"sub{next(self.numbers)}"
        self.subscriptions[identifier] = (type, condition, session)
        return 202, {"data": [self.report(identifier)], "total": 1, "total_cost": 0, "max_total_cost": 10}

    def report(self, identifier, status="enabled"):
        type, condition, session = self.subscriptions[identifier]
        return {"id": identifier, "type": type, "version": "1", "status": status, "cost": 0, "condition": condition,
                "created_at": TIME, "transport": {"method": "websocket", "session_id": session}}

    def send(self, connection, kind, payload, times=1, **metadata):
        text = json.dumps({"metadata": {
            "message_id": f"id{next(self.numbers)}", "message_type": kind,
            "message_timestamp": "2026-11-23T20:00:00.123456789Z", **metadata}, "payload": payload})
        for _ in range(times):
            connection.send(text)

    def send_session(self, connection, kind, name, status, keepalive=None, url=None):
        self.send(connection, kind, {"session": {
            "id": name, "status": status, "keepalive_timeout_seconds": keepalive, "reconnect_url": url,
            "connected_at": TIME}})

    def serve_session(self, connection):
        name = self.moved.pop(connection.request.path.partition("=")[2], None) or f"session{next(self.numbers)}"
        # A new session can get subscriptions after its welcome. A session that has moved to another
        # connection gets messages after its welcome.
        self.sockets.setdefault(name, connection)
        self.send_session(connection, "session_welcome", name, "connected", self.keepalive)
        self.sockets[name] = connection
        begun = time.monotonic()
        try:
            while True:
                try:
                    self.faults.append(f"the client sent {connection.recv(timeout=self.keepalive / 2)!r}")
                    connection.close(4001, "sent traffic")
                except TimeoutError:
                    self.send(connection, "session_keepalive", {})
                    connection.ping()
                is_used = any(session == name for _, _, session in self.subscriptions.copy().values())
                if not is_used and time.monotonic() > begun + 10:
                    connection.close(4003, "connection unused")
        finally:
            if self.sockets.get(name) is connection:
                del self.sockets[name]

    # Actions of tests

    def subscribed(self, type):
        """Returns the identifiers and connections of the subscriptions to a type."""
        sockets, subscriptions = self.sockets.copy(), self.subscriptions.copy()
        return [(identifier, sockets[session]) for identifier, (wanted, _, session) in subscriptions.items()
                if wanted == type and session in sockets]

    def tell(self, type, kind="notification", status="enabled", times=1, **payload):
        """Sends a message to each subscription to a type. Returns whether there is one."""
        subscribed = self.subscribed(type)
        for identifier, connection in subscribed:
            self.send(connection, kind, {"subscription": self.report(identifier, status), **payload}, times,
                      subscription_type=type, subscription_version="1")
        return bool(subscribed)

    def chat(self, identifier, times=1):
        now = time.time() * 1000
        if is_sent := self.tell("channel.chat.message", event=chat_event(identifier), times=times):
            self.sent[identifier] = now
        return is_sent

    def revoke(self, type):
        self.tell(type, "revocation", "authorization_revoked")
        self.subscriptions = {identifier: one for identifier, one in self.subscriptions.items() if one[0] != type}

    def reconnect(self):
        before = dict(self.sockets)
        for name, connection in before.items():
            identifier = f"r{next(self.numbers)}"
            self.moved[identifier] = name
            self.send_session(connection, "session_reconnect", name, "reconnecting",
                              url=f"{self.ws}/?reconnect_id={identifier}")
        wait_for(lambda: all(self.sockets.get(name) is not before[name] for name in before), "the new connection")

    def cut(self):
        """Cuts all connections without a close frame. The subscriptions stay, as on Twitch."""
        cut, self.sockets = self.sockets, {}
        for connection in cut.values():
            connection.socket.shutdown(socket.SHUT_RDWR)
