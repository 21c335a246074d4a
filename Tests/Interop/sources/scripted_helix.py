"""A scripted Twitch whose API also carries out acts on the channel, for the owner's account 42."""
import socket

from scripted_eventsub import TIME, ScriptedEventSub

# The documented requests: the method and the resource, with the scope and the required members.
ACTS = {
    ("POST", "chat/messages"): ("user:write:chat", {"broadcaster_id", "sender_id", "message"}),
    ("POST", "chat/announcements"): (
        "moderator:manage:announcements", {"broadcaster_id", "moderator_id", "message"}),
    ("DELETE", "moderation/chat"): ("moderator:manage:chat_messages", {"broadcaster_id", "moderator_id"}),
    ("POST", "moderation/bans"): ("moderator:manage:banned_users", {"broadcaster_id", "moderator_id", "data"}),
    ("DELETE", "moderation/bans"): ("moderator:manage:banned_users", {"broadcaster_id", "moderator_id", "user_id"}),
    ("POST", "chat/shoutouts"): (
        "moderator:manage:shoutouts", {"from_broadcaster_id", "to_broadcaster_id", "moderator_id"}),
    ("PATCH", "chat/settings"): ("moderator:manage:chat_settings", {"broadcaster_id", "moderator_id"}),
    ("PUT", "moderation/shield_mode"): (
        "moderator:manage:shield_mode", {"broadcaster_id", "moderator_id", "is_active"}),
    ("POST", "moderation/automod/message"): ("moderator:manage:automod", {"user_id", "msg_id", "action"}),
    ("PATCH", "channels"): ("channel:manage:broadcast", {"broadcaster_id"}),
    ("POST", "streams/markers"): ("channel:manage:broadcast", {"user_id"}),
}
ACT_SCOPES = sorted({scope for scope, _ in ACTS.values()})
# The members whose values must be the account of the token.
OWN_MEMBERS = "broadcaster_id", "from_broadcaster_id", "sender_id", "moderator_id"


class ScriptedHelix(ScriptedEventSub):
    """`performed` lists the acts that the server has carried out: the method, the resource and the
    members. `answers` are answers to the next acts, which are then not carried out; `breaks` closes
    the connection after an act instead of answering."""

    def __init__(self, directory, scopes=ACT_SCOPES):
        self.performed, self.answers, self.breaks = [], [], False
        super().__init__(directory, scopes=scopes)

    def answer(self, request):
        method, resource = act = request.method, request.path.removeprefix("/helix/")
        if (act not in ACTS and resource != "games") or not self.is_allowed(request):
            return super().answer(request)
        if resource == "games":
            names = request.args.getlist("name")
            return 200, {"data": [{"id": "509", "name": name, "box_art_url": "", "igdb_id": "7"}
                                  for name in names if name == "Tetris & Co"]}
        # A client may write the members of a message into the query or into the body.
        members = {**request.args, **(request.get_json() if request.data else {})}
        scope, required = ACTS[act]
        if scope not in self.scopes:
            return 401, {"error": "Unauthorized", "status": 401, "message": f"Missing scope: {scope}"}
        if missing := required - members.keys():
            return 400, {"error": "Bad Request", "status": 400, "message": f"Missing {sorted(missing)}"}
        if any(members.get(name, "42") != "42" for name in OWN_MEMBERS):
            return 401, {"error": "Unauthorized", "status": 401, "message": "The ID must match the user ID"}
        if resource == "moderation/chat" and members.get("message_id", "").startswith("old"):
            return 404, {"error": "Not Found", "status": 404, "message": "message not found"}
        if self.answers:
            return self.answers.pop(0)
        self.performed.append((method, resource, members))
        if self.breaks:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return self.success(act, members)

    def success(self, act, members):
        match act:
            case "POST", "chat/messages":
                return 200, {"data": [{"message_id": "m", "is_sent": True, "drop_reason": None}]}
            case "POST", "moderation/bans":
                return 200, {"data": [{"broadcaster_id": "42", "moderator_id": "42", "created_at": TIME,
                                       "user_id": members["data"]["user_id"], "end_time": None}]}
            case "PATCH", "chat/settings":
                return 200, {"data": [{"broadcaster_id": "42", "moderator_id": "42"}]}
            case "PUT", "moderation/shield_mode":
                return 200, {"data": [{"is_active": members["is_active"], "moderator_id": "42", "moderator_login": "ada",
                                       "moderator_name": "Ada", "last_activated_at": TIME}]}
            case "POST", "streams/markers":
                return 200, {"data": [{"id": "1", "created_at": TIME, "description": members.get("description", ""),
                                       "position_seconds": 1}]}
        return 204, None
