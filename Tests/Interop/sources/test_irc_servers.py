"""Chats of real IRC servers, InspIRCd and ngircd, read by livehostctl connect."""
import contextlib
import functools
import os
import signal
import socket
import ssl
import subprocess
import threading
import time

import irc.client
import pytest
import trustme
from sources_support import leaks

from harness.places import unpacked
from harness.programs import Program, accepts, free_port
from harness.serving import serve, start_thread
from harness.waiting import PATIENCE, wait_for

LINES = 10_000
INSPIRCD = """
<server name="irc.localhost" description="test" network="Test">
<bind address="127.0.0.1" port="{plain}" type="clients">
<bind address="127.0.0.1" port="{tls}" type="clients" ssl="local">
<sslprofile name="local" provider="gnutls" certfile="{certificate}" keyfile="{certificate}">
<connect allow="*" timeout="20" pingfreq="5" hardsendq="100M" softsendq="100M" recvq="1M" threshold="100000"
 commandrate="100000000" fakelag="no" localmax="100" globalmax="100" resolvehostnames="no" useident="no">
<performance quietbursts="yes" somaxconn="128" netbuffersize="65534" clonesonconnect="no">
<module name="cap"><module name="ircv3"><module name="ircv3_ctctags"><module name="ircv3_servertime">
<module name="ircv3_msgid"><module name="ssl_gnutls">
<path configdir="{directory}" datadir="{directory}" logdir="{directory}" moduledir="{modules}" runtimedir="{directory}">
"""
NGIRCD = """
[Global]
Name = irc.localhost
Listen = 127.0.0.1
Ports = {plain}
ServerUID = {uid}
ServerGID = {gid}
[Limits]
MaxPenaltyTime = 0
PingTimeout = 10
PongTimeout = 10
MaxConnectionsIP = 0
[Options]
DNS = no
Ident = no
PAM = no
"""
KINDS = {"inspircd": ("--nofork --nolog --runasroot --config", INSPIRCD), "ngircd": ("-n -f", NGIRCD)}


class IRCServer(Program):
    """An IRC server that is started, killed and started again on the same ports."""

    def __init__(self, files, directory, kind, certificate):
        self.plain, self.tls = free_port(), free_port()
        self.arguments = ["--server", f"127.0.0.1:{self.plain}", "--no-tls"]
        path = directory / f"{kind}.conf"
        options, template = KINDS[kind]
        path.write_text(template.format(
            plain=self.plain, tls=self.tls, directory=directory, certificate=certificate,
            modules=f"{files}/usr/lib/inspircd/modules", uid=os.getuid(), gid=os.getgid()))
        super().__init__([files / "usr/sbin" / kind, *options.split(), path], f"{path}.log", {
            "LD_LIBRARY_PATH": f"{files}/usr/lib/x86_64-linux-gnu:{files}/usr/lib/aarch64-linux-gnu"})

    def start(self):
        super().start()
        self.wait_for(lambda: accepts(("127.0.0.1", self.plain)), f"the start of {self.command[0]}")


def join(server, channel):
    """Joins a channel as a client; returns a function that writes messages with these numbers there."""
    reactor, joined = irc.client.Reactor(), threading.Event()
    reactor.add_global_handler("welcome", lambda connection, _: connection.join(f"#{channel}"))
    reactor.add_global_handler("endofnames", lambda *_: joined.set())
    connection = reactor.server().connect("127.0.0.1", server.plain, f"s{channel[:6]}")
    # Reads all the time: answers of the server must not fill the socket while it only writes.
    start_thread(reactor.process_forever)
    assert joined.wait(PATIENCE), f"the server does not let it join #{channel}"
    return lambda numbers: [connection.privmsg(f"#{channel}", f"message {number} of many") for number in numbers]


