"""People with personal links: their roles, the limit of their acts, and the end of their access."""
import concurrent.futures
import json
import re
import socketserver
import subprocess
import threading
import types

import pytest
from PIL import Image
from playwright.sync_api import expect

from harness.waiting import wait_for
from harness.web import Page
from web_support import accessible, message, panel

MODERATORS = {
    "Admit": {"room": "main"}, "SetChatFilter": {"room": "main"}, "SetMentionedNames": {"room": "main", "names": []},
    "ScrollChat": {"room": "main", "position": "end"}, "ShowThread": {"room": "main"}, "ShowPerson": {"room": "main"},
    "HandleNotice": {"room": "main", "notice": 1, "handling": "pin"},
    "HandleActivity": {"room": "main", "activity": 1, "handling": "pin"}}
HOSTS = {
    "SetControl": {"room": "main", "control": "camera", "on": True}, "OpenRoom": {"room": "opened"},
    "StartRecording": {"room": "main"}, "StopRecording": {"room": "main"}, "CloseRoom": {"room": "nowhere"},
    "RecordElsewhere": {"room": "main", "wish": "start"}, "DeleteRecording": {"recording": "x"},
    "SendEvents": {"room": "main", "events": []}, "MonitorRequests": {"room": "main", "controls": []},
    "ReportOutcome": {"identifier": "x", "outcome": "confirmed"}, "StartTask": {}, "CancelTask": {"task": "x"},
    "NoSuchMethod": {}}


