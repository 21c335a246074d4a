"""A control surface: it takes the requests of a room by MonitorRequests and answers them by ReportOutcome."""
import subprocess

from harness.varlink import CONTROL
from harness.waiting import PATIENCE, wait_for


class Surface:
    """Somebody who moves the real sliders of a room."""

    def __init__(self, daemon, room="main", controls=None):
        self.daemon = daemon
        self.client = daemon.client()
        parameters = {"room": room}
        if controls is not None:
            parameters["controls"] = controls
        self.client.send("MonitorRequests", parameters, more=True)

    def next(self):
        """The next request, or the identifier of one that was withdrawn."""
        parameters = self.client.receive()["parameters"]
        return parameters.get("request") or parameters["withdrawn"]

    def report(self, identifier, outcome, reason=None):
        parameters = {"identifier": identifier, "outcome": outcome}
        if reason:
            parameters["reason"] = reason
        return self.daemon.reply("ReportOutcome", **parameters)

    def confirm(self, request):
        reply = self.report(request["identifier"], "confirmed")
        assert "parameters" in reply, reply

    def leave(self):
        self.client.close()


def ask(daemon, method, **parameters):
    """A connection on which a method was called for the room main; the reply comes once the surface has answered."""
    caller = daemon.client()
    caller.send(method, {"room": "main", **parameters})
    return caller


def panel_of(daemon):
    return daemon.call("GetRoom", room="main")["features"]["control"]


def until(daemon, test):
    """The panel, once it passes a test."""
    def passing():
        panel = panel_of(daemon)
        return test(panel) and panel
    return wait_for(passing, lambda: f"the panel is {panel_of(daemon)}")


def slide(daemon, phase, value):
    event = {"type": "slider", "control": "zoom", "phase": phase, "value": value}
    counts = daemon.call("SendEvents", room="main", events=[event])
    assert counts["rejected"] == 0, counts


def actions(daemon):
    """How many actions the controls of the room main have reduced."""
    name = 'livehost_room_actions_total{feature="control",room="main"} '
    found = [line for line in daemon.ctl("metrics").splitlines() if line.startswith(name)]
    return float(found[0].split(" ")[1]) if found else 0


def open_surface(daemon, **parameters):
    """A surface that the room knows of."""
    before = actions(daemon)
    surface = Surface(daemon, **parameters)
    wait_for(lambda: actions(daemon) != before, "an action for the new surface")
    return surface


def alone(daemon):
    """Without a surface values hold at once."""
    daemon.reply("OpenRoom", room="main")
    slide(daemon, "end", 0.1)
    assert panel_of(daemon)["values"] == {"zoom": 0.1}, panel_of(daemon)
    reply = daemon.reply("SetControl", room="main", control="zoom", value=0.2)
    assert reply["parameters"] == {"value": 0.2}, reply


def confirmed(daemon):
    """One request per drag; the value holds once it is confirmed."""
    surface = open_surface(daemon)
    slide(daemon, "begin", 0.3)
    for step in range(20):
        slide(daemon, "change", 0.3 + step / 100)
    slide(daemon, "end", 0.5)
    request = surface.next()
    assert request["kind"] == "setControl" and request["control"] == "zoom", request
    assert request["value"] == 0.5 and request["room"] == "main", request
    panel = panel_of(daemon)
    assert panel["values"]["zoom"] == 0.2 and panel["pending"] == {"zoom": 0.5}, panel
    surface.confirm(request)
    panel = panel_of(daemon)
    assert panel["values"]["zoom"] == 0.5 and not panel.get("pending"), panel
    # It is void now, and others never were.
    for identifier in [request["identifier"], "main/99", "other/1", "x", "", "main/", "/1", "a/b/c"]:
        reply = surface.report(identifier, "confirmed")
        assert reply.get("error") == CONTROL + "NoSuchRequest", (identifier, reply)
    # The next message is the next request: there was only one.
    slide(daemon, "end", 0.6)
    request = surface.next()
    assert request["value"] == 0.6, request
    surface.confirm(request)
    surface.leave()


