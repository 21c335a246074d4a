"""Tests a controller, which receives the requests of a room by MonitorRequests and answers them by ReportOutcome."""
import subprocess

from harness.controller import actions
from harness.varlink import CONTROL, Client
from harness.waiting import PATIENCE, wait_for


class Surface(Client):
    """A controller that is connected to the room main during the block."""

    def __init__(self, daemon, **controls):
        super().__init__(daemon.control)
        self.daemon, before = daemon, actions(daemon)
        self.send("MonitorRequests", {"room": "main", **controls}, more=True)
        wait_for(lambda: actions(daemon) != before, "an action for the new controller")

    def next(self, **members):
        """Returns the next request, which must have these members, or the identifier of a withdrawn request."""
        parameters = self.receive()["parameters"]
        request = parameters.get("request") or parameters["withdrawn"]
        assert not members or members.items() <= request.items(), f"expected {members} in {request}"
        return request

    def report(self, identifier, outcome, **reason):
        return self.daemon.reply("ReportOutcome", identifier=identifier, outcome=outcome, **reason)

    def confirm(self, request):
        reply = self.report(request["identifier"], "confirmed")
        assert "parameters" in reply, reply

    def is_void(self, identifier):
        reply = self.report(identifier, "confirmed")
        assert reply.get("error") == CONTROL + "NoSuchRequest", (identifier, reply)


def ask(daemon, method, **parameters):
    """Calls a method for the room main. Returns the connection, which gets the reply once the controller answers."""
    caller = daemon.client()
    caller.send(method, {"room": "main", **parameters})
    return caller


def replies(caller, **parameters):
    seen = caller.receive()["parameters"]
    assert seen == parameters, f"expected {parameters}, seen {seen}"


def room(daemon):
    return daemon.call("GetRoom", room="main")


def has(daemon, values={}, pending={}, failures=None):
    """Asserts that the controls have these values, and exactly these pending values and (if given) failures. Returns
    the controls."""
    panel = room(daemon)["features"]["control"]
    assert values.items() <= panel["values"].items() and panel.get("pending", {}) == pending, panel
    assert failures is None or panel.get("failures", {}) == failures, panel
    return panel


def slide(daemon, phase, value):
    event = {"type": "slider", "control": "zoom", "phase": phase, "value": value}
    counts = daemon.call("SendEvents", room="main", events=[event])
    assert counts["rejected"] == 0, counts


def alone(daemon):
    """Without a controller, a new value is confirmed immediately."""
    daemon.call("OpenRoom", room="main")
    slide(daemon, "end", 0.1)
    assert has(daemon)["values"] == {"zoom": 0.1}
    replies(ask(daemon, "SetControl", control="zoom", value=0.2), value=0.2)


def confirmed(daemon):
    """Each drag makes one request, and its value applies once the controller has confirmed it."""
    with Surface(daemon) as surface:
        slide(daemon, "begin", 0.3)
        for step in range(20):
            slide(daemon, "change", 0.3 + step / 100)
        slide(daemon, "end", 0.5)
        request = surface.next(kind="setControl", control="zoom", value=0.5, room="main")
        has(daemon, {"zoom": 0.2}, pending={"zoom": 0.5})
        surface.confirm(request)
        has(daemon, {"zoom": 0.5})
        # The confirmed request can no longer be answered, and the other identifiers never existed.
        for identifier in [request["identifier"], "main/99", "other/1", "x", "", "main/", "/1", "a/b/c"]:
            surface.is_void(identifier)
        # The next received message is a new request, so the earlier request was sent only once.
        slide(daemon, "end", 0.6)
        surface.confirm(surface.next(value=0.6))


def refused(daemon):
    """A refused request keeps the value and shows the reason until the next request."""
    with Surface(daemon) as surface:
        caller = ask(daemon, "SetControl", control="zoom", value=0.9)
        surface.report(surface.next()["identifier"], "refused", reason="the slider is locked")
        replies(caller, value=0.6, outcome="refused", reason="the slider is locked")
        has(daemon, {"zoom": 0.6}, failures={"zoom": "the slider is locked"})
        caller.send("SetControl", dict(room="main", control="zoom", value=0.7))
        request = surface.next()
        has(daemon, pending={"zoom": 0.7}, failures={})
        surface.confirm(request)
        replies(caller, value=0.7, outcome="confirmed")


def withdrawn(daemon):
    """A new drag withdraws the pending request of its slider."""
    with Surface(daemon) as surface:
        caller = ask(daemon, "SetControl", control="zoom", value=0.1)
        identifier = surface.next()["identifier"]
        slide(daemon, "begin", 0.2)
        assert surface.next() == identifier
        reply = caller.receive()["parameters"]
        assert reply["outcome"] == "refused" and "later" in reply["reason"], reply
        surface.is_void(identifier)
        slide(daemon, "end", 0.3)
        surface.confirm(surface.next(value=0.3))


def left(daemon):
    """When the controller disconnects, its requests fail, and new values are confirmed immediately."""
    with Surface(daemon) as surface:
        slide(daemon, "end", 0.9)
        surface.next()
    wait_for(lambda: room(daemon)["features"]["control"].get("failures"), lambda: f"a failure in {room(daemon)}")
    has(daemon, {"zoom": 0.3}, failures={"zoom": "the surface left"})
    slide(daemon, "end", 0.4)
    has(daemon, {"zoom": 0.4})


def several(daemon):
    """Of several controllers for a control, the last connected one gets its requests, also pending ones."""
    with Surface(daemon) as everything, Surface(daemon, controls=["camera"]) as camera:
        caller = ask(daemon, "SetControl", control="camera", on=True)
        request = camera.next(kind="setSwitch", on=True)
        with Surface(daemon, controls=["camera", "zoom"]) as second:
            assert second.next() == request
            second.confirm(request)
            replies(caller, on=True, outcome="confirmed")
            for surface, control in (second, "zoom"), (everything, "mic"):
                caller.send("SetControl", dict(room="main", control=control, value=0.5))
                surface.confirm(surface.next(control=control))
                replies(caller, value=0.5, outcome="confirmed")


