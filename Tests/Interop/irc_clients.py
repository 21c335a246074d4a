#!/usr/bin/env python3
"""Reads the scripted Twitch of the package's tests with IRC clients of others, irc and pydle: `irc_clients.py PROGRAM`,
where PROGRAM is the scripted Twitch. Ends with `N passed, N failed`.
"""
import asyncio
import logging
import queue
import subprocess
import sys
import threading
import time
import traceback

import irc.client
import pydle

LIMIT = 20
COUNT = 200
MESSAGES = [("#ada", "bo", f"m{number}") for number in range(COUNT)]


class ScriptedTwitch:
    """The program around the scripted peer, for one client."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.port = int(self.answer().split()[1])

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def answer(self):
        try:
            return self.lines.get(timeout=LIMIT)
        except queue.Empty:
            raise TimeoutError(f"no answer of the scripted Twitch for {LIMIT} s") from None

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        return self.answer()

    def play(self, seen):
        """What it is made to do once its client has joined."""
        self.ask("wait 0 JOIN")
        for _, _, message in MESSAGES:
            self.tell(f"say {message}")
        deadline = time.monotonic() + LIMIT
        while len(seen) < COUNT and time.monotonic() < deadline:
            time.sleep(0.01)
        # Clients do not know the second one, and go on.
        self.tell("line 0 PING :tmi.twitch.tv")
        self.tell("line 0 :tmi.twitch.tv RECONNECT")
        self.ask("wait 0 PONG")
        return self.ask("faults")

    def end(self):
        """The exit status once it gets no more orders; if need be it is killed."""
        self.process.stdin.close()
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def with_irc(twitch):
    seen, tags, granted, joined = [], [], [], []
    reactor = irc.client.Reactor()
    reactor.add_global_handler("welcome", lambda connection, event: connection.join("#ada"))
    reactor.add_global_handler("cap", lambda connection, event: granted.append(event.arguments))
    reactor.add_global_handler("join", lambda connection, event: joined.append(event.target))

    def take(connection, event):
        tags.append({tag["key"]: tag["value"] for tag in event.tags}.get("id"))
        seen.append((event.target, event.source.nick, event.arguments[0]))
    reactor.add_global_handler("pubmsg", take)
    ended = threading.Event()

    def run():
        connection = reactor.server()
        connection.connect("127.0.0.1", twitch.port, "justinfan7")
        connection.cap("REQ", "twitch.tv/tags", "twitch.tv/commands")
        while not ended.is_set():
            reactor.process_once(0.05)
        connection.disconnect()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        faults = twitch.play(seen)
    finally:
        ended.set()
        thread.join(LIMIT)
    return {
        "capabilities": granted == [["ACK", "twitch.tv/tags twitch.tv/commands"]], "join": joined == ["#ada"],
        "each message once": seen == MESSAGES, "tags": tags == [message for _, _, message in MESSAGES],
        "no faults": faults == "faults []"}


def with_pydle(twitch):
    seen, granted, joined = [], [], []

    class Client(pydle.Client):
        async def on_capability_twitch_tv_tags_available(self, value):
            return True

        async def on_capability_twitch_tv_tags_enabled(self):
            granted.append("twitch.tv/tags")

        async def whois(self, nickname):
            """pydle holds the first message of a person until this is answered, which Twitch never does."""

        async def on_connect(self):
            await super().on_connect()
            await self.join("#ada")

        async def on_join(self, channel, user):
            joined.append((channel, user))

        async def on_channel_message(self, target, by, message):
            seen.append((target, by, message))

    async def run():
        client = Client("justinfan8", realname="test")
        await asyncio.wait_for(client.connect("127.0.0.1", twitch.port), LIMIT)
        try:
            return await asyncio.get_running_loop().run_in_executor(None, twitch.play, seen)
        finally:
            await asyncio.wait_for(client.disconnect(expected=True), LIMIT)
    faults = asyncio.run(run())
    return {
        "capabilities": granted == ["twitch.tv/tags"], "join": joined == [("#ada", "justinfan8")], "each message once": seen == MESSAGES,
        "no faults": faults == "faults []"}


def main():
    # pydle tells what of Twitch's it does not know.
    logging.disable(logging.CRITICAL)
    passed = failed = 0
    for name, read in [("irc", with_irc), ("pydle", with_pydle)]:
        twitch = ScriptedTwitch(sys.argv[1])
        try:
            results = read(twitch)
        except Exception:
            traceback.print_exc()
            results = {"reads to the end": False}
        results["ends with its orders"] = twitch.end() == 0
        for what, is_so in results.items():
            print(f"{'ok  ' if is_so else 'FAIL'} {name}: {what}")
            passed, failed = passed + is_so, failed + (not is_so)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