def refused(daemon):
    """A refusal leaves the value and says why, until the next attempt."""
    surface = open_surface(daemon)
    caller = ask(daemon, "SetControl", control="zoom", value=0.9)
    request = surface.next()
    surface.report(request["identifier"], "refused", "the slider is locked")
    reply = caller.receive()["parameters"]
    assert reply == {"value": 0.6, "outcome": "refused", "reason": "the slider is locked"}, reply
    panel = panel_of(daemon)
    assert panel["values"]["zoom"] == 0.6, panel
    assert panel["failures"] == {"zoom": "the slider is locked"}, panel
    caller.send("SetControl", dict(room="main", control="zoom", value=0.7))
    request = surface.next()
    assert not panel_of(daemon).get("failures"), panel_of(daemon)
    surface.confirm(request)
    assert caller.receive()["parameters"] == {"value": 0.7, "outcome": "confirmed"}
    surface.leave()


def withdrawn(daemon):
    """A new drag withdraws the request."""
    surface = open_surface(daemon)
    caller = ask(daemon, "SetControl", control="zoom", value=0.1)
    request = surface.next()
    slide(daemon, "begin", 0.2)
    assert surface.next() == request["identifier"]
    reply = caller.receive()["parameters"]
    assert reply["outcome"] == "refused" and "later" in reply["reason"], reply
    reply = surface.report(request["identifier"], "confirmed")
    assert reply.get("error") == CONTROL + "NoSuchRequest", reply
    slide(daemon, "end", 0.3)
    second = surface.next()
    assert second["value"] == 0.3, second
    surface.confirm(second)
    surface.leave()


def left(daemon):
    """What a surface was asked fails at once when it leaves; then values hold at once again."""
    surface = open_surface(daemon)
    slide(daemon, "end", 0.9)
    surface.next()
    surface.leave()
    panel = until(daemon, lambda panel: panel.get("failures"))
    assert panel["failures"] == {"zoom": "the surface left"} and panel["values"]["zoom"] == 0.3, panel
    slide(daemon, "end", 0.4)
    panel = panel_of(daemon)
    assert panel["values"]["zoom"] == 0.4, panel


def several(daemon):
    """The last one that takes a control gets its requests; who comes gets what is outstanding."""
    everything = open_surface(daemon)
    camera = open_surface(daemon, controls=["camera"])
    caller = ask(daemon, "SetControl", control="camera", on=True)
    request = camera.next()
    assert request["kind"] == "setSwitch" and request["on"] is True, request
    second = open_surface(daemon, controls=["camera", "zoom"])
    assert second.next() == request
    second.confirm(request)
    assert caller.receive()["parameters"] == {"on": True, "outcome": "confirmed"}
    caller.send("SetControl", dict(room="main", control="zoom", value=0.5))
    request = second.next()
    assert request["control"] == "zoom", request
    second.confirm(request)
    assert caller.receive()["parameters"]["outcome"] == "confirmed"
    caller.send("SetControl", dict(room="main", control="mic", value=0.5))
    request = everything.next()
    assert request["control"] == "mic", request
    everything.confirm(request)
    caller.receive()
    for surface in [everything, camera, second]:
        surface.leave()


def ending(daemon):
    """The stream ends when its source says so; a refusal asks again."""
    daemon.reply("SendEvents", room="main", events=[{"type": "stream", "state": "live"}])
    surface = open_surface(daemon)
    tap = dict(room="main", control="endStream", on=True)
    assert daemon.reply("SetControl", **tap)["parameters"] == {}
    caller = daemon.client()
    caller.send("SetControl", tap)
    request = surface.next()
    assert request["kind"] == "endStream", request
    assert daemon.reply("GetRoom", room="main")["parameters"]["phase"] == "live"
    surface.report(request["identifier"], "refused", "an advertisement runs")
    assert caller.receive()["parameters"] == {"outcome": "refused", "reason": "an advertisement runs"}
    # The question is asked again, so the next tap is the answer.
    caller.send("SetControl", tap)
    request = surface.next()
    surface.confirm(request)
    assert daemon.reply("GetRoom", room="main")["parameters"]["phase"] == "live"
    daemon.reply("SendEvents", room="main", events=[{"type": "stream", "state": "ended"}])
    assert caller.receive()["parameters"] == {"outcome": "confirmed"}
    assert daemon.reply("GetRoom", room="main")["parameters"]["phase"] == "ended"
    surface.leave()