def ending(daemon):
    """A confirmed end of the stream takes effect with the source's event, and a refused one can be repeated."""
    daemon.call("SendEvents", room="main", events=[{"type": "stream", "state": "live"}])
    with Surface(daemon) as surface:
        tap = dict(room="main", control="endStream", on=True)
        assert daemon.call("SetControl", **tap) == {}
        caller = daemon.client()
        caller.send("SetControl", tap)
        request = surface.next(kind="endStream")
        assert room(daemon)["phase"] == "live"
        surface.report(request["identifier"], "refused", reason="an advertisement runs")
        replies(caller, outcome="refused", reason="an advertisement runs")
        # The question is asked again, so the next tap is the answer.
        caller.send("SetControl", tap)
        surface.confirm(surface.next())
        assert room(daemon)["phase"] == "live"
        daemon.call("SendEvents", room="main", events=[{"type": "stream", "state": "ended"}])
        replies(caller, outcome="confirmed")
        assert room(daemon)["phase"] == "ended"


def recorder(daemon):
    """Requests to an external recorder reach its controller, and fail without one."""
    with Surface(daemon, controls=["zoom"]):
        error = daemon.reply("RecordElsewhere", room="main", wish="start")
        assert error.get("error") == CONTROL + "NoSurface", error
        assert error["parameters"] == {"room": "main", "control": "recorder"}, error
        with Surface(daemon, controls=["recorder"]) as surface:
            for wish in ["start", "pause", "resume", "stop"]:
                caller = ask(daemon, "RecordElsewhere", wish=wish)
                request = surface.next(kind=wish + "Recording")
                assert "control" not in request, request
                surface.confirm(request)
                replies(caller, outcome="confirmed")
            command = subprocess.Popen(
                [daemon.programs / "livehostctl", "--socket", daemon.control, "record", "start", "main", "--elsewhere"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            surface.report(surface.next()["identifier"], "refused", reason="the disk is full")
            printed, told = command.communicate(timeout=PATIENCE)
            assert command.returncode == 1 and "refused: the disk is full" in told, (printed, told)
            features = room(daemon)["features"]
            assert features["control"]["failures"]["recorder"] == "the disk is full", features
            assert features["recorder"]["state"] == "idle", "the state changed without an event"


def restarted(daemon):
    """A pending request survives kill -9 and is sent to the next controller."""
    with Surface(daemon) as surface:
        slide(daemon, "end", 0.8)
        request = surface.next()
        daemon.kill()
    daemon.start()
    has(daemon, {"zoom": 0.5}, pending={"zoom": 0.8})
    with Surface(daemon) as again:
        assert again.next() == request
        again.confirm(request)
    has(daemon, {"zoom": 0.8})


def acted(daemon):
    """After kill -9, the outcome of an act is unknown, and no controller receives the act again."""
    offer = {"controls": [], "platform": "twitch", "source": "events", "acts": ["delete"]}
    unknown = "the outcome is unknown: livehostd restarted"
    delete = {"kind": "delete", "message": "m1"}
    with Surface(daemon, **offer) as surface:
        caller = ask(daemon, "Act", by="bob", **delete)
        request = surface.next(kind="act")
        assert request["act"] == delete and "control" not in request, request
        # The reply to a later act of the host shows that the log holds the act.
        daemon.call("SetControl", room="main", control="zoom", value=0.5)
        daemon.kill()
    caller.close()
    daemon.start()
    acts = room(daemon)["features"]["chat"]["acts"]
    assert acts == [{"act": delete, "platform": "twitch", "source": "events", "by": "bob", "outcome": "refused",
                     "reason": unknown}], acts
    with Surface(daemon, **offer) as surface:
        surface.is_void(request["identifier"])
        caller = ask(daemon, "Act", kind="delete", message="m2")
        second = surface.next(kind="act")
        assert second["act"]["message"] == "m2", second
        reply = surface.report(second["identifier"], "sent")
        assert "parameters" in reply, reply
        replies(caller, outcome="sent")


def silent(daemon):
    """A request without an answer is refused, and the screen shows the reason."""
    daemon.call("OpenRoom", room="main")
    with Surface(daemon) as surface:
        replies(ask(daemon, "SetControl", control="zoom", value=0.9), outcome="refused", reason="no answer")
        identifier = surface.next()["identifier"]
        assert surface.next() == identifier
        panel = has(daemon, failures={"zoom": "no answer"})
        assert not panel["values"], panel


def closed(daemon):
    """MonitorRequests ends with an error when the room is closed."""
    with Surface(daemon) as surface:
        daemon.call("CloseRoom", room="main")
        assert surface.receive()["error"] == CONTROL + "NoSuchRoom"
    with daemon.client() as client:
        client.send("MonitorRequests", {"room": "none"}, more=True)
        assert client.receive()["error"] == CONTROL + "NoSuchRoom"


def play(check, daemon, *steps):
    """Runs steps that build on each other, up to the first that fails."""
    for step in steps:
        with check.attempt(step.__doc__):
            step(daemon)
        if check.failures:
            break


def test_a_controller_answers_requests(check, start_daemon):
    play(check, start_daemon("rooms:\n  requestTimeout: 1h\n"),
         alone, confirmed, refused, withdrawn, left, several, ending, recorder, restarted, acted)


def test_requests_without_an_answer_time_out(check, start_daemon):
    play(check, start_daemon("rooms:\n  requestTimeout: 20ms\n"), silent, closed)
