"""Tests the handling of every kind of event that a platform documents: the table in KINDS.md.

Each kind is sent with and without a person's text. It must be shown, be counted under its name, or
be listed in QUIET. `--write-kinds` replaces the table. For a kind that a platform adds, add its name
to KINDS.
"""
import itertools
import json

import pytest

import feeders
import test_corpus
from harness.programs import Daemon

TABLE = test_corpus.CORPUS / "KINDS.md"
# Kinds that are recognised but show nothing, with the reason.
QUIET = {
    ("EventSub", "channel.chat.notification unraid"): "a cancelled raid",
    **{("EventSub", f"channel.chat.notification shared_chat_{kind}"): "belongs to another channel of the shared chat"
       for kind in ("announcement", "resub")},
    **{("EventSub", f"channel.shared_chat.{phase}"): "visible in the messages" for phase in ("begin", "update", "end")},
    ("YouTube", "liveChatViewerEngagementMessageRenderer"): "from YouTube itself",
    ("YouTube", "liveChatPlaceholderItemRenderer"): "replaced by its message",
    ("YouTube", "addLiveChatTickerItemAction"): "repeats a paid message",
    ("YouTube", "removeBannerForLiveChatCommand"): "the banner was shown as an announcement",
}
NOTIFICATIONS = """announcement bits_badge_tier charity_donation community_sub_gift gift_paid_upgrade pay_it_forward
prime_paid_upgrade raid resub shared_chat_announcement shared_chat_resub sub sub_gift unraid watch_streak""".split()
KINDS = {
    # dev.twitch.tv, "IRC tags", USERNOTICE, and further kinds seen by chat clients.
    "Twitch IRC": """sub resub subgift submysterygift anonsubgift anonsubmysterygift giftpaidupgrade anongiftpaidupgrade
        primepaidupgrade rewardgift raid unraid ritual bitsbadgetier announcement charitydonation viewermilestone
        standardpayforward communitypayforward sharedchatnotice modiversary onetapgiftredeemed""".split(),
    # dev.twitch.tv, "EventSub Subscription Types".
    "EventSub": [*"""automod.message.hold automod.message.update automod.settings.update automod.terms.update
        channel.update channel.follow channel.ad_break.begin channel.bits.use channel.chat.clear
        channel.chat.clear_user_messages channel.chat.message channel.chat.message_delete
        channel.chat_settings.update channel.custom_power_up_redemption.add channel.chat.user_message_hold channel.chat.user_message_update
        channel.shared_chat.begin channel.shared_chat.update channel.shared_chat.end channel.subscribe
        channel.subscription.end channel.subscription.gift channel.subscription.message channel.cheer channel.raid
        channel.ban channel.unban channel.unban_request.create channel.unban_request.resolve channel.moderate
        channel.moderator.add channel.moderator.remove channel.guest_star_session.begin
        channel.guest_star_session.end channel.guest_star_guest.update channel.guest_star_settings.update
        channel.channel_points_automatic_reward_redemption.add channel.channel_points_custom_reward.add
        channel.channel_points_custom_reward.update channel.channel_points_custom_reward.remove
        channel.channel_points_custom_reward_redemption.add channel.channel_points_custom_reward_redemption.update
        channel.poll.begin channel.poll.progress channel.poll.end channel.prediction.begin
        channel.prediction.progress channel.prediction.lock channel.prediction.end channel.suspicious_user.message
        channel.suspicious_user.update channel.vip.add channel.vip.remove channel.warning.acknowledge
        channel.warning.send channel.charity_campaign.donate channel.charity_campaign.start
        channel.charity_campaign.progress channel.charity_campaign.stop conduit.shard.disabled
        drop.entitlement.grant extension.bits_transaction.create channel.goal.begin channel.goal.progress
        channel.goal.end channel.hype_train.begin channel.hype_train.progress channel.hype_train.end
        channel.shield_mode.begin channel.shield_mode.end channel.shoutout.create channel.shoutout.receive
        stream.online stream.offline user.authorization.grant user.authorization.revoke user.update
        user.whisper.message""".split(), *(f"channel.chat.notification {name}" for name in NOTIFICATIONS)],
    # YouTube documents no kinds. The names come from recordings of yt-dlp and from chat-downloader.
    "YouTube": """liveChatTextMessageRenderer liveChatPaidMessageRenderer liveChatPaidStickerRenderer
        liveChatMembershipItemRenderer liveChatSponsorshipsGiftPurchaseAnnouncementRenderer
        liveChatSponsorshipsGiftRedemptionAnnouncementRenderer liveChatViewerEngagementMessageRenderer
        liveChatPlaceholderItemRenderer liveChatModeChangeMessageRenderer liveChatAutoModMessageRenderer
        liveChatDonationAnnouncementRenderer liveChatProductItemRenderer creatorHeartRenderer
        addLiveChatTickerItemAction addBannerToLiveChatCommand removeBannerForLiveChatCommand removeChatItemAction
        removeChatItemByAuthorAction markChatItemAsDeletedAction markChatItemsByAuthorAsDeletedAction
        replaceChatItemAction showLiveChatTooltipCommand updateViewershipAction updateTitleAction""".split(),
    # The event reference of Social Stream Ninja.
    "Social Stream": """new_follower followed raid new_subscriber resub subscription_gift cheer donation superchat
        supersticker jeweldonation sponsorship giftpurchase giftredemption membermilestone reward channel_points
        hype_train liked joined left user_banned viewer_update stream_online stream_offline ad_break poll_update
        question pinned thankyou""".split(),
}
WORDS = "text of a person"


