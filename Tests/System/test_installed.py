"""The installed package livehost: service and sockets, permissions, manual pages, completion and
journal."""
import itertools
import json
import re

from debian import DAEMON, INGEST, UNITS, execute
from harness.ingest import Ingest
from harness.places import ROOT
from harness.programs import deterministic
from harness.waiting import wait_for
from hostile import ROOMS, send_hostile_events

PAGES = ("livehostd.8", "livehostctl.1", "livehostd.conf.5", "livehost-events.5", "livehost-scenario.5",
         "io.livehost.Control.7")
LIMITS = {"TasksMax": "512", "MemoryMax": "2147483648", "LimitCORE": "0", "LimitNOFILE": "65536",
          "IPAddressDeny": "0.0.0.0/0 ::/0", "PrivateNetwork": "yes", "NoNewPrivileges": "yes", "DynamicUser": "yes",
          "CapabilityBoundingSet": "", "ProtectSystem": "strict", "WatchdogUSec": "30s"}
EXPOSURE = 0.6
VIEWERS = '{"type":"viewers","count":1}'
COMPLETE = (ROOT / "Tests/Interop/complete.bash").read_text()
COMPLETIONS = {"sho": "show", "show ma": "main", "watch main chat h": "header", "why main Ch": "ChatView",
               "--json = s": "short", "ingest --form": "--format", "simulate --device iphone-13": "iphone-13-mini"}
SCRIPT = "/usr/share/bash-completion/completions/livehostctl"
CONFIGURED = "/usr/share/doc/livehost/examples/livehostd.yaml"
WRONG = "/etc/livehost/livehostd.yaml.d/wrong.yaml"


def complete(debian, words):
    """Returns bash's completions for words after `livehostctl`; the last word is incomplete."""
    return debian.run("bash", "-c", COMPLETE, "-", SCRIPT, "livehostctl", *words.split(" "), merged=True).strip()


def test_the_package_is_complete(check, packages, programs):
    def field(name):
        return execute("dpkg-deb", "-f", *packages.glob("livehost_*.deb"), name).strip()

    with check.attempt("the package, the daemon and the client have the same version"):
        daemon, client = (execute(programs / name, "--version").split()[-1] for name in ("livehostd", "livehostctl"))
        assert field("Version") == daemon == client, (field("Version"), daemon, client)
    with check.attempt("the installed size is the size stated in README.md"):
        installed = int(field("Installed-Size")) * 1024 / 1e6
        stated = int(re.search(r"takes (\d+) MB", (ROOT / "README.md").read_text())[1])
        # README.md need not reflect a change of less than a tenth.
        assert 0.9 * stated <= installed <= 1.1 * stated, f"installed {installed:.0f} MB, stated {stated} MB"


def test_the_service_runs_sandboxed(check, debian):
    """Checks the service, its sockets and its sandbox."""
    with check.attempt("the package installs on a running system"):
        assert debian.run("dpkg-query", "-W", "-f", "${db:Status-Status}", "livehost") == "installed"
    with check.attempt("the service and its sockets are active, and enabled for the next boot"):
        debian.assert_enabled()
    with check.attempt("the programs find all libraries, and the Swift runtime in the package"):
        for program in "livehostd", "livehostctl":
            libraries = debian.run("ldd", f"/usr/bin/{program}")
            assert "not found" not in libraries and "libswiftCore.so => /usr/lib/livehost/" in libraries, libraries
    with check.attempt("the limits of the unit are in effect"):
        unit = debian.unit()
        # systemd lists the members of a set in any order.
        seen = {name: " ".join(sorted(unit[name].split())) for name in LIMITS}
        assert seen == LIMITS, seen
    with check.attempt("systemd-analyze security reports an exposure of at most 0.6"):
        debian.assert_exposure(EXPOSURE)
    with check.attempt("the service starts on its sockets and reports READY"):
        debian.systemctl("stop", *UNITS)
        debian.systemctl("start", *UNITS)
        unit = debian.unit()
        seen = unit["Type"].split("-")[0], unit["ActiveState"], unit["SubState"]
        assert seen == ("notify", "active", "running"), seen
    with check.attempt("the service sets a status text"):
        assert debian.unit()["StatusText"]
    with check.attempt("the service runs as a dynamic user without capabilities"):
        debian.assert_unprivileged()
    with check.attempt("the socket units own both sockets with their modes and group"):
        seen = debian.shell("cd /run/livehost && stat -c '%n %a %G' io.livehost.Control ingest")
        assert seen == "io.livehost.Control 666 root\ningest 660 livehost\n", seen
    with check.attempt("simulations run at a lower priority under the unit's system-call filter"):
        # The threads for heavy work exist since the start, with the priority at which they will
        # run; see proc(5) for stat.
        tasks = debian.path(f"/proc/{debian.main_process()}/task").iterdir()
        seen = {(task / "stat").read_text().rsplit(") ", 1)[1].split()[16] for task in tasks
                if (task / "comm").read_text().startswith("work-")}
        assert seen == {"10"}, f"their niceness is {seen}, expected 10"


