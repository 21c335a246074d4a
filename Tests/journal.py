#!/usr/bin/env python3
"""The daemon's entries in a real journal: `journal.py BIN [SECONDS]`, where BIN is the directory of the
programs. A systemd-journald of the script's own runs in a mount namespace; it is stopped for SECONDS (10)
under full load. Needs root. Ends with `N passed, N failed[, N skipped]`."""
import collections, ctypes, glob, json, os, shutil, signal, socket, subprocess, sys, tempfile
import threading, time

BINARIES = os.path.abspath(sys.argv[1])
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 10
JOURNALD = "/lib/systemd/systemd-journald"
REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHECKS = 19
# Limit of a wait for something that must happen; reaching it is a failure, not a measurement.
PATIENCE = 60

passed = failed = skipped = 0
directory = tempfile.mkdtemp(prefix="livehost-journal-")


def skip(why):
    print(f"SKIPPED: {why}")
    print(f"0 passed, 0 failed, {CHECKS} skipped")
    shutil.rmtree(directory)
    sys.exit(0)


def enter_namespace():
    if os.environ.get("LIVEHOST_JOURNAL_NAMESPACE"):
        return
    if os.geteuid() != 0:
        skip("not root: no journald of one's own")
    for program in (JOURNALD, "/usr/bin/journalctl", "/usr/bin/unshare"):
        if not os.access(program, os.X_OK):
            skip(f"{program} is not installed")
    wrapped = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*wrapped, "true"], capture_output=True).returncode != 0:
        skip("mount namespaces are not permitted")
    shutil.rmtree(directory)
    os.environ["LIVEHOST_JOURNAL_NAMESPACE"] = "1"
    os.execvp(wrapped[0], [*wrapped, sys.executable, __file__, *sys.argv[1:]])


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def start_journald():
    for place in ("/run", "/var/log/journal", "/var/lib/systemd/catalog"):
        if os.path.isdir(place):
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "none", place], check=True)
    os.makedirs("/run/systemd/journal")
    os.makedirs("/run/log/journal")
    os.makedirs("/run/systemd/journald.conf.d")
    with open("/run/systemd/journald.conf.d/test.conf", "w") as file:
        file.write("[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitIntervalSec=0\n"
                   "ForwardToSyslog=no\nForwardToWall=no\n")
    journald = subprocess.Popen([JOURNALD], preexec_fn=die_with_parent, stderr=subprocess.DEVNULL)
    if not eventually(lambda: os.path.exists("/run/systemd/journal/stdout") and journal_files(), 20):
        journald.kill()
        skip("journald does not start here")
    return journald


def journal_files():
    names = os.listdir("/run/log/journal")
    return f"/run/log/journal/{names[0]}" if names else None


