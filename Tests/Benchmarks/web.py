#!/usr/bin/env python3
"""Measures the cost of browsers: `web.py PROGRAMS [SECONDS] [--page | --soak]`.

A room gets 300 messages per second. Measures the delay from the socket to the state that a client of the daemon sees,
without browsers and with 200 streams of the page at 20 per second, with the processor time and memory of the daemon
and livehost-web. Then measures the time of the main thread of a page in Chromium, without acts on the messages and with
them. Needs a Python with Playwright, whose path Tests/Support/python.sh prints. --page measures only the page.

--soak runs 200 streams for SECONDS (600). Fails if a stream ends, or if memory or processor time of either program
grows after the first sixth, in which histories and tables fill. Needs no browser and works with any python3."""
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from harness.controller import Platform  # noqa: E402
from harness.ingest import Ingest  # noqa: E402
from harness.programs import Daemon, Program  # noqa: E402
from harness.web import Page  # noqa: E402

SOAK, PAGE = ("--soak" in sys.argv), ("--page" in sys.argv)
PROGRAMS, *rest = [each for each in sys.argv[1:] if each not in ("--soak", "--page")]
PROGRAMS = pathlib.Path(PROGRAMS).resolve()
SECONDS = float(rest[0]) if rest else 600 if SOAK else 20
STREAMS = 200


def mebibytes(program):
    return program.resident() / 2**20


def feed(daemon, sent, stop):
    """Sends 300 messages per second in 20 batches, and times the last message of each batch."""
    ingest, number, due = Ingest(daemon.ingest), 0, time.monotonic()
    ingest.send({"type": "options", "room": "main", "platform": "twitch", "source": "twitch"})
    while not stop.is_set():
        lines = []
        for _ in range(15):
            number += 1
            identifier = f"{os.getpid()}-{time.monotonic_ns()}"
            user = number * 7 % 500
            lines.append({"type": "chat.message", "room": "main", "id": identifier, "text": f"message {number} of a flood",
                          "user": {"id": str(user), "name": f"person_{user}"}})
        sent[number] = time.monotonic()
        ingest.send(*lines)
        due += 0.05
        time.sleep(max(0, due - time.monotonic()))


def follow(daemon, sent, seen, stop):
    """Records when each message reaches the room's state, by the number of applied messages."""
    client, before = daemon.client(), 0
    client.send("MonitorRoom", {"room": "main"}, more=True)
    while not stop.is_set():
        parameters, now = client.receive()["parameters"], time.monotonic()
        state = parameters.get("patch") or parameters.get("room") or {}
        total = state.get("features", {}).get("chat", {}).get("total", 0)
        # Earlier messages of the room do not count.
        before = before if sent else max(before, total)
        seen.update({number: now for number in list(sent) if number <= total - before and number not in seen})


READER = """
import selectors, socket, sys
selector = selectors.DefaultSelector()
port, token, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for _ in range(count):
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(f"GET /api/rooms/main/events?of=screen&rate=20 HTTP/1.1\\r\\nHost: localhost:{port}\\r\\n"
                   f"X-Livehost-Token: {token}\\r\\n\\r\\n".encode())
    client.setblocking(False)
    selector.register(client, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        try:
            if key.fileobj.recv(1 << 18):
                continue
        except ConnectionError:
            pass
        selector.unregister(key.fileobj)
        print("a stream ended", flush=True)
"""


def measure(name, daemon, processes):
    sent, seen, stop = {}, {}, threading.Event()
    threading.Thread(target=follow, args=(daemon, sent, seen, stop), daemon=True).start()
    time.sleep(1)
    threading.Thread(target=feed, args=(daemon, sent, stop), daemon=True).start()
    time.sleep(2)
    begun, before = time.monotonic(), {key: process.processor_seconds() for key, process in processes.items()}
    first = max(sent)
    time.sleep(SECONDS)
    elapsed = time.monotonic() - begun
    used = {key: (process.processor_seconds() - before[key]) / elapsed for key, process in processes.items()}
    stop.set()
    ways = sorted((seen[key] - sent[key]) * 1000 for key in sent if key > first and key in seen)
    at = lambda share: ways[min(len(ways) - 1, int(len(ways) * share))]
    costs = ", ".join(f"{key} {used[key]:.0%} of a processor, {mebibytes(process):.0f} MiB" for key, process in processes.items())
    print(f"{name}: socket to state p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms ({len(ways)} times); {costs}", flush=True)
    return at(0.99)