def test_permissions_depend_on_the_groups_of_users(check, debian):
    """Checks the permissions of root, members of the group livehost, and other users."""
    chat = {"type": "chat.message", "user": {"id": "7", "name": "Ada"}, "text": "hello"}
    with check.attempt("livehostctl send delivers an event"):
        debian.ctl("send", "main", json.dumps({**chat, "id": "0"}))
    with check.attempt("an ordinary user may run livehostctl status"):
        debian.ctl("status", user="visitor")
    with check.attempt("send and ingest by an ordinary user are refused with 77"):
        debian.ctl("send", "main", VIEWERS, user="visitor", status=77)
        debian.ctl("ingest", "-", input=VIEWERS + "\n", user="visitor", status=77)
    with check.attempt("a member of the group livehost may send and ingest"):
        debian.run("usermod", "-aG", "livehost", "host")
        debian.ctl("send", "main", json.dumps({**chat, "id": "1"}), user="host")
        debian.ctl("ingest", "-", "--room", "other", input=VIEWERS + "\n", user="host")
        total = debian.json("show", "main", "chat", user="visitor")["features"]["chat"]["total"]
        assert total == 2, f"the room has {total} messages, expected 2"
    with check.attempt("an ordinary user can play the installed recording"):
        debian.shell("cd && exec livehostctl demo --once", user="visitor")
    with check.attempt("the installed scenario runs: in the daemon for members, for every user with --local"):
        scenario = "/usr/share/livehost/scenarios/host-screen.yaml"
        arguments = ("simulate", scenario, "--set", "duration=10s", "--json=short")
        in_daemon, local = (deterministic(debian.ctl(*command, user=user)) for user, command in (
            ("host", arguments), ("visitor", (*arguments, "--local"))))
        assert in_daemon == local, f"in the daemon: {in_daemon}\nlocal: {local}"


def test_manual_pages_and_help_are_installed(check, debian):
    """Checks the manual pages, completion, the journal's catalog, and --check-config."""
    kinds = debian.json("journal", "--kinds")["kinds"]
    room_opened = next(f"MESSAGE_ID={kind['messageID']}" for kind in kinds if kind["kind"] == "room-opened")
    with check.attempt("the manual pages open without a warning, and whatis finds them"):
        debian.assert_manuals(*PAGES)
    with check.attempt("bash completes verbs, and rooms, features and views of the daemon"):
        seen = {words: complete(debian, words) for words in COMPLETIONS}
        assert seen == COMPLETIONS, seen
    with check.attempt("zsh loads the completion"):
        errors = debian.run("zsh", "-f", "-c", """autoload -Uz compinit && compinit -u -D &&
            [[ $_comps[livehostctl] == _livehostctl ]] && autoload +X _livehostctl""", merged=True)
        assert not errors, errors
    with check.attempt("the journal contains the opening of the room, with MESSAGE_ID and LIVEHOST_ROOM"):
        entries = debian.journal("-o", "json", "-u", DAEMON, room_opened)
        assert '"LIVEHOST_ROOM":"main"' in entries, f"{entries}\n{debian.journal('-u', DAEMON)}"
    with check.attempt("journalctl -x explains the opening of the room"):
        explained = debian.journal("-x", "-u", DAEMON, room_opened)
        assert "Room main was opened" in explained, explained
    with check.attempt("the installed configuration is valid, and an invalid one is refused with the error's location"):
        debian.run("livehostd", "--check-config")
        debian.run("livehostd", "--check-config", "--config", CONFIGURED)
        with debian.file(WRONG, "rooms:\n  maximun: 3\n"):
            text = debian.run("livehostd", "--check-config", status=78, merged=True)
        assert f"{WRONG}:2: rooms.maximun" in text, text


