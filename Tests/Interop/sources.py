#!/usr/bin/env python3
"""Reads chats of real IRC servers: `sources.py BIN SERVERS`, where BIN is the directory of the programs and
SERVERS holds the files of Debian's inspircd and ngircd. Ends with `N passed, N failed`.
"""
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from harness.programs import accepts, free_port
from harness.waiting import PATIENCE, wait_for


LINES = 10_000
INSPIRCD = """
<server name="irc.localhost" description="test" network="Test">
<admin name="test" nick="test" email="test@localhost">
<bind address="127.0.0.1" port="{plain}" type="clients">
<bind address="127.0.0.1" port="{tls}" type="clients" ssl="local">
<sslprofile name="local" provider="gnutls" certfile="{directory}/{name}.pem" keyfile="{directory}/{name}.key">
<connect allow="*" timeout="20" pingfreq="5" hardsendq="100M" softsendq="100M" recvq="1M" threshold="100000"
 commandrate="100000000" fakelag="no" localmax="100" globalmax="100" resolvehostnames="no" useident="no">
<performance quietbursts="yes" somaxconn="128" netbuffersize="65534" clonesonconnect="no">
<security announceinvites="none">
<module name="cap"><module name="ircv3"><module name="ircv3_ctctags"><module name="ircv3_servertime">
<module name="ircv3_msgid"><module name="ssl_gnutls">
<files motd="/dev/null">
<path configdir="{directory}" datadir="{directory}" logdir="{directory}" moduledir="{modules}" runtimedir="{directory}">
<pid file="{directory}/inspircd.pid">
"""
NGIRCD = """
[Global]
Name = irc.localhost
Info = test
Listen = 127.0.0.1
Ports = {plain}
PidFile = {directory}/ngircd.pid
ServerUID = {uid}
ServerGID = {gid}
MotdPhrase = test
[Limits]
MaxJoins = 0
MaxPenaltyTime = 0
PingTimeout = 10
PongTimeout = 10
MaxConnectionsIP = 0
[Options]
DNS = no
Ident = no
PAM = no
"""


