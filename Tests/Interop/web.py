#!/usr/bin/env python3
"""Tests the page: `web.py PROGRAMS [--write]`. Starts a daemon and livehost-web of its own, asks as other programs would, and
drives Debian's Chromium. Ends with `N passed, N failed`. With --write it stores how the page looks."""
import contextlib
import fcntl
import gzip
import html
import http.client
import http.server
import io
import json
import os
import pathlib
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import pyte
import selenium.webdriver
from PIL import Image, ImageChops
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

PROGRAMS = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
# How long something may take on a slow machine, in seconds.
PATIENCE = 30
passed = failed = 0
expect.set_options(timeout=PATIENCE * 1000)


def check(name, condition, details=""):
    global passed, failed
    if condition:
        passed += 1
        print(f"ok: {name}", flush=True)
    else:
        failed += 1
        print(f"FAILED: {name} {details}", flush=True)


@contextlib.contextmanager
def attempt(name):
    """A check that holds unless something is raised."""
    try:
        yield
    except Exception as error:  # Whatever it is, the others are still to be tried.
        check(name, False, f"{type(error).__name__}: {error}".replace("\n", " ")[:600])
    else:
        check(name, True)


def wait(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise TimeoutError(what)


class Daemon:
    """livehostd in a directory of its own, which outlives it."""

    def __init__(self, directory):
        self.run = directory / "run"
        self.state = directory / "state"
        self.control = self.run / "io.livehost.Control"
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [PROGRAMS / "livehostd", "--runtime-dir", self.run, "--state-dir", self.state],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "LIVEHOST_HOLD": "action:header.titleChanged=300"})
        wait(self.answers, "livehostd does not answer")

    def answers(self):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.control))
            return True
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def send(self, *events):
        """Sends events, and returns once they are applied."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.run / "ingest"))
            lines = [*events, {"type": "sync", "token": "t"}]
            client.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
            reply = client.makefile().readline()
            assert '"synced"' in reply, reply

    def ctl(self, *arguments, columns=80):
        return subprocess.run(
            [PROGRAMS / "livehostctl", "--socket", self.control, *arguments], check=True, text=True,
            stdout=subprocess.PIPE, timeout=PATIENCE, env={**os.environ, "COLUMNS": str(columns), "LANG": "C.UTF-8"}).stdout


def message(number, text, name="Ada", room="main"):
    return {"type": "chat.message", "room": room, "id": f"{room}-{number}",
            "user": {"id": name.lower(), "name": name}, "text": text}


class Page:
    """livehost-web, started by livehostctl or, with options, by itself."""

    def __init__(self, daemon, *options, port=0):
        command = ([PROGRAMS / "livehost-web", "--socket", daemon.control, "--json", *options] if options
                   else [PROGRAMS / "livehostctl", "--socket", daemon.control, "--json=short", "web"])
        self.process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.PIPE, text=True)
        links = json.loads(self.process.stdout.readline())
        self.link = links["page"]
        self.reading = links["overlay"].rsplit("t=", 1)[1]
        self.base, self.token = re.fullmatch(
            r"(http://127\.0\.0\.1:\d+)/#t=([0-9a-f]{64})", self.link).groups()
        self.port = int(self.base.rsplit(":", 1)[1])

    def request(self, method, path, headers=None, body=None, token=None):
        """The status, the headers and the body of a reply."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = dict(headers or {})
        if token:
            headers["X-Livehost-Token"] = token
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply.status, reply.headers, content

    def call(self, method, parameters=None, token=None, content_type="application/json"):
        status, _, body = self.request(
            "POST", f"/api/call/{method}", {"Content-Type": content_type}, json.dumps(parameters or {}),
            self.token if token is None else token)
        return status, json.loads(body)

    def raw(self, text):
        """What is answered to bytes that no client would send."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as client:
            client.sendall(text.replace("HOST", f"127.0.0.1:{self.port}").replace("\n", "\r\n").encode("latin-1"))
            reply = b""
            with contextlib.suppress(ConnectionError):
                while piece := client.recv(65_536):
                    reply += piece
            return reply

    def status(self):
        return json.loads(self.request("GET", "/api/status", token=self.reading)[2])

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


def ends_at_once(daemon):
    """A browser that watches does not hold up the end."""
    page = Page(daemon)
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
    connection.request("GET", "/api/rooms/main/events", headers={"X-Livehost-Token": page.reading})
    reply = connection.getresponse()
    reply.readline()
    with attempt("the program ends though a browser watches"):
        page.stop()
        while reply.readline():
            pass
    connection.close()


def events_of(page, receive_buffer=None):
    """A socket on which a stream of the room main begins."""
    client = socket.socket()
    client.settimeout(PATIENCE)
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.connect(("127.0.0.1", page.port))
    client.sendall(f"GET /api/rooms/main/events?of=screen HTTP/1.1\r\nHost: localhost:{page.port}\r\n"
                   f"X-Livehost-Token: {page.reading}\r\n\r\n".encode())
    return client


def resident(process):
    """Memory of a process, in bytes."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) << 10


def slow_clients(daemon):
    page = Page(daemon, "--patience", "2")
    text = "a long message " * 30
    with attempt("a browser that never reads is cut off, and counted"):
        client = events_of(page, receive_buffer=4096)
        end = time.monotonic() + PATIENCE
        number = 10_000
        while page.status()["slow"] == 0 and time.monotonic() < end:
            daemon.send(*[message(number + each, text) for each in range(60)])
            number += 60
        status = page.status()
        assert status["slow"] == 1 and status["streams"] == 0, status
        client.close()
    page.stop()
    page = Page(daemon)
    with attempt("a browser that reads 2 kB/s gets less, not later, and costs no memory"):
        client = events_of(page, receive_buffer=4096)
        daemon.send(*[message(20_000 + each, text) for each in range(60)])
        before, seen = resident(page.process), b""
        for second in range(8):
            daemon.send(*[message(21_000 + second * 100 + each, text) for each in range(100)])
            seen += client.recv(2048)
            time.sleep(1)
        grown = resident(page.process) - before
        daemon.send({"type": "title", "title": "the end of the flood", "room": "main"})
        while b"the end of the flood" not in seen[-100_000:]:
            seen += client.recv(65_536)
        patches = seen.count(b"event: patch")
        print(f"{patches} patches in 8 s, {grown >> 10} KiB")
        # At full speed there would be some 20 per second.
        assert patches < 80 and grown < 32 << 20, f"{patches} patches, {grown} bytes"
        assert page.status()["slow"] == 0, page.status()
        client.close()
    page.stop()


def demonstration():
    """`livehostctl demo --web`."""
    demo = subprocess.Popen([PROGRAMS / "livehostctl", "demo", "--web"], stdout=subprocess.PIPE, text=True)
    with attempt("a demonstration shows the page"):
        base, token = re.fullmatch(r"(http://127\.0\.0\.1:(?:\d+))/#t=([0-9a-f]{64})\n", demo.stdout.readline()).groups()
        port = int(base.rsplit(":", 1)[1])

        def rooms():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("POST", "/api/call/ListRooms", "{}",
                               {"X-Livehost-Token": token, "Content-Type": "application/json"})
            return {room["room"] for room in json.load(connection.getresponse())["rooms"]}

        wait(lambda: {"main", "examplehost"} <= rooms(), "its rooms")
    with attempt("and ends with it"):
        demo.terminate()
        demo.wait(PATIENCE)
        connection = socket.socket()
        assert connection.connect_ex(("127.0.0.1", port)) != 0


