"""Requests that livehost-web refuses: from other programs, from another page in the same
browser, and malformed ones."""
import re
import socket

from harness.serving import serve_http
from harness.waiting import PATIENCE


def test_requests_of_strangers_are_refused(check, page):
    before = page.status()["refused"]
    own = f"127.0.0.1:{page.port}"
    room = "/api/rooms/main/events"
    for name, headers, status in [
            ("another name", {"Host": "evil.example"}, 421),
            ("a foreign name that resolves to this machine", {"Host": f"evil.example:{page.port}"}, 421),
            ("another port", {"Host": "localhost:1"}, 421),
            ("another port of the address", {"Host": "127.0.0.1:1"}, 421),
            ("the address for all interfaces", {"Host": f"0.0.0.0:{page.port}"}, 421),
            ("another page", {"Origin": "http://evil.example"}, 403),
            ("a page on another port", {"Origin": "http://127.0.0.1:1"}, 403),
            ("a page without an origin", {"Origin": "null"}, 403),
            ("another site", {"Sec-Fetch-Site": "cross-site"}, 403),
            ("another page on this machine", {"Sec-Fetch-Site": "same-site"}, 403),
            ("an unknown site", {"Sec-Fetch-Site": "unheard-of"}, 403),
            *((f"the origin '{origin}'", {"Origin": origin}, 403) for origin in (
                f"http://127.0.0.1.evil.example:{page.port}", f"http://evil.example@127.0.0.1:{page.port}",
                f"http://127.0.0.1:{page.port}0", "file://", ""))]:
        for path in ("/", room):
            seen, _, _ = page.request("GET", path, {"Host": own, **headers}, token=page.token)
            check.equal(f"{name} is refused for {path}", seen, status)
    for name, token in (("no token", None), ("a wrong token", "0" * 64), ("half a token", page.token[:32])):
        status, _, _ = page.request("GET", room, token=token)
        check.equal(f"{name} is refused", status, 401)
    status, _, _ = page.request("GET", f"/api/rooms/main/events?t={page.token}")
    check.equal("an acting token in the address is refused", status, 401)
    status, reply = page.call("OpenRoom", {"room": "evil"}, token=page.reading)
    check("a token for reading does not act", status == 403 and reply["error"] == "right", f"{status} {reply}")
    status, _ = page.call("GetStatus", token=page.reading)
    check.equal("a token for reading reads", status, 200)
    # The router ignores empty components of a path.
    for prefix in ("//api", "///api", "/api/", "//api//", f"http://{own}//api", "/%61pi", "/api%2f", "/./api", "/x/../api", "/API"):
        for token, statuses in ((None, (401, 404)), (page.reading, (403, 404))):
            status, _, body = page.request(
                "POST", f"{prefix}/call/OpenRoom", {"Content-Type": "application/json"}, '{"room":"evil"}', token)
            check(f"{prefix} is no way around the token", status in statuses, f"expected one of {statuses}, seen {status} {body}")
        status, _, body = page.request("GET", f"{prefix}/rooms/main/events")
        check(f"{prefix} opens no stream without a token", status in (401, 404), f"{status} {body}")
    rooms = [room["room"] for room in page.call("ListRooms")[1]["rooms"]]
    check("no room was opened", "evil" not in rooms, rooms)
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
        status, _ = page.call("OpenRoom", {"room": "evil"}, content_type=kind)
        check.equal(f"a form ({kind}) is refused", status, 415)
    hosts = {"a name that begins like ours": "HOST.evil.example", "a name behind a user": "HOST@evil.example",
             "a name with a path": "HOST/evil.example", "a name with a dot": "localhost.:80", "no name": ""}
    token = f"X-Livehost-Token: {page.token}\n"
    for name, status, head in [
            *((name, (b"400", b"421"), f"/?as=raw HTTP/1.1\nHost: {host}\n") for name, host in hosts.items()),
            *((name, (b"", b"4"), f"/api/status HTTP/1.1\n{head}{token}") for name, head in {
                "two names": "Host: evil.example\nHost: HOST\n", "a request without a name": "",
                "two names, the first of which is correct": "Host: HOST\nHost: evil.example\n",
                "contradictory lengths": "Host: HOST\nContent-Length: 5\nTransfer-Encoding: chunked\n"}.items()),
            ("an address with another name", (b"4",), "http://evil.example/ HTTP/1.1\nHost: evil.example\n")]:
        reply = page.raw(f"GET {head}Connection: close\n\n")
        seen = reply[9:9 + len(status[-1])]
        check(f"{name} is refused", seen in status, f"expected {status}, seen {reply[:200]}")
    for method in ("PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS"):
        status, headers, _ = page.request(method, "/api/call/OpenRoom", token=page.token)
        check(f"{method} has no effect", status in (400, 404, 405), f"expected one of (400, 404, 405), seen {status}")
        check(f"{method} grants no access to other pages", "Access-Control-Allow-Origin" not in headers, f"{headers}")
    for token, bytes_ in ((page.reading, 65 << 10), (page.token, (8 << 20) + 1)):
        status, _, _ = page.request("POST", "/api/call/GetStatus", {"Content-Type": "application/json"},
                                    b'{"a":"' + b"x" * bytes_ + b'"}', token)
        check.equal(f"{bytes_ >> 10} KiB are refused", status, 413)
    after = page.status()["refused"]
    for reason, least in (("host", 6), ("origin", 6), ("site", 4), ("token", 4), ("right", 1), ("contentType", 3), ("size", 2)):
        check(f"refusals for {reason} are counted", after[reason] - before[reason] >= least,
              f"expected at least {least} more, seen {before[reason]}, then {after[reason]}")


