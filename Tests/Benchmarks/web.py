#!/usr/bin/env python3
"""Measures what browsers cost: `web.py PROGRAMS [SECONDS]`, with a Python that has Playwright; Tests/Support/python.sh
prints the path of one. With --soak behind it, whether it stays the same for SECONDS (600): that needs no browser, and
any python3.

A room gets 300 messages per second. First: from the socket to the state that a client of the daemon sees, without
browsers and with 200 streams of the page at 20 per second; processor time and memory of daemon and livehost-web.
Then: time of the main thread of a page in Chromium, per second.

The soak has the 200 streams from the beginning. It fails if memory or processor time of either program grows behind a
first sixth, in which histories and tables fill, or if a stream ends."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from harness.programs import Daemon, Program  # noqa: E402
from harness.web import Page  # noqa: E402

SOAK = "--soak" in sys.argv
PROGRAMS, *rest = [each for each in sys.argv[1:] if each != "--soak"]
PROGRAMS = pathlib.Path(PROGRAMS).resolve()
SECONDS = float(rest[0]) if rest else 600 if SOAK else 20
STREAMS = 200
TICKS = os.sysconf("SC_CLK_TCK")


def connected(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(path))
    return client


def processor_seconds(program):
    fields = pathlib.Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def mebibytes(program):
    return program.resident() / 2**20


def feed(path, sent, stop):
    """300 messages per second, in 20 batches, the last message of each of which is timed."""
    client, number = connected(path), 0
    due = time.monotonic()
    while not stop.is_set():
        lines = []
        for _ in range(15):
            number += 1
            identifier = f"{os.getpid()}-{time.monotonic_ns()}"
            user = number * 7 % 500
            lines.append({"type": "chat.message", "room": "main", "id": identifier, "text": f"message {number} of a flood",
                          "user": {"id": str(user), "name": f"person_{user}"}})
        sent[number] = time.monotonic()
        client.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
        due += 0.05
        time.sleep(max(0, due - time.monotonic()))


def follow(path, sent, seen, stop):
    """When each message is in the state of the room, by how many it has taken."""
    client = connected(path)
    call = {"method": "io.livehost.Control.MonitorRoom", "parameters": {"room": "main"}, "more": True}
    client.sendall(json.dumps(call).encode() + b"\0")
    rest, before = b"", 0
    while not stop.is_set():
        rest += client.recv(1 << 20)
        *messages, rest = rest.split(b"\0")
        for message in messages:
            # Of the batches of this run only: the room may have taken messages before it.
            now = time.monotonic()
            parameters = json.loads(message)["parameters"]
            state = parameters.get("patch") or parameters.get("room") or {}
            total = state.get("features", {}).get("chat", {}).get("total")
            if total is None:
                continue
            if not sent:
                before = total
            for number in [each for each in list(sent) if each <= total - before and each not in seen]:
                seen[number] = now


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


def measure(name, runtime, processes):
    sent, seen, stop = {}, {}, threading.Event()
    threads = [threading.Thread(target=feed, args=(runtime / "ingest", sent, stop), daemon=True),
               threading.Thread(target=follow, args=(runtime / "io.livehost.Control", sent, seen, stop), daemon=True)]
    threads[1].start()
    time.sleep(1)
    threads[0].start()
    time.sleep(2)
    begun, before = time.monotonic(), {key: processor_seconds(process) for key, process in processes.items()}
    first = max(sent)
    time.sleep(SECONDS)
    elapsed = time.monotonic() - begun
    used = {key: (processor_seconds(process) - before[key]) / elapsed for key, process in processes.items()}
    stop.set()
    ways = sorted((seen[key] - sent[key]) * 1000 for key in sent if key > first and key in seen)
    at = lambda share: ways[min(len(ways) - 1, int(len(ways) * share))]
    costs = ", ".join(f"{key} {used[key]:.0%} of a processor, {mebibytes(process):.0f} MiB" for key, process in processes.items())
    print(f"{name}: socket to state p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms ({len(ways)} times); {costs}", flush=True)
    return at(0.99)


def main_thread(link, runtime):
    from playwright.sync_api import sync_playwright
    sent, stop = {}, threading.Event()
    threading.Thread(target=feed, args=(runtime / "ingest", sent, stop), daemon=True).start()
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
        print("page at 300 messages/s, main thread per second: "
              + ", ".join(f"{name} {per_second(name):.0f} ms" for name in (
                  "TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))
              + f"; heap {after['JSHeapUsedSize'] / 2**20:.1f} MiB, {after['Nodes']:.0f} nodes", flush=True)
        browser.close()
    stop.set()


def slope(samples):
    """How much a figure grows per minute: the least squares over pairs of seconds and figure."""
    times, values = zip(*samples)
    time_mean, value_mean = (sum(each) / len(each) for each in (times, values))
    return 60 * (sum((when - time_mean) * (value - value_mean) for when, value in samples)
                 / sum((when - time_mean) ** 2 for when in times))


def soak(runtime, processes, readers):
    """Whether memory and processor time stay as they are, with all streams, at 300 messages per second."""
    stop, begun, interval = threading.Event(), time.monotonic(), min(5, SECONDS / 24)
    threading.Thread(target=feed, args=(runtime / "ingest", {}, stop), daemon=True).start()
    memory, usage = ({key: [] for key in processes} for _ in range(2))
    before = {key: processor_seconds(process) for key, process in processes.items()}
    at = begun
    while at - begun < SECONDS:
        time.sleep(interval)
        last, at = at, time.monotonic()
        for key, process in processes.items():
            now = processor_seconds(process)
            if at - begun > SECONDS / 6:
                memory[key].append((at - begun, mebibytes(process)))
                usage[key].append((at - begun, 100 * (now - before[key]) / (at - last)))
            before[key] = now
        if int((at - begun) / 60) > int((last - begun) / 60):
            print(f"{at - begun:.0f} s: " + ", ".join(
                f"{key} {mebibytes(process):.1f} MiB" for key, process in processes.items()), flush=True)
    stop.set()
    failures, minutes = 0, (at - begun) * 5 / 6 / 60
    for kind, unit, samples, noise in (("memory", "MiB", memory, 3), ("processor", "points", usage, 3)):
        for key in processes:
            values = [value for _, value in samples[key]]
            mean, growth = sum(values) / len(values), slope(samples[key]) * minutes
            # An allocator that grows by a piece, or a neighbour on the machine, is no slope.
            bound = noise + mean / 20
            failures += growth > bound
            print(f"{'FAILED' if growth > bound else 'ok'}: {kind} of {key}: {min(values):.1f} to {max(values):.1f}, mean {mean:.1f}; "
                  f"it grows by {growth:+.1f} {unit} in {minutes:.1f} minutes, at most {bound:.1f} is noise", flush=True)
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
        runtime = daemon.run
        processes = {"livehostd": daemon, "livehost-web": web}

        def streams():
            readers = Program([sys.executable, "-c", READER, web.port, web.reading, STREAMS],
                              daemon.directory / "readers.log", stdout=subprocess.PIPE, text=True)
            readers.output.readline()
            return readers

        if SOAK:
            soak(runtime, processes, streams())
        without = measure("without browsers", runtime, processes)
        readers = streams()
        with_them = measure(f"{STREAMS} streams at 20/s", runtime, processes)
        print(f"p99 {with_them / without:.2f} x that without browsers")
        readers.stop()
        main_thread(web.link, runtime)


main()