def relay(pieces, reader, writer):
    """Passes on pieces of what a reader sends; then both sides end."""
    with contextlib.suppress(OSError):
        for data in pieces:
            writer.sendall(data)
    for end in (reader, writer):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class CuttingProxy:
    """Passes lines on to a server, and cuts each connection in the middle of one after some bytes."""

    def __init__(self, port, after):
        self.port, self.after = port, after
        self.complete, self.last = 0, ""  # Of the lines with messages that were passed on as a whole.
        self.cuts = 0
        self.address = f"127.0.0.1:{serve(self.handle)}"

    def handle(self, client):
        server = socket.create_connection(("127.0.0.1", self.port))
        start_thread(relay, client.makefile("rb"), client, server)
        relay(self.until_cut(server), server, client)

    def until_cut(self, server):
        passed = 0
        for line in server.makefile("rb"):
            passed += len(line)
            is_message = b" PRIVMSG #" in line
            if is_message and self.after and passed > self.after[0]:
                self.after.pop(0)
                yield line[:len(line) // 2]
                self.cuts += 1
                return
            yield line
            if is_message:
                self.complete, self.last = self.complete + 1, line.decode()


def slow_down(daemon, hurry):
    """A control socket, beside an ingest socket that takes little at a time and answers late until `hurry` is set."""
    def slowly(reader, size, pause):
        while data := reader.recv(65536 if hurry.is_set() else size):
            hurry.wait(pause)
            yield data

    def handle(client):
        # So that little of what the source writes is anywhere but in the source.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ingest = socket.socket(socket.AF_UNIX)
        ingest.connect(str(daemon.ingest))
        start_thread(relay, slowly(client, 512, 0.02), client, ingest)
        relay(slowly(ingest, 64, 0.3), ingest, client)
    control = daemon.directory / "slow" / daemon.control.name
    control.parent.mkdir()
    control.symlink_to(daemon.control)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(control.parent / "ingest"))
    listener.listen()
    serve(handle, listener)
    return control


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A directory with ca.pem, an authority, and its certificates with their keys for localhost and other.example."""
    directory, authority = tmp_path_factory.mktemp("certificates"), trustme.CA()
    authority.cert_pem.write_to_path(directory / "ca.pem")
    for name in ("localhost", "other.example"):
        authority.issue_cert(name).private_key_and_cert_chain_pem.write_to_path(directory / f"{name}.pem")
    return directory


@pytest.fixture
def irc_server(check, certificates, tmp_path):
    """Starts an IRC server of a kind, or skips the test, which has a number of checks."""
    def start(kind, checks, certificate="localhost"):
        files = unpacked("irc-servers", "inspircd", "ngircd", "libident", "libpam0g")
        if not files:
            check.skip("the IRC servers cannot be downloaded", checks)
            pytest.skip("the IRC servers cannot be downloaded")
        return IRCServer(files, tmp_path, kind, certificates / f"{certificate}.pem")
    return start


@pytest.fixture
def read(start_source):
    """Starts a source that reads a channel into a room of the same name."""
    return functools.partial(start_source, "connect", "twitch")


def test_inspircd(check, daemon, irc_server, read, certificates):
    """Connect, join, 10,000 lines over TLS; the server is killed and restarted between them."""
    server = irc_server("inspircd", checks=4)
    source = read("tls", "--server", f"localhost:{server.tls}", "--ca", certificates / "ca.pem")
    source.live()
    join(server, "tls")(range(LINES // 2))
    check.equal("InspIRCd: 5,000 lines over TLS", daemon.settled("tls", LINES // 2), LINES // 2)
    server.kill()
    time.sleep(1)  # The gap lasts at least as long.
    server.start()
    source.live(2)
    join(server, "tls")(range(LINES // 2, LINES))
    check.equal("InspIRCd: killed and restarted, 10,000 lines, each counted once", daemon.settled("tls", LINES), LINES)
    gaps = source.said("gap", channel="tls")
    check("InspIRCd: the time of the restart is told as a gap",
          len(gaps) == 1 and gaps[0]["to"] - gaps[0]["from"] >= 1000, f"expected one gap of a second, seen {gaps}")
    check.equal("InspIRCd: Ctrl-C ends it with 0", source.stop(), 0)


def test_certificate(check, irc_server, read, certificates):
    server = irc_server("inspircd", checks=1, certificate="other.example")
    source = read("wrong", "--server", f"localhost:{server.tls}", "--ca", certificates / "ca.pem")
    wait_for(lambda: any("another name" in report.get("reason", "") for report in source.said("state")),
             lambda: f"the refusal: {source.reports[-3:]}")
    check.equal("a certificate for another name is refused", source.said("state", state="live"), [])


def test_ngircd(check, daemon, irc_server, read):
    """10,000 lines without tags, through a proxy that cuts lines."""
    server = irc_server("ngircd", checks=3)
    proxy = CuttingProxy(server.plain, after=[100_000, 150_000])
    source = read("plain", "--server", proxy.address, "--no-tls")
    source.live()
    check.contains("ngircd: a server without tags is read, and said to be one",
                   source.said("state", state="live")[0].get("reason", ""), "no tags")
    say = join(server, "plain")
    for start in range(0, LINES, 100):
        cuts = proxy.cuts
        say(range(start, start + 100))
        # After a cut, the next lines find the source there again.
        wait_for(lambda: f"message {start + 99} " in proxy.last or proxy.cuts > cuts, "these lines, or a cut")
        source.live(proxy.cuts + 1)
    check.equal(f"ngircd: {LINES:,} lines, cut twice in the middle of one: each that arrived counts once",
                (proxy.cuts, daemon.settled("plain", proxy.complete)), (2, proxy.complete))
    check.equal("ngircd: each cut is told as a gap", len(source.said("gap", channel="plain")), 2)


def test_disturbed_sources(check, daemon, irc_server, read):
    """A source that stands still, is killed, or is fed slowly does no harm to another one."""
    server = irc_server("ngircd", checks=6)
    steady, victim = (read(channel, *server.arguments) for channel in ("steady", "victim"))
    steady.live()
    victim.live()
    to_steady, to_victim = join(server, "steady"), join(server, "victim")

    victim.process.send_signal(signal.SIGSTOP)
    to_steady(range(2000))
    to_victim(range(2000))
    check.equal("a source that stands still holds up no other", daemon.settled("steady", 2000), 2000)
    victim.kill()
    to_steady(range(2000, 4000))
    check.equal("nor does one that is killed", daemon.settled("steady", 4000), 4000)

    again = read("victim", *server.arguments)
    again.live()
    before = daemon.total("victim")
    daemon.process.send_signal(signal.SIGSTOP)
    to_steady(range(4000, 6000))
    to_victim(range(4000, 6000))
    # Until both wait for it with what they have read.
    for source in (steady, again):
        wait_for(lambda: any(report.get("waiting", 0) > 0 for report in source.reports[-2:]), "a full queue")
    daemon.process.send_signal(signal.SIGCONT)
    check.equal("a daemon that stands still loses nothing of either",
                [daemon.settled("steady", 6000), daemon.settled("victim", before + 2000) - before], [6000, 2000])
    again.stop()

    # The socket takes 25 KB a second, and answers come a third of a second late: 20,000 lines take 50 seconds.
    hurry = threading.Event()
    victim = read("victim", *server.arguments, control=slow_down(daemon, hurry))
    victim.live()
    before = daemon.total("victim")
    to_victim(range(6000, 26000))
    to_steady(range(6000, 8000))
    begun = time.monotonic()
    total = daemon.settled("steady", 8000)
    taken, behind = time.monotonic() - begun, daemon.total("victim") - before
    check("a source that is fed slowly holds up no other", total == 8000 and taken < 20 and behind < 20000,
          f"expected 8000 lines in less than 20 s, before the 20000 of the other, seen {(total, taken, behind)}")
    wait_for(lambda: any(one["state"] == "behind" for one in daemon.show("sources") if one["room"] == "victim"),
             "that it is behind")
    memory = victim.resident()
    hurry.set()
    total = daemon.settled("victim", before + 20000) - before
    check("it says that it is behind, in bounded memory, and loses nothing", total == 20000 and memory < 100 << 20,
          f"expected 20000 lines and less than 100 MiB, seen {(total, memory)}")
    check.equal("and the other one never had a gap", steady.said("gap"), [])


def test_token(check, daemon, read, certificates, tmp_path):
    """Twitch refuses a token: final, with 77, and the token is to be seen nowhere."""
    secret, file = "oauthtokenthatnobodymaysee", tmp_path / "token"
    file.write_text(secret + "\n")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "localhost.pem")
    attempts, lines, may_answer = [], [], threading.Event()

    def refuse(client):
        attempts.append(client)
        with context.wrap_socket(client, server_side=True) as connection:
            for line in connection.makefile():
                lines.append(line)
                if line.startswith("USER"):
                    may_answer.wait(PATIENCE)
                    connection.sendall(b":tmi.twitch.tv NOTICE * :Login authentication failed\r\n")
                    return
    source = read("secret", "--server", f"localhost:{serve(refuse)}", "--ca", certificates / "ca.pem",
                  "--token-file", file)
    password = wait_for(lambda: [line for line in lines if line.startswith("PASS")], "the password")
    found = leaks(daemon, source, secret, f"/proc/{source.pid}/cmdline", f"/proc/{source.pid}/environ")
    may_answer.set()
    check.equal("a refused token is final: 77, after one attempt", (source.wait(), len(attempts)), (77, 1))
    check.equal("a token is in no argument, environment, log, report or state",
                (password, found + leaks(daemon, source, secret)), ([f"PASS oauth:{secret}\n"], []))


def test_exit_codes(check, programs, read, tmp_path):
    """Mistakes end at once, with the exit codes of the manual."""
    (tmp_path / "source.yaml").write_text("kind: twitch\nnonsense: 1\n")
    command = [programs / "livehost-source", "--check-config", f"--config={tmp_path}/source.yaml"]
    check.equal("exit codes: 69 without a daemon, 64 usage, 78 an unreadable token, 78 configuration", [
        read("a", control=tmp_path / "nobody").wait(), read("not a channel").wait(),
        read("a", "--token-file", tmp_path / "nothing").wait(),
        subprocess.run(command, stderr=subprocess.DEVNULL).returncode], [69, 64, 78, 78])