# MARK: Programs

def refuses_strangers(page):
    before = page.status()["refused"]
    own = f"127.0.0.1:{page.port}"
    cases = [
        ("another name", {"Host": "evil.example"}, 421, "host"),
        ("a name that was made to mean this machine", {"Host": f"evil.example:{page.port}"}, 421, "host"),
        ("another port", {"Host": "localhost:1"}, 421, "host"),
        ("another page", {"Host": own, "Origin": "http://evil.example"}, 403, "origin"),
        ("a page of another port", {"Host": own, "Origin": "http://127.0.0.1:1"}, 403, "origin"),
        ("a page without an origin", {"Host": own, "Origin": "null"}, 403, "origin"),
        ("another site", {"Host": own, "Sec-Fetch-Site": "cross-site"}, 403, "site"),
        ("another page of the machine", {"Host": own, "Sec-Fetch-Site": "same-site"}, 403, "site"),
    ]
    for name, headers, expected, _ in cases:
        for path in ("/", "/api/rooms/main/events"):
            status, _, _ = page.request("GET", path, headers, token=page.token)
            check(f"{name} is refused for {path}", status == expected, f"{status}")
    for name, token in (("no token", None), ("a wrong token", "0" * 64), ("half a token", page.token[:32])):
        status, _, _ = page.request("GET", "/api/rooms/main/events", token=token)
        check(f"{name} is refused", status == 401, f"{status}")
    status, _, _ = page.request("GET", f"/api/rooms/main/events?t={page.token}")
    check("the token for acting does not count in an address", status == 401, f"{status}")
    status, reply = page.call("OpenRoom", {"room": "evil"}, token=page.reading)
    check("a token for reading does not act", status == 403 and reply["error"] == "right", f"{status} {reply}")
    status, _ = page.call("GetStatus", token=page.reading)
    check("a token for reading reads", status == 200, f"{status}")
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
        status, _ = page.call("OpenRoom", {"room": "evil"}, content_type=kind)
        check(f"a form ({kind}) is refused", status == 415, f"{status}")
    for name, host in (("a name that begins like ours", "HOST.evil.example"), ("a name behind a user", "HOST@evil.example"),
                       ("a name with a path", "HOST/evil.example"), ("a name with a dot", "localhost.:80"), ("no name", "")):
        reply = page.raw(f"GET /?as=raw HTTP/1.1\nHost: {host}\nConnection: close\n\n")
        check(f"{name} is refused", reply[9:12] in (b"400", b"421"), f"{reply[:200]}")
    for name, head in (("two names", "Host: evil.example\nHost: HOST\n"),
                       ("two names, of which the first is ours", "Host: HOST\nHost: evil.example\n"),
                       ("a request without a name", ""),
                       ("lengths that disagree", "Host: HOST\nContent-Length: 5\nTransfer-Encoding: chunked\n")):
        reply = page.raw(f"GET /api/status HTTP/1.1\n{head}X-Livehost-Token: {page.token}\nConnection: close\n\n")
        check(f"{name} is refused", not reply or reply[9:10] == b"4", f"{reply[:200]}")
    reply = page.raw(f"GET http://evil.example/ HTTP/1.1\nHost: evil.example\nConnection: close\n\n")
    check("an address with another name is refused", reply[9:10] == b"4", f"{reply[:200]}")
    for origin in (f"http://127.0.0.1.evil.example:{page.port}", f"http://evil.example@127.0.0.1:{page.port}",
                   f"http://127.0.0.1:{page.port}0", "file://", ""):
        status, _, _ = page.request("GET", "/", {"Host": own, "Origin": origin})
        check(f"the origin '{origin}' is refused", status == 403, f"{status}")
    status, _, _ = page.request("GET", "/", {"Host": own, "Sec-Fetch-Site": "unheard-of"})
    check("an unknown site is refused", status == 403, f"{status}")
    for method in ("PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS"):
        status, headers, _ = page.request(method, "/api/call/OpenRoom", token=page.token)
        check(f"{method} does nothing", status in (400, 404, 405), f"{status}")
        check(f"and {method} allows no other page anything", "Access-Control-Allow-Origin" not in headers, f"{headers}")
    for token, bytes_ in ((page.reading, 65 << 10), (page.token, (8 << 20) + 1)):
        status, _, _ = page.request("POST", "/api/call/GetStatus", {"Content-Type": "application/json"},
                                    b'{"a":"' + b"x" * bytes_ + b'"}', token)
        check(f"{bytes_ >> 10} KiB are refused", status == 413, f"{status}")
    after = page.status()["refused"]
    for reason, least in (("host", 6), ("origin", 6), ("site", 4), ("token", 4), ("right", 1), ("contentType", 3), ("size", 2)):
        check(f"refusals for {reason} are counted", after[reason] - before[reason] >= least, f"{before} {after}")


