"""Reads the scripted Twitch of this project's tests with two independent IRC clients, irc and
pydle."""
import asyncio
import collections
import subprocess

import irc.client
import pydle
import pytest
from sources_support import collect, settle

from harness.programs import Program
from harness.serving import start_thread
from harness.waiting import PATIENCE, wait_for

MESSAGES = [("#ada", "bo", f"m{number}") for number in range(200)]
# The orders to the scripted Twitch. The clients do not support RECONNECT, and ignore it.
ORDERS = ["wait 0 JOIN", *(f"say {message}" for _, _, message in MESSAGES), "line 0 PING :tmi.twitch.tv",
          "line 0 :tmi.twitch.tv RECONNECT", "wait 0 PONG", "faults"]


def with_irc(port, found, wait):
    reactor = irc.client.Reactor()

    def record(connection, event):
        found["tags"].append({tag["key"]: tag["value"] for tag in event.tags}.get("id"))
        found["each message once"].append((event.target, event.source.nick, event.arguments[0]))
    for name, handler in [
            ("welcome", lambda connection, _: connection.join("#ada")), ("pubmsg", record),
            ("cap", lambda _, event: found["capabilities"].append(" ".join(event.arguments))),
            ("join", lambda _, event: found["join"].append((event.target, event.source.nick)))]:
        reactor.add_global_handler(name, handler)
    connection = reactor.server().connect("127.0.0.1", port, "justinfan7")
    connection.cap("REQ", "twitch.tv/tags", "twitch.tv/commands")
    start_thread(reactor.process_forever)
    wait()


def with_pydle(port, found, wait):
    class Client(pydle.Client):
        async def on_capability_twitch_tv_tags_available(self, value):
            return True

        async def on_capability_twitch_tv_tags_enabled(self):
            found["capabilities"].append("twitch.tv/tags")

        async def whois(self, nickname):
            """pydle delays a person's first message until the reply, which Twitch never sends."""

        async def on_connect(self):
            await super().on_connect()
            await self.join("#ada")

        async def on_join(self, channel, user):
            found["join"].append((channel, user))

        async def on_channel_message(self, target, by, message):
            found["each message once"].append((target, by, message))

    async def run():
        client = Client("justinfan8", realname="test")
        await asyncio.wait_for(client.connect("127.0.0.1", port), PATIENCE)
        try:
            await asyncio.to_thread(wait)
        finally:
            await asyncio.wait_for(client.disconnect(expected=True), PATIENCE)
    asyncio.run(run())


@pytest.mark.parametrize("name, read, capabilities, nick", [
    ("irc", with_irc, "ACK twitch.tv/tags twitch.tv/commands", "justinfan7"),
    ("pydle", with_pydle, "twitch.tv/tags", "justinfan8")])
def test_independent_clients_read_the_scripted_twitch(check, programs, tmp_path, name, read, capabilities, nick):
    twitch = Program([programs / "ScriptedTwitch"], tmp_path / "log", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     text=True)
    answers, found = collect(twitch.output, str.strip), collections.defaultdict(list)
    wait_for(lambda: answers, "the port of the scripted Twitch")
    twitch.process.stdin.write("".join(order + "\n" for order in ORDERS))
    twitch.process.stdin.flush()

    def wait():
        """Waits until the orders are carried out and the client has read the messages."""
        wait_for(lambda: len(answers) == 4, lambda: f"the end of the orders: {answers}, {found}")
        settle(lambda: len(found["each message once"]), len(MESSAGES))
    read(int(answers[0].split()[1]), found, wait)
    check.equal(f"{name}: the capabilities are granted", found["capabilities"], [capabilities])
    check.equal(f"{name}: the channel is joined", found["join"], [("#ada", nick)])
    check.equal(f"{name}: each message arrives once", found["each message once"], MESSAGES)
    if name == "irc":
        check.equal("irc: each message has its tags", found["tags"], [message for _, _, message in MESSAGES])
    check.equal(f"{name}: the client makes no errors", answers[-1], "faults []")
    twitch.process.stdin.close()
    check.equal(f"{name}: the scripted Twitch exits at the end of its orders", twitch.wait(), 0)
