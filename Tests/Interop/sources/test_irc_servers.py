"""Reads chats of real IRC servers, InspIRCd and ngircd, with livehostctl connect."""
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
    """An IRC server that can be killed and started again on the same ports."""

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
    """Joins a channel as a client. Returns a function that writes messages with the given
    numbers."""
    reactor, joined = irc.client.Reactor(), threading.Event()
    reactor.add_global_handler("welcome", lambda connection, _: connection.join(f"#{channel}"))
    reactor.add_global_handler("endofnames", lambda *_: joined.set())
    connection = reactor.server().connect("127.0.0.1", server.plain, f"s{channel[:6]}")
    # Reads continuously: answers of the server must not fill the socket while the client writes.
    start_thread(reactor.process_forever)
    assert joined.wait(PATIENCE), f"the client could not join #{channel}"
    return lambda numbers: [connection.privmsg(f"#{channel}", f"message {number} of many") for number in numbers]


def relay(pieces, reader, writer):
    """Forwards pieces from a reader to a writer, then closes both sides."""
    with contextlib.suppress(OSError):
        for data in pieces:
            writer.sendall(data)
    for end in (reader, writer):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class CuttingProxy:
    """Forwards lines to a client, and cuts each connection within a line after some bytes."""

    def __init__(self, port, after):
        self.port, self.after = port, after
        self.complete, self.last = 0, ""  # The messages that were forwarded completely.
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
    """Returns a control socket beside a slow ingest socket. The latter reads small pieces and
    delays answers until `hurry` is set."""
    def slowly(reader, size, pause):
        while data := reader.recv(65536 if hurry.is_set() else size):
            hurry.wait(pause)
            yield data

    def handle(client):
        # A small buffer, so that most unsent data stays in the source.
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
    """A directory with the authority ca.pem, and its certificates for localhost and
    other.example."""
    directory, authority = tmp_path_factory.mktemp("certificates"), trustme.CA()
    authority.cert_pem.write_to_path(directory / "ca.pem")
    for name in ("localhost", "other.example"):
        authority.issue_cert(name).private_key_and_cert_chain_pem.write_to_path(directory / f"{name}.pem")
    return directory


@pytest.fixture
def irc_server(check, certificates, tmp_path):
    """Returns a function that starts an IRC server of a kind, or skips the test with its checks."""
    def start(kind, checks, certificate="localhost"):
        files = unpacked("irc-servers", "inspircd", "ngircd", "libident", "libpam0g")
        if not files:
            check.skip("the IRC servers cannot be downloaded", checks)
            pytest.skip("the IRC servers cannot be downloaded")
        return IRCServer(files, tmp_path, kind, certificates / f"{certificate}.pem")
    return start


@pytest.fixture
def read(start_source):
    """Returns a function that starts a source, which reads a channel into a room of the same
    name."""
    return functools.partial(start_source, "connect", "twitch")