def irc(daemon, kind, words, path):
    path.write_text(
        f"@id=i;msg-id={kind};user-id=7;login=ada;display-name=Ada;msg-param-mass-gift-count=2;system-msg="
        f" :tmi.twitch.tv USERNOTICE #kinds" + (f" :{WORDS}\n" if words else "\n"))
    test_corpus.send(daemon, [path])


def event_of(words):
    """Returns an event with the members that any type of EventSub requires."""
    event = {f"{who}_{part}": value for part, value in (("id", "7"), ("login", "ada"), ("name", "Ada")) for who in (
        "user", "chatter_user", "target_user", "from_broadcaster_user")}
    event |= {"broadcaster_user_login": "kinds", "message_id": "m", "id": "i", "title": "t", "bits": 5, "viewers": 3,
              "total": 2, "level": 1, "cumulative_months": 4, "emote_mode": True, "status": "resolved",
              "choices": [{"title": "a", "votes": 1}], "outcomes": [{"id": "1", "title": "a"}],
              "reward": {"title": "Hydrate", "cost": 5}, "raid": {"viewer_count": 3}}
    if words:
        event |= {"message": {"text": WORDS}, "user_input": WORDS}
    return event


def eventsub(daemon, kind, words, path):
    kind, _, notice = kind.partition(" ")
    lines = [[kind, event_of(words) | {"notice_type": notice}]]
    if kind.startswith("channel.poll.") and kind != "channel.poll.begin":
        lines.insert(0, ["channel.poll.begin", event_of(False)])
    if kind == "channel.hype_train.end":
        lines.insert(0, ["channel.hype_train.begin", event_of(False)])
    path.write_text("".join(json.dumps({
        "metadata": {"message_id": f"n{number}", "message_type": "notification",
                     "message_timestamp": "2026-11-23T20:00:00Z"},
        "payload": {"subscription": {"type": name, "condition": {}}, "event": event}}) + "\n"
        for number, (name, event) in enumerate(lines)))
    return test_corpus.ingest(daemon, [path])


def youtube(daemon, kind, words, path):
    written = {"id": "y", "timestampUsec": "1795780001000000", "authorName": {"simpleText": "Ada"},
               "authorExternalChannelId": "UC7", "purchaseAmountText": {"simpleText": "$5"} if "Paid" in kind else None}
    if words:
        written["message"] = {"runs": [{"text": WORDS}]}
    if kind.endswith("Renderer"):
        action = {"addChatItemAction": {"item": {kind: written}}}
    else:
        message = {"liveChatTextMessageRenderer": written}
        action = {kind: {
            "targetItemId": "y", "externalChannelId": "UC7", "replacementItem": message,
            "bannerRenderer": {"liveChatBannerRenderer": {"contents": message}}}}
    path.write_text(json.dumps({"replayChatItemAction": {"actions": [action], "videoOffsetTimeMsec": "1000"}}) + "\n")
    return test_corpus.ingest(daemon, [path])