@pytest.fixture(scope="module")
def people(programs, tmp_path_factory):
    """Runs `livehostctl web people`. Returns the decoded output, or the exit status if it failed."""
    file = tmp_path_factory.mktemp("people") / "people"

    def people(*arguments, status=0):
        run = subprocess.run(
            [programs / "livehostctl", "web", "people", "--json=short", "--file", file, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        assert run.returncode == status, f"{arguments}: {run.returncode} {run.stdout} {run.stderr}"
        return json.loads(run.stdout)
    people.file = file
    people.program = programs / "livehostctl"
    return people


@pytest.fixture(scope="module")
def page(daemon, people):
    """livehost-web with a room `main` and the file of people."""
    page = Page(daemon, "--people", people.file)
    daemon.send({"type": "title", "title": "An evening", "room": "main"},
                {"type": "tap", "control": "camera", "on": False, "room": "main"}, message(1, "good evening"))
    yield page
    assert page.stop() == 0


def invite(people, name, role, *options):
    """Returns the token of a new person."""
    return people("add", name, "--role", role, *options)["link"].rsplit("#t=", 1)[1]


def test_people_are_managed_from_the_command_line(check, people):
    added = people("add", "Zoe", "--role", "viewer", "--expires", "30d", "--url", "https://page.example")
    check("a new link begins with the address, and has a token of 256 bits",
          re.fullmatch(r"https://page\.example/#t=[0-9a-f]{64}", added["link"]), added)
    check("the output names the person", (added["name"], added["role"]) == ("Zoe", "viewer") and added["expires"] > 0, added)
    listed = people()
    check("the list has no secret", {*listed[0]} == {"name", "role", "created", "rotated", "expires", "expired"}, listed)
    rotated = people("rotate", "Zoe", "--role", "moderator", "--expires", "none")
    check("a rotation makes another link", rotated["link"][-64:] != added["link"][-64:], rotated)
    check("a rotation can change role and expiry", (rotated["role"], rotated["expires"]) == ("moderator", None), rotated)
    for arguments, status in [
            (("add", "ZOE", "--role", "host"), 1), (("rotate", "Nobody"), 1), (("revoke", "Nobody"), 1),
            (("add", "A\nB", "--role", "host"), 64), (("add", "Ada"), 64), (("add", "--role", "host"), 64),
            (("add", "Ada", "--role", "owner"), 64), (("add", "Ada", "--role", "host", "--expires", "1999-01-01"), 64),
            (("add", "Ada", "--role", "host", "--expires", "soon"), 64), (("list", "Ada"), 64), (("revoke", "Zoe", "--qr"), 64),
            (("forget", "Zoe"), 64), (("add", "Ada", "--role", "host", "--url", "javascript:x"), 64)]:
        error = subprocess.run(
            [people.program, "web", "people", "--json=short", "--file", people.file, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        check.equal(f"{arguments} is refused", error.returncode, status)
        check(f"the refusal of {arguments} names a reason", error.stderr.strip(), error)
    check.equal("refused changes change nothing", [one["name"] for one in people()], ["Zoe"])
    people("revoke", "zoe")
    check.equal("a revoked person is not listed", people(), [])


def test_each_role_permits_its_methods(check, people, page):
    tokens = {role: invite(people, f"A {role}", role) for role in ("viewer", "moderator", "host")}
    ranks = {"viewer": 0, "moderator": 1, "host": 2}
    for role, token in tokens.items():
        status, reply = page.call("GetRoom", {"room": "main"}, token=token)
        check.equal(f"a {role} reads", status, 200)
        for least, methods in (("moderator", MODERATORS), ("host", HOSTS)):
            for method, parameters in methods.items():
                if method == "MonitorRequests" and role == "host":
                    continue  # It does not end.
                status, reply = page.call(method, parameters, token=token)
                if ranks[role] >= ranks[least]:
                    check(f"a {role} may call {method}", status != 403, reply)
                else:
                    check(f"a {role} may not call {method}", status == 403 and reply["error"] == "right"
                          and (reply["role"], reply["requires"]) == (role, least) and "ask the host" in reply["text"], reply)
        for kind, least in (("say", "moderator"), ("ban", "moderator"), ("setTitle", "host"), ("setShield", "host"),
                            ("unheard-of", "host"), (None, "host"), (["say"], "host")):
            status, reply = page.call("Act", {"room": "main", "kind": kind, "text": "hi"}, token=token)
            check(f"whether a {role} may {kind}", (status != 403) == (ranks[role] >= ranks[least]), reply)
        status, _, _ = page.request("POST", "/api/simulate", {"Content-Type": "application/json"}, "{}", token)
        check.equal(f"whether a {role} may simulate", status, 400 if role == "host" else 403)
        own = json.loads(page.request("GET", "/api/self", token=token)[2])
        check(f"the page of a {role} learns the role", (own["role"], own["name"]) == (role, f"A {role}"), own)
        check(f"the page of a {role} learns the methods", role == "host" or ("SetControl" not in own["methods"]
              and ("Admit" in own["methods"]) == (role == "moderator") == ("say" in own["acts"])), own)
        status, _, _ = page.request("GET", f"/api/status?t={token}")
        check.equal(f"the token of a {role} is refused in an address", status, 401)
        status, _ = page.call("OpenRoom", {"room": "evil"}, token=tokens["viewer"])
        for header in ("X-Role", "X-Livehost-Role", "Role"):
            status, _, _ = page.request("POST", "/api/call/OpenRoom", {"Content-Type": "application/json", header: "host"},
                                        '{"room":"evil","role":"host"}', tokens["viewer"])
            check.equal(f"the header {header} grants nothing", status, 403)
    for method in ("getRoom", "SETCONTROL", "Set%43ontrol", "GetRoom/../SetControl", "GetRoom%2f..%2fSetControl",
                   "io.livehost.Control.SetControl", "SetControl%20", "SetControl."):
        status, _, _ = page.request("POST", f"/api/call/{method}", {"Content-Type": "application/json"},
                                    '{"room":"main","control":"camera","on":true}', tokens["moderator"])
        check(f"the spelling {method} is no way around the table", status in (400, 403, 404), status)
    rooms = [room["room"] for room in page.call("ListRooms")[1]["rooms"]]
    check("refused calls open no room", "opened" in rooms and "evil" not in rooms, rooms)
    for role in tokens:
        people("revoke", f"A {role}")


def test_acts_carry_the_name_of_the_person(check, programs, people, tmp_path):
    """A service in place of the daemon stores the calls."""
    calls = []

    class Service(socketserver.StreamRequestHandler):
        def handle(self):
            data = b""
            while not data.endswith(b"\0"):
                if not (piece := self.request.recv(65_536)):
                    return
                data += piece
            calls.append(json.loads(data[:-1])["parameters"])
            self.wfile.write(b'{"parameters":{"outcome":"sent"}}\0')

    control = tmp_path / "control"
    with socketserver.ThreadingUnixStreamServer(str(control), Service) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        page = Page(types.SimpleNamespace(programs=programs, control=control, directory=tmp_path), "--people", people.file)
        token = invite(people, "Ada Lovelace", "moderator")
        act = {"room": "main", "kind": "say", "text": "hi", "by": "Mallory"}
        status, reply = page.call("Act", act, token=token)
        check.equal("the act reaches the daemon", (status, reply), (200, {"outcome": "sent"}))
        check.equal("the name is that of the person, whatever the call says", calls[-1], {**act, "by": "Ada Lovelace"})
        page.call("Act", act)
        check.equal("the printed link has no name", calls[-1], {key: act[key] for key in ("room", "kind", "text")})
        for kinds in ('"kind":"setTitle","kind":"say"', '"kind":"say","kind":"setTitle"'):
            page.request("POST", "/api/call/Act", {"Content-Type": "application/json"},
                         f'{{"room":"main","text":"x",{kinds}}}', token)
        check("a kind that is given twice is no way around the table",
              all(call["kind"] == "say" for call in calls), calls)
        people("revoke", "Ada Lovelace")
        check.equal("the page ends", page.stop(), 0)
        service.shutdown()


def test_a_flood_of_acts_is_refused_per_person(check, people, page):
    one, other = invite(people, "One", "moderator"), invite(people, "Other", "moderator")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(
            lambda _: page.request("POST", "/api/call/SetMentionedNames", {"Content-Type": "application/json"},
                                   '{"room":"main","names":[]}', one), range(100)))
    statuses = [status for status, _, _ in seen]
    check("a burst passes, and a flood does not", statuses.count(200) >= 20 and 429 in statuses,
          {status: statuses.count(status) for status in set(statuses)})
    headers, body = next((headers, json.loads(body)) for status, headers, body in seen if status == 429)
    check("the refusal states the time to wait", int(headers["Retry-After"]) >= 1 and body["error"] == "flood"
          and 0 < body["waitMs"] <= 10_000, body)
    check.equal("reading is not limited", page.call("GetRoom", {"room": "main"}, token=one)[0], 200)
    check.equal("other people are not affected", page.call("SetMentionedNames", {"room": "main", "names": []}, token=other)[0], 200)
    for name in ("One", "Other"):
        people("revoke", name)


def test_access_ends_with_a_revocation_and_a_rotation(check, people, page, daemon):
    for change, name in (("revoke", "Eve"), ("rotate", "Ida")):
        token = invite(people, name, "viewer")
        connection, reply = page.events(token=token)
        check.equal(f"{change}: the stream is open", reply.status, 200)
        check(f"{change}: the stream has a state", reply.readline() == b"event: state\n")
        people(change, name)
        secret = f"after the {change}"
        daemon.send({"type": "title", "title": secret, "room": "main"})
        rest = reply.read()
        check(f"{change}: the stream ends without the next change", secret.encode() not in rest, rest[-200:])
        connection.close()
        check.equal(f"{change}: the old link is refused", page.call("GetRoom", {"room": "main"}, token=token)[0], 401)
    people("revoke", "Ida")
    token = invite(people, "Uma", "viewer")
    people.file.chmod(0o644)
    check.equal("a file that others can read grants nothing", page.call("GetStatus", token=token)[0], 401)
    check.equal("the printed link is not affected", page.call("GetStatus")[0], 200)
    people.file.chmod(0o600)
    check.equal("access returns with the right permissions", page.call("GetStatus", token=token)[0], 200)
    check("no token is logged", not re.search("[0-9a-f]{64}", page.log.read_text()), page.log)
    people("revoke", "Uma")


def test_a_moderator_sees_what_the_role_permits(check, visit, people, page, daemon):
    token = invite(people, "Mo", "moderator")
    daemon.send({"type": "waiting.join", "user": {"id": "g", "name": "Guest"}, "room": "main"})
    with visit("about:blank") as tab:
        tab.goto(f"{page.base}/#t={token}")
        with check.attempt("a moderator sees the name and the role, and the acts of the chat"):
            expect(tab.locator("#person")).to_have_text("Mo, moderator")
            expect(panel(tab, "waitingRoom").get_by_role("button", name="let in", exact=True)).to_be_visible()
            expect(panel(tab, "chat").locator(".ask")).to_be_visible()
        with check.attempt("a moderator sees no acts of hosts"):
            expect(panel(tab, "control")).to_contain_text("camera")
            expect(panel(tab, "control").get_by_role("button")).to_have_count(0)
            expect(tab.locator("[data-view=simulate]")).to_be_hidden()
            tab.locator("[data-view=list]").click()
            expect(tab.locator("#list form")).to_be_hidden()
            tab.locator("[data-view=screen]").click()
        accessible(tab, "the page of a moderator: ")
        with check.attempt("a revoked link leaves an empty page with a remedy"):
            people("revoke", "Mo")
            daemon.send({"type": "viewers", "count": 3, "room": "main"})
            expect(tab.locator("#connection")).to_contain_text("ask the host for one")
            expect(panel(tab, "header")).to_have_count(0)


def test_acts_are_confirmed_in_place_also_with_one_hand(check, browser, page, daemon):
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab = phone.new_page()
    tab.goto(page.link)
    expect(tab.locator("#connection")).to_have_text("live")
    module = tab.locator("script[src*=app]").get_attribute("src").replace("app.js", "nodes.js")
    tab.evaluate("""async (module) => {
      const { ScreenView } = await import(module);
      const root = document.createElement("section");
      Object.assign(root, { id: "trial", ariaLabel: "trial" });
      document.querySelector("#screen").before(root);
      window.performed = [];
      window.trial = new ScreenView(root, { onAct: async (act, value, text) => window.performed.push([act.label, value, text]) });
      window.draw = (label) => window.trial.draw({ root: 0, views: { 0: { output: { kind: "text", text: "Ada", acts: [
        { label, method: "Act", value: "m1", confirms: true }, { label: "reply", method: "Act", value: "m1", text: "text" },
        { label: "title", method: "Act", input: "text", parameter: "text", confirms: true }] } } } });
      window.draw("ban");
    }""", module)
    trial = tab.locator("#trial")
    performed = lambda: tab.evaluate("() => window.performed")
    with check.attempt("an act that cannot be undone asks in place, and can be cancelled"):
        trial.get_by_role("button", name="ban").tap()
        assert performed() == [], performed()
        tab.evaluate("() => window.draw('ban')")
        trial.get_by_role("button", name="Cancel").tap()
        expect(trial.get_by_role("button", name="ban")).to_be_focused()
        assert performed() == [], performed()
    with check.attempt("a second tap at the same place cancels"):
        box = trial.get_by_role("button", name="ban").bounding_box()
        for _ in range(2):
            tab.touchscreen.tap(box["x"] + 8, box["y"] + box["height"] / 2)
        assert performed() == [], performed()
    with check.attempt("a confirmed act is performed once"):
        trial.get_by_role("button", name="ban").tap()
        trial.get_by_role("button", name="Confirm: ban").tap()
        expect(trial.get_by_role("button", name="ban", exact=True)).to_be_visible()
        assert performed() == [["ban", "m1", None]], performed()
    with check.attempt("a question disappears if another act takes its place"):
        trial.get_by_role("button", name="ban").tap()
        tab.evaluate("() => window.draw('lift')")
        expect(trial.get_by_role("button", name="lift")).to_be_visible()
        expect(trial.get_by_role("button", name="Confirm")).to_have_count(0)
    with check.attempt("an act with a text asks for it"):
        trial.get_by_role("button", name="reply").tap()
        tab.keyboard.type("hello ?")
        trial.get_by_role("button", name="reply").tap()
        assert performed()[-1] == ["reply", "m1", "hello ?"], performed()
        trial.get_by_role("button", name="title").tap()
        tab.keyboard.type("A title")
        tab.keyboard.press("Enter")
        wait_for(lambda: performed()[-1] == ["title", "A title", None], lambda: f"the title: {performed()}")
    with check.attempt("targets are large enough for a finger, and nothing is wider than the screen"):
        for button in trial.get_by_role("button").all():
            assert button.bounding_box()["height"] >= 40, button.text_content()
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= 390
    with check.attempt("a tap on a message shows its buttons"):
        row = panel(tab, "chat").locator(".scrolling > .acting", has_text="good evening")
        row.tap(position={"x": 4, "y": 4})
        expect(row.get_by_role("button").first).to_be_in_viewport()
    with check.attempt("a chosen message does not move, until it is released"):
        before = row.bounding_box()["y"]
        daemon.send(*[message(number, f"line {number}") for number in range(10, 60)])
        expect(panel(tab, "chat")).to_contain_text("line 59")
        # The figures above the list may take another height, but the list does not scroll.
        assert abs(row.bounding_box()["y"] - before) < 30, (row.bounding_box(), before)
        row.tap(position={"x": 4, "y": 4})
        expect(row.get_by_role("button").first).to_be_hidden()
        daemon.send(message(60, "after the release"))
        expect(panel(tab, "chat")).to_contain_text("after the release")
        log = panel(tab, "chat").locator(".scrolling")
        wait_for(lambda: log.evaluate("list => list.scrollHeight - list.scrollTop - list.clientHeight") < 30, "the end")
    accessible(tab, "the page on a phone: ")
    phone.close()


def test_the_qr_code_contains_the_link(check, programs, people, tmp_path):
    link_file, secret = tmp_path / "link", "0123456789abcdef" * 4
    for length in (1, 20, 60, 100, 125):
        base = f"https://{'p' * length}.example"
        link = f"{base}/#t={secret}"
        link_file.write_text(f"{link}\nfor overlays, read-only: {base}/overlay/chat?room=main&t={secret}\n")
        for command in (["web", "link", "--link-file", link_file, "--qr"],
                        ["web", "people", "--file", people.file, "add", "Q", "--role", "viewer", "--qr", "--url", base]):
            output = subprocess.run([programs / "livehostctl", *command], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
            found = decode(output, tmp_path / "code.png")
            check(f"{length}: the code contains the first line of {command[1]}", found == output.split("\n")[0], found)
        people("revoke", "Q")
    run = subprocess.run([programs / "livehostctl", "web", "people", "--file", people.file, "add", "Q", "--role", "viewer", "--qr",
                          "--url", f"https://{'p' * 200}.example"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    check("a link that is too long for a code is still printed", run.returncode == 0 and "/#t=" in run.stdout and "too long" in run.stdout, run)


def decode(output, path):
    """Draws the code as a terminal does, and returns the text that zbar finds."""
    lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in output.split("\n") if "\x1b[97;40m" in line]
    # The upper and the lower half of each character; True is light.
    halves = {"█": (True, True), "▀": (True, False), "▄": (False, True), " ": (False, False)}
    image = Image.new("1", (len(lines[0]), 2 * len(lines)))
    for row, line in enumerate(lines):
        for column, character in enumerate(line):
            for half in (0, 1):
                image.putpixel((column, 2 * row + half), halves[character][half])
    image.resize((image.width * 6, image.height * 6)).save(path)
    found = subprocess.run(["zbarimg", "--quiet", "--raw", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, timeout=60).stdout
    return found.rstrip("\n")