def main_thread(link, daemon, kind="without acts"):
    from playwright.sync_api import sync_playwright
    stop = threading.Event()
    threading.Thread(target=feed, args=(daemon, {}, stop), daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1600, "height": 900})
        tab.goto(link)
        tab.locator("[data-panel=chat]").wait_for()
        session = tab.context.new_cdp_session(tab)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        metrics = lambda: {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        tab.wait_for_timeout(3000)
        before, begun = metrics(), time.monotonic()
        tab.wait_for_timeout(SECONDS * 1000)
        elapsed, after = time.monotonic() - begun, metrics()
        per_second = lambda name: (after[name] - before[name]) / elapsed * 1000
        print(f"page at 300 messages/s, {kind}, main thread per second: "
              + ", ".join(f"{name} {per_second(name):.0f} ms" for name in (
                  "TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))
              + f"; heap {after['JSHeapUsedSize'] / 2**20:.1f} MiB, {after['Nodes']:.0f} nodes", flush=True)
        browser.close()
    stop.set()


def soak(daemon, processes, readers):
    """Checks that memory and processor time stay constant with all streams at 300 messages per second."""
    stop, begun, interval = threading.Event(), time.monotonic(), min(5, SECONDS / 24)
    threading.Thread(target=feed, args=(daemon, {}, stop), daemon=True).start()
    times, memory, usage = [], *({key: [] for key in processes} for _ in range(2))
    before, at = {key: process.processor_seconds() for key, process in processes.items()}, begun
    while at - begun < SECONDS:
        time.sleep(interval)
        last, at = at, time.monotonic()
        is_counted = at - begun > SECONDS / 6
        times += [at] * is_counted
        for key, process in processes.items():
            now = process.processor_seconds()
            memory[key] += [mebibytes(process)] * is_counted
            usage[key] += [100 * (now - before[key]) / (at - last)] * is_counted
            before[key] = now
        if int((at - begun) / 60) > int((last - begun) / 60):
            print(f"{at - begun:.0f} s: " + ", ".join(
                f"{key} {mebibytes(process):.1f} MiB" for key, process in processes.items()), flush=True)
    stop.set()
    failures, seconds = 0, (at - begun) * 5 / 6
    for kind, unit, samples in (("memory", "MiB", memory), ("processor", "points", usage)):
        for key, values in samples.items():
            mean, growth = statistics.mean(values), statistics.linear_regression(times, values).slope * seconds
            # A growing allocator or another program on the machine causes steps, not a slope.
            bound = 3 + mean / 20
            failures += growth > bound
            print(f"{'FAILED' if growth > bound else 'ok'}: {kind} of {key}: {min(values):.1f} to {max(values):.1f}, mean {mean:.1f}; "
                  f"it grows by {growth:+.1f} {unit} in {seconds / 60:.1f} minutes, at most {bound:.1f} is noise", flush=True)
    readers.stop()
    ended = readers.output.read().count("ended")
    failures += ended > 0
    print(f"{'FAILED' if ended else 'ok'}: {ended} of {STREAMS} streams ended")
    sys.exit(failures > 0)


def main():
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        daemon = Daemon(PROGRAMS, directory)
        stack.callback(daemon.stop)
        daemon.ctl("open", "main")
        web = Page(daemon)
        stack.callback(web.stop)
        processes = {"livehostd": daemon, "livehost-web": web}

        def streams():
            readers = Program([sys.executable, "-c", READER, web.port, web.reading, STREAMS],
                              daemon.directory / "readers.log", stdout=subprocess.PIPE, text=True)
            readers.output.readline()
            return readers

        if SOAK:
            soak(daemon, processes, streams())
        if not PAGE:
            without = measure("without browsers", daemon, processes)
            readers = streams()
            with_them = measure(f"{STREAMS} streams at 20/s", daemon, processes)
            print(f"p99 {with_them / without:.2f} x that without browsers")
            readers.stop()
        main_thread(web.link, daemon)
        with Platform(daemon, "twitch", ["say", "reply", "delete", "timeOut", "ban", "unban", "announce"]):
            main_thread(web.link, daemon, "with acts")


main()
