"""Tests livehostctl connect with a scripted EventSub, and chats that arrive through several
sources.

The script is validated with twitchAPI, an independent client.
"""
import asyncio
import itertools
import json
import random
import socket
import threading
import time

from scripted_eventsub import TIME, TOKENS, ScriptedEventSub, chat_event, gift_event
from sources_support import leaks, settle
from twitchAPI.eventsub.websocket import EventSubWebsocket
from twitchAPI.twitch import Twitch
from twitchAPI.type import AuthScope

from harness.serving import serve_irc
from harness.waiting import PATIENCE, wait_for


def test_an_independent_client_reads_the_scripted_eventsub(check, tmp_path):
    """An independent client reads the scripted server."""
    twitch, seen = ScriptedEventSub(tmp_path, keepalive=10), []

    def script():
        for letter in "ab":
            wait_for(lambda: twitch.subscribed("channel.chat.message"), "the subscription")
            wanted = len(seen) + 50
            for number in range(50):
                twitch.chat(f"{letter}{number}")
            wait_for(lambda: len(seen) == wanted, lambda: f"{wanted} messages, not {len(seen)}")
            if letter == "a":
                twitch.reconnect()

    async def record(data):
        seen.append(data.event.message_id)

    async def run():
        client = await Twitch("client", authenticate_app=False, base_url=twitch.http + "/helix/",
                              auth_base_url=twitch.http + "/oauth2/")
        client.auto_refresh_auth = False
        await client.set_user_authentication(TOKENS[0], [AuthScope.USER_READ_CHAT], validate=False)
        events = EventSubWebsocket(client, connection_url=twitch.ws, subscription_url=twitch.http + "/helix/")
        events.start()
        await events.listen_channel_chat_message("42", "42", record)
        try:
            await asyncio.to_thread(script)
        finally:
            await events.stop()
            await client.close()
    asyncio.run(run())
    check.equal("twitchAPI reads each message of the scripted EventSub once, across a reconnect",
                sorted(seen), sorted(f"{letter}{number}" for letter in "ab" for number in range(50)))


def test_login_twitch_writes_the_login_after_its_confirmation(check, start_source, tmp_path):
    twitch, file = ScriptedEventSub(tmp_path), tmp_path / "login/twitch.json"
    # The lines of this command are not reports.
    login = start_source("login", "twitch", "--client-id", "client", "--file", file, "--auth", twitch.http)
    wait_for(lambda: login.reports, "the code")
    twitch.confirmed = True
    status = login.wait()
    wait_for(lambda: len(login.reports) == 2, "the account")
    written = json.loads(file.read_text())
    check.equal("login twitch shows a code, and writes the login after its confirmation",
                (status, login.reports[0]["code"], login.reports[1], oct(file.stat().st_mode & 0o777),
                 written["accessToken"]), (0, "ABCD-EFGH", {"account": "ada"}, "0o600", TOKENS[0]))


def test_eventsub_messages_count_once_despite_faults(check, daemon, start_source, tmp_path):
    """Runs faults in an order determined by the seed."""
    servers = []
    for seed in (1, 2, 3):
        generator, twitch, room = random.Random(seed), ScriptedEventSub(tmp_path), f"seed{seed}"
        servers.append(twitch)
        source = start_source("connect", "eventsub", "ada", "--room", room, *twitch.arguments)
        source.live()
        cuts, identifiers = 0, (f"m{number}" for number in itertools.count())
        steps = ["say"] * 6 + ["reconnect", "reconnect", "cut", "cut", "expire"]
        generator.shuffle(steps)
        for step in steps:
            if step == "say":
                for _ in range(generator.randrange(20, 200)):
                    twitch.chat(next(identifiers), times=2 if generator.random() < 0.1 else 1)
            elif step == "reconnect":
                twitch.reconnect()
            elif step == "expire":
                twitch.token += 1
            else:
                cuts += 1
                twitch.cut()
                for _ in range(20):
                    twitch.chat(next(identifiers))
                source.live(cuts + 1)
        gaps, most = source.said("gap"), len(twitch.sent)
        # Messages within a gap may be missing. The ends of a gap are whole milliseconds.
        least = sum(not any(gap["from"] - 1 <= sent <= gap["to"] + 1 for gap in gaps) for sent in twitch.sent.values())
        settle(lambda: daemon.total(room) >= least, True)
        total, rejected = daemon.room(room, "features.chat.total", "rejectedByReason")
        found = len(gaps), twitch.faults, source.stop(), rejected
        check(f"schedule {seed} over real sockets: each message counts once, and each gap is reported",
              100 < least <= total <= most and found == (cuts, [], 0, {}),
              f"expected {least} to {most} messages and {(cuts, [], 0, {})}, seen {total} and {found}; "
              f"{source.reports[-3:]}")
    counts = [(one.conflicts, one.renewals) for one in servers]
    check("lost sessions caused conflicting subscriptions (409), and logins were renewed", all(map(sum, zip(*counts))),
          f"expected some of both, seen {counts}")


