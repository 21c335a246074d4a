"""The metrics of livehostctl have the right values, and Prometheus' own tool accepts them."""
import pathlib
import shutil
import subprocess
import tempfile

from harness.places import BURST, CACHE
from harness.waiting import wait_for

EXTRACTION = "apt-get download -qq prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool"
EXPECTED = {
    "events of the daemon": ("livehost_events_received_total", 5004),
    "events of a room by outcome": ('livehost_room_events_total{outcome="applied",room="main"}', 5001),
    "rejections by reason": ('livehost_events_rejected_total{reason="malformedJSON"}', 1),
    "viewers of a room": ('livehost_room_viewers{room="side"}', 42),
    "rooms": ("livehost_rooms", 2),
}
PRESENT = {
    "the evaluations of a view": 'livehost_view_evaluations_total{room="main",view="ChatView"}',
    "actions by feature": 'livehost_room_actions_total{feature="chat",room="main"}',
    "the process's own metrics": "process_resident_memory_bytes",
}


def promtool():
    """Returns the installed promtool, or promtool from Debian's package.
    The package is only unpacked, since installing it would start a server."""
    if found := shutil.which("promtool"):
        return found
    cached = CACHE / "promtool"
    if not cached.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            if subprocess.run(EXTRACTION, shell=True, cwd=directory, timeout=300, capture_output=True).returncode == 0:
                (pathlib.Path(directory) / "usr/bin/promtool").rename(cached)
    return cached if cached.exists() else None


def test_metrics_are_valid_for_prometheus(check, start_daemon):
    daemon = start_daemon(environment={"LIVEHOST_HOLD": "action:header.titleChanged=300"})
    daemon.ctl("ingest", BURST, "--speed", "max", "--room", "main")
    daemon.ctl("send", "main", '{"type":"title","title":"a \\"quoted\\" one"}')
    daemon.ctl("send", "side", '{"type":"viewers","count":42}')
    daemon.ctl("ingest", "-", "--speed", "max", input='{broken\n{"type":"nothing"}\n', status=None)
    wait_for(lambda: daemon.call("ListHangs")["hangs"], "a hang")
    text = daemon.ctl("metrics")
    if tool := promtool():
        found = subprocess.run([tool, "check", "metrics"], input=text, text=True, capture_output=True)
        check("promtool finds no problems in the metrics", not (found.returncode or found.stdout + found.stderr), found)
    else:
        check.skip("promtool is neither installed nor available from Debian's package prometheus")
    rows = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    metrics = {series: float(value) for series, _, value in rows}
    for name, (series, value) in EXPECTED.items():
        check.equal(name, metrics.get(series), value)
    for name, series in PRESENT.items():
        check(name, series in metrics, f"no {series} in:\n{text}")
    # If the machine descheduled the lane, the reason or the class differs.
    hangs = {series: value for series, value in metrics.items() if series.startswith("livehost_hangs_total")}
    check("hangs are counted by class and reason", sum(hangs.values()) >= 1, hangs)
    turns = metrics['livehost_turn_duration_seconds_count{lane="0"}']
    check("the histogram counts every turn", turns > 3, turns)
    below, all_turns = (metrics[f'livehost_turn_duration_seconds_bucket{{lane="0",le="{bound}"}}']
                        for bound in ("0.25", "+Inf"))
    check("a turn of 300 ms is above the bound of 0.25 s", below < all_turns, (below, all_turns))