def features(debian):
    """Returns the content of room main, without parts that change over time."""
    features = debian.json("show", "main")["features"]
    for figure in ("rate", "recent"):
        features["chat"].pop(figure, None)
    return features


def test_the_installed_service_works(check, debian):
    """Checks restarting, activation and stopping; then a hostile sender."""
    with check.attempt("a restart restores the rooms"):
        debian.send("main", "title", title="Evening show")
        debian.send("main", "reaction", kind="heart", count=5)
        before = features(debian)
        debian.systemctl("restart", DAEMON)
        after = features(debian)
        assert before == after, f"before: {before}\nafter: {after}"
    with check.attempt("a connection to either socket starts the stopped service"):
        debian.systemctl("stop", DAEMON)
        debian.ctl("status")
        assert debian.state() == "active", "the control socket does not start the service"
        debian.systemctl("stop", DAEMON)
        with Ingest(debian.path(INGEST)) as ingest:
            received = ingest.sync({"type": "viewers", "count": 2})["received"]
        assert received == 1 and debian.state() == "active", "the ingest socket does not start the service"
    with check.attempt("the service stops cleanly: inactive, with the result success"):
        # Only the service is stopped. The sockets of the service stay open, as after any stop by an
        # administrator.
        debian.systemctl("stop", DAEMON)
        unit = debian.unit()
        assert (unit["ActiveState"], unit["Result"]) == ("inactive", "success"), unit
    with check.attempt("no entry of the service is a warning or worse"):
        found = debian.journal("-p", "warning", *itertools.chain(*(("-u", unit) for unit in UNITS)))
        assert not found, found
    with check.attempt("a hostile sender causes no hang and stays within the unit's memory limit, also after a kill"):
        debian.systemctl("start", DAEMON)
        process = debian.main_process()
        send_hostile_events(debian.path(INGEST))
        assert_unharmed(debian)
        assert debian.main_process() == process, "the service was restarted"
        debian.systemctl("kill", "--signal=KILL", DAEMON)
        debian.wait_for_other_process(process)
        wait_for(lambda: len(debian.json("rooms")) >= ROOMS, lambda: f"rooms are missing: {debian.json('rooms')}")
        assert_unharmed(debian)


def assert_unharmed(debian):
    """Checks that the daemon never used more memory than its unit allows, and that no turn
    computed for too long."""
    unit = debian.unit()
    # The peak of the process is used, because a container may not count the memory of its units.
    peak = int(re.search(r"VmHWM:\s+(\d+)", debian.inspect(unit["MainPID"], "status"))[1]) * 1024
    assert peak < int(unit["MemoryHigh"]), f"the daemon's memory was {peak} of {unit['MemoryHigh']}"
    # Only computing time is compared, not the length of a turn: on a busy machine, a lane may have
    # no processor, or wait for a page or for a thread without a processor.
    busy = [hang for hang in debian.json("hangs")["hangs"] if hang.get("processorMicroseconds", 10**9) >= 250_000]
    assert not busy, busy
