"""The scripted Twitch of the package's tests, read by IRC clients of others: irc and pydle; for eventsub.py."""
import asyncio
import queue
import subprocess
import threading

import irc.client
import pydle

from sources import LIMIT, until

COUNT = 200


class ScriptedTwitch:
    """The program around the scripted peer."""

    def __init__(self, bin):
        self.process = subprocess.Popen([f"{bin}/ScriptedTwitch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.port = int(self.lines.get(timeout=LIMIT).split()[1])

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        return self.lines.get(timeout=LIMIT)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(LIMIT)


def script(twitch, seen, number):
    """What it is made to do once a client has joined; it is the one with the number."""
    twitch.ask(f"wait {number} JOIN")
    for message in range(COUNT):
        twitch.tell(f"say m{message}")
    until(lambda: len(seen) == COUNT, lambda: f"{len(seen)} of {COUNT} messages")
    twitch.tell(f"line {number} PING :tmi.twitch.tv")
    # Clients do not know it, and go on.
    twitch.tell(f"line {number} :tmi.twitch.tv RECONNECT")
    twitch.ask(f"wait {number} PONG")


def with_irc(test):
    twitch = ScriptedTwitch(test.bin)
    seen, granted, joined = [], [], []
    reactor = irc.client.Reactor()
    reactor.add_global_handler("welcome", lambda connection, event: connection.join("#ada"))
    reactor.add_global_handler("cap", lambda connection, event: granted.append(event.arguments))
    reactor.add_global_handler("join", lambda connection, event: joined.append(event.target))

    def take(connection, event):
        tags = {tag["key"]: tag["value"] for tag in event.tags}
        seen.append((tags.get("id"), event.source.nick, event.arguments[0]))
    reactor.add_global_handler("pubmsg", take)
    connection = reactor.server()
    ended = threading.Event()

    def run():
        connection.connect("127.0.0.1", twitch.port, "justinfan7")
        connection.cap("REQ", "twitch.tv/tags", "twitch.tv/commands")
        while not ended.is_set():
            reactor.process_once(0.05)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    script(twitch, seen, 0)
    faults = twitch.ask("faults")
    ended.set()
    thread.join(LIMIT)
    connection.disconnect()
    test.check("irc reads the scripted Twitch: login, capabilities, join, tags, ping, each message once",
               seen == [(f"m{number}", "bo", f"m{number}") for number in range(COUNT)] and joined == ["#ada"]
               and faults == "faults []" and twitch.end() == 0, (seen[:3], granted, joined, faults))


def with_pydle(test):
    twitch = ScriptedTwitch(test.bin)
    seen = []

    class Client(pydle.Client):
        async def on_connect(self):
            await super().on_connect()
            await self.join("#ada")

        async def on_channel_message(self, target, by, message):
            seen.append((target, by, message))

    async def run():
        client = Client("justinfan8", realname="test")
        await client.connect("127.0.0.1", twitch.port, tls=False)
        try:
            await asyncio.get_running_loop().run_in_executor(None, script, twitch, seen, 0)
        finally:
            await client.disconnect(expected=True)
    asyncio.run(run())
    test.check("pydle reads the scripted Twitch: login, join, ping, each message once",
               seen == [("#ada", "bo", f"m{number}") for number in range(COUNT)] and twitch.end() == 0, seen[:3])


def run(test):
    test.run("irc", lambda: with_irc(test))
    test.run("pydle", lambda: with_pydle(test))