def test_malformed_requests_return_no_file(check, page):
    version = re.search(r'"/assets/([^/]+)/app.js', page.request("GET", "/")[2].decode())[1]
    for path in ("/assets/%00", f"/assets/{version}/%2e%2e%2f%2e%2e%2fetc%2fpasswd", f"/assets/{version}/..%5c..%5cetc",
                 f"/assets/{version}/%c0%ae%c0%ae/etc", f"/assets/{version}/app.js%00.css", "/%2e%2e/%2e%2e/etc/passwd",
                 "/api/rooms/%2e%2e%2fstatus/events", "/api/rooms/main%00/events", "/api/call/GetStatus",
                 "/assets/../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/0/app.js", "//etc/passwd",
                 "/overlay/../api/status", "/api/rooms/../../x/events"):
        status, _, body = page.request("GET", path, token=page.token)
        check(f"{path} returns no file", status in (400, 404, 405) and b"root:" not in body, f"expected one of (400, 404, 405), seen {status}")
    status, _, body = page.request("GET", "/overlay/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    check("a response does not contain the requested address", b"alert" not in body, f"{body}")
    for method in ("..%2FGetStatus", "org.varlink.service.GetInfo", "GetStatus%00", "GetStatus/../OpenRoom"):
        status, _, _ = page.request("POST", f"/api/call/{method}", {"Content-Type": "application/json"}, "{}", page.token)
        check(f"the method {method} does not exist", status in (400, 404), f"expected one of (400, 404), seen {status}")
    with socket.create_connection(("127.0.0.1", page.port), PATIENCE) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
        reply = client.recv(64)
        check("headers of 100 KB are refused", not reply or b" 4" in reply[:13], f"{reply}")
    status, reply = page.call("GetRoom", {"room": "nowhere"})
    check("an error of the daemon is returned", status == 404 and reply["error"] == "NoSuchRoom", f"{status} {reply}")
    status, reply = page.call("Nothing")
    check("an unknown method is an error", status == 400 and reply["error"] == "MethodNotFound", f"{status} {reply}")
    status, _, _ = page.request("GET", "/api/rooms/nowhere/events", token=page.token)
    check.equal("a missing room is reported immediately", status, 404)


def test_another_page_in_the_browser_gets_no_access(check, playwright, page):
    """A foreign page in the same browser, and a foreign name that resolves to this machine (DNS
    rebinding)."""
    evil = serve_http(lambda request: (200, "<title>evil</title>")).replace("127.0.0.1", "evil.example")
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"])
    tab = browser.new_page()
    before = page.status()["refused"]
    with check.attempt("a browser gets no access by a foreign name that resolves to this machine"):
        reply = tab.goto(f"http://evil.example:{page.port}/")
        assert reply.status == 421 and "livehost" not in tab.title(), reply.status
        # The next request comes from a page that was loaded while the name still resolved to its
        # own machine.
        tab.goto(evil)
        found = tab.evaluate("(to) => fetch(to).then((reply) => reply.text(), () => 'failed')",
                             f"http://evil.example:{page.port}/")
        assert found == "failed", found
        assert page.status()["refused"]["host"] > before["host"]
    with check.attempt("another page in the same browser can neither read nor change anything"):
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