def test_ten_thousand_lines_of_inspircd_count_once_across_a_kill(check, daemon, irc_server, read, certificates):
    """Reads 10,000 lines over TLS. The server is killed and restarted after half of them."""
    server = irc_server("inspircd", checks=4)
    source = read("tls", "--server", f"localhost:{server.tls}", "--ca", certificates / "ca.pem")
    source.live()
    join(server, "tls")(range(LINES // 2))
    check.equal("InspIRCd: 5,000 lines arrive over TLS", daemon.settled("tls", LINES // 2), LINES // 2)
    server.kill()
    time.sleep(1)  # The gap must last at least as long.
    server.start()
    source.live(2)
    join(server, "tls")(range(LINES // 2, LINES))
    check.equal("InspIRCd: 10,000 lines count once each, across a kill and restart of the server",
                daemon.settled("tls", LINES), LINES)
    gaps = source.said("gap", channel="tls")
    check("InspIRCd: the time of the restart is reported as a gap",
          len(gaps) == 1 and gaps[0]["to"] - gaps[0]["from"] >= 1000, f"expected one gap of a second, seen {gaps}")
    check.equal("InspIRCd: after Ctrl-C the source exits with 0", source.stop(), 0)


def test_a_certificate_for_another_name_is_refused(check, irc_server, read, certificates):
    server = irc_server("inspircd", checks=1, certificate="other.example")
    source = read("wrong", "--server", f"localhost:{server.tls}", "--ca", certificates / "ca.pem")
    wait_for(lambda: any("another name" in report.get("reason", "") for report in source.said("state")),
             lambda: f"the refusal: {source.reports[-3:]}")
    check.equal("a certificate for another name is refused", source.said("state", state="live"), [])


def test_a_server_without_tags_is_read_through_cut_connections(check, daemon, irc_server, read):
    """Reads 10,000 lines without tags through a proxy that cuts lines."""
    server = irc_server("ngircd", checks=3)
    proxy = CuttingProxy(server.plain, after=[100_000, 150_000])
    source = read("plain", "--server", proxy.address, "--no-tls")
    source.live()
    check.contains("ngircd: a server without tags is read, and the status reports the missing tags",
                   source.said("state", state="live")[0].get("reason", ""), "no tags")
    say = join(server, "plain")
    for start in range(0, LINES, 100):
        cuts = proxy.cuts
        say(range(start, start + 100))
        # After a cut, the source must be connected again before the next lines.
        wait_for(lambda: f"message {start + 99} " in proxy.last or proxy.cuts > cuts, "these lines, or a cut")
        source.live(proxy.cuts + 1)
    check.equal(f"ngircd: of {LINES:,} lines with two cuts, each complete line counts once",
                (proxy.cuts, daemon.settled("plain", proxy.complete)), (2, proxy.complete))
    check.equal("ngircd: each cut is reported as a gap", len(source.said("gap", channel="plain")), 2)


def test_a_disturbed_source_does_not_affect_another_source(check, daemon, irc_server, read):
    """A stopped, killed or slow source does not affect another source."""
    server = irc_server("ngircd", checks=6)
    steady, victim = (read(channel, *server.arguments) for channel in ("steady", "victim"))
    steady.live()
    victim.live()
    to_steady, to_victim = join(server, "steady"), join(server, "victim")

    victim.process.send_signal(signal.SIGSTOP)
    to_steady(range(2000))
    to_victim(range(2000))
    check.equal("a stopped source does not delay another source", daemon.settled("steady", 2000), 2000)
    victim.kill()
    to_steady(range(2000, 4000))
    check.equal("a killed source does not delay another source", daemon.settled("steady", 4000), 4000)

    again = read("victim", *server.arguments)
    again.live()
    before = daemon.total("victim")
    daemon.process.send_signal(signal.SIGSTOP)
    to_steady(range(4000, 6000))
    to_victim(range(4000, 6000))
    # Waits until both sources hold lines for the daemon.
    for source in (steady, again):
        wait_for(lambda: any(report.get("waiting", 0) > 0 for report in source.reports[-2:]), "a full queue")
    daemon.process.send_signal(signal.SIGCONT)
    check.equal("a stopped daemon loses no lines of either source",
                [daemon.settled("steady", 6000), daemon.settled("victim", before + 2000) - before], [6000, 2000])
    again.stop()

    # The socket reads 25 KB a second and delays answers by a third of a second, so 20,000 lines
    # take 50 seconds.
    hurry = threading.Event()
    victim = read("victim", *server.arguments, control=slow_down(daemon, hurry))
    victim.live()
    before = daemon.total("victim")
    to_victim(range(6000, 26000))
    to_steady(range(6000, 8000))
    begun = time.monotonic()
    total = daemon.settled("steady", 8000)
    taken, behind = time.monotonic() - begun, daemon.total("victim") - before
    check("a source with a slow ingest socket does not delay another source",
          total == 8000 and taken < 20 and behind < 20000,
          f"expected 8000 lines in less than 20 s, before the 20000 of the other, seen {(total, taken, behind)}")
    wait_for(lambda: any(one["state"] == "behind" for one in daemon.show("sources") if one["room"] == "victim"),
             "the state behind")
    memory = victim.resident()
    hurry.set()
    total = daemon.settled("victim", before + 20000) - before
    check("a slow source reports that it is behind, uses bounded memory, and loses nothing",
          total == 20000 and memory < 100 << 20,
          f"expected 20000 lines and less than 100 MiB, seen {(total, memory)}")
    check.equal("the other source never had a gap", steady.said("gap"), [])


def test_a_refused_token_ends_the_source_and_is_not_revealed(check, daemon, read, certificates, tmp_path):
    """A source whose token Twitch refuses exits with 77 and reveals the token nowhere."""
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
    check.equal("a source with a refused token exits with 77 after one attempt",
                (source.wait(), len(attempts)), (77, 1))
    check.equal("the token appears in no argument, environment, log, report or state",
                (password, found + leaks(daemon, source, secret)), ([f"PASS oauth:{secret}\n"], []))


def test_exit_codes_are_those_of_the_manual(check, programs, read, tmp_path):
    """Errors end a source immediately, with the exit codes of the manual."""
    (tmp_path / "source.yaml").write_text("kind: twitch\nnonsense: 1\n")
    command = [programs / "livehost-source", "--check-config", f"--config={tmp_path}/source.yaml"]
    check.equal("the exit codes are 69 without a daemon, 64 for usage, 78 for a token file and configuration", [
        read("a", control=tmp_path / "nobody").wait(), read("not a channel").wait(),
        read("a", "--token-file", tmp_path / "nothing").wait(),
        subprocess.run(command, stderr=subprocess.DEVNULL).returncode], [69, 64, 78, 78])