def certificates(directory):
    """An authority, and certificates of it for the name of this machine and for another one."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, stderr=subprocess.DEVNULL)

    key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", f"{directory}/ca.key", "-out", f"{directory}/ca.pem",
            "-days", "2", "-subj", "/CN=test authority")
    for name in ("localhost", "other.example"):
        base = f"{directory}/{name}"
        openssl("req", *key, "-keyout", f"{base}.key", "-out", f"{base}.csr", "-subj", f"/CN={name}")
        with open(f"{base}.ext", "w") as file:
            file.write(f"subjectAltName=DNS:{name}\n")
        openssl("x509", "-req", "-in", f"{base}.csr", "-CA", f"{directory}/ca.pem", "-CAkey",
                f"{directory}/ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{base}.ext",
                "-out", f"{base}.pem")


class Server:
    """An IRC server that is started, killed and started again on the same ports."""

    def __init__(self, files, directory, kind, certificate="localhost"):
        self.plain, self.tls = free_port(), free_port()
        path = f"{directory}/{kind}-{certificate}.conf"
        template = INSPIRCD if kind == "inspircd" else NGIRCD
        with open(path, "w") as file:
            file.write(template.format(
                plain=self.plain, tls=self.tls, directory=directory, name=certificate,
                modules=f"{files}/usr/lib/inspircd/modules", uid=os.getuid(), gid=os.getgid()))
        options = ["--config", path, "--nofork", "--nolog"] if kind == "inspircd" else ["-n", "-f", path]
        if kind == "inspircd" and os.getuid() == 0:
            options.append("--runasroot")
        libraries = ":".join(str(entry) for entry in (f"{files}/usr/lib/x86_64-linux-gnu",
                                                      f"{files}/usr/lib/aarch64-linux-gnu"))
        self.environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
        self.command = [f"{files}/usr/sbin/{kind}", *options]
        self.log = f"{path}.log"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=open(self.log, "a"), stderr=subprocess.STDOUT)

        def is_up():
            if self.process.poll() is not None:
                raise ChildProcessError(f"{self.command[0]} ended:\n{open(self.log).read()[-2000:]}")
            return accepts(("127.0.0.1", self.plain))
        wait_for(is_up, f"the start of {self.command[0]}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Speaker:
    """Somebody who writes in a channel."""

    def __init__(self, port, channel):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        self.channel = channel
        self.send(f"NICK s{channel[:6]}\r\nUSER speaker 0 * :speaker\r\n")
        self.expect(" 001 ")
        self.send(f"JOIN #{channel}\r\n")
        self.expect(" 366 ")
        # Answers of the server must not fill the socket while it only writes.
        threading.Thread(target=self.drain, daemon=True).start()

    def send(self, text):
        self.socket.sendall(text.encode())

    def expect(self, part):
        while True:
            line = self.file.readline().decode(errors="replace")
            if not line:
                raise EOFError(f"the server closed the connection before {part}")
            if line.startswith("PING"):
                self.send(line.replace("PING", "PONG", 1))
            if part in line:
                return

    def drain(self):
        try:
            for line in self.file:
                if line.startswith(b"PING"):
                    self.socket.sendall(line.replace(b"PING", b"PONG", 1))
        except OSError:
            pass

    def say(self, numbers):
        lines = [f"PRIVMSG #{self.channel} :message {number} of many\r\n" for number in numbers]
        for start in range(0, len(lines), 100):
            self.send("".join(lines[start:start + 100]))

    def close(self):
        self.socket.close()


class Source:
    """livehostctl connect, with its reports."""

    def __init__(self, test, *arguments, control=None):
        self.reports = []
        self.process = subprocess.Popen(
            [f"{test.bin}/livehostctl", "--socket", control or test.control, "connect", "twitch", "--json=short",
             *arguments], stdout=subprocess.PIPE, stderr=open(f"{test.directory}/source.log", "a"), text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.reports.append(json.loads(line))

    def said(self, kind, **members):
        return [report for report in self.reports if report["report"] == kind
                and all(report.get(name) == value for name, value in members.items())]

    def live(self, times=1):
        wait_for(lambda: len(self.said("state", state="live")) >= times, lambda: f"live {times} times: {self.reports[-5:]}")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


class CuttingProxy:
    """Passes bytes on to a server, and cuts each connection in the middle of a line after some."""

    def __init__(self, port, after):
        self.port, self.after = port, after
        self.complete = 0
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self.upward, args=(client, server), daemon=True).start()
            self.downward(server, client)

    def upward(self, client, server):
        try:
            while data := client.recv(65536):
                server.sendall(data)
        except OSError:
            pass

    def downward(self, server, client):
        passed, rest = 0, b""
        try:
            while data := server.recv(65536):
                passed += len(data)
                is_cut = self.after and passed > self.after[0]
                if is_cut:
                    self.after.pop(0)
                    end = data.rfind(b"PRIVMSG")
                    data = data[:end + 9] if end >= 0 else data[:-1]
                client.sendall(data)
                *lines, rest = (rest + data).split(b"\n")
                self.complete += sum(b" PRIVMSG #" in line for line in lines)
                if is_cut:
                    self.cuts += 1
                    break
        except OSError:
            pass
        for end in (client, server):
            end.close()


class SlowDaemon:
    """The sockets of a daemon that takes little at a time, and answers late, until it is told to hurry."""

    def __init__(self, directory, control):
        os.mkdir(directory)
        self.control = f"{directory}/io.livehost.Control"
        os.symlink(control, self.control)
        self.path = os.path.join(os.path.dirname(control), "ingest")
        self.hurry = threading.Event()
        self.answers = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{directory}/ingest")
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            # So that little of what the source writes is anywhere but in the source.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(self.path)
            threading.Thread(target=self.pass_on, args=(client, daemon, 512, 0.02), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(daemon, client, 64, 0.3), daemon=True).start()

    def pass_on(self, reader, writer, size, pause):
        try:
            while data := reader.recv(1 << 16 if self.hurry.is_set() else size):
                self.hurry.wait(pause)
                writer.sendall(data)
            writer.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Test:
    def __init__(self, bin, files):
        self.bin, self.files = bin, files
        self.passed = self.failed = 0
        self.directory = tempfile.mkdtemp()
        self.control = f"{self.directory}/run/io.livehost.Control"
        self.start()
        certificates(self.directory)

    def start(self):
        """Starts the daemon, for the first time or after it was killed."""
        self.daemon = subprocess.Popen(
            [f"{self.bin}/livehostd", "--runtime-dir", f"{self.directory}/run", "--state-dir",
             f"{self.directory}/state"], stderr=open(f"{self.directory}/log", "a"))

        def answers():
            try:
                socket.socket(socket.AF_UNIX).connect(self.control)
                return True
            except OSError:
                return False
        wait_for(answers, "the daemon")

    def check(self, name, is_right, detail=""):
        if is_right:
            self.passed += 1
            print(f"ok: {name}")
        else:
            self.failed += 1
            print(f"FAILED: {name}\n{detail}")

    def total(self, room):
        """The messages of a room's chat."""
        output = subprocess.run(
            [f"{self.bin}/livehostctl", "--socket", self.control, "show", room, "--json=short"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        chat = json.loads(output).get("features", {}).get("chat") if output else None
        return chat["total"] if chat else 0

    def told(self, room):
        """The sources of a room, as the daemon shows them."""
        output = subprocess.run([f"{self.bin}/livehostctl", "--socket", self.control, "sources", "--json=short"],
                                stdout=subprocess.PIPE, text=True).stdout
        return [one for one in json.loads(output or "[]") if one["room"] == room]

    def settled(self, room, wanted):
        """The total once it is as wanted, or at the end of patience."""
        try:
            wait_for(lambda: self.total(room) >= wanted, room)
        except TimeoutError:
            pass
        return self.total(room)

    def run(self, name, body):
        try:
            body()
        except Exception as error:
            self.check(name, False, f"{type(error).__name__}: {error}")

    def inspircd(self):
        """Connect, join, 10,000 lines over TLS; the server is killed and restarted between them."""
        server = Server(self.files, self.directory, "inspircd")
        source = Source(self, "tls", "--server", f"localhost:{server.tls}", "--ca", f"{self.directory}/ca.pem")
        source.live()
        speaker = Speaker(server.plain, "tls")
        speaker.say(range(LINES // 2))
        total = self.settled("tls", LINES // 2)
        self.check("InspIRCd: 5,000 lines over TLS", total == LINES // 2, f"{total} arrived")
        server.kill()
        speaker.close()
        time.sleep(1)
        server.start()
        source.live(2)
        speaker = Speaker(server.plain, "tls")
        speaker.say(range(LINES // 2, LINES))
        total = self.settled("tls", LINES)
        self.check("InspIRCd: killed and restarted, 10,000 lines, each counted once", total == LINES,
                   f"{total} arrived")
        gaps = source.said("gap", channel="tls")
        self.check("InspIRCd: the time of the restart is told as a gap",
                   len(gaps) == 1 and gaps[0]["to"] - gaps[0]["from"] >= 1000, gaps)
        self.check("InspIRCd: Ctrl-C ends it with 0", source.stop() == 0)
        speaker.close()
        server.kill()

    def certificate(self):
        server = Server(self.files, self.directory, "inspircd", certificate="other.example")
        source = Source(self, "wrong", "--server", f"localhost:{server.tls}", "--ca", f"{self.directory}/ca.pem")
        wait_for(lambda: any("another name" in report.get("reason", "") for report in source.said("state")),
              lambda: f"the refusal: {source.reports[-3:]}")
        self.check("a certificate for another name is refused", not source.said("state", state="live"))
        source.stop()
        server.kill()

    def ngircd(self):
        """10,000 lines without tags, through a proxy that cuts lines."""
        server = Server(self.files, self.directory, "ngircd")
        proxy = CuttingProxy(server.plain, after=[100_000, 150_000])
        source = Source(self, "plain", "--server", proxy.address, "--no-tls")
        source.live()
        self.check("ngircd: a server without tags is read, and said to be one",
                   "no tags" in source.said("state", state="live")[0].get("reason", ""), source.reports)
        speaker = Speaker(server.plain, "plain")
        sent = 0
        while sent < LINES:
            speaker.say(range(sent, sent + 500))
            sent += 500
            # The cuts fall between these, so that most lines find the source there.
            wait_for(lambda: self.total("plain") >= proxy.complete, "the daemon")
            source.live(proxy.cuts + 1)
        total = self.settled("plain", proxy.complete)
        self.check(f"ngircd: {LINES:,} lines, cut twice in the middle of one: each that arrived counts once",
                   proxy.cuts == 2 and total == proxy.complete, f"{proxy.cuts} cuts, {total}, {proxy.complete}")
        gaps = source.said("gap", channel="plain")
        self.check("ngircd: each cut is told as a gap", len(gaps) == 2, gaps)
        print(f"   {LINES - total} of {LINES} lines fell into the gaps")
        source.stop()
        speaker.close()
        server.kill()

    def others(self):
        """A source that stands still, is killed, or has a daemon that does is no harm to another one."""
        server = Server(self.files, self.directory, "ngircd")
        steady = Source(self, "steady", "--server", f"127.0.0.1:{server.plain}", "--no-tls")
        victim = Source(self, "victim", "--server", f"127.0.0.1:{server.plain}", "--no-tls")
        steady.live()
        victim.live()
        speakers = [Speaker(server.plain, channel) for channel in ("steady", "victim")]

        def say(numbers, *channels):
            for speaker in speakers:
                if speaker.channel in channels:
                    speaker.say(numbers)

        victim.process.send_signal(signal.SIGSTOP)
        say(range(2000), "steady", "victim")
        total = self.settled("steady", 2000)
        self.check("a source that stands still holds up no other", total == 2000, total)
        victim.process.kill()
        victim.process.wait()
        say(range(2000, 4000), "steady")
        total = self.settled("steady", 4000)
        self.check("nor does one that is killed", total == 4000, total)
        again = Source(self, "victim", "--server", f"127.0.0.1:{server.plain}", "--no-tls")
        again.live()
        before = self.total("victim")
        self.daemon.send_signal(signal.SIGSTOP)
        say(range(4000, 6000), "steady", "victim")
        # Until both wait for it with what they have read.
        for source in (steady, again):
            wait_for(lambda: any(report.get("waiting", 0) > 0 for report in source.reports[-2:]), "a full queue")
        self.daemon.send_signal(signal.SIGCONT)
        totals = [self.settled("steady", 6000), self.settled("victim", before + 2000) - before]
        self.check("a daemon that stands still loses nothing of either", totals == [6000, 2000], totals)
        again.stop()
        # The socket takes 25 KB a second, and answers come a third of a second late: 20,000 lines take 50 seconds.
        slow = SlowDaemon(f"{self.directory}/slow", self.control)
        victim = Source(self, "victim", "--server", f"127.0.0.1:{server.plain}", "--no-tls", control=slow.control)
        victim.live()
        before = self.total("victim")
        say(range(6000, 26000), "victim")
        say(range(6000, 8000), "steady")
        begun = time.monotonic()
        total = self.settled("steady", 8000)
        taken, behind = time.monotonic() - begun, self.total("victim") - before
        self.check("a source that is fed slowly holds up no other", total == 8000 and taken < 20 and behind < 20000,
                   (total, taken, behind))
        wait_for(lambda: any(one["state"] == "behind" for one in self.told("victim")), "that it is behind")
        with open(f"/proc/{victim.process.pid}/status") as file:
            memory = int(next(line.split()[1] for line in file if line.startswith("VmRSS")))
        slow.hurry.set()
        total = self.settled("victim", before + 20000) - before
        self.check("it says that it is behind, in bounded memory, and loses nothing",
                   total == 20000 and memory < 100_000, (total, memory))
        self.check("and the other one never had a gap", not steady.said("gap"), steady.said("gap"))
        for source in (steady, victim):
            source.stop()
        for speaker in speakers:
            speaker.close()
        server.kill()

    def twice(self):
        """The chat of one channel over IRC and, with the same identifiers, as notifications of EventSub."""
        listener = socket.create_server(("127.0.0.1", 0))

        def serve():
            client, _ = listener.accept()
            for line in client.makefile("rb"):
                if line.startswith(b"CAP REQ"):
                    client.sendall(b":t CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n")
                elif line.startswith(b"NICK"):
                    nick = line.split()[1]
                    client.sendall(b":t 001 %s :hi\r\n" % nick)
                elif line.startswith(b"JOIN"):
                    client.sendall(b":%s!x@x JOIN #both\r\n" % nick)
                    for number in range(500):
                        client.sendall(b"@id=m%d;user-id=7;display-name=Bo :bo!bo@bo PRIVMSG #both :hi %d\r\n"
                                       % (number, number))
                    for number in range(20):
                        client.sendall(b"@id=g%d;login=bo;user-id=7;msg-id=submysterygift;msg-param-mass-gift-count=5;"
                                       b"msg-param-community-gift-id=c%d :t USERNOTICE #both\r\n" % (number, number))
        threading.Thread(target=serve, daemon=True).start()
        source = Source(self, "both", "--server", f"127.0.0.1:{listener.getsockname()[1]}", "--no-tls")

        def notification(kind, **event):
            event.update(broadcaster_user_id="1", broadcaster_user_login="both", chatter_user_id="7",
                         chatter_user_name="Bo")
            return json.dumps({
                "metadata": {"message_type": "notification", "message_timestamp": "2026-11-23T20:00:00Z"},
                "payload": {"subscription": {"type": kind}, "event": event}}) + "\n"
        file = f"{self.directory}/eventsub.jsonl"
        with open(file, "w") as log:
            for number in range(600):
                log.write(notification("channel.chat.message", message_id=f"m{number}",
                                       message={"text": f"hi {number}"}))
            for number in range(20):
                log.write(notification("channel.chat.notification", message_id=f"g{number}",
                                       notice_type="community_sub_gift",
                                       community_sub_gift={"id": f"c{number}", "total": 5}))
        subprocess.run([f"{self.bin}/livehostctl", "--socket", self.control, "ingest", file, "--speed=max"],
                       check=True, stdout=subprocess.DEVNULL)

        def room():
            return json.loads(subprocess.run(
                [f"{self.bin}/livehostctl", "--socket", self.control, "show", "both", "--json=short"],
                stdout=subprocess.PIPE, text=True).stdout)
        try:
            wait_for(lambda: room()["rejectedByReason"].get("duplicate") == 520, "the copies")
        except TimeoutError:
            pass
        found = room()
        self.check("two sources for one channel give each message and each gift once",
                   found["features"]["chat"]["total"] == 600
                   and found["rejectedByReason"] == {"duplicate": 520},
                   (found["features"]["chat"]["total"], found["rejectedByReason"]))
        source.stop()

    def token(self):
        """Twitch refuses a token: final, with 77, and the token is to be seen nowhere."""
        secret = "oauthtokenthatnobodymaysee"
        file = f"{self.directory}/token"
        with open(file, "w") as token:
            token.write(secret + "\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.directory}/localhost.pem", f"{self.directory}/localhost.key")
        listener = socket.create_server(("127.0.0.1", 0))
        attempts, passwords, seen = [], [], []
        answer = threading.Event()

        def serve():
            while True:
                client, _ = listener.accept()
                attempts.append(client)
                with context.wrap_socket(client, server_side=True) as connection:
                    for line in connection.makefile("rb"):
                        if line.startswith(b"PASS"):
                            passwords.append(line)
                        if line.startswith(b"USER"):
                            answer.wait(PATIENCE)
                            connection.sendall(b":tmi.twitch.tv NOTICE * :Login authentication failed\r\n")
                            break

        threading.Thread(target=serve, daemon=True).start()
        source = Source(self, "secret", "--server", f"localhost:{listener.getsockname()[1]}", "--ca",
                        f"{self.directory}/ca.pem", "--token-file", file)
        wait_for(lambda: passwords, "the password")
        for name in ("cmdline", "environ"):
            with open(f"/proc/{source.process.pid}/{name}", "rb") as text:
                seen.append(text.read())
        answer.set()
        status = source.process.wait(PATIENCE)
        self.check("a refused token is final: 77, after one attempt",
                   status == 77 and len(attempts) == 1, f"{status}, {len(attempts)} attempts")
        seen.append(json.dumps(source.reports).encode())
        os.unlink(file)
        for path, _, names in os.walk(self.directory):
            for name in names:
                if os.path.isfile(f"{path}/{name}"):
                    with open(f"{path}/{name}", "rb") as text:
                        seen.append(text.read())
        self.check("a token is in no argument, environment, log, report or state",
                   passwords == [b"PASS oauth:" + secret.encode() + b"\r\n"]
                   and not any(secret.encode() in text for text in seen))

    def exits(self):
        """Mistakes end at once, with the exit codes of the manual."""
        def code(*arguments, control=None):
            return subprocess.run(
                [f"{self.bin}/livehostctl", "--socket", control or self.control, "connect", "twitch",
                 *arguments], stderr=subprocess.DEVNULL, timeout=PATIENCE).returncode

        with open(f"{self.directory}/source.yaml", "w") as file:
            file.write("kind: twitch\nnonsense: 1\n")
        configured = subprocess.run(
            [f"{self.bin}/livehost-source", "--check-config", f"--config={self.directory}/source.yaml"],
            stderr=subprocess.DEVNULL).returncode
        found = [code("a", control=f"{self.directory}/nobody"), code("not a channel"),
                 code("a", "--token-file", f"{self.directory}/nothing"), configured]
        self.check("exit codes: 69 without a daemon, 64 usage, 78 an unreadable token, 78 configuration",
                   found == [69, 64, 78, 78], found)

    def end(self):
        self.daemon.terminate()
        ended = self.daemon.wait(PATIENCE)
        if ended != 0 or self.failed:
            for name in ("log", "source.log"):
                with open(f"{self.directory}/{name}") as file:
                    print(f"{name}:\n{file.read()[-2000:]}")
        shutil.rmtree(self.directory)
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if ended == 0 and not self.failed else 1


def main():
    test = Test(*sys.argv[1:3])
    test.run("InspIRCd", test.inspircd)
    test.run("certificates", test.certificate)
    test.run("ngircd", test.ngircd)
    test.run("others", test.others)
    test.run("twice", test.twice)
    test.run("a token", test.token)
    test.run("exit codes", test.exits)
    sys.exit(test.end())


if __name__ == "__main__":
    main()