def room_outcomes(daemon, summary):
    """Yields the contents of the rooms and the names of counted kinds."""
    for room in (daemon.call("GetRoom", room=name) for name in test_corpus.room_names(daemon)):
        features = room["features"]
        chat, activity = features.get("chat") or {}, features.get("activity") or {}
        notices = chat.get("noticeQueue", [])
        yield from (f"notice {row['kind']}" for row in notices)
        for message in chat.get("messages", []):
            if not message.get("kind") or message["kind"] not in {row["kind"] for row in notices}:
                yield f"message ({message['kind']})" if message.get("kind") else "message"
            else:
                yield "its text"
        yield from (row["kind"] for row in activity.get("rows", []) if row["kind"] not in {n["kind"] for n in notices})
        yield from (name for name in ("goals", "hypeTrain", "prediction") if activity.get(name))
        yield from (name for name in ("modes",) if chat.get(name))
        yield from ["moderation"] * bool(chat.get("moderations"))
        yield from ["poll"] * bool(features.get("poll"))
        yield from ["phase " + room["phase"]] * (room["phase"] != "waiting")
        yield from ["title"] * bool(features["header"]["title"])
    yield from (f"counted: {name}" for name in summary.get("notTranslated") or {})


@pytest.fixture(scope="module")
def outcomes(programs, tmp_path_factory):
    """The handling of each kind of each platform, without text and with text."""
    daemon = Daemon(programs, tmp_path_factory.mktemp("livehostd"))
    path, found = daemon.directory / "kind.jsonl", {}
    for platform, feed in (("Twitch IRC", irc), ("EventSub", eventsub), ("YouTube", youtube)):
        for kind, words in itertools.product(KINDS[platform], (False, True)):
            for name in test_corpus.room_names(daemon):
                daemon.call("CloseRoom", room=name)
            before = counted(daemon)
            summary = feed(daemon, kind, words, path) or {}
            new = [f"counted: {name}" for name, count in counted(daemon).items() if count > before.get(name, 0)]
            result = list(dict.fromkeys([*room_outcomes(daemon, summary), *new]))
            found.setdefault((platform, kind), []).append(", ".join(result))
    found |= social_stream(daemon, path)
    assert daemon.stop() == 0
    return found


def counted(daemon):
    return daemon.call("GetStatus").get("unknownKinds") or {}


def social_stream(daemon, path):
    """Sends all kinds over one connection. Each message has a different author."""
    found = {}
    for words in (False, True):
        messages = [
            {"type": "x", "id": number, "chatname": f"p{number}", "event": kind,
             "chatmessage": WORDS if words else "", "meta": {"viewers": 3, "username": f"p{number}"}}
            for number, kind in enumerate(KINDS["Social Stream"])]
        path.write_text(json.dumps(messages))
        result = feeders.social_stream(daemon, [path])
        for number, kind in enumerate(KINDS["Social Stream"]):
            lines = [line for line in result["lines"] if f"p{number}" in json.dumps(line.get("user", {}))
                     or line["type"] == {"viewer_update": "viewers", "liked": "reaction"}.get(kind)]
            shown = [f"{line['type'].removeprefix('chat.')} {line.get('kind', '')}".strip() for line in lines]
            if not shown and kind in (result.get("says") or ""):
                shown = [f"counted: {kind}"]
            found.setdefault(("Social Stream", kind), []).append(", ".join(shown))
    return found


def table(outcomes):
    lines = ["# How the kinds of events of each platform are handled", "",
             "Generated by `Tests/Support/pytest.sh BIN Tests/Corpus/test_kinds.py --write-kinds`. A kind after",
             "\"counted\" has the same name in `livehostctl sources`, `status`, `ingest` and the journal."]
    for platform in KINDS:
        lines += ["", f"## {platform}", "", "| kind | without text | with text |", "| --- | --- | --- |"]
        for kind in KINDS[platform]:
            cells = [cell or QUIET.get((platform, kind), "") for cell in outcomes[platform, kind]]
            lines.append(f"| {kind} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


def test_kinds(outcomes, request, check):
    for (platform, kind), results in outcomes.items():
        known = (platform, kind) in QUIET
        check(f"{platform}: {kind} is shown or counted", all(results) or known, results)
    if request.config.getoption("--write-kinds"):
        TABLE.write_text(table(outcomes))
    check.equal("KINDS.md is up to date", TABLE.read_text() if TABLE.exists() else "", table(outcomes))
