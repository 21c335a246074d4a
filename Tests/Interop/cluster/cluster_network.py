"""Network commands, and a proxy that delays bytes."""
import asyncio
import contextlib
import subprocess
import threading

# The address of the tests in the network that connects the nodes.
HUB = "10.99.0.254"


def sh(command):
    subprocess.run(command.split(), check=True)


def ip(*commands):
    for command in commands:
        sh(f"ip {command}")


class Proxy:
    """Forwards connections, each byte after a delay that tests can change."""

    def __init__(self, port, target):
        self.target, self.delay, self.loop = target, 0.0, asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        asyncio.run_coroutine_threadsafe(asyncio.start_server(self.accepted, HUB, port), self.loop).result()

    async def accepted(self, *near):
        with contextlib.closing(near[1]), contextlib.suppress(OSError):
            far = await asyncio.wait_for(asyncio.open_connection(*self.target), 10)
            await asyncio.gather(self.copy(near[0], far[1]), self.copy(far[0], near[1]))

    async def copy(self, source, target):
        due = 0.0
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                # Bytes stay in order when the delay becomes shorter.
                due = max(due + 1e-6, self.loop.time() + self.delay)
                self.loop.call_at(due, target.write, data)
        self.loop.call_at(max(due + 1e-6, self.loop.time() + self.delay), target.close)
