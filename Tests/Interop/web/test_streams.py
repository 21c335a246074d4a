"""Streams of rooms, and slow clients."""
import contextlib
import gzip
import http.client
import json
import re
import subprocess
import threading
import time

import pytest

from harness.programs import Program, accepts
from harness.waiting import PATIENCE, wait_for
from harness.web import Page
from web_support import message


@pytest.fixture(scope="module", autouse=True)
def unfinished(page):
    """Starts requests that stop in the middle; returns after how many seconds each connection
    was closed. This takes 10 s, while the other tests run."""
    closed, begun = {}, time.monotonic()

    def read(name, client):
        with client, contextlib.suppress(ConnectionError, TimeoutError):
            while client.recv(64):
                pass
            closed[name] = time.monotonic() - begun

    requests = {
        "unfinished headers": "GET / HTTP/1.1\nHost: HOST\nX-Slow: ",
        "a missing body": f"POST /api/call/GetStatus HTTP/1.1\nHost: HOST\nX-Livehost-Token: {page.token}\n"
                                     "Content-Type: application/json\nContent-Length: 9\n\n{",
        "a silent connection": "",
    }
    threads = {name: threading.Thread(target=read, args=(name, page.begin(text)), daemon=True)
               for name, text in requests.items()}
    for thread in threads.values():
        thread.start()
    return threads, closed


def test_the_page_is_small_and_loads_nothing_from_elsewhere(check, page):
    _, headers, body = page.request("GET", "/", {"Accept-Encoding": "gzip"})
    total = len(body)
    policy = headers["Content-Security-Policy"]
    check("the content security policy allows nothing unsafe", "unsafe" not in policy and "default-src 'none'" in policy, policy)
    text = gzip.decompress(body).decode()
    for path in re.findall(r'"(/assets/[^"]+)"', text):
        directory = path.rsplit("/", 1)[0]
        _, headers, body = page.request("GET", path, {"Accept-Encoding": "gzip"})
        total += len(body)
        check(f"{path.rsplit('/')[-1]} may be cached forever", "immutable" in headers["Cache-Control"], headers["Cache-Control"])
        for name in re.findall(r'from "\./([^"]+)"', gzip.decompress(body).decode()):
            total += len(page.request("GET", f"{directory}/{name}", {"Accept-Encoding": "gzip"})[2])
    check("the page has at most 60 kB", 2_000 < total <= 60_000, f"expected 2,000 to 60,000 bytes, seen {total}")
    check("the page loads nothing from other servers", not re.search(r'(?:src|href)="(?:https?:)?//', text))
    check.write(f"{total} bytes")


def test_patches_of_a_stream_add_up_to_the_state(check, page, daemon):
    """Reads the stream like a program: the patches result in the state that GetRoom returns."""
    connection, reply = page.events(query="?rate=20")
    check("a stream has the type of server-sent events", reply.headers["Content-Type"] == "text/event-stream")
    state = {"room": None}

    def merge(value, patch):
        if not isinstance(patch, dict):
            return patch
        value = dict(value) if isinstance(value, dict) else {}
        for name, change in patch.items():
            if change is None:
                value.pop(name, None)
            else:
                value[name] = merge(value.get(name), change)
        return value

    kinds, numbers = [], []
    daemon.send({"type": "viewers", "count": 4711, "room": "main"}, message(9001, "the last one"))
    while True:
        event = {}
        for line in iter(lambda: reply.readline().decode().rstrip("\n"), ""):
            name, _, value = line.partition(": ")
            event[name] = value
        kinds.append(event["event"])
        numbers.append(event.get("id", "-0"))
        data = json.loads(event["data"])
        state["room"] = data if event["event"] == "state" else merge(state["room"], data)
        header = state["room"]["features"]["header"]
        messages = state["room"]["features"].get("chat", {}).get("messages", [])
        if header["viewers"] == 4711 and messages and messages[0]["text"] == "the last one":
            break
    connection.close()
    check("the first event is the state, and later events are patches", kinds[0] == "state" and "state" not in kinds[1:], f"{kinds}")
    instances = {number.rsplit("-", 1)[0] for number in numbers}
    sequence = [int(number.rsplit("-", 1)[1]) for number in numbers]
    check("the events are numbered", len(instances) == 1 and sequence == sorted(set(sequence)), f"{numbers}")


