"""Tests acts on Twitch with a scripted API, which is validated with twitchAPI, an independent
client."""
import asyncio
import time

from scripted_eventsub import TOKENS
from scripted_helix import ScriptedHelix
from sources_support import act, leaks
from twitchAPI.helper import first
from twitchAPI.twitch import Twitch
from twitchAPI.type import AuthScope, AutoModAction

from harness.waiting import wait_for

TEXT = 'a "quoted" \\ text & more, \u00fc \U0001f41d'
MODERATOR = {"broadcaster_id": "42", "moderator_id": "42"}
# The kind and the parameters of an act, and the request that Twitch documents.
ACTS = [
    ("say", {"text": TEXT},
     ("POST", "chat/messages", {"broadcaster_id": "42", "sender_id": "42", "message": TEXT})),
    ("reply", {"text": TEXT, "message": "m1"},
     ("POST", "chat/messages",
      {"broadcaster_id": "42", "sender_id": "42", "message": TEXT, "reply_parent_message_id": "m1"})),
    ("announce", {"text": TEXT}, ("POST", "chat/announcements", {**MODERATOR, "message": TEXT})),
    ("delete", {"message": "m-1"}, ("DELETE", "moderation/chat", {**MODERATOR, "message_id": "m-1"})),
    ("timeOut", {"user": {"id": "7", "name": "Bo"}, "seconds": 600, "reason": "rude"},
     ("POST", "moderation/bans", {**MODERATOR, "data": {"user_id": "7", "duration": 600, "reason": "rude"}})),
    ("ban", {"user": {"id": "7", "name": "Bo"}, "reason": "rude"},
     ("POST", "moderation/bans", {**MODERATOR, "data": {"user_id": "7", "reason": "rude"}})),
    ("unban", {"user": {"id": "7", "name": "Bo"}}, ("DELETE", "moderation/bans", {**MODERATOR, "user_id": "7"})),
    ("shoutOut", {"user": {"id": "9", "name": "Cy"}},
     ("POST", "chat/shoutouts", {"from_broadcaster_id": "42", "to_broadcaster_id": "9", "moderator_id": "42"})),
    ("setChatModes",
     {"modes": {"slowSeconds": 30, "emoteOnly": True, "followersOnlyMinutes": 10, "subscribersOnly": False,
                "uniqueOnly": True}},
     ("PATCH", "chat/settings",
      {**MODERATOR, "slow_mode": True, "slow_mode_wait_time": 30, "emote_mode": True, "follower_mode": True,
       "follower_mode_duration": 10, "subscriber_mode": False, "unique_chat_mode": True})),
    ("setShield", {"on": True}, ("PUT", "moderation/shield_mode", {**MODERATOR, "is_active": True})),
    ("reviewHeld", {"message": "h1", "on": True},
     ("POST", "moderation/automod/message", {"user_id": "42", "msg_id": "h1", "action": "ALLOW"})),
    ("setTitle", {"text": TEXT}, ("PATCH", "channels", {"broadcaster_id": "42", "title": TEXT})),
    ("setCategory", {"text": "Tetris & Co"}, ("PATCH", "channels", {"broadcaster_id": "42", "game_id": "509"})),
    ("mark", {"text": "boss"}, ("POST", "streams/markers", {"user_id": "42", "description": "boss"})),
]
PERFORMED = [request for _, _, request in ACTS]


def test_an_independent_client_acts_on_the_scripted_helix(check, tmp_path):
    """An independent client performs each act on the scripted server."""
    server = ScriptedHelix(tmp_path)

    async def run():
        client = await Twitch("client", authenticate_app=False, base_url=server.http + "/helix/",
                              auth_base_url=server.http + "/oauth2/")
        client.auto_refresh_auth = False
        scopes = [scope for scope in AuthScope if scope.value in server.scopes]
        await client.set_user_authentication(TOKENS[0], scopes, validate=False)
        try:
            await client.send_chat_message("42", "42", TEXT)
            await client.send_chat_message("42", "42", TEXT, reply_parent_message_id="m1")
            await client.send_chat_announcement("42", "42", TEXT)
            await client.delete_chat_message("42", "42", "m-1")
            await client.ban_user("42", "42", "7", "rude", duration=600)
            await client.ban_user("42", "42", "7", "rude")
            await client.unban_user("42", "42", "7")
            await client.send_a_shoutout("42", "9", "42")
            await client.update_chat_settings(
                "42", "42", slow_mode=True, slow_mode_wait_time=30, emote_mode=True, follower_mode=True,
                follower_mode_duration=10, subscriber_mode=False, unique_chat_mode=True)
            await client.update_shield_mode_status("42", "42", True)
            await client.manage_held_automod_message("42", "h1", AutoModAction.ALLOW)
            await client.modify_channel_information("42", title=TEXT)
            game = await first(client.get_games(names=["Tetris & Co"]))
            await client.modify_channel_information("42", game_id=game.id)
            await client.create_stream_marker("42", "boss")
        finally:
            await client.close()
    asyncio.run(run())
    check.equal("twitchAPI performs each act with the documented request", server.performed, PERFORMED)