def recorder(daemon):
    """A recorder elsewhere is asked; without one that is an error."""
    other = open_surface(daemon, controls=["zoom"])
    error = daemon.reply("RecordElsewhere", room="main", wish="start")
    assert error.get("error") == CONTROL + "NoSurface", error
    assert error["parameters"] == {"room": "main", "control": "recorder"}, error
    surface = open_surface(daemon, controls=["recorder"])
    for wish in ["start", "pause", "resume", "stop"]:
        caller = ask(daemon, "RecordElsewhere", wish=wish)
        request = surface.next()
        assert request["kind"] == wish + "Recording" and "control" not in request, request
        surface.confirm(request)
        assert caller.receive()["parameters"] == {"outcome": "confirmed"}
    command = subprocess.Popen(
        [daemon.programs / "livehostctl", "--socket", daemon.control, "record", "start", "main", "--elsewhere"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    request = surface.next()
    surface.report(request["identifier"], "refused", "the disk is full")
    printed, told = command.communicate(timeout=PATIENCE)
    assert command.returncode == 1 and "refused: the disk is full" in told, (printed, told)
    assert panel_of(daemon)["failures"]["recorder"] == "the disk is full", panel_of(daemon)
    recorder = daemon.reply("GetRoom", room="main")["parameters"]["features"]["recorder"]
    assert recorder["state"] == "idle", "only events say what it does"
    surface.leave()
    other.leave()


def restarted(daemon):
    """A request survives kill -9, and goes to the surface that comes back."""
    surface = open_surface(daemon)
    caller = daemon.client()
    slide(daemon, "end", 0.8)
    request = surface.next()
    daemon.kill()
    daemon.start()
    panel = panel_of(daemon)
    assert panel["pending"] == {"zoom": 0.8} and panel["values"]["zoom"] == 0.5, panel
    again = open_surface(daemon)
    assert again.next() == request
    again.confirm(request)
    panel = panel_of(daemon)
    assert panel["values"]["zoom"] == 0.8 and not panel.get("pending"), panel
    again.leave()
    caller.close()


def silent(daemon):
    """Without an answer the value comes back, and the screen says why."""
    daemon.reply("OpenRoom", room="main")
    surface = open_surface(daemon)
    reply = daemon.reply("SetControl", room="main", control="zoom", value=0.9)["parameters"]
    assert reply == {"outcome": "refused", "reason": "no answer"}, reply
    request = surface.next()
    assert surface.next() == request["identifier"]
    panel = panel_of(daemon)
    assert panel["failures"] == {"zoom": "no answer"} and not panel["values"], panel
    surface.leave()


def closed(daemon):
    """The call ends with the room."""
    surface = open_surface(daemon)
    daemon.reply("CloseRoom", room="main")
    assert surface.client.receive()["error"] == CONTROL + "NoSuchRoom"
    reply = daemon.client()
    reply.send("MonitorRequests", {"room": "none"}, more=True)
    assert reply.receive()["error"] == CONTROL + "NoSuchRoom"


def play(check, daemon, *steps):
    """Each step goes on from the one before, so the first that fails ends them."""
    for step in steps:
        with check.attempt(step.__doc__):
            step(daemon)
        if check.failures:
            break


def test_requests(check, start_daemon):
    play(check, start_daemon("rooms:\n  requestTimeout: 1h\n"),
         alone, confirmed, refused, withdrawn, left, several, ending, recorder, restarted)


def test_requests_that_time_out(check, start_daemon):
    play(check, start_daemon("rooms:\n  requestTimeout: 20ms\n"), silent, closed)
