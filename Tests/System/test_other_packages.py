"""The other packages: livehost-sources, livehost-web and livehost-gateway."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from debian import DAEMON, execute
from harness.waiting import wait_for

SOURCE, EVENTS = "livehost-source@main.service", "livehost-source@events.service"
WEB, PROXY = "livehost-web.service", "livehost-web-proxy.service"
GATEWAY, RELAY = "livehost-gateway.service", "livehost-relay@out.service"
PAGE_EXPOSURE = 0.6
# Sources, gateway and relay may use the network.
NETWORK_EXPOSURE = 1.4
URL = "http://127.0.0.1:8317"
FILES = """usr/bin/livehost-source usr/bin/livehost-web lib/systemd/system/livehost-source@.service
    lib/systemd/system/livehost-web.service lib/systemd/system/livehost-web.socket
    lib/systemd/system/livehost-web-proxy.service etc/default/livehost-web etc/livehost/sources/
    usr/share/man/man8/livehost-source.8.gz usr/share/man/man8/livehost-web.8.gz
    usr/share/bash-completion/completions/livehost-source usr/share/bash-completion/completions/livehost-web
    usr/share/zsh/vendor-completions/_livehost-web usr/share/fish/vendor_completions.d/livehost-web.fish""".split()
TWITCH = "kind: twitch\nroom: main\ntwitch: {{channels: [ada], server: '127.0.0.1:{port}', tls: false}}\n"
MESSAGE = ("@display-name=Ada;id=11111111-2222-4333-8444-555555555555;tmi-sent-ts=1790000000000;user-id=9 "
           ":ada!ada@ada.irc.test PRIVMSG #ada :hello from the chat")
EVENTSUB = """kind: eventsub
twitch: {channels: [a], eventsURL: 'ws://127.0.0.1:1/ws', api: 'http://127.0.0.1:1', logins: 'http://127.0.0.1:1'}
"""
KEPT = "/var/lib/private/livehost-source/events/twitch.json"


def test_the_other_packages_are_complete_and_nothing_is_enabled(check, debian, packages):
    with check.attempt("the packages of the page and the sources are complete, and nothing is enabled"):
        listed = "".join(execute("dpkg-deb", "-c", package) for package in packages.glob("livehost-*.deb"))
        missing = [file for file in FILES if f" ./{file}\n" not in listed]
        assert not missing, f"missing files: {missing}"
        # Both packages are installed in one step, like apt does, so that whatis finds all their
        # pages.
        debian.install("livehost-sources", "livehost-web")
        states = {unit: debian.state(unit) for unit in (WEB, "livehost-web.socket", PROXY, SOURCE)}
        assert set(states.values()) == {"inactive"}, states
        assert debian.systemctl("is-enabled", WEB, status=1) == "disabled\n"
        debian.assert_manuals("livehost-source.8", "livehost-web.8")
        for name in "livehost-source", "livehost-web":
            debian.run("bash", "-c", f". /usr/share/bash-completion/completions/{name} && complete -p {name}")


def test_livehost_source_runs_sandboxed(check, debian, programs, tmp_path):
    with check.attempt("livehost-source@main runs sandboxed as a dynamic user, and reports its state to the room"):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        twitch = debian.start_in_network(tmp_path / "twitch", programs / "ScriptedTwitch", **pipes)
        port = twitch.output.readline().split()[1]
        with debian.file("/etc/livehost/sources/main.yaml", TWITCH.format(port=port)):
            try:
                debian.systemctl("enable", "--quiet", "--now", SOURCE)
                check_source(debian, twitch)
            finally:
                debian.systemctl("disable", "--quiet", "--now", SOURCE)
        with debian.file("/etc/livehost/sources/events.yaml", EVENTSUB):
            check_login(debian)


def check_source(debian, twitch):
    debian.wait_for_text('"state":"live"', "sources")
    print("line 0", MESSAGE, file=twitch.process.stdin, flush=True)
    debian.wait_for_text("hello from the chat", "show", "main", "chat")
    assert debian.state(SOURCE) == "active"
    debian.assert_unprivileged(SOURCE)
    debian.assert_exposure(NETWORK_EXPOSURE, SOURCE)
    debian.upgrade("livehost-sources", SOURCE)
    twitch.kill()
    # The source keeps running and reports that it is disconnected.
    debian.wait_for_text('"state":"connecting"', "sources")


def check_login(debian):
    """A login in /etc is copied to a place where the source can renew it. The renewed login is
    used at the next start, until the login in /etc is replaced."""
    def login(token):
        return debian.file("/etc/livehost/sources/events.login", f'{{"clientId":"c","accessToken":"{token}"}}\n', 0o600)

    def wait_until_kept(token):
        wait_for(lambda: kept.exists() and f'"accessToken":"{token}"' in kept.read_text(),
                 lambda: f"{token} is not stored\n{debian.journal('-n', '20', '-u', EVENTS)}")

    kept = debian.path(KEPT)
    with login("first"):
        debian.systemctl("start", EVENTS)
        wait_until_kept("first")
        assert kept.stat().st_mode & 0o777 == 0o600, "other users can read the login"
        assert kept.stat().st_uid != 0, "the login belongs to root"
        debian.assert_exposure(NETWORK_EXPOSURE, EVENTS)
        # Simulates a renewal; the next start must use the renewed login.
        kept.write_text(kept.read_text().replace('"accessToken":"first"', '"accessToken":"renewed"'))
        debian.systemctl("restart", EVENTS)
        wait_until_kept("renewed")
    with login("second"):
        debian.systemctl("restart", EVENTS)
        wait_until_kept("second")
        debian.systemctl("stop", EVENTS)
    told = re.findall("first|renewed|second", debian.journal("-u", EVENTS))
    assert not told, f"the journal contains the tokens {told}"


def ask(debian, path="/", *options):
    """Returns the status and the body of a response of the page; the status is 0 without a
    response."""
    curl = ("curl", "--silent", "--max-time", "20", "--write-out", "\n%{http_code}")
    text = debian.in_network(*curl, *options, URL + path, status=None)
    body, _, status = text.rpartition("\n")
    return int(status), body


def wait_until_it_answers(debian):
    wait_for(lambda: ask(debian)[0] == 200, lambda: f"the page answers {ask(debian)}")


def token(debian, mark):
    """Returns a token from the links: `#` selects acting, `&` reading."""
    return re.search(f"{mark}t=([0-9a-f]*)", debian.path("/run/livehost-web/link").read_text())[1]


def open_stream(debian):
    """Opens a stream of room `main`; returns it with its first state, which is empty if there is
    none."""
    header = f"X-Livehost-Token: {token(debian, '&')}"
    command = ("curl", "--silent", "--no-buffer", "--header", header, f"{URL}/api/rooms/main/events")
    stream = debian.start_in_network(os.devnull, *command, stdout=subprocess.PIPE, text=True)
    return stream, next((line for line in stream.output if line.startswith("data:")), "")


def shows_camera(debian):
    stream, state = open_stream(debian)
    stream.kill()
    return '"camera":true' in state


def listeners(debian):
    """Returns the addresses on which port 8317 is open."""
    rows = [row.split() for row in debian.in_network("cat", "/proc/net/tcp", "/proc/net/tcp6").splitlines()]
    return [row[1] for row in rows if row[1].endswith(":207D") and row[3] == "0A"]


def test_livehost_web_runs_behind_its_proxy(check, debian):
    with check.attempt("the enabled page answers through the proxy, and its link allows acting"):
        debian.systemctl("enable", "--quiet", "--now", WEB)
        states = debian.state(WEB), debian.state("livehost-web.socket")
        assert states == ("active", "active"), states
        assert debian.unit(WEB)["StatusText"] == URL
        wait_until_it_answers(debian)
        assert "<title>livehost</title>" in ask(debian)[1], ask(debian)
        assert ask(debian, "/api/status")[0] == 401, "the page answers without a token"
        debian.send("main", "tap", control="camera", on=False)
        answer = ask(debian, "/api/call/SetControl", "--header", f"X-Livehost-Token: {token(debian, '#')}", "--header",
                     "Content-Type: application/json", "--data", '{"room":"main","control":"camera","on":true}')
        assert answer[0] == 200, answer
        assert debian.json("show", "main", "control")["features"]["control"]["switches"]["camera"] is True
        assert shows_camera(debian), "the stream does not show the camera"
        answer = ask(debian, "/", "--header", "Host: evil.example")
        assert answer[0] == 421, f"a request for another host name gets {answer}"
    with check.attempt("the page and its proxy run sandboxed as dynamic users, without network beyond their sockets"):
        for unit in WEB, PROXY:
            debian.assert_unprivileged(unit)
            debian.assert_exposure(PAGE_EXPOSURE, unit)
            # The service has only a loopback device, and it is not the loopback device of the machine.
            process = debian.main_process(unit)
            devices = [line.split(":")[0].strip() for line in debian.inspect(process, "net/dev").splitlines()[2:]]
            assert devices == ["lo"], f"{unit} has the network devices {devices}"
            assert ":207D " not in debian.inspect(process, "net/tcp"), f"{unit} is in the machine's network"
    with check.attempt("other machines cannot reach the page, and other users cannot read its link"):
        assert listeners(debian) == ["0100007F:207D"], f"not only the loopback address: {listeners(debian)}"
        modes = debian.shell("cd /run/livehost-web && stat -c '%a %G' link http .").splitlines()
        assert modes == ["640 livehost", "660 livehost", "750 livehost"], modes
        debian.run("cat", "/run/livehost-web/link", user="visitor", status=1)
        debian.run("cat", "/run/livehost-web/link", user="host")
        assert token(debian, "#") not in debian.journal(), "the token is in the journal"
    with check.attempt("a personal link works without a restart, until it is revoked"):
        link = debian.json("web", "people", "add", "Ada", "--role", "viewer")["link"]
        assert link.startswith(f"{URL}/#t="), link
        header = ("--header", f"X-Livehost-Token: {link.rsplit('=', 1)[1]}")
        answer = ask(debian, "/api/self", *header)
        assert answer[0] == 200 and json.loads(answer[1])["name"] == "Ada", answer
        debian.run("cat", "/var/lib/livehost-web/people", user="host", status=1)
        debian.ctl("web", "people", "revoke", "Ada")
        assert ask(debian, "/api/self", *header)[0] == 401, "the revoked link is still valid"
    with check.attempt("the page works again after it was killed, and after a restart of the daemon"):
        assert_it_comes_back(debian)
    with check.attempt("nothing listens once the page is disabled, and purging both packages leaves nothing"):
        debian.systemctl("disable", "--quiet", "--now", WEB)
        # The socket of the page is stopped after the service, and systemctl does not wait for it.
        wait_for(lambda: not listeners(debian), "the end of the page's socket")
        debian.systemctl("start", WEB)
        debian.dpkg("-r", "livehost-web", "livehost-sources")
        assert not listeners(debian), "something listens after the removal"
        debian.assert_ended("livehost-web", "livehost-source")
        debian.dpkg("-P", "livehost-web", "livehost-sources")
        debian.assert_purged("web|source")


def assert_it_comes_back(debian):
    acting, reading, process = token(debian, "#"), token(debian, "&"), debian.main_process(WEB)
    debian.systemctl("kill", "--signal=KILL", WEB)
    debian.wait_for_other_process(process, WEB)
    wait_until_it_answers(debian)
    assert token(debian, "#") != acting, "the old link is still valid"
    assert token(debian, "&") == reading, "overlays need another link"
    debian.run("cat", "/var/lib/livehost-web/overlay-token", user="host", status=1)
    debian.systemctl("restart", DAEMON)
    wait_for(lambda: shows_camera(debian), "the switch of the camera in the stream")
    # An open stream does not delay the stop.
    stream, state = open_stream(debian)
    assert state, "the stream has no state"
    debian.systemctl("restart", WEB)
    stream.wait()
    assert debian.unit(WEB)["Result"] == "success"
    wait_until_it_answers(debian)
    # After a stop and a start, the service has another dynamic user and another runtime directory.
    debian.systemctl("stop", WEB)
    debian.systemctl("start", WEB)
    assert token(debian, "&") == reading, "after a stop, overlays need another link"
    wait_until_it_answers(debian)
    debian.upgrade("livehost-web", WEB)
    wait_until_it_answers(debian)
    entries = debian.journal("-u", WEB, "-u", PROXY)
    assert "timed out" not in entries, entries


@pytest.fixture(scope="module")
def gateway(debian):
    """Installs the gateway's package with a configuration. Removes the configuration before the
    package is purged."""
    debian.install("livehost-gateway")
    with debian.file("/etc/livehost/gateway.yaml", "name: alone\nnats: {replicas: 1}\n") as file:
        yield file


def test_livehost_gateway_runs_sandboxed(check, debian, gateway, tmp_path):
    def wait_until_whole():
        debian.wait_for_text('"partitions":64', "cluster", "status")
        wait_for(lambda: debian.state(GATEWAY) == "active", state)

    def state():
        return debian.systemctl("status", "--no-pager", GATEWAY, status=None)

    with check.attempt("livehost-gateway reports a missing NATS server, and with one runs sandboxed as a "
                       "dynamic user"):
        assert debian.systemctl("is-enabled", GATEWAY, status=1) == "disabled\n"
        debian.assert_manuals("livehost-gateway.8")
        # Without a server, the gateway ends with an error message and is restarted.
        debian.systemctl("start", "--no-block", GATEWAY)
        wait_for(lambda: "no NATS server answers: nats://127.0.0.1:4222" in debian.journal("-u", GATEWAY), state)
        nats = debian.start_in_network(tmp_path / "nats", pathlib.Path(sys.executable).with_name("nats-server"),
                                       "-a", "127.0.0.1", "-js", "-sd", tmp_path / "jetstream")
        wait_until_whole()
        debian.assert_unprivileged(GATEWAY)
        debian.assert_exposure(NETWORK_EXPOSURE, GATEWAY)
        # The gateway shows a room, and events sent to it are in the replicated log.
        debian.ctl("--gateway", "send", "gate", '{"type":"viewers","count":7}')
        debian.wait_for_text('"viewers":7', "--gateway", "show", "gate")
        # Only members of the group livehost may write to the gateway.
        event = '{"type":"viewers","room":"gate","count":8}\n'
        debian.ctl("--gateway", "ingest", "-", input=event, user="host")
        debian.wait_for_text('"viewers":8', "--gateway", "show", "gate")
        debian.ctl("--gateway", "ingest", "-", input=event, user="visitor", status=77)
        debian.upgrade("livehost-gateway", GATEWAY)
        wait_until_whole()
        nats.kill()
        debian.wait_for_text('"problems":["no NATS', "cluster", "status")
        debian.ctl("close", "gate")
        # An administrator's settings override those of the package.
        with debian.file(f"/run/systemd/system/{GATEWAY}.d/override.conf", "[Service]\nUMask=0027\n"):
            debian.systemctl("daemon-reload")
            mask = debian.unit(GATEWAY)["UMask"]
            assert mask == "0027", f"UMask is {mask}"
        debian.systemctl("daemon-reload")


def test_livehost_relay_survives_an_upgrade(check, debian, gateway):
    relay = "/run/livehost-relay/out"
    options = f"LIVEHOST_RELAY_OPTIONS=--listen {relay}/io.livehost.Control --viewers 10\n"

    def assert_shown(*arguments, **options):
        text = debian.ctl(*arguments, "show", "relayed", "--json=short", **options)
        assert '"viewers":9' in text, f"expected 9 viewers in {text}"

    with check.attempt("livehost-relay@out checks permissions, survives an upgrade, and ends with its package"):
        with debian.file("/etc/livehost/relays/out.conf", options):
            debian.systemctl("enable", "--quiet", "--now", RELAY)
            debian.assert_unprivileged(RELAY)
            debian.assert_exposure(NETWORK_EXPOSURE, RELAY)
            # All users may read, and members of the group livehost may change the daemon's rooms.
            debian.ctl("--socket", relay, "send", "relayed", '{"type":"viewers","count":9}', user="host")
            assert_shown()
            assert_shown("--socket", relay, user="visitor")
            debian.ctl("--socket", relay, "send", "relayed", '{"type":"viewers","count":10}', user="visitor", status=77)
            debian.upgrade("livehost-gateway", RELAY)
            assert_shown("--socket", relay, user="visitor")
            debian.ctl("close", "relayed")
            # Both services run or will be restarted soon, and end when their package is removed.
            debian.systemctl("disable", "--quiet", RELAY)
        gateway.unlink()
        debian.dpkg("-P", "livehost-gateway")
        debian.assert_ended("livehost-gateway")
        states = debian.state(GATEWAY), debian.state(RELAY)
        assert states == ("inactive", "inactive"), states
        debian.assert_purged("gateway|relay")