def test_each_act_reaches_twitch_as_from_an_independent_client(check, daemon, start_source, tmp_path):
    """Performs each act on the scripted server, through a room."""
    server = ScriptedHelix(tmp_path)
    source = start_source("connect", "eventsub", "ada", "--room", "acts", *server.arguments)
    source.live()
    outcomes = [act(daemon, "acts", kind=kind, **parameters) for kind, parameters, _ in ACTS]
    check.equal("helix: each act is confirmed", outcomes, [("confirmed", None)] * len(ACTS))
    check.equal("helix: each act is one request, as from twitchAPI", server.performed, PERFORMED)

    server.performed.clear()
    wait_for(lambda: server.chat("chat1"), "the subscription")
    daemon.settled("acts", 1)
    outcomes = [act(daemon, "acts", kind=kind, number=1, **parameters)
                for kind, parameters in (("delete", {}), ("reply", {"text": "hi"}), ("ban", {}))]
    check.equal("helix: acts on a message in the chat use its identifier and its author",
                (outcomes, server.performed), ([("confirmed", None)] * 3, [
                    ("DELETE", "moderation/chat", {**MODERATOR, "message_id": "chat1"}),
                    ("POST", "chat/messages", {"broadcaster_id": "42", "sender_id": "42", "message": "hi",
                                               "reply_parent_message_id": "chat1"}),
                    ("POST", "moderation/bans", {**MODERATOR, "data": {"user_id": "7"}})]))
    check.equal("helix: tokens appear in no argument, log, report or state", [
        place for secret in ("tokenthatnobodymaysee", "renew0")
        for place in leaks(daemon, source, secret, "/proc/[0-9]*/cmdline")], [])
    source.stop()


def test_each_error_of_twitch_is_an_outcome(check, daemon, start_source, tmp_path):
    """Performs acts that the scripted server rejects, drops or does not answer."""
    server = ScriptedHelix(tmp_path)
    source = start_source("connect", "eventsub", "ada", "--room", "errors", *server.arguments)
    source.live()

    def say(text):
        return act(daemon, "errors", kind="say", text=text)

    def said():
        return [members["message"] for _, resource, members in server.performed if resource == "chat/messages"]

    # Waits until the room knows the acts.
    say("first")
    server.answers = [(200, {"data": [{"message_id": "", "is_sent": False, "drop_reason": {
        "code": "msg_rejected", "message": "held by AutoMod"}}]})]
    check.equal("helix: a dropped message is refused with the reason", say("a"), ("refused", "Twitch: held by AutoMod"))
    check.equal("helix: a message of more than 6 hours ago is not deleted",
                act(daemon, "errors", kind="delete", message="old1"),
                ("refused", "Twitch deletes only existing messages of the last 6 hours"))
    server.answers = [(status, {"status": status, "message": "no"}) for status in (400, 403, 409, 422, 425)]
    check.equal("helix: a rejected act is refused with Twitch's message",
                [say("b") for _ in range(5)], [("refused", "Twitch: no")] * 5)
    check.equal("helix: a title beyond Twitch's limit is refused",
                act(daemon, "errors", kind="setTitle", text="a" * 141),
                ("refused", "the text is longer than Twitch's limit of 140 characters"))

    server.token += 1
    check.equal("helix: an act with an expired token is carried out after the renewal",
                (say("renewed"), server.renewals), (("confirmed", None), 1))
    server.answers = [(429, {"message": "slow"}, {"Ratelimit-Reset": str(int(time.time()))})]
    check.equal("helix: an act beyond the rate limit is carried out after the reset", say("limited"),
                ("confirmed", None))
    server.answers = [(429, {"message": "slow"}, {"Ratelimit-Reset": str(int(time.time()) + 3_600)})]
    check.equal("helix: an act is refused if the rate limit is reset too late", say("late"),
                ("refused", "Twitch: slow"))
    server.breaks = True
    outcome, reason = say("broken")
    check.equal("helix: a broken connection leaves the outcome unknown",
                (outcome, (reason or "").startswith("the outcome is unknown: ")), ("refused", True))
    server.breaks = False
    # The next act is sent after anything that the source might have repeated.
    say("last")
    check.equal("helix: no act is carried out twice", said(), ["first", "renewed", "limited", "broken", "last"])
    source.stop()


def test_a_login_allows_only_the_acts_of_its_scopes(check, daemon, start_source, tmp_path):
    """Performs acts with a login that can only write."""
    server = ScriptedHelix(tmp_path, scopes=["user:write:chat"])
    source = start_source("connect", "eventsub", "ada", "--room", "scopes", *server.arguments)
    source.live()
    check.equal("helix: the act of the scope is possible", act(daemon, "scopes", kind="say", text="hi"),
                ("confirmed", None))
    check.equal("helix: other acts have no controller",
                daemon.reply("Act", room="scopes", kind="announce", text="hi").get("error"),
                "io.livehost.Control.NoController")
    # The account has withdrawn the permission.
    server.scopes.remove("user:write:chat")
    outcome, reason = act(daemon, "scopes", kind="say", text="hi")
    check("helix: the reason names the missing scope and the remedy",
          outcome == "refused" and "user:write:chat" in reason and "livehostctl login twitch" in reason,
          f"seen {(outcome, reason)}")
    source.stop()