def test_a_revoked_subscription_is_reported(check, daemon, start_source, tmp_path):
    twitch = ScriptedEventSub(tmp_path)
    source = start_source("connect", "eventsub", "ada", "--room", "revoked", *twitch.arguments)
    source.live()
    twitch.revoke("channel.follow")
    wait_for(lambda: any("channel.follow: revoked" in (one.get("reason") or "") for one in source.reports),
             "the revocation")
    check.equal("a revocation is reported, and the other subscriptions stay",
                (twitch.chat("still"), daemon.settled("revoked", 1)), (True, 1))
    check.equal("the number of viewers is polled", daemon.room("revoked", "features.header.viewers"), [1234])


def irc_lines(messages):
    """Returns the messages m0, m1, ... and 20 gifts, as Twitch sends them over IRC."""
    lines = [f"@id=m{number};user-id=7;display-name=Bo :bo!bo@bo PRIVMSG #ada :hi {number}"
             for number in range(messages)]
    lines += [f"@id=g{number};login=bo;user-id=7;msg-id=submysterygift;msg-param-mass-gift-count=5;"
              f"msg-param-community-gift-id=c{number} :t USERNOTICE #ada" for number in range(20)]
    return "".join(line + "\r\n" for line in lines).encode()


def test_two_sources_for_one_channel_deliver_each_message_once(check, daemon, start_source, tmp_path):
    """Reads a chat over IRC, and the same messages as notifications of EventSub."""
    address = serve_irc(lambda client, _: client.sendall(irc_lines(500)))
    start_source("connect", "twitch", "ada", "--server", address, "--no-tls")
    events = [("channel.chat.message", chat_event(f"m{number}")) for number in range(600)]
    events += [("channel.chat.notification", gift_event(number)) for number in range(20)]
    file = tmp_path / "eventsub.jsonl"
    file.write_text("".join(json.dumps({
        "metadata": {"message_type": "notification", "message_timestamp": TIME},
        "payload": {"subscription": {"type": kind}, "event": event}}) + "\n" for kind, event in events))
    daemon.ctl("ingest", file, "--speed=max")
    wanted = [600, {"duplicate": 520}]
    check.equal("two sources for one channel deliver each message and each gift once",
                settle(lambda: daemon.room("ada", "features.chat.total", "rejectedByReason"), wanted), wanted)


def test_connect_twitch_reads_irc_and_eventsub(check, daemon, start_source, tmp_path):
    """Reads the chat of a channel over IRC and EventSub with one command."""
    twitch, may_say = ScriptedEventSub(tmp_path), threading.Event()
    address = serve_irc(lambda client, _: may_say.wait(PATIENCE) and client.sendall(irc_lines(300)))
    source = start_source("connect", "twitch", "ada", "--room", "both", "--no-tls", "--server", address,
                          *twitch.arguments)
    wait_for(lambda: all(source.said("state", channel=channel, state="live") for channel in ("ada", "ada (events)")),
             "both")
    may_say.set()
    for number in range(400):
        twitch.chat(f"m{number}")
    for number in range(20):
        twitch.tell("channel.chat.notification", event=gift_event(number))
    wanted = [400, {"duplicate": 320}]
    check.equal("connect twitch reads IRC and EventSub, and each message and each gift counts once",
                settle(lambda: daemon.room("both", "features.chat.total", "rejectedByReason"), wanted), wanted)
    check.equal("tokens appear in no argument, log, report or state", [
        place for secret in ("tokenthatnobodymaysee", "renew0")
        for place in leaks(daemon, source, secret, "/proc/[0-9]*/cmdline")], [])


def test_missed_messages_are_requested_from_a_history_service(check, daemon, start_source, tmp_path):
    """Missed messages are requested, and count if they belong to the gap."""
    twitch, clients = ScriptedEventSub(tmp_path), []

    def line(identifier, sent):
        return f"@historical=1;id={identifier};tmi-sent-ts={sent};user-id=7;display-name=Bo :bo!bo@bo PRIVMSG #ada :hi"
    source = start_source("connect", "twitch", "ada", "--room", "past", "--no-tls", "--server",
                          serve_irc(lambda client, _: clients.append(client)), "--history", twitch.http + "/recent")
    source.live()
    now = int(time.time() * 1000)
    clients[0].sendall((line("a", now) + "\r\n").encode())
    daemon.settled("past", 1)
    later = int(time.time() * 1000) + 1_000
    twitch.lines = [line("old", now - 60_000), line("a", later), line("b", later), line("c", later),
                    line("b", later), "nonsense", 5, line("d", later) + "\r\n" + line("e", later)]
    clients[0].shutdown(socket.SHUT_RDWR)
    source.live(2)
    total = daemon.settled("past", 3)
    wait_for(lambda: any(one.get("backfilled") == 2 for one in daemon.show("sources")), "the number")
    check("messages of a gap are requested once from a service, and the gap is reported",
          (total, len(source.said("gap")), len(twitch.asked)) == (3, 1, 1) and int(twitch.asked[0]["after"]) <= later,
          f"expected 3 messages, one gap and one request from {later} at the latest, "
          f"seen {(total, source.said('gap'), twitch.asked)}")


def test_a_login_that_is_not_renewed_ends_the_source(check, start_source, tmp_path):
    """A login that cannot be renewed ends the source."""
    twitch = ScriptedEventSub(tmp_path, renewal=99)
    twitch.token = 5
    source = start_source("connect", "eventsub", "ada", *twitch.arguments)
    check.equal("a source whose login Twitch does not renew exits with 77", source.wait(), 77)