def eventually(condition, seconds=PATIENCE):
    """Polls, since there is no notification of how far another process has got."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.05)
    return None


def check(name, condition, *details):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    print(f"{'ok' if condition else 'FAILED'}: {name}", flush=True)
    if not condition:
        for detail in details:
            print(f"  {detail}", flush=True)


class Daemon:
    """A livehostd whose standard error is the journal's."""

    def __init__(self, name, *arguments, **environment):
        self.run = f"{directory}/{name}"
        stream = socket.socket(socket.AF_UNIX)
        stream.connect("/run/systemd/journal/stdout")
        stream.sendall(b"livehostd\n\n6\n1\n0\n0\n0\n")
        status = os.fstat(stream.fileno())
        environment = {**os.environ, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}",
                       "LIBDISPATCH_LOG": "NO", **environment}
        self.process = subprocess.Popen(
            [f"{BINARIES}/livehostd", "--runtime-dir", self.run, "--state-dir", f"{self.run}-state",
             *arguments],
            env=environment, stdout=stream, stderr=stream, preexec_fn=die_with_parent)
        stream.close()

    def ready(self):
        if not eventually(lambda: self.process.poll() is not None
                          or self.ctl("status").returncode == 0) or self.process.poll() is not None:
            sys.exit("the daemon did not start")
        return self

    def ctl(self, *arguments):
        return ctl("--socket", self.run, *arguments)

    def json(self, *arguments):
        return json.loads(self.ctl(*arguments, "--json=short").stdout)

    def call(self, *calls):
        """Calls methods over one connection without waiting in between; returns the replies."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{self.run}/io.livehost.Control")
        messages = b"".join(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0"
                            for method, parameters in calls)
        threading.Thread(target=connection.sendall, args=(messages,)).start()
        received = bytearray()
        while received.count(b"\0") < len(calls):
            part = connection.recv(1 << 16)
            if not part:
                break
            received += part
        return [json.loads(reply) for reply in bytes(received).split(b"\0")[:-1]]

    def feed(self, *lines):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{self.run}/ingest")
        connection.sendall(b"".join(line + b"\n" for line in lines)
                           + b'{"type":"sync","token":"fed"}\n')
        connection.makefile("rb").readline()

    def entries(self, *arguments):
        """Its entries, as `livehostctl journal` reads them."""
        found = json.loads(ctl("journal", "--json=short", *arguments).stdout)["entries"]
        return [entry for entry in found if entry["fields"].get("_PID") == str(self.process.pid)]

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)


def ctl(*arguments):
    return subprocess.run([f"{BINARIES}/livehostctl", *arguments], capture_output=True, text=True,
                          timeout=PATIENCE)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def kind(entry):
    return entry.get("kind", "-")


# What is logged, and how it is read back.

def provoke_each_kind(configuration):
    """A running daemon that has logged every kind of entry."""
    # A file system that can be full.
    os.mkdir(f"{directory}/first-state")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "none", f"{directory}/first-state"],
                   check=True)
    daemon = Daemon("first", "--config", configuration,
                    LIVEHOST_HOLD="action:header.titleChanged=800,view:RecorderView=260")
    daemon.ready()
    daemon.ctl("open", "main")
    daemon.ctl("send", "main", '{"type":"title","title":"evening"}')
    daemon.ctl("set", "main", "volume", "0.5")
    daemon.ctl("record", "start", "main")
    daemon.ctl("record", "pause", "main")
    daemon.ctl("record", "resume", "main")
    daemon.ctl("record", "stop", "main")
    daemon.ctl("analyze", "chatters", "main")
    rot(glob.glob(f"{daemon.run}-state/recordings/main-*/000001.ndjson")[0])
    daemon.ctl("record", "verify", "main")
    daemon.ctl("record", "delete", daemon.json("record", "list")[0]["recording"])
    daemon.feed(b"{broken", b"{broken too", b"{and again", b'{"type":"nosuchtype"}')
    write(configuration, "rooms:\n  maximun: 3\n")
    daemon.ctl("reload")
    write(configuration, "lanes: 2\n")
    daemon.ctl("reload")
    try:
        with open(f"{daemon.run}-state/ballast", "wb") as ballast:
            while True:
                ballast.write(bytes(65536))
                ballast.flush()
    except OSError:
        pass
    daemon.ctl("open", "side")
    daemon.ctl("record", "start", "side")
    eventually(lambda: any(kind(entry) == "recording-failed" for entry in daemon.entries()))
    daemon.ctl("close", "side")
    hold_unfinished_calls(daemon)
    eventually(lambda: any(kind(entry) == "client-refused" for entry in daemon.entries()))
    eventually(lambda: len(daemon.json("hangs")["hangs"]) >= 3)
    return daemon


def rot(path):
    """Flips a bit in the middle of a file."""
    with open(path, "r+b") as file:
        middle = os.path.getsize(path) // 2
        file.seek(middle)
        byte = file.read(1)[0]
        file.seek(middle)
        file.write(bytes([byte ^ 1]))


def hold_unfinished_calls(daemon):
    """Sends the beginnings of more and longer calls than the daemon has memory for."""
    holders = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    for holder in holders:
        holder.connect(f"{daemon.run}/io.livehost.Control")
        try:
            holder.sendall(b"x" * ((4 << 20) - 1))
        except OSError:
            pass


def reading(daemon, started):
    journal = ["journal", "--kind", "hang", "--since", f"@{started}"]
    # The journal's thread writes a moment later, and the machine may cause a hang at any time.
    eventually(lambda: daemon.json("hangs") == json.loads(ctl(*journal, "--json=short").stdout))
    hangs, past = daemon.ctl("hangs", "--json=short"), ctl(*journal, "--json=short")
    check("the journal's hangs are those of the running daemon, field by field",
          len(json.loads(hangs.stdout)["hangs"]) >= 3
          and json.loads(hangs.stdout) == json.loads(past.stdout), hangs.stdout, past.stdout)
    kinds = {hang["kind"] for hang in json.loads(past.stdout)["hangs"]}
    check("hangs and microhangs are among them", kinds == {"hang", "microhang"}, kinds)
    check("their table has the same text",
          daemon.ctl("hangs").stdout == ctl(*journal).stdout, ctl(*journal).stdout)
    check("a directory of journal files is read as the machine's journal is",
          ctl(*journal, "--directory", journal_files()).stdout == ctl(*journal).stdout)
    newest = json.loads(ctl(*journal, "--json=short", "-n1").stdout)["hangs"]
    check("the newest ones are asked for by their number",
          newest == json.loads(past.stdout)["hangs"][-1:]
          and [kind(entry) for entry in daemon.entries("--lines", "1", "--kind", "room-opened")]
          == ["room-opened"], newest)
    sides = daemon.entries("--room", "side")
    check("entries of a room alone", {"room-opened", "room-closed", "recording-failed"}
          <= {kind(entry) for entry in sides} and {entry.get("room") for entry in sides} == {"side"},
          sides)
    end = sides[0]["timestamp"] / 1000
    check("entries until a time", daemon.entries("--until", f"@{end - 0.001}")
          and all(entry["timestamp"] < sides[0]["timestamp"]
                  for entry in daemon.entries("--until", f"@{end - 0.001}")))


def following(daemon):
    follower = subprocess.Popen(
        [f"{BINARIES}/livehostctl", "journal", "--follow", "--json=short", "--kind", "room-opened"],
        stdout=subprocess.PIPE, text=True)
    read = [json.loads(follower.stdout.readline())["room"] for _ in range(2)]
    daemon.ctl("open", "followed")
    read.append(json.loads(follower.stdout.readline())["room"])
    follower.send_signal(signal.SIGINT)
    check("it follows, and ends with 130 when interrupted",
          follower.wait(PATIENCE) == 130 and read == ["main", "side", "followed"], read)


def rejections(daemon):
    told = [(entry["fields"]["LIVEHOST_REASON"], int(entry["fields"]["LIVEHOST_COUNT"]))
            for entry in daemon.entries("--kind", "input-rejected")]
    sums = collections.Counter()
    for reason, count in told:
        sums[reason] += count
    check("rejected input is told by reason, each line counted, in few entries",
          sums == {"malformedJSON": 8, "unknownType": 1} and len(told) <= 4
          and told[:2] == [("malformedJSON", 3), ("unknownType", 1)], told)
    lines = [entry["message"] for entry in daemon.entries("--kind", "input-rejected")]
    check("a rejected line of an unknown type names it", "'nosuchtype'" in lines[1], lines)


def kinds_and_fields(daemons):
    known = json.loads(ctl("journal", "--kinds", "--json=short").stdout)["kinds"]
    entries = [entry for daemon in daemons for entry in daemon.entries()]
    seen = collections.Counter(map(kind, entries))
    missing = [entry["kind"] for entry in known if not seen[entry["kind"]]]
    check("an entry of every kind was written", not missing, f"missing: {missing}; seen: {dict(seen)}")
    wrong = []
    for entry in entries:
        told = {name for name in entry["fields"]
                if name.startswith("LIVEHOST_") and name != "LIVEHOST_LOGGER"}
        for declared in known:
            if declared["kind"] == kind(entry):
                always = set(declared["fields"])
                if not always <= told <= always | set(declared["optionalFields"]):
                    wrong.append((kind(entry), sorted(told)))
                if entry["level"] != declared["level"]:
                    wrong.append((kind(entry), entry["level"]))
    check("each has the fields that its kind says, and its level", not wrong, *wrong)
    explained = []
    catalog = f"{REPOSITORY}/packaging/catalog"
    os.makedirs("/run/systemd/catalog-test", exist_ok=True)
    subprocess.run(["mount", "--bind", catalog, "/usr/lib/systemd/catalog"], check=True)
    subprocess.run(["journalctl", "--update-catalog"], check=True)
    for declared in known:
        text = subprocess.run(
            ["journalctl", "-q", "-x", "--no-pager", "-n1", f"MESSAGE_ID={declared['messageID']}"],
            capture_output=True, text=True).stdout
        # A field that an entry lacks is shown as its bare name.
        if "Subject: " not in text or "LIVEHOST_" in text or "@" in text:
            explained.append(f"{declared['kind']}: {text}")
    check("journalctl -x explains each, with all fields filled in", not explained, *explained)


# journald stopped under load.

class Load:
    """Chat as fast as the daemon accepts it, all of it acknowledged."""

    def __init__(self, daemon):
        self.acknowledged = 0
        self.ends = threading.Event()
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(f"{daemon.run}/ingest")
        self.threads = [threading.Thread(target=self.send), threading.Thread(target=self.listen)]
        for thread in self.threads:
            thread.start()

    def send(self):
        number = 0
        while not self.ends.is_set():
            block = bytearray()
            for _ in range(500):
                block += (b'{"type":"chat.message","room":"load","id":"%d","user":{"id":"u%d",'
                          b'"name":"n"},"text":"number %d"}\n' % (number, number % 97, number))
                number += 1
            self.connection.sendall(block + b'{"type":"sync","token":"%d"}\n' % number)
        self.connection.shutdown(socket.SHUT_WR)

    def listen(self):
        for line in self.connection.makefile("rb"):
            self.acknowledged = int(json.loads(line)["token"])

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def stopped_journald(journald):
    bad = write(f"{directory}/stopped.yaml", "lanes: 1\n")
    daemon = Daemon("second", "--config", bad, LIVEHOST_JOURNAL_CAPACITY="160").ready()
    load = Load(daemon)
    if not eventually(lambda: load.acknowledged > 1000):
        sys.exit("the load did not begin")
    write(bad, "lanes: none\n")
    journald.send_signal(signal.SIGSTOP)
    begun, before = time.monotonic(), load.acknowledged
    rooms = [(f"io.livehost.Control.{method}", {"room": f"r{number % 7}"})
             for number in range(300) for method in ("OpenRoom", "CloseRoom")]
    opened = sum("error" not in reply for reply in daemon.call(*rooms)) // 2
    sliders = [b'{"type":"slider","room":"load","control":"volume","phase":"%s","value":0.%d}'
               % (phase, number) for number in range(1, 300) for phase in (b"begin", b"end")]
    daemon.feed(*sliders)
    errors = sum("error" in reply
                 for reply in daemon.call(*[("io.systemd.service.Reload", {})] * 30))
    middle = load.acknowledged
    # The calls may have taken all of the time; some time without them is needed too.
    time.sleep(max(1, SECONDS - (time.monotonic() - begun)))
    during = load.acknowledged
    status = daemon.json("status")
    journald.send_signal(signal.SIGCONT)
    load.end()
    committed = daemon.json("show", "load")["features"]["control"]["committed"]
    hangs = daemon.json("hangs")["hangs"]
    print(f"  {during - before} events while journald was stopped for {SECONDS:g} s; "
          f"{status['journalEntriesLost']} entries lost", flush=True)
    check("events were applied while journald was stopped", before < middle < during,
          before, middle, during)
    # A lane that waits for journald waits until it goes on, for seconds. Shorter ones are caused by the machine:
    # it gave the lane no processor, or a page of memory late.
    check("no lane waited for journald, and none computed for long", not [
        hang for hang in hangs
        if hang["reason"] == "blocked" and hang["durationMicroseconds"] >= 1_000_000
        or hang.get("processorMicroseconds", 10**9) >= 250_000], *hangs)
    ended = daemon.stop()
    entries = daemon.entries()
    counted = collections.Counter()
    for entry in entries:
        counted[kind(entry)] += int(entry["fields"].get("LIVEHOST_REPEATED", 1))
    lost = sum(int(entry["fields"]["LIVEHOST_LOST"]) for entry in entries
               if kind(entry) == "entries-lost")
    lost_errors = sum(int(entry["fields"]["LIVEHOST_LOST_ERRORS"]) for entry in entries
                      if kind(entry) == "entries-lost")
    # The room of the load was opened as well; it stays open.
    offered = 2 * opened + 1 + committed
    told = sum(counted[name] for name in ("room-opened", "room-closed", "slider-committed"))
    check("entries were lost, and each of them is counted and told afterwards",
          lost > 0 and lost >= status["journalEntriesLost"] and told + lost == offered and ended == 0,
          f"offered {offered}, told {told}, lost {lost}, status {status['journalEntriesLost']}, "
          f"ended with {ended}", dict(counted))
    check("all errors are kept", errors == 30 and counted["configuration-error"] == 30
          and lost_errors == 0, errors, dict(counted), lost_errors)
    return daemon


def main():
    enter_namespace()
    journald = start_journald()
    # Nothing here may wait forever.
    signal.alarm(int(SECONDS) + 300)
    try:
        empty = [ctl("journal"), ctl("journal", "--json=short"), ctl("journal", "--kind", "hang")]
        check("a journal without an entry of livehost is empty, and no failure",
              [each.returncode for each in empty] == [0, 0, 0] and empty[0].stdout == "no entries\n"
              and json.loads(empty[1].stdout) == {"entries": []} and "no hang" in empty[2].stdout
              and not any(each.stderr for each in empty), *empty)
        started = time.time()
        configuration = write(f"{directory}/livehostd.yaml", "lanes: 1\n")
        first = provoke_each_kind(configuration)
        reading(first, started)
        following(first)
        refused = Daemon("refused", "--config", write(f"{directory}/bad.yaml", "lanes: none\n"))
        check("a start with a bad configuration ends with 78, and the journal tells why",
              refused.process.wait(PATIENCE) == 78
              and eventually(lambda: [entry["fields"]["LIVEHOST_KEY"] for entry in refused.entries()
                                      if kind(entry) == "configuration-error"] == ["lanes"], 10),
              refused.entries())
        first.feed(*[b"{broken"] * 5)
        first.stop()
        rejections(first)
        second = stopped_journald(journald)
        kinds_and_fields([first, refused, second])
    finally:
        journald.send_signal(signal.SIGCONT)
        journald.terminate()
        journald.wait()
    if failed == 0:
        subprocess.run(["umount", f"{directory}/first-state"])
        shutil.rmtree(directory)
    else:
        print(f"kept: {directory}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed > 0)


main()