def takes_no_tricks(page):
    version = re.search(r'"/assets/([^/]+)/app.js', page.request("GET", "/")[2].decode())[1]
    for path in ("/assets/%00", f"/assets/{version}/%2e%2e%2f%2e%2e%2fetc%2fpasswd", f"/assets/{version}/..%5c..%5cetc",
                 f"/assets/{version}/%c0%ae%c0%ae/etc", f"/assets/{version}/app.js%00.css", "/%2e%2e/%2e%2e/etc/passwd",
                 "/api/rooms/%2e%2e%2fstatus/events", "/api/rooms/main%00/events", "/api/call/GetStatus",
                 "/assets/../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/0/app.js", "//etc/passwd",
                 "/overlay/../api/status", "/api/rooms/../../x/events"):
        status, _, body = page.request("GET", path, token=page.token)
        check(f"{path} gives nothing", status in (400, 404, 405) and b"root:" not in body, f"{status}")
    status, _, body = page.request("GET", "/overlay/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    check("an address is not part of a page", b"alert" not in body, f"{body}")
    for method in ("..%2FGetStatus", "org.varlink.service.GetInfo", "GetStatus%00", "GetStatus/../OpenRoom"):
        status, _, _ = page.request("POST", f"/api/call/{method}", {"Content-Type": "application/json"}, "{}", page.token)
        check(f"the method {method} does not exist", status in (400, 404), f"{status}")
    with socket.create_connection(("127.0.0.1", page.port), PATIENCE) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
        reply = client.recv(64)
        check("headers of 100 KB are refused", not reply or b" 4" in reply[:13], f"{reply}")

    def slow(begin):
        client = socket.create_connection(("127.0.0.1", page.port), PATIENCE)
        client.sendall(begin.replace("HOST", f"127.0.0.1:{page.port}").replace("\n", "\r\n").encode())
        return client

    begun = time.monotonic()
    clients = {
        "headers that do not end": slow("GET / HTTP/1.1\nHost: HOST\nX-Slow: "),
        "a body that does not come": slow(f"POST /api/call/GetStatus HTTP/1.1\nHost: HOST\nX-Livehost-Token: {page.token}\n"
                                          "Content-Type: application/json\nContent-Length: 9\n\n{"),
        "a connection on which nothing is sent": slow(""),
    }
    for name, client in clients.items():
        with client, contextlib.suppress(ConnectionError, TimeoutError):
            while client.recv(64):
                pass
        check(f"{name} is cut off", time.monotonic() - begun < PATIENCE, f"{time.monotonic() - begun:.0f} s")
    status, reply = page.call("GetRoom", {"room": "nowhere"})
    check("errors of the daemon are told", status == 404 and reply["error"] == "NoSuchRoom", f"{status} {reply}")
    status, reply = page.call("Nothing")
    check("an unknown method is told", status == 400 and reply["error"] == "MethodNotFound", f"{status} {reply}")
    status, _, _ = page.request("GET", "/api/rooms/nowhere/events", token=page.token)
    check("a room that is not there is told at once", status == 404, f"{status}")


def is_small(page):
    _, headers, body = page.request("GET", "/", {"Accept-Encoding": "gzip"})
    total = len(body)
    policy = headers["Content-Security-Policy"]
    check("nothing unsafe is allowed", "unsafe" not in policy and "default-src 'none'" in policy, policy)
    text = gzip.decompress(body).decode()
    for path in re.findall(r'"(/assets/[^"]+)"', text):
        directory = path.rsplit("/", 1)[0]
        _, headers, body = page.request("GET", path, {"Accept-Encoding": "gzip"})
        total += len(body)
        check(f"{path.rsplit('/')[-1]} is kept", "immutable" in headers["Cache-Control"])
        for name in re.findall(r'from "\./([^"]+)"', gzip.decompress(body).decode()):
            total += len(page.request("GET", f"{directory}/{name}", {"Accept-Encoding": "gzip"})[2])
    check("the page is at most 60 kB", 2_000 < total <= 60_000, f"{total}")
    check("nothing comes from elsewhere", not re.search(r'(?:src|href)="(?:https?:)?//', text))
    print(f"{total} bytes")


def streams_merge(page, daemon):
    """A program that reads the stream: the patches lead to what GetRoom says."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
    connection.request("GET", "/api/rooms/main/events?rate=20", headers={"X-Livehost-Token": page.reading})
    reply = connection.getresponse()
    check("a stream is one", reply.headers["Content-Type"] == "text/event-stream")
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
    check("the state comes first, then patches", kinds[0] == "state" and "state" not in kinds[1:], f"{kinds}")
    instances = {number.rsplit("-", 1)[0] for number in numbers}
    sequence = [int(number.rsplit("-", 1)[1]) for number in numbers]
    check("they are numbered", len(instances) == 1 and sequence == sorted(set(sequence)), f"{numbers}")


def many_streams(page, daemon):
    """200 streams at once all get what is new; another one is told that there are too many only far beyond."""
    connections = []
    for _ in range(200):
        connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
        connection.request("GET", "/api/rooms/main/events?of=screen&rate=20", headers={"X-Livehost-Token": page.reading})
        connections.append((connection, connection.getresponse()))
    check("200 streams are open", page.status()["streams"] == 200, f"{page.status()}")
    check("for which the daemon is asked once", page.status()["rooms"] == 1, f"{page.status()}")
    daemon.send({"type": "title", "title": "for all of them", "room": "main"})

    def sees(reply):
        while line := reply.readline():
            if b"for all of them" in line:
                return True
        return False

    check("all of them see what is new", all(sees(reply) for _, reply in connections))
    for connection, _ in connections:
        connection.close()
    wait(lambda: page.status()["streams"] == 0, "streams that have ended are counted")
    check("streams that have ended are not counted any more", True)


# MARK: The browser

def panel(tab, name):
    return tab.locator(f'section[data-panel="{name}"]')


def shows_a_room(tab, daemon):
    with attempt("the first picture comes"):
        expect(tab.locator("#connection")).to_have_text("live")
        expect(panel(tab, "header")).to_contain_text("An evening")
    with attempt("what changes is shown"):
        daemon.send(message(1, "first of all"), {"type": "viewers", "count": 1234, "room": "main"})
        expect(panel(tab, "chat")).to_contain_text("first of all")
        expect(panel(tab, "header")).to_contain_text("1,234 viewers")
    with attempt("text of strangers is text"):
        daemon.send(message(2, "<b>bold</b><script>alert(1)</script>", name="<img src=x onerror=alert(1)>"))
        expect(panel(tab, "chat")).to_contain_text("<img src=x onerror=alert(1)>")
        assert tab.locator("section img, section script, section b").count() == 0
    with attempt("the token is not in the address"):
        assert "t=" not in tab.url, tab.url


def reads_back(tab, daemon):
    log = panel(tab, "chat").locator(".scrolling")
    with attempt("a part that appears takes nothing from the others"):
        daemon.send({"type": "waiting.join", "user": {"id": "v", "name": "Visitor"}, "room": "main"})
        expect(panel(tab, "waitingRoom")).to_contain_text("Visitor")
        assert tab.locator(".scrolling").count() == 1
        expect(log).to_contain_text("first of all")
        panel(tab, "waitingRoom").get_by_role("button", name="let in", exact=True).click()
        expect(panel(tab, "waitingRoom")).to_contain_text("1 admitted")
    with attempt("who reads back stays there"):
        daemon.send(*[message(100 + number, f"line {number} of many") for number in range(60)])
        expect(log).to_contain_text("line 59 of many")
        log.evaluate("list => { list.scrollTop = 0; }")
        top = log.evaluate("list => list.firstElementChild.textContent")
        daemon.send(message(200, "while reading back"))
        expect(log).to_contain_text("while reading back")
        assert log.evaluate("list => list.scrollTop") < 40
        assert log.evaluate("list => list.firstElementChild.textContent") == top
    with attempt("G goes to the newest"):
        tab.locator("#screen").focus()
        tab.keyboard.press("Shift+G")
        wait(lambda: log.evaluate("list => list.scrollHeight - list.scrollTop - list.clientHeight") < 30, "the end")
    with attempt("space pauses, and continues"):
        tab.locator("#screen").focus()
        tab.keyboard.press("Space")
        daemon.send(message(300, "not yet to be seen"))
        daemon.send({"type": "viewers", "count": 5, "room": "other"})
        expect(tab.locator("#pause")).to_have_text("Continue")
        expect(log).not_to_contain_text("not yet to be seen")
        tab.keyboard.press("Space")
        expect(log).to_contain_text("not yet to be seen")


def acts(tab, daemon):
    with attempt("a switch is turned by mouse"):
        daemon.send({"type": "tap", "control": "camera", "on": False, "room": "main"})
        panel(tab, "control").get_by_role("button", name="turn on").click()
        wait(lambda: json.loads(daemon.ctl("show", "main", "control", "--json=short"))
             ["features"]["control"]["switches"]["camera"], "the switch")
    with attempt("a slider is set by keyboard"):
        daemon.send({"type": "slider", "control": "gain", "phase": "begin", "value": 0.5, "room": "main"},
                    {"type": "slider", "control": "gain", "phase": "end", "value": 0.5, "room": "main"})
        slider = panel(tab, "control").get_by_label("gain")
        slider.focus()
        tab.keyboard.press("End")
        wait(lambda: json.loads(daemon.ctl("show", "main", "control", "--json=short"))
             ["features"]["control"]["values"]["gain"] == 1, "the slider")
    with attempt("a recording is begun and ended"):
        panel(tab, "recorder").get_by_role("button", name="record").click()
        panel(tab, "recorder").get_by_role("button", name="stop").click()
        wait(lambda: '"finished"' in daemon.ctl("record", "list", "main", "--json=short"), "a recording")
    with attempt("what fails is told"):
        daemon.send({"type": "waiting.join", "user": {"id": "w", "name": "Guest"}, "room": "main"})
        button = panel(tab, "waitingRoom").get_by_role("button", name="let in", exact=True)
        expect(button).to_be_visible()
        tab.evaluate("() => { document.querySelector('[data-panel=waitingRoom] .list .acts button').act.value = 'x'; }")
        button.click()
        expect(tab.get_by_role("alert")).to_contain_text("NobodyWaits")
    with attempt("somebody is let in"):
        panel(tab, "waitingRoom").get_by_role("button", name="let all in").click()
        wait(lambda: json.loads(daemon.ctl("show", "main", "waitingRoom", "--json=short"))
             ["features"]["waitingRoom"]["admitted"] == 2, "the guest")


def reads_the_chat(tab, daemon):
    """Filter and thread, by mouse and by keyboard."""
    def chat():
        return json.loads(daemon.ctl("show", "main", "chat", "--json=short"))["features"]["chat"]

    log = panel(tab, "chat").locator(".scrolling")
    daemon.send(message(700, "about trains", name="Bo"), message(701, "about boats", name="Cleo"),
                {**message(702, "more about trains", name="Cleo"), "replyTo": "main-700"})
    with attempt("an answer says whom it answers"):
        expect(log.locator(".acting", has_text="more about trains")).to_contain_text("> Bo:")
    with attempt("the chat is filtered by words, by keyboard"):
        tab.locator("#screen").focus()
        tab.keyboard.press("/")
        tab.keyboard.type("bo")
        # What comes meanwhile takes neither the focus nor what has been written.
        daemon.send(message(703, "meanwhile"))
        expect(log).to_contain_text("meanwhile")
        tab.keyboard.type("ats")
        tab.keyboard.press("Enter")
        wait(lambda: chat().get("filter", {}).get("words") == "boats", "the filter")
        expect(log).not_to_contain_text("about trains")
        expect(log).to_contain_text("about boats")
        panel(tab, "chat").get_by_role("button", name="show all").click()
        expect(log).to_contain_text("about trains")
    with attempt("the buttons of a message show where the mouse is, and open its thread"):
        line = log.locator(".acting", has_text="about trains").first
        tab.mouse.move(0, 0)
        assert line.locator(".acts").evaluate("acts => getComputedStyle(acts).opacity") == "0"
        # Made only then: in a flood they were a quarter of the page's work.
        assert line.locator("button").count() == 0
        line.hover()
        line.get_by_role("button", name="thread").click()
        wait(lambda: chat().get("thread"), "the thread")
        expect(panel(tab, "chat")).to_contain_text("thread:")
        panel(tab, "chat").get_by_role("button", name="close").click()
        expect(panel(tab, "chat")).not_to_contain_text("thread:")
    with attempt("a message is reached by arrows, and its author filtered by"):
        log.focus()
        for _ in range(3):
            tab.keyboard.press("ArrowUp")
        assert tab.evaluate("() => document.activeElement.closest('.acting').textContent.includes('about boats')")
        line = log.locator(".acting:focus-within")
        line.get_by_role("button", name="only this person").focus()
        tab.keyboard.press("Enter")
        wait(lambda: chat().get("filter", {}).get("user") == "cleo", "the filter")
        panel(tab, "chat").get_by_role("button", name="show all").click()
        wait(lambda: not chat().get("filter"), "no filter")


def lists_rooms(tab, daemon):
    with attempt("the list of rooms has the figures of livehostctl"):
        tab.locator("#screen").focus()
        tab.keyboard.press("2")
        expect(tab.locator("#list")).to_be_visible()
        daemon.send({"type": "viewers", "count": 5, "room": "other"})
        rooms = json.loads(daemon.ctl("rooms", "--json=short"))
        assert len(rooms) > 1, rooms
        for room in rooms:
            line = tab.locator("#list tr", has=tab.get_by_role("button", name=room["room"], exact=True))
            for kind in ("received", "coalesced", "rejected"):
                expect(line).to_contain_text(f"{room['counters'][kind]:,}")
            expect(line).to_contain_text(room["phase"].upper())
    with attempt("a room is opened, and shown"):
        tab.get_by_label("New room").fill("fresh")
        tab.locator("#list form").get_by_role("button").click()
        tab.locator("#list table").get_by_role("button", name="fresh").click()
        expect(tab.locator("#screen")).to_be_visible()
        expect(tab.locator("#rooms [aria-current]")).to_have_text("fresh")
        assert "room=fresh" in tab.url, tab.url
    with attempt("the keys are listed, and go back"):
        tab.locator("#screen").focus()
        tab.keyboard.press("?")
        for text in ("pause, and continue", "go to Hangs", "filter the chat by words"):
            expect(tab.get_by_role("dialog")).to_contain_text(text)
        tab.keyboard.press("Escape")
    with attempt("keys work while a button has the focus, which Space presses"):
        tab.locator("[data-view=hangs]").click()
        tab.keyboard.press("2")
        expect(tab.locator("#list")).to_be_visible()
        tab.locator("[data-view=screen]").focus()
        tab.keyboard.press("Space")
        expect(tab.locator("#screen")).to_be_visible()
        expect(tab.locator("#pause")).to_have_text("Pause")
        tab.locator("#rooms").get_by_role("button", name="main").click()


def tells_hangs(tab, daemon, directory):
    with attempt("a hang is told with its action and field"):
        tab.locator("#screen").focus()
        tab.keyboard.press("3")
        daemon.send({"type": "title", "title": "An evening", "room": "slow"},
                    {"type": "title", "title": "Another evening", "room": "slow"})
        line = tab.locator("#hangs tr", has_text="slow")
        expect(line.first).to_contain_text("header.titleChanged")
        # Which of the two depends on how busy the machine is.
        expect(line.first).to_contain_text(re.compile("(MICRO)?HANG"))
        line.first.get_by_role("button", name="why").click()
        why = panel(tab, "why").locator("tr", has_text="HeaderView")
        expect(why).to_contain_text("title")
        expect(why).to_contain_text("it reads the field")
    with attempt("its trace can be saved"):
        with tab.expect_download() as download:
            tab.get_by_role("button", name="Save as trace").click()
        download.value.save_as(directory / "trace.json")
        events = json.loads((directory / "trace.json").read_text())["traceEvents"]
        held = [event for event in events if event["args"]["room"] == "slow"]
        assert held and all(event["ph"] == "X" and event["dur"] >= 250_000 for event in held), events
        assert {event["name"] for event in held} == {"header.titleChanged"}, events


def simulates(tab, daemon, directory):
    scenario = str(ROOT / "config/scenarios/host-screen.yaml")
    report = ["simulate", scenario, "--set", "duration=10s", "--device", "iphone-15-plus", "--json=short"]
    page = tab.locator("#simulate")

    def run(seed):
        tab.get_by_label("Seed", exact=True).fill(seed)
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#report option:checked")).to_contain_text(f"seed {seed}")
        with tab.expect_download() as download:
            page.get_by_role("button", name="Save report").click()
        download.value.save_as(directory / "report.json")
        return json.loads((directory / "report.json").read_text())

    with attempt("a scenario is simulated as by livehostctl"):
        tab.locator("#screen, #hangs").locator("visible=true").focus()
        tab.keyboard.press("4")
        expect(page.get_by_label("iphone-15-plus")).to_be_checked()
        for box in page.locator("#devices input").all():
            box.set_checked(box.get_attribute("value") == "iphone-15-plus")
        tab.get_by_label("Settings").fill("duration=10s")
        assert run("42") == json.loads(daemon.ctl(*report))
        expect(panel(tab, "iphone-15-plus").locator("tr", has_text="hitches").first).to_contain_text("−38.4 %")
        expect(panel(tab, "iphone-15-plus")).to_contain_text("HeaderView")
    with attempt("its trace can be saved, to be opened"):
        tab.get_by_label("with a trace").check()
        run("42")
        with tab.expect_download() as download:
            page.get_by_role("button", name="Save trace").click()
        download.value.save_as(directory / "simulation.trace.json")
        daemon.ctl(*report, "--trace", directory / "other.trace.json")
        ours, theirs = (json.loads((directory / f"{name}.trace.json").read_text()) for name in ("simulation", "other"))
        assert ours["traceEvents"] and ours == theirs, f"{len(ours['traceEvents'])}, {len(theirs['traceEvents'])} events"
        tab.get_by_label("with a trace").uncheck()
    with attempt("a second report is compared with it"):
        assert run("7")["seed"] == 7
        page.get_by_label("compared with").select_option(index=1)
        heads = panel(tab, "iphone-15-plus").locator("th").all_text_contents()
        assert heads[:5] == ["tracked, other", "ignored, other", "tracked", "ignored", "change"], heads
        with tab.expect_download() as download:
            page.get_by_role("button", name="Save page").click()
        download.value.save_as(directory / "report.html")
        assert "<svg" in (directory / "report.html").read_text()
    with attempt("a mistake is told, and a run is cancelled"):
        tab.get_by_label("Settings").fill("durtion=10s")
        page.get_by_role("button", name="Run").click()
        expect(tab.get_by_role("alert")).to_contain_text("unknown key")
        tab.get_by_label("Settings").fill("duration=60m")
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("progressbar")).to_be_hidden()
        wait(lambda: "simulat" not in daemon.ctl("tasks", "--json=short"), "the end of the simulation")
        tab.locator("#simulate").focus()
        tab.keyboard.press("1")


def is_named_in_colour(browser, page, daemon):
    """Names have the colours and badges of their platform."""
    colours = ["#0000FF", "#000000", "#FFFFFF", "#FFFF00", "#1E90FF"]
    people = [{"id": f"c{each}", "name": f"Colour{each}", "color": colour} for each, colour in enumerate(colours)]
    people[0]["badges"] = ["moderator/1", "subscriber/12"]
    daemon.send(*[{"type": "chat.message", "room": "colours", "id": f"c{each}", "user": user, "text": "hello",
                   **({"bits": 100} if each == 0 else {})} for each, user in enumerate(people)])
    luminance = """(colour) => {
      const [red, green, blue] = colour.match(/[0-9.]+/g).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    }"""
    seen = {}
    for scheme in ("light", "dark"):
        with attempt(f"colours that people have chosen can be read, {scheme}"):
            context = browser.new_context(color_scheme=scheme)
            tab = context.new_page()
            tab.goto(f"{page.base}/?room=colours#t={page.token}")
            names = panel(tab, "chat").locator("[data-own]")
            expect(names).to_have_count(len(people))
            expect(names.first).to_have_text("mod Colour0 with 100 bits:")
            expect(names.first.locator(".standing")).to_have_text("mod")
            seen[scheme] = [names.nth(each).evaluate("(name) => getComputedStyle(name).color") for each in range(len(people))]
            ground = panel(tab, "chat").evaluate("(part) => getComputedStyle(part).backgroundColor")
            lights = [tab.evaluate(luminance, each) for each in (ground, *seen[scheme])]
            for colour, light in zip(colours, lights[1:]):
                low, high = sorted((lights[0], light))
                assert (high + 0.05) / (low + 0.05) >= 4.5, f"{colour} on {ground}"
            context.close()
    # Blue is blue on both grounds; only white on white and black on black have to change.
    blues = [[int(part) for part in re.findall(r"\d+", each[0])] for each in seen.values()]
    check("and keep their hue", all(blue > red and blue > green for red, green, blue in blues), f"{seen}")


def marks_emotes(browser, page, daemon):
    """Emotes stand out in the text of a message, and are text."""
    daemon.send({"type": "chat.message", "room": "emotes", "id": "1", "user": {"id": "u", "name": "Ann"},
                 "text": "\U0001F600 <b>Kappa</b> \u202Ex", "emotes": [5, 10, 15, 17]})
    with attempt("emotes stand out in the text of a message, which stays text"):
        tab = browser.new_page()
        tab.goto(f"{page.base}/?room=emotes#t={page.token}")
        marks = panel(tab, "chat").locator("em")
        expect(marks).to_have_text(["Kappa", "\uFFFDx"])
        expect(panel(tab, "chat").locator("b")).to_have_count(0)
        tab.close()


def charts(browser, page, daemon, directory):
    file, begin = directory / "stats.ndjson", 1_700_000_000_000
    live = json.dumps({"type": "stream", "state": "live", "ts": begin}) + "\n"
    file.write_text(live + "".join(json.dumps({
        "type": "stats", "ts": begin + second * 1000, "bitrateKbps": 4000 + 500 * (second // 10 % 4), "framesPerSecond": 60,
        "roundTripMs": 30 + second % 3, "droppedFrames": 0, "congestion": 0.01}) + "\n" for second in range(300)))
    daemon.ctl("ingest", str(file), "--speed", "max", "--room", "charts")
    with attempt("statistics are charts over time, with their scales"):
        tab = browser.new_page()
        tab.goto(f"{page.base}/?room=charts#t={page.token}")
        figures = panel(tab, "liveRoomStats").locator("figure")
        expect(figures).to_have_count(2)
        expect(figures.first.locator("figcaption")).to_contain_text("bitrate")
        expect(figures.first.locator(".high")).to_have_text("5,500")
        expect(figures.first.locator(".low")).to_have_text("4,000")
        expect(figures.first.locator(".since")).to_have_text("5 min ago")
        expect(figures.nth(1).locator("figcaption")).to_contain_text("round trip")
        assert figures.first.locator(".line").get_attribute("d").count("L") > 50
        tab.close()


def meets_another_page(playwright, page):
    """A page of somebody else in the same browser, and a name that was made to mean this machine (DNS rebinding)."""
    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>evil</title>")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"])
    tab = browser.new_page()
    before = page.status()["refused"]
    with attempt("a name that was made to mean this machine gets nothing in a browser"):
        reply = tab.goto(f"http://evil.example:{page.port}/")
        assert reply.status == 421 and "livehost" not in tab.title(), reply.status
        # As seen by a page that was loaded while the name still meant its own machine.
        tab.goto(f"http://evil.example:{server.server_port}/")
        found = tab.evaluate("(to) => fetch(to).then((reply) => reply.text(), () => 'failed')",
                             f"http://evil.example:{page.port}/")
        assert found == "failed", found
        assert page.status()["refused"]["host"] > before["host"]
    with attempt("another page in the same browser reads nothing, and changes nothing"):
        found = tab.evaluate("""async ([base, token]) => {
          const act = { method: "POST", body: '{"room":"evil"}' };
          const tries = {
            read: [`${base}/api/status`, { headers: { "X-Livehost-Token": token } }],
            address: [`${base}/api/status?t=${token}`],
            page: [`${base}/`],
            act: [`${base}/api/call/OpenRoom`, { ...act, headers: { "X-Livehost-Token": token, "Content-Type": "application/json" } }],
            blind: [`${base}/api/call/OpenRoom`, { ...act, mode: "no-cors" }],
          };
          const found = {};
          for (const [name, request] of Object.entries(tries)) {
            found[name] = await fetch(...request).then((reply) => reply.text(), () => "failed");
          }
          return found;
        }""", [page.base, page.token])
        assert {name: text for name, text in found.items() if text not in ("failed", "")} == {}, found
        tab.set_content(f'<form method=post enctype=text/plain action="{page.base}/api/call/OpenRoom">'
                        '<input name=\'{"room":"evil","a":"\' value=\'"}\'></form>')
        tab.locator("form").evaluate("(form) => form.submit()")
        tab.wait_for_load_state()
        rooms = page.call("ListRooms")[1]["rooms"]
        assert "evil" not in [room["room"] for room in rooms], rooms
    browser.close()
    server.shutdown()


def survives(browser, page, tab, daemon):
    with attempt("what is done in one tab is seen in the other"):
        second = browser.new_page()
        second.goto(page.link)
        expect(panel(second, "header")).to_contain_text("An evening")
        daemon.send({"type": "tap", "control": "camera", "on": False, "room": "main"})
        for one, other, word, state in ((second, tab, "turn on", "camera on"), (tab, second, "turn off", "camera off")):
            panel(one, "control").get_by_role("button", name=word, exact=True).click()
            for each in (one, other):
                expect(panel(each, "control")).to_contain_text(state)
        second.locator("#screen").focus()
        second.keyboard.press("Space")
        daemon.send(message(390, "only one of them is paused"))
        expect(panel(tab, "chat")).to_contain_text("only one of them is paused")
        expect(panel(second, "chat")).not_to_contain_text("only one of them is paused")
        second.close()
    with attempt("a daemon that is gone is told"):
        daemon.stop()
        expect(tab.locator("#connection")).to_contain_text("lost")
    with attempt("the page goes on when it is back"):
        daemon.start()
        expect(tab.locator("#connection")).to_have_text("live")
        daemon.send(message(400, "back again"))
        expect(panel(tab, "chat")).to_contain_text("back again")


def hides(browser, page, daemon):
    with attempt("a hidden tab draws nothing, and ends its stream after a while"):
        tab = browser.new_page()
        tab.clock.install()
        tab.goto(page.link)
        expect(panel(tab, "header")).to_contain_text("viewers")
        streams = page.status()["streams"]
        hide = """(isHidden) => {
          Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
        tab.evaluate(hide, True)
        daemon.send({"type": "viewers", "count": 7_777, "room": "main"})
        tab.wait_for_function("() => new Promise((resolve) => setTimeout(() => resolve(true), 0))")
        assert "7,777" not in panel(tab, "header").text_content()
        tab.clock.fast_forward(31_000)
        wait(lambda: page.status()["streams"] == streams - 1, "the end of the stream")
        daemon.send({"type": "viewers", "count": 8_888, "room": "main"})
        tab.evaluate(hide, False)
        expect(panel(tab, "header")).to_contain_text("8,888 viewers")
        assert page.status()["streams"] == streams, page.status()
        tab.close()


def throttled(browser, page, daemon):
    with attempt("at 2 kB/s the page is behind, and right in the end"):
        tab = browser.new_page()
        tab.goto(page.link)
        expect(panel(tab, "header")).to_contain_text("viewers")
        session = tab.context.new_cdp_session(tab)
        network = {"offline": False, "latency": 0, "uploadThroughput": -1}
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {**network, "downloadThroughput": 2048})
        for number in range(20):
            daemon.send(*[message(900_000 + number * 10 + each, f"a flood, wave {number}") for each in range(10)])
        daemon.send({"type": "viewers", "count": 9_999, "room": "main"})
        session.send("Network.emulateNetworkConditions", {**network, "downloadThroughput": -1})
        expect(panel(tab, "header")).to_contain_text("9,999 viewers")
        expect(panel(tab, "chat")).to_contain_text("wave 19")
        expect(tab.locator("#connection")).to_have_text("live")
        tab.close()


def by_selenium(page):
    with attempt("Selenium sees and acts, too"):
        options = selenium.webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox"):
            options.add_argument(argument)
        driver = selenium.webdriver.Chrome(options, selenium.webdriver.ChromeService("/usr/bin/chromedriver"))
        try:
            driver.get(page.link)
            wait(lambda: driver.find_element("id", "connection").text == "● live"
                 or driver.find_element("id", "connection").text == "live", "the stream")
            wait(lambda: "viewers" in driver.find_element("css selector", "[data-panel=header]").text, "the room")
            driver.find_element("css selector", "[data-view=list]").click()
            wait(lambda: "main" in driver.find_element("id", "list").text, "the rooms")
        finally:
            driver.quit()


# How much of a picture may differ: the clock, and what a font renders otherwise.
SHARE = 0.02
PICTURES_OF = ROOT / "Tests/Interop/Pictures"


def stage(daemon):
    """A room to take a picture of: nothing in it moves but the clock."""
    room = {"room": "stage"}
    people = ["Ada", "Grace", "Linus", "Margaret", "Dennis", "Barbara", "Ken", "Radia"]
    texts = ["that filter sounds great", "what key is this in?", "the bass again please", "hello from Lisbon",
             "love it @host", "can you show the patch once more", "wow", "is that the new one?"]
    daemon.send(
        {"type": "title", "title": "Evening stream: building a synthesiser", **room},
        {"type": "stream", "state": "waiting", **room},
        *[{"type": "waiting.join", "user": {"id": f"w{each}", "name": f"Guest {each}"}, **room} for each in range(3)],
        {"type": "stream", "state": "live", **room}, {"type": "viewers", "count": 1204, **room},
        {"type": "reaction", "kind": "heart", "count": 569, **room},
        *[event for name, value in (("gain", 0.24), ("bass", 0.54), ("reverb", 0.37)) for event in (
            {"type": "slider", "control": name, "phase": "begin", "value": value, **room},
            {"type": "slider", "control": name, "phase": "end", "value": value, **room})],
        {"type": "tap", "control": "camera", "on": True, **room}, {"type": "tap", "control": "mute", "on": False, **room},
        {"type": "stats", "bitrateKbps": 5948, "framesPerSecond": 59.9, "droppedFrames": 1, "roundTripMs": 24.3,
         "congestion": 0.013, **room},
        {"type": "poll.begin", "id": "p", "title": "Next patch?", "options": ["Pad", "Lead", "Bass"], **room},
        {"type": "poll.votes", "id": "p", "totals": [39, 26, 7], **room},
        {"type": "chat.notice", "kind": "gift", "user": {"id": "ken", "name": "Ken"}, "count": 5, **room},
        *[{**message(each, texts[each % 8], people[each * 5 % 8]), **room} for each in range(40)])


def looks(browser, page, daemon):
    """The page looks as it did when the pictures were stored."""
    stage(daemon)
    for width, height in ((300, 700), (900, 700), (1600, 900)):
        for scheme in ("light", "dark"):
            name = f"page-{width}-{scheme}.png"
            with attempt(f"{name}: the page looks as it did"):
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                tab = context.new_page()
                tab.goto(f"{page.base}/?room=stage#t={page.token}")
                # The messages of a moment ago are part of a rate.
                expect(panel(tab, "chat")).to_contain_text(" 0/s")
                # Other rooms are not always the same.
                tab.evaluate("() => document.querySelectorAll('#rooms button:not([aria-current])').forEach((each) => each.remove())")
                for part in ("header", "chat"):
                    expect(panel(tab, part).locator(".sparkline")).to_be_visible()
                log = panel(tab, "chat").locator(".scrolling")
                wait(lambda: log.evaluate("list => list.scrollHeight - list.scrollTop - list.clientHeight") < 2, "the end of the chat")
                tab.locator("#pause").click()
                tab.mouse.move(0, 0)
                compare(tab.screenshot(), PICTURES_OF / name)
                context.close()


# What a terminal calls its colours.
COLOURS = {"black": "#14181d", "red": "#ff6b6b", "green": "#4cc38a", "brown": "#f0b94f", "blue": "#7aa2f7", "magenta": "#d08ce0",
           "cyan": "#56c8d8", "white": "#e4e8ec"}
GROUND, TEXT = "#14181d", "#e4e8ec"


def terminal(daemon, columns, rows, until, *arguments):
    """What livehostctl draws on a terminal, as a page."""
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([PROGRAMS / "livehostctl", "--socket", daemon.control, *arguments], stdin=theirs, stdout=theirs,
                               stderr=theirs, env=environment, start_new_session=True)
    os.close(theirs)
    try:
        end = time.monotonic() + PATIENCE
        while not until("\n".join(screen.display)):
            assert time.monotonic() < end, "\n".join(screen.display)
            if select.select([ours], [], [], 0.1)[0]:
                # The emulator knows no faint text.
                stream.feed(re.sub(rb"\x1b\[0((?:;1)?);2((?:;7)?)m", b"\x1b[0\\1\\2;38;2;139;148;160m", os.read(ours, 1 << 16)))
    finally:
        os.write(ours, b"q")
        process.wait(PATIENCE)
        os.close(ours)

    def colour(name, default):
        return default if name == "default" else COLOURS.get(name, f"#{name}")

    def cell(character):
        front, back = colour(character.fg, TEXT), colour(character.bg, GROUND)
        if character.reverse:
            front, back = back, front
        return (f'<span style="color:{front};background:{back};font-weight:{700 if character.bold else 400}">'
                f"{html.escape(character.data)}</span>")

    lines = ["".join(cell(screen.buffer[row][column]) for column in range(columns)) for row in range(rows)]
    return (f'<pre style="display:inline-block;margin:0;padding:12px;background:{GROUND};font:14px/1.25 \'DejaVu Sans Mono\'">'
            + "\n".join(lines) + "</pre>")


def looks_elsewhere(browser, daemon, directory):
    """The terminal and a report look as they did."""
    with attempt("terminal.png: the terminal looks as it did"):
        picture = terminal(daemon, 110, 32, lambda text: " 0/s" in text and "LIVE" in text and "reverb" in text, "watch", "stage")
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tab.set_content(f"<body style='margin:0'>{picture}")
        compare(tab.locator("pre").screenshot(), PICTURES_OF / "terminal.png")
        tab.close()
    page = directory / "report-of-four.html"
    subprocess.run([PROGRAMS / "livehostctl", "simulate", "--local", ROOT / "config/scenarios/host-screen.yaml", "--html", page],
                   stdout=subprocess.DEVNULL, timeout=10 * PATIENCE)
    for scheme in ("light", "dark"):
        with attempt(f"report-{scheme}.png: a report looks as it did"):
            context = browser.new_context(viewport={"width": 1000, "height": 900}, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(page.as_uri())
            compare(tab.screenshot(), PICTURES_OF / f"report-{scheme}.png")
            context.close()
    with attempt("a report fits on a telephone, and axe has nothing to say"):
        context = browser.new_context(viewport={"width": 360, "height": 700})
        tab = context.new_page()
        tab.goto(page.as_uri())
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360
        accessible(tab, "the report")
        context.close()


def compare(picture, path):
    seen = Image.open(io.BytesIO(picture)).convert("RGB")
    if "--write" in sys.argv:
        path.parent.mkdir(exist_ok=True)
        seen.quantize(128).save(path, optimize=True)
        return
    stored = Image.open(path).convert("RGB")
    assert seen.size == stored.size, f"{seen.size}, stored {stored.size}"
    # The stored one has few colours, to be small.
    differences = ImageChops.difference(seen, stored).convert("L").point(lambda value: 255 if value > 40 else 0)
    share = differences.histogram()[255] / (seen.width * seen.height)
    print(f"{path.name}: {share:.2%} differ")
    if share > SHARE:
        seen.save(f"/tmp/{path.name}")
    assert share <= SHARE, f"{share:.1%} of the pixels differ; /tmp/{path.name}; if that is right, web.sh PROGRAMS --write"


def fits(browser, page):
    for width, height in ((300, 700), (900, 700), (1600, 900)):
        for scheme in ("light", "dark"):
            with attempt(f"{width} pixels, {scheme}: nothing sticks out, and axe has nothing to say"):
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                tab = context.new_page()
                tab.goto(page.link)
                expect(tab.locator("#connection")).to_have_text("live")
                for view, content in (("screen", "[data-panel=chat]"), ("list", "#list tr"), ("hangs", "#hangs tr"),
                                      ("simulate", "#devices input")):
                    tab.locator(f"[data-view={view}]").click()
                    expect(tab.locator(content).first).to_be_visible()
                    wide = tab.evaluate("() => document.documentElement.scrollWidth")
                    assert wide <= width, f"{view} is {wide} pixels wide"
                    out = tab.evaluate("() => [...document.querySelectorAll('#screen .panel > div')]"
                                       ".filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)")
                    assert not out, f"{out} stick out of their panels"
                    if view == "list":
                        # A table gives up columns before it is cut off.
                        expect(tab.locator("#list th", has_text="rejected")).to_be_visible(visible=width > 400)
                        lines = [each.get_attribute("d") for each in tab.locator("#list .sparkline .line").all()]
                        assert all("L" in line for line in lines), "a history of one sample is a level line"
                    accessible(tab, view)
                context.close()


def accessible(tab, name):
    violations = Axe().run(tab).response["violations"]
    assert not violations, name + json.dumps([
        (one["id"], one["nodes"][0]["target"], one["nodes"][0].get("failureSummary")) for one in violations])


# Bars and histories, which are pictures on the page; and the brackets that stand for the frame of a badge.
PICTURES = str.maketrans({**{picture: " " for picture in "▁▂▃▄▅▆▇█░"}, "[": " ", "]": " "})

WORDS_OF_THE_PAGE = """() => {
  const words = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node.nodeType === Node.TEXT_NODE ? NodeFilter.FILTER_ACCEPT
        : node.matches("button, h2, figure, [hidden]") || !node.checkVisibility() ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_SKIP);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode.data);
    return found.join(" ");
  };
  const parts = [...document.querySelectorAll("#screen section")].map((part) => [part.querySelector("h2").textContent, words(part)]);
  const head = [...document.querySelectorAll("#screen > .column > :not(section)")].map(words).join(" ");
  return { ...Object.fromEntries(parts), head, foot: words(document.getElementById("foot")) };
}"""


def words(text):
    return text.translate(PICTURES).split()


def words_of_the_terminal(daemon, room):
    """What `livehostctl show` prints, by the titles of the parts."""
    blocks = [block.split("\n") for block in daemon.ctl("show", room, columns=100_000).strip("\n").split("\n\n")]
    head, *parts, foot = blocks
    found = {title: words("\n".join(lines)) for title, *lines in parts}
    return {**found, "head": words(head[0])[1:], "foot": words("\n".join(foot))}


def first_difference(left, right):
    at = next((at for at, (one, other) in enumerate(zip(left, right)) if one != other), min(len(left), len(right)))
    return left[at:at + 8], right[at:at + 8]


def is_the_terminals(browser, page, daemon, room):
    """The words of the page are those of the terminal, part by part and in their order."""
    with attempt(f"{room}: the page shows what the terminal shows"):
        tab = browser.new_page(viewport={"width": 1600, "height": 900})
        tab.goto(f"{page.base}/?room={room}#t={page.token}")
        expect(tab.locator("#connection")).to_have_text("live")

        def same():
            before = {title: words(text) for title, text in tab.evaluate(WORDS_OF_THE_PAGE).items()}
            terminal = words_of_the_terminal(daemon, room)
            after = {title: words(text) for title, text in tab.evaluate(WORDS_OF_THE_PAGE).items()}
            same.difference = {
                title: first_difference(after.get(title, []), terminal.get(title, []))
                for title in {*after, *terminal} if after.get(title, []) != terminal.get(title, [])}
            # The clock of a room goes on: only what does not change meanwhile can be compared.
            return before == after and not same.difference and after

        try:
            found = wait(same, "the same")
        except TimeoutError:
            raise AssertionError(f"page and terminal: {same.difference}") from None
        print(f"{room}: {len(found)} parts, {sum(len(text) for text in found.values())} words")
        tab.close()


def simulated_host(directory):
    """Some seconds of the simulated host, as a demonstration plays it: a recording of its room."""
    demo = subprocess.Popen([PROGRAMS / "livehostctl", "demo", "--web"], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": str(directory)})
    try:
        demo.stdout.readline()
        control = next(directory.glob("*/run/io.livehost.Control"))

        def ctl(*arguments):
            return subprocess.run([PROGRAMS / "livehostctl", "--socket", control, *arguments], check=True, text=True,
                                  stdout=subprocess.PIPE, timeout=PATIENCE).stdout

        wait(lambda: '"main"' in ctl("rooms", "--json=short"), "the room")
        recording = ctl("record", "start", "main").strip()
        wait(lambda: json.loads(ctl("record", "list", "main", "--json=short"))[-1]["events"] > 300, "events")
        ctl("record", "stop", "main")
        return ctl("record", "export", recording)
    finally:
        demo.terminate()
        demo.wait(PATIENCE)


def agrees_with_the_terminal(browser, page, daemon, directory):
    daemon.ctl("ingest", str(ROOT / "config/recordings/chat-burst.irc.gz"), "--speed", "max")
    host = directory / "host.ndjson"
    with attempt("the simulated host is recorded"):
        host.write_text(simulated_host(directory))
        daemon.ctl("ingest", str(host), "--speed", "max", "--room", "simulated")
    is_the_terminals(browser, page, daemon, "examplehost")
    is_the_terminals(browser, page, daemon, "simulated")


def overlays(browser, page, daemon, directory):
    with attempt("an overlay shows its part, on nothing"):
        tab = browser.new_page()
        tab.goto(f"{page.base}/overlay/chat?room=main&t={page.reading}")
        daemon.send(message(500, "on the stream"))
        expect(tab.locator("body")).to_contain_text("on the stream")
        expect(panel(tab, "header")).to_be_hidden()
        assert tab.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
        tab.close()
    with attempt("an overlay waits for its room"):
        tab = browser.new_page()
        tab.goto(f"{page.base}/overlay/chat?room=later&t={page.reading}")
        wait(lambda: page.request("GET", f"/api/rooms/later/events?t={page.reading}")[0] == 404, "no such room")
        daemon.send(message(1, "in a room that was opened later", room="later"))
        expect(tab.locator("body")).to_contain_text("in a room that was opened later")
        tab.close()
    with attempt("an overlay goes on after a restart of the program"):
        options = ("--overlay-token-file", str(directory / "overlay-token"))
        first = Page(daemon, *options)
        tab = browser.new_page()
        tab.goto(f"{first.base}/overlay/chat?room=main&t={first.reading}")
        expect(tab.locator("body")).to_contain_text("on the stream")
        first.stop()
        second = Page(daemon, *options, port=first.port)
        try:
            assert second.reading == first.reading and second.token != first.token
            daemon.send(message(501, "after the restart"))
            expect(tab.locator("body")).to_contain_text("after the restart")
        finally:
            second.stop()
            tab.close()


def main():
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon(pathlib.Path(directory))
        daemon.start()
        page = None
        try:
            page = Page(daemon)
            daemon.send({"type": "title", "title": "An evening", "room": "main"},
                        {"type": "stream", "state": "waiting", "room": "main"})
            refuses_strangers(page)
            takes_no_tricks(page)
            is_small(page)
            streams_merge(page, daemon)
            many_streams(page, daemon)
            ends_at_once(daemon)
            slow_clients(daemon)
            demonstration()
            daemon.send({"type": "title", "title": "An evening", "room": "main"})
            with sync_playwright() as playwright:
                # As root, in whose place CI runs, Chromium has no sandbox of its own.
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
                tab = browser.new_page()
                tab.set_default_timeout(PATIENCE * 1000)
                errors = []
                tab.on("pageerror", lambda error: errors.append(str(error)))
                tab.on("console", lambda line: line.type == "error" and errors.append(line.text))
                tab.goto(page.link)
                shows_a_room(tab, daemon)
                reads_back(tab, daemon)
                acts(tab, daemon)
                reads_the_chat(tab, daemon)
                lists_rooms(tab, daemon)
                tells_hangs(tab, daemon, pathlib.Path(directory))
                simulates(tab, daemon, pathlib.Path(directory))
                overlays(browser, page, daemon, pathlib.Path(directory))
                is_named_in_colour(browser, page, daemon)
                marks_emotes(browser, page, daemon)
                charts(browser, page, daemon, pathlib.Path(directory))
                meets_another_page(playwright, page)
                agrees_with_the_terminal(browser, page, daemon, pathlib.Path(directory))
                looks(browser, page, daemon)
                looks_elsewhere(browser, daemon, pathlib.Path(directory))
                hides(browser, page, daemon)
                throttled(browser, page, daemon)
                by_selenium(page)
                fits(browser, page)
                check("the page has no errors", not [e for e in errors if not re.search("status of 4(00|04|09)", e)], f"{errors}")
                survives(browser, page, tab, daemon)
                browser.close()
        finally:
            if page:
                page.stop()
            if daemon.process:
                daemon.stop()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