def test_two_hundred_streams_receive_an_update(check, page, daemon):
    """Checks that 200 concurrent streams receive an update. The limit is far higher."""
    connections = []
    for _ in range(200):
        connections.append(page.events(query="?of=screen&rate=20"))
    check.equal("200 streams are open", page.status()["streams"], 200)
    check.equal("200 streams need one call of the daemon", page.status()["rooms"], 1)
    daemon.send({"type": "title", "title": "for all of them", "room": "main"})

    def sees(reply):
        while line := reply.readline():
            if b"for all of them" in line:
                return True
        return False

    check("all 200 streams receive an update", all(sees(reply) for _, reply in connections))
    for connection, _ in connections:
        connection.close()
    with check.attempt("ended streams are no longer counted"):
        wait_for(lambda: page.status()["streams"] == 0, lambda: f"expected no streams, seen {page.status()}")


def test_the_program_ends_although_a_browser_watches(check, daemon):
    """Checks that a watching browser does not delay the end of the program."""
    page = Page(daemon)
    connection, reply = page.events()
    reply.readline()
    with check.attempt("the program ends although a browser watches"):
        page.stop()
        while reply.readline():
            pass
    connection.close()


def events_of(page):
    """Returns a socket with small buffers, on which a stream of the room main begins."""
    return page.begin("GET /api/rooms/main/events?of=screen HTTP/1.1\nHost: HOST\n"
                      f"X-Livehost-Token: {page.reading}\n\n", receive_buffer=4096)


def test_slow_browsers_get_fewer_updates(check, daemon):
    page = Page(daemon, "--patience", "2")
    text = "a long message " * 30
    with check.attempt("a browser that never reads is disconnected and counted"):
        client = events_of(page)
        end = time.monotonic() + PATIENCE
        number = 10_000
        while page.status()["slow"] == 0 and time.monotonic() < end:
            daemon.send(*[message(number + each, text) for each in range(60)])
            number += 60
        status = page.status()
        assert status["slow"] == 1 and status["streams"] == 0, status
        client.close()
    with check.attempt("so is a program that never reads the replies of a call"):
        body = '{"room":"main"}'
        client = page.begin("POST /api/call/MonitorRoom?more=1 HTTP/1.1\nHost: HOST\nContent-Type: application/json\n"
                            f"X-Livehost-Token: {page.reading}\nContent-Length: {len(body)}\n\n{body}", receive_buffer=4096)
        end = time.monotonic() + PATIENCE
        while page.status()["slow"] == 1 and time.monotonic() < end:
            daemon.send(*[message(number + each, text) for each in range(60)])
            number += 60
        assert page.status()["slow"] == 2, page.status()
        client.close()
    page.stop()
    page = Page(daemon)
    with check.attempt("a browser that reads 2 kB/s gets fewer, not later updates, and costs no memory"):
        client = events_of(page)
        daemon.send(*[message(20_000 + each, text) for each in range(60)])
        before, seen = page.resident(), b""
        for second in range(8):
            daemon.send(*[message(21_000 + second * 100 + each, text) for each in range(100)])
            seen += client.recv(2048)
            time.sleep(1)
        grown = page.resident() - before
        daemon.send({"type": "title", "title": "the end of the flood", "room": "main"})
        while b"the end of the flood" not in seen[-100_000:]:
            seen += client.recv(65_536)
        patches = seen.count(b"event: patch")
        check.write(f"{patches} patches in 8 s, {grown >> 10} KiB")
        # At full speed, there would be about 20 per second.
        assert patches < 80 and grown < 32 << 20, f"{patches} patches, {grown} bytes"
        assert page.status()["slow"] == 0, page.status()
        client.close()
    page.stop()


def test_a_demonstration_serves_its_page(check, programs, tmp_path):
    """`livehostctl demo --web`."""
    demo = Program([programs / "livehostctl", "demo", "--web"], tmp_path / "log", {"TMPDIR": str(tmp_path)},
                   stdout=subprocess.PIPE, text=True)
    with check.attempt("a demonstration serves the page"):
        port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#t=([0-9a-f]{64})\n", demo.output.readline()).groups()

        def rooms():
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
            connection.request("POST", "/api/call/ListRooms", "{}",
                               {"X-Livehost-Token": token, "Content-Type": "application/json"})
            return {room["room"] for room in json.load(connection.getresponse())["rooms"]}

        wait_for(lambda: {"main", "examplehost"} <= rooms(), "its rooms")
    with check.attempt("the page ends with the demonstration"):
        demo.stop()
        assert not accepts(("127.0.0.1", int(port))), "the page still accepts connections"


def test_unfinished_requests_are_disconnected(check, unfinished):
    threads, closed = unfinished
    for name, thread in threads.items():
        thread.join(30)
        check(f"{name} is disconnected", closed.get(name, 60) < 30, f"expected less than 30 s, closed after: {closed}")
