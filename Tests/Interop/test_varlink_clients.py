"""Tests the daemon with third-party Varlink clients: PyPI's varlink, and systemd's varlinkctl. varlinkctl is in Debian
since version 13 (trixie), so it runs in a cached root made by debootstrap at LIVEHOST_TRIXIE_CACHE."""
import json
import os
import pathlib
import subprocess
import sys

from harness.places import CACHE, ROOT, debian_root
from harness.programs import Program

TRIXIE = pathlib.Path(os.environ.get("LIVEHOST_TRIXIE_CACHE") or CACHE / "trixie")
INTERFACE = "io.livehost.Control"
MAIN, TITLE = {"room": "main"}, {"type": "title", "title": "Hello"}
EVENTS = {**MAIN, "events": [{"type": "viewers", "count": 12}, TITLE]}
# The name of a check, a method, its parameters, and a part of the reply, or "" for an empty reply, for which
# varlink.cli prints nothing.
CALLS = [
    ("GetStatus returns the status", "GetStatus", {}, '"uptimeSeconds"'),
    ("OpenRoom opens a room", "OpenRoom", MAIN, ""),
    ("OpenRoom refuses a room that is open", "OpenRoom", MAIN, "RoomExists"),
    ("ListRooms lists the room", "ListRooms", {}, '"main"'),
    ("SendEvents accepts events", "SendEvents", EVENTS, '"received": 2'),
    ("GetRoom returns the title", "GetRoom", MAIN, '"title": "Hello"'),
    ("GetRoom returns a single feature", "GetRoom", {**MAIN, "feature": "header"}, '"viewers": 12'),
    ("MonitorRoom without more gives one state", "MonitorRoom", MAIN, '"sequence"'),
    ("SendEvents refuses an invalid event", "SendEvents", {**MAIN, "events": [{"type": "nonsense"}]}, "InvalidEvent"),
    ("an unknown feature is refused", "GetRoom", {**MAIN, "feature": "nonsense"}, "InvalidParameter"),
    ("an unknown parameter is refused", "GetStatus", {"x": 1}, "InvalidParameter"),
    ("CloseRoom closes the room", "CloseRoom", MAIN, ""),
    ("GetRoom refuses a closed room", "GetRoom", MAIN, "NoSuchRoom"),
    ("an unknown method is refused", "Nonsense", {}, "MethodNotFound"),
]


def test_the_python_varlink_client_works_with_the_daemon(check, daemon):
    address = f"unix:{daemon.control}"

    def cli(name, expected, *arguments):
        # varlink.cli exits with 0 even on errors.
        seen = subprocess.run([sys.executable, "-m", "varlink.cli", *arguments], text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        check(name, expected in seen if expected else not seen, f"expected {expected!r}, seen {seen!r}")

    cli("info names the interface", INTERFACE, "info", address)
    cli("info names org.varlink.service", "org.varlink.service", "info", address)
    cli("help prints the definition", "method MonitorRoom", "help", f"{address}/{INTERFACE}")
    for name, method, parameters, expected in CALLS:
        cli(name, expected, "call", f"{address}/{INTERFACE}.{method}", json.dumps(parameters))


def test_varlinkctl_works_with_the_daemon(check, daemon, tmp_path):
    if reason := debian_root(TRIXIE, "trixie", "usr/bin/varlinkctl", "systemd"):
        return check.skip(reason, 15)
    # The program uses the libraries of the Debian root, but the sockets and files of this system.
    loader = next(TRIXIE.glob("usr/lib/*/ld-linux-*"))
    program = [loader, "--library-path", f"{loader.parent}:{loader.parent / 'systemd'}", TRIXIE / "usr/bin/varlinkctl"]
    address = f"unix:{daemon.control}"

    def call(method, parameters, *options):
        return ["call", *options, address, method if "." in method else f"{INTERFACE}.{method}", json.dumps(parameters)]

    def validate(name, file):
        # varlinkctl prints problems to standard error.
        seen = subprocess.run([*program, "validate-idl", file], capture_output=True, text=True)
        check(name, seen.returncode == 0 and not seen.stderr, f"ended with {seen.returncode}: {seen.stderr}")

    validate("validate-idl accepts the interface file without a warning",
             ROOT / "Sources/Control/ControlInterface/io.livehost.Control.varlink")
    for name, arguments, *texts in [
        ("info names the product", ["info", address], "livehostd"),
        ("info names the interfaces", ["info", address], "io.systemd.service"),
        ("list-interfaces prints the interface", ["list-interfaces", address], INTERFACE),
        ("list-methods prints the methods", ["list-methods", address], f"{INTERFACE}.MonitorRoom"),
        ("introspect prints the definition", ["introspect", address, INTERFACE], "method MonitorRoom"),
        ("call prints the status", call("GetStatus", {}), '"uptimeSeconds"'),
        ("call opens a room", call("OpenRoom", MAIN)),
        ("call sends events", call("SendEvents", {"events": EVENTS["events"]}, "--json=short"), '"received":2'),
        ("call --more works with a method that has one reply", call("ListRooms", {}, "--more"), '"rooms"'),
        ("call --oneway exits with 0", call("io.systemd.service.Ping", {}, "--oneway")),
    ]:
        check.runs(name, [*program, *arguments], *texts)
    check.runs("varlinkctl prints the name of an error", [*program, *call("GetRoom", {"room": "x"})], "NoSuchRoom", status=1)
    for other in "org.varlink.service", "io.systemd.service":
        (tmp_path / other).write_text(subprocess.check_output([*program, "introspect", address, other], text=True))
        validate(f"validate-idl accepts {other}", tmp_path / other)
    with check.attempt("--more prints the state, a patch for each change, and the end"):
        watching = Program([*program, "--more", "--json=short", *call("MonitorRoom", MAIN)], tmp_path / "log",
                           stdout=subprocess.PIPE, text=True)
        state = watching.output.readline()
        assert '"room":{' in state, state
        daemon.call("SendEvents", events=[{"type": "title", "title": "Changed"}])
        patch = watching.output.readline()
        assert '"patch"' in patch and '"title":"Changed"' in patch, patch
        daemon.call("CloseRoom", room="main")
        watching.wait()
        assert "NoSuchRoom" in watching.output.read() + watching.log_tail(), watching.log_tail()
